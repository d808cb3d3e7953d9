-- SPDX-License-Identifier: MIT
-- All samples are in sample_rows. Older samples keep their order but are numbered again, because
-- samples of two metrics could have the same number.
INSERT OR IGNORE INTO metrics(name)
 SELECT DISTINCT metric FROM samples;
INSERT INTO sample_rows(run_id, line, seq, step, train_ms, wall_ms,
 m0, v0) SELECT s.run_id, s.line, row_number() OVER
 (PARTITION BY s.run_id, s.line ORDER BY s.seq, s.metric) - 1, s.step,
 s.train_ms, s.wall_ms, m.id, s.value FROM samples s
 JOIN metrics m ON m.name = s.metric;
DROP VIEW IF EXISTS v_samples;
DROP TABLE samples;
