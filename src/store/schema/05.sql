-- SPDX-License-Identifier: MIT
-- What a screen shows of a run without reading its log again. rev is the batch that wrote the
-- row last, rising; 0: by a version that did not write all of these columns.
ALTER TABLE runs ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN eval_done NUMERIC;
ALTER TABLE runs ADD COLUMN eval_total NUMERIC;
ALTER TABLE runs ADD COLUMN running_bpb NUMERIC;
ALTER TABLE runs ADD COLUMN last_step NUMERIC;
ALTER TABLE runs ADD COLUMN cap_s NUMERIC;
CREATE INDEX runs_by_rev ON runs(rev);
