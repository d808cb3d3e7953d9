/* SPDX-License-Identifier: MIT */
/* Statements of SQLite and the values of their rows, for all of src/store. */
#include "config.h"

#include "store/stmt.h"

#include "base/xalloc.h"
#include "parsers/run.h"
#include "store/schema.h"

int
stmt_prepare(sqlite3 *db, const char *what, const char *sql,
	     sqlite3_stmt **stmt, struct err *err)
{
	if (sqlite3_prepare_v2(db, sql, -1, stmt, NULL) == SQLITE_OK)
		return 0;
	return schema_fail(db, what, err);
}

int
stmt_run(sqlite3 *db, const char *what, sqlite3_stmt *stmt, struct err *err)
{
	int rc = sqlite3_step(stmt);

	(void)sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : schema_fail(db, what, err);
}

int
stmt_end_walk(sqlite3 *db, const char *what, sqlite3_stmt *stmt, int said,
	      struct err *err)
{
	int rc = sqlite3_finalize(stmt);

	if (said == 0 && rc != SQLITE_OK)
		return schema_fail(db, what, err);
	return said;
}

void
stmt_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	(void)sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

void
stmt_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value)
{
	(void)sqlite3_bind_int64(stmt, at, (int64_t)value);
}

void
stmt_bind_number(sqlite3_stmt *stmt, int at, double value)
{
	if (run_has(value))
		(void)sqlite3_bind_double(stmt, at, value);
	else
		(void)sqlite3_bind_null(stmt, at);
}

void
stmt_bind_time(sqlite3_stmt *stmt, int at, int64_t ms)
{
	if (ms != 0)
		(void)sqlite3_bind_int64(stmt, at, ms);
	else
		(void)sqlite3_bind_null(stmt, at);
}

const char *
stmt_text(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

char *
stmt_take_text(sqlite3_stmt *stmt, int column)
{
	const char *text = stmt_text(stmt, column);

	return xstrdup_null(text);
}

uint64_t
stmt_u64(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

double
stmt_number(sqlite3_stmt *stmt, int column)
{
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return RUN_ABSENT;
	return sqlite3_column_double(stmt, column);
}
