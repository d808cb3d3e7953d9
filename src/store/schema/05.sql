-- SPDX-License-Identifier: MIT
-- Columns that a screen needs to show a run without its log. rev is the batch that wrote the
-- row last, increasing; 0: a version that did not write all of these columns wrote it.
ALTER TABLE runs ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN eval_done NUMERIC;
ALTER TABLE runs ADD COLUMN eval_total NUMERIC;
ALTER TABLE runs ADD COLUMN running_bpb NUMERIC;
ALTER TABLE runs ADD COLUMN last_step NUMERIC;
ALTER TABLE runs ADD COLUMN cap_s NUMERIC;
CREATE INDEX runs_by_rev ON runs(rev);
