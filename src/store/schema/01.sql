-- SPDX-License-Identifier: MIT
-- Logs, runs and their series.
CREATE TABLE tails(
 id INTEGER PRIMARY KEY, pod TEXT NOT NULL, name TEXT NOT NULL,
 gen INTEGER NOT NULL, path TEXT NOT NULL, dev INTEGER, inode INTEGER,
 offset INTEGER NOT NULL DEFAULT 0,
 lines INTEGER NOT NULL DEFAULT 0, mirror TEXT,
 ended INTEGER NOT NULL DEFAULT 0, UNIQUE(pod, name, gen));
CREATE TABLE runs(
 id INTEGER PRIMARY KEY, tail_id INTEGER NOT NULL REFERENCES tails,
 run_index INTEGER NOT NULL, status TEXT NOT NULL,
 live INTEGER NOT NULL DEFAULT 0,
 final_stage TEXT, final_class TEXT, source_sha256 TEXT,
 source_lines INTEGER, first_line INTEGER, lines INTEGER,
 bytes INTEGER, matched INTEGER, formats TEXT,
 events_dropped INTEGER, first_wall_ms INTEGER,
 last_wall_ms INTEGER, UNIQUE(tail_id, run_index));
CREATE TABLE events(
 run_id INTEGER NOT NULL REFERENCES runs, idx INTEGER NOT NULL,
 line INTEGER NOT NULL, kind TEXT NOT NULL, step NUMERIC, text TEXT,
 PRIMARY KEY(run_id, idx)) WITHOUT ROWID;
CREATE TABLE samples(
 run_id INTEGER NOT NULL REFERENCES runs, metric TEXT NOT NULL,
 line INTEGER NOT NULL, seq INTEGER NOT NULL, step NUMERIC,
 value NUMERIC NOT NULL, train_ms NUMERIC, wall_ms INTEGER,
 PRIMARY KEY(run_id, metric, line, seq)) WITHOUT ROWID;
