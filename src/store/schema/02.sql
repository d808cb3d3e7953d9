-- SPDX-License-Identifier: MIT
-- Benches and their runs.
CREATE TABLE benches(
 id TEXT PRIMARY KEY, name TEXT, file TEXT, dir TEXT,
 state TEXT NOT NULL, sha256 TEXT, started_ms INTEGER,
 ended_ms INTEGER, definition TEXT, verdict TEXT);
CREATE TABLE bench_runs(
 bench_id TEXT NOT NULL REFERENCES benches, run TEXT NOT NULL,
 block INTEGER, pos INTEGER, pod TEXT, tag TEXT,
 state TEXT NOT NULL, rc INTEGER, y_ms NUMERIC,
 started_ms INTEGER, ended_ms INTEGER, detail TEXT,
 PRIMARY KEY(bench_id, run)) WITHOUT ROWID;
