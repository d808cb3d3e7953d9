-- SPDX-License-Identifier: MIT
-- Last state of each pod, and telemetry. gpu is the index in nvidia-smi, or -1 for the host and
-- all counted GPUs; rows with keep are kept when the others are deleted.
CREATE TABLE pods(
 id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, target TEXT,
 state TEXT NOT NULL, why TEXT, lag_ms INTEGER, gpu TEXT,
 disk_free_bytes NUMERIC, seen_ms INTEGER NOT NULL);
CREATE TABLE telemetry(
 pod_id INTEGER NOT NULL REFERENCES pods, at_ms INTEGER NOT NULL,
 gpu INTEGER NOT NULL, keep INTEGER NOT NULL, gpu_util NUMERIC,
 gpu_mem_mib NUMERIC, gpu_power_w NUMERIC, gpu_temp_c NUMERIC,
 gpu_sm_mhz NUMERIC, gpu_throttle NUMERIC, host_load NUMERIC,
 disk_free_bytes NUMERIC,
 PRIMARY KEY(pod_id, at_ms, gpu)) WITHOUT ROWID;
