-- SPDX-License-Identifier: MIT
-- By which rules the logs were read.
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
