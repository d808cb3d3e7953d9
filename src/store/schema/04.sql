-- SPDX-License-Identifier: MIT
-- The noise register; ln units and seconds.
CREATE TABLE noise(
 bench_id TEXT NOT NULL, pod TEXT NOT NULL, gpus TEXT, gpu TEXT,
 gpu_id TEXT, driver TEXT, image TEXT, class TEXT NOT NULL, what TEXT,
 metric TEXT, n_runs INTEGER NOT NULL, n_blocks INTEGER NOT NULL,
 mean NUMERIC, sd NUMERIC, df NUMERIC, sd_block NUMERIC,
 drift NUMERIC, drift_p NUMERIC, span_s NUMERIC, run_s NUMERIC,
 when_ms INTEGER NOT NULL,
 PRIMARY KEY(bench_id, pod)) WITHOUT ROWID;
