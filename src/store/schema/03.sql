-- SPDX-License-Identifier: MIT
-- Settings of the database, such as the hash of the rules by which logs were parsed.
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
