/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"

/* SQLite for the files of src/store: connections, statements, and rows as structs.  RUN_ABSENT in
 * the program is NULL in the database.  Error messages start with `what`. */

/* Open a connection; *db is NULL after a failure. */
int db_open(const char *path, bool write, sqlite3 **db, struct err *err) MUST_USE;
/* Set err from the connection's last error; returns -1. */
int db_fail(sqlite3 *db, const char *what, struct err *err);
/* Run statements without rows; sql is a format of sqlite3_mprintf(): %Q quotes. */
int db_exec(sqlite3 *db, const char *what, struct err *err, const char *sql, ...);
/* End a transaction: commit if rc is 0, otherwise roll back; -1 if it was rolled back. */
int db_end(sqlite3 *db, const char *what, int rc, struct err *err);
/* The first column of the first row; -1: there is none.  text is ?1. */
int64_t db_number(sqlite3 *db, const char *sql, const char *text);
/* The first column of the first row as a text; owned, NULL: there is none. number is ?1. */
char *db_text(sqlite3 *db, const char *sql, int64_t number);

/* Parameters count from 1.  The text is borrowed until the step; may be NULL. */
void stmt_bind_text(sqlite3_stmt *stmt, int at, const char *text);
/* RUN_ABSENT becomes NULL; infinite numbers are stored as such. */
void stmt_bind_number(sqlite3_stmt *stmt, int at, double value);

/* Columns count from 0.  The text is borrowed until the next step. */
const char *stmt_text(sqlite3_stmt *stmt, int column);
double stmt_number(sqlite3_stmt *stmt, int column);

/* Step and reset a statement; returns SQLite's result code. */
int stmt_step(sqlite3_stmt *stmt);
int stmt_prepare(sqlite3 *db, const char *what, const char *sql, sqlite3_stmt **stmt,
		 struct err *err) MUST_USE;
/* Prepare n statements for repeated use. */
int stmt_prepare_all(sqlite3 *db, const char *what, const char *const *sql, size_t n,
		     sqlite3_stmt **stmts, struct err *err) MUST_USE;
/* Free a statement after reading its rows.  Returns `result`, or -1 if a step failed. */
int stmt_end_walk(sqlite3 *db, const char *what, sqlite3_stmt *stmt, int result, struct err *err);

/* How a member is stored in its column. */
enum column_type {
	COLUMN_TEXT,	 /* char *; borrowed until the next step */
	COLUMN_CHARS,	 /* array of `absent` characters; "": NULL */
	COLUMN_INT,	 /* 64 bits, signed or not */
	COLUMN_SHORT,	 /* int or unsigned int */
	COLUMN_BOOL,	 /* 0 or 1 */
	COLUMN_NUMBER,	 /* double, RUN_ABSENT: NULL */
	COLUMN_OPTIONAL, /* int64_t, the one number `absent`: NULL */
	COLUMN_ENUM,	 /* an enum by its name; `absent` for any other text */
	COLUMN_WORD,	 /* const char *: one of `names`; any other text: names[absent] */
	COLUMN_BLOB,	 /* struct column_blob of elements of `absent` bytes; borrowed too */
};

/* How a struct stores a COLUMN_BLOB. */
struct column_blob {
	void *v;
	size_t n;
};

struct column {
	const char *name;
	enum column_type type;
	size_t offset; /* offset of the member in its struct */
	int absent;
	const char *const *names; /* names of the enum's values, NULL-ended */
};

/* The column type follows from the type of the member. */
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
#define COLUMN_BLOB_OF(type, member) \
	COLUMN_NAMED(#member, COLUMN_BLOB, type, member.v, sizeof(*((type *)0)->member.v), NULL)
#define COLUMN_OPT_AS(name, type, member, absent) \
	COLUMN_NAMED(name, COLUMN_OPTIONAL, type, member, absent, NULL)
#define COLUMN_OPT(type, member, absent) COLUMN_OPT_AS(#member, type, member, absent)

/* Columns of a table, and the members of the struct that holds a row. */
struct table {
	const char *name;
	const struct column *columns;
	size_t n;
	/* Number of first columns that keep their values when a row with the same first column is
	 * written. 0: the whole row is replaced. */
	size_t n_fixed;
};

#define TABLE(name, columns, n_fixed)                                              \
	{                                                                          \
		(name), (columns), sizeof(columns) / sizeof(*(columns)), (n_fixed) \
	}

struct buf;

/* Append the column names, "a, b, c", each with the prefix. */
void table_names(struct buf *sql, const struct table *table, const char *prefix);
/* The statement that inserts or replaces a row; owned. */
char *table_put_sql(const struct table *table);
/* Insert or replace one row. */
int table_put(sqlite3 *db, const char *what, const struct table *table, const void *row,
	      struct err *err) MUST_USE;
/* Prepare "SELECT <columns> FROM <name> <rest>"; rest is a format as in db_exec().  NULL with err;
 * row_next() and stmt_end_walk() accept NULL. */
sqlite3_stmt *table_select(sqlite3 *db, const char *what, const struct table *table,
			   struct err *err, const char *rest, ...) MUST_USE;

/* Bind the columns of a row, starting with parameter `at`. */
void row_bind(sqlite3_stmt *stmt, int at, const struct table *table, const void *row);
/* Step to the next row and read it; false at the end or on error, see stmt_end_walk(). */
bool row_next(sqlite3_stmt *stmt, const struct table *table, void *row);
/* Read the columns into row, starting with column `at`. */
void row_read(sqlite3_stmt *stmt, int at, const struct table *table, void *row);
/* Pass each selected row to fn until it returns something other than 0.  Returns fn's last result,
 * or -1 with err.  type is the struct of a row; the last arguments are those of table_select(). */
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
/* Copy the texts and blobs of a row, so that it owns them; free them. */
void row_own(const struct table *table, void *row);
void row_release(const struct table *table, void *row);
