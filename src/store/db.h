/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"

/*
 * SQLite for the files of src/store: connections, statements, and rows as
 * structs.  What is absent in the program (parsers/run.h) is NULL in the
 * database, both ways.  `what` begins the sentence of an error.
 */

/* A connection; *db is NULL after a failure. */
int db_open(const char *path, bool write, sqlite3 **db, struct err *err)
	__attribute__((warn_unused_result));
/* Set err from the connection's last error, return -1. */
int db_fail(sqlite3 *db, const char *what, struct err *err);
/* Run statements that give no rows; formatted by sqlite3_mprintf: %Q quotes. */
int db_exec(sqlite3 *db, const char *what, struct err *err, const char *sql, ...);
/* End a transaction: rc 0: commit, else roll back; -1 when it is undone. */
int db_end(sqlite3 *db, const char *what, int rc, struct err *err);
/* The first column of the first row; -1 when there is none.  text is ?1. */
int64_t db_number(sqlite3 *db, const char *sql, const char *text);
/* The same as a text, owned; NULL when there is none.  number is ?1. */
char *db_text(sqlite3 *db, const char *sql, int64_t number);

/* Parameters count from 1.  A text is borrowed until the step; NULL: NULL. */
void stmt_bind_text(sqlite3_stmt *stmt, int at, const char *text);
/* RUN_ABSENT: NULL; an infinite loss is stored as SQLite's infinity. */
void stmt_bind_number(sqlite3_stmt *stmt, int at, double value);

/* Columns count from 0.  The text is borrowed until the next step. */
const char *stmt_text(sqlite3_stmt *stmt, int column);
double stmt_number(sqlite3_stmt *stmt, int column);

/* One step of a statement that is used again; the code of SQLite. */
int stmt_step(sqlite3_stmt *stmt);
int stmt_prepare(sqlite3 *db, const char *what, const char *sql, sqlite3_stmt **stmt,
		 struct err *err) __attribute__((warn_unused_result));
/* Prepare n statements that are kept; free them. */
int stmt_prepare_all(sqlite3 *db, const char *what, const char *const *sql, size_t n,
		     sqlite3_stmt **stmts, struct err *err) __attribute__((warn_unused_result));
void stmt_free_all(sqlite3_stmt **stmts, size_t n);
/*
 * Free a statement whose rows were walked: what the callback said (0: go on),
 * or -1 when a step failed.
 */
int stmt_end_walk(sqlite3 *db, const char *what, sqlite3_stmt *stmt, int said, struct err *err);

/* How a member lies in its column. */
enum column_type {
	COLUMN_TEXT,	 /* char *; borrowed until the next step */
	COLUMN_CHARS,	 /* char[`absent`]; "": NULL */
	COLUMN_INT,	 /* 64 bits, signed or not */
	COLUMN_SHORT,	 /* int or unsigned int */
	COLUMN_BOOL,	 /* 0 or 1 */
	COLUMN_NUMBER,	 /* double, RUN_ABSENT: NULL */
	COLUMN_OPTIONAL, /* int64_t, the one number `absent`: NULL */
	COLUMN_ENUM,	 /* an enum by its name; `absent` for any other text */
	COLUMN_WORD,	 /* one of the names themselves; static */
};

struct column {
	const char *name;
	enum column_type type;
	size_t offset; /* of the member in its struct */
	int absent;
	const char *const *names; /* of the enum, NULL-ended */
};

/* The type follows from the member's. */
#define COLUMN_TYPE(member) \
	_Generic((member), const char * : COLUMN_TEXT, char * : COLUMN_TEXT,   \
		 int64_t : COLUMN_INT, uint64_t : COLUMN_INT,                  \
		 int : COLUMN_SHORT, unsigned int : COLUMN_SHORT,              \
		 bool : COLUMN_BOOL, double : COLUMN_NUMBER)
#define COLUMN_NAMED(name, kind, type, member, absent, names)     \
	{                                                         \
		name, kind, offsetof(type, member), absent, names \
	}
#define COLUMN_AS(name, type, member) \
	COLUMN_NAMED(name, COLUMN_TYPE(((type *)0)->member), type, member, 0, NULL)
#define COLUMN(type, member) COLUMN_AS(#member, type, member)
#define COLUMN_CHARS_OF(type, member) \
	COLUMN_NAMED(#member, COLUMN_CHARS, type, member, sizeof(((type *)0)->member), NULL)
#define COLUMN_OPT_AS(name, type, member, absent) \
	COLUMN_NAMED(name, COLUMN_OPTIONAL, type, member, absent, NULL)
#define COLUMN_OPT(type, member, absent) COLUMN_OPT_AS(#member, type, member, absent)

/* Columns of a table and the struct that a row is. */
struct table {
	const char *name;
	const struct column *columns;
	size_t n;
	/* So many stay as they were when a row comes again, which its first
	 * column tells; 0: the whole row is replaced. */
	size_t n_fixed;
};

#define TABLE(name, columns, n_fixed)                                              \
	{                                                                          \
		(name), (columns), sizeof(columns) / sizeof(*(columns)), (n_fixed) \
	}

struct buf;

/* Append "a, b, c", with the prefix before each. */
void table_names(struct buf *sql, const struct table *table, const char *prefix);
/* The statement that puts a row; owned. */
char *table_put_sql(const struct table *table);
/* Put one row. */
int table_put(sqlite3 *db, const char *what, const struct table *table, const void *row,
	      struct err *err) __attribute__((warn_unused_result));
/* Prepare "SELECT <columns> FROM <name> <rest>"; rest as in db_exec.  NULL with
 * err, which row_next and stmt_end_walk take too. */
sqlite3_stmt *table_select(sqlite3 *db, const char *what, const struct table *table,
			   struct err *err, const char *rest, ...)
	__attribute__((warn_unused_result));

/* Bind a row's columns from parameter `at` on. */
void row_bind(sqlite3_stmt *stmt, int at, const struct table *table, const void *row);
/* Step to the next row and read it; false: stmt_end_walk tells why not. */
bool row_next(sqlite3_stmt *stmt, const struct table *table, void *row);
/* Read a row's columns from column `at` on into row. */
void row_read(sqlite3_stmt *stmt, int at, const struct table *table, void *row);
/*
 * Give each row of a selection to fn, which ends the walk with another number
 * than 0; its result, or -1 with err.  type: of the rows; then what
 * table_select takes.
 */
#define table_walk(db, what, table, type, fn, user, err, ...)                                \
	__extension__({                                                                      \
		sqlite3_stmt *walk_stmt = table_select((db), what, table, err, __VA_ARGS__); \
		type walk_row;                                                               \
		int walk_rc = 0;                                                             \
                                                                                             \
		while (walk_rc == 0 && row_next(walk_stmt, table, &walk_row))                \
			walk_rc = fn(user, &walk_row);                                       \
		stmt_end_walk((db), what, walk_stmt, walk_rc, err);                          \
	})
/* Make the texts of a row its own; free them. */
void row_own(const struct table *table, void *row);
void row_release(const struct table *table, void *row);
