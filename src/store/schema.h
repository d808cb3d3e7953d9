/* SPDX-License-Identifier: MIT */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"

/* The number that PRAGMA user_version holds. */
#define SCHEMA_VERSION 10

/*
 * Bring the database up to SCHEMA_VERSION, each step in a transaction of its
 * own; add columns for numbers that runs have learnt since, and numbers for
 * metrics; renew the views.
 * A newer schema is refused.
 */
int schema_migrate(sqlite3 *db, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* True when schema_migrate would find nothing to do. */
bool schema_is_current(sqlite3 *db);

/* For a reader: ERR_DB unless the schema is the one that is known. */
int schema_check(sqlite3 *db, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* The same as schema_migrate, but only up to `version`; for tests. */
int schema_migrate_to(sqlite3 *db, int version, struct err *err)
	__attribute__((warn_unused_result));
