/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/cksum.h"

/* What identifies a log file after a rename, a reconnection or a restart of this program. The texts
 * are raw bytes and belong to the struct's owner. */
struct log_identity {
	const char *path; /* where the file is now */
	const char *real; /* the file that path leads to through symlinks; NULL: path itself */
	uint64_t dev, inode;
	uint64_t stamp;	  /* time of the last change, if sum covers the whole file; 0: unknown */
	struct cksum sum; /* of the fetched bytes; unknown if there are none */
	bool ended;	  /* nothing more will be written to it */
};
