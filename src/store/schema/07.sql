-- SPDX-License-Identifier: MIT
-- The samples of a line share a row (store_priv.h).
CREATE TABLE metrics(id INTEGER PRIMARY KEY,
 name TEXT NOT NULL UNIQUE);
CREATE TABLE sample_rows(
 run_id INTEGER NOT NULL REFERENCES runs, line INTEGER NOT NULL,
 seq INTEGER NOT NULL, step NUMERIC, train_ms NUMERIC,
 wall_ms INTEGER, m0 INTEGER NOT NULL, v0 NUMERIC NOT NULL,
 m1 INTEGER, v1 NUMERIC, m2 INTEGER, v2 NUMERIC,
 m3 INTEGER, v3 NUMERIC,
 PRIMARY KEY(run_id, line, seq)) WITHOUT ROWID;
