/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_STMT_H
#define HGYM_STORE_STMT_H

#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"

/*
 * Statements from their SQL to their end, and the values of their rows: what
 * is absent in the program (parsers/run.h) is NULL in the database, both
 * ways.  `what` begins the sentence of an error.
 */
int stmt_prepare(sqlite3 *db, const char *what, const char *sql,
		 sqlite3_stmt **stmt, struct err *err)
	__attribute__((warn_unused_result));
/* The one step of a statement without rows; frees it. */
int stmt_run(sqlite3 *db, const char *what, sqlite3_stmt *stmt, struct err *err)
	__attribute__((warn_unused_result));
/*
 * Free a statement whose rows were walked: what the callback said (0: go on),
 * or -1 when a step failed.
 */
int stmt_end_walk(sqlite3 *db, const char *what, sqlite3_stmt *stmt, int said,
		  struct err *err);

/* Parameters count from 1.  A text is borrowed until the step; NULL: NULL. */
void stmt_bind_text(sqlite3_stmt *stmt, int at, const char *text);
void stmt_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value);
/* RUN_ABSENT: NULL; an infinite loss is stored as SQLite's infinity. */
void stmt_bind_number(sqlite3_stmt *stmt, int at, double value);
/* Milliseconds; 0, which is unknown: NULL. */
void stmt_bind_time(sqlite3_stmt *stmt, int at, int64_t ms);

/* Columns count from 0.  The text is borrowed until the next step. */
const char *stmt_text(sqlite3_stmt *stmt, int column);
/* A copy of it, owned by you; NULL where there is none. */
char *stmt_take_text(sqlite3_stmt *stmt, int column);
uint64_t stmt_u64(sqlite3_stmt *stmt, int column);
double stmt_number(sqlite3_stmt *stmt, int column);

#endif
