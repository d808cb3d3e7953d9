-- SPDX-License-Identifier: MIT
-- Why a run has its status.
ALTER TABLE runs ADD COLUMN status_reason TEXT;
