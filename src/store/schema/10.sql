-- SPDX-License-Identifier: MIT
-- Series of any name. own marks a name that a log printed; if a metric has the same name, the
-- two are different series.
DROP VIEW IF EXISTS v_samples;
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL,
 own INTEGER NOT NULL DEFAULT 0, UNIQUE(name, own));
INSERT INTO names(id, name) SELECT id, name FROM metrics;
DROP TABLE metrics;
ALTER TABLE names RENAME TO metrics;
ALTER TABLE runs ADD COLUMN series_dropped INTEGER;
CREATE TABLE series(
 run_id INTEGER NOT NULL REFERENCES runs, idx INTEGER NOT NULL,
 name TEXT NOT NULL, unit TEXT, metric TEXT, points INTEGER NOT NULL,
 first NUMERIC, last NUMERIC, min NUMERIC, max NUMERIC,
 min_step NUMERIC, scale NUMERIC,
 PRIMARY KEY(run_id, idx)) WITHOUT ROWID;
