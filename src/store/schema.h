/* SPDX-License-Identifier: MIT */
#pragma once

#include <sqlite3.h>

#include "base/err.h"

/* Value of PRAGMA user_version. */
#define SCHEMA_VERSION 12

/* Bring the database up to SCHEMA_VERSION in one transaction; add columns for new numbers of runs
 * and ids for new metrics; recreate the views.  A newer schema is an error. */
int schema_migrate(sqlite3 *db, const char *path, struct err *err) MUST_USE;

/* Is the database current, so that schema_migrate() has nothing to do? */
bool schema_is_current(sqlite3 *db);

/* For a reader: ERR_DB unless the schema is SCHEMA_VERSION. */
int schema_check(sqlite3 *db, const char *path, struct err *err) MUST_USE;

/* Like schema_migrate(), but only up to `version`; for tests. */
int schema_migrate_to(sqlite3 *db, int version, struct err *err) MUST_USE;
