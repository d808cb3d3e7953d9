-- SPDX-License-Identifier: MIT
-- How a log on a pod is recognized (base/log_identity.h): checksum of the fetched bytes, change
-- time of the file if all of it was fetched, and the target of a symlink.
ALTER TABLE tails ADD COLUMN fetched INTEGER;
ALTER TABLE tails ADD COLUMN crc INTEGER;
ALTER TABLE tails ADD COLUMN stamp INTEGER;
ALTER TABLE tails ADD COLUMN real TEXT;
