-- SPDX-License-Identifier: MIT
-- What boards of competitions need: the tracks that a log fits, and the validations of a series,
-- as pairs of step and value, doubles in the byte order of the writer. Logs stored without them
-- are read again.
ALTER TABLE runs ADD COLUMN tracks TEXT;
ALTER TABLE series ADD COLUMN validations BLOB;
UPDATE runs SET rev = 0;
