/* SPDX-License-Identifier: MIT */
/* SQLite connections, statements and rows. */
#include "store/db.h"

#include <unistd.h>

#include "base/file.h"
#include "parsers/run.h"

#define BUSY_MS 2000

/* To read a database, SQLite creates files next to it.  If it cannot, and no writer has left such
 * files, the database does not change: then the URI makes SQLite read it without these files. */
static char *make_uri(const char *path)
{
	AUTO_TEXT folder = file_folder(path);
	AUTO_TEXT wal = xasprintf("%s-wal", path);
	AUTO_BUF uri = buf_new(65536);

	buf_append_str(&uri, path[0] == '/' ? "file://" : "file:");
	for (const char *p = path; *p != '\0'; p++) {
		if (strchr("%?#", *p) != NULL)
			buf_appendf(&uri, "%%%02x", (unsigned char)*p);
		else
			buf_append_char(&uri, *p);
	}
	if (access(folder, W_OK) != 0 && access(wal, F_OK) != 0)
		buf_append_str(&uri, "?immutable=1");
	return buf_detach(&uri);
}

int db_open(const char *path, bool write, sqlite3 **db, struct err *err)
{
	/* A reader opens the file for writing if it can, to repair what a killed writer left. */
	bool is_writable = write || access(path, W_OK) == 0;
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI |
		    (is_writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
	AUTO_TEXT uri = make_uri(path);

	if (sqlite3_open_v2(uri, db, flags, NULL) != SQLITE_OK) {
		db_fail(*db, path, err);
		(void)sqlite3_close(*db);
		*db = NULL;
		return -1;
	}
	(void)sqlite3_busy_timeout(*db, BUSY_MS);
	(void)sqlite3_extended_result_codes(*db, 1);
	if (!write)
		(void)db_exec(*db, path, NULL, "PRAGMA query_only = ON");
	return 0;
}

int db_fail(sqlite3 *db, const char *what, struct err *err)
{
	return err_set(err, ERR_DB, "%s: %s", what, sqlite3_errmsg(db));
}

int db_exec(sqlite3 *db, const char *what, struct err *err, const char *sql, ...)
{
	va_list ap;

	va_start(ap, sql);
	char *text = sqlite3_vmprintf(sql, ap);
	va_end(ap);
	int rc = sqlite3_exec(db, text, NULL, NULL, NULL);
	sqlite3_free(text);
	return rc == SQLITE_OK ? 0 : db_fail(db, what, err);
}

int db_end(sqlite3 *db, const char *what, int rc, struct err *err)
{
	if (rc == 0)
		rc = db_exec(db, what, err, "COMMIT");
	/* SQLite may have rolled back already, for example because the disk is full. */
	if (rc != 0 && !sqlite3_get_autocommit(db))
		(void)db_exec(db, what, NULL, "ROLLBACK");
	return rc;
}

/* Prepare a statement and step to its first row; NULL: there is none. */
static sqlite3_stmt *first_row(sqlite3 *db, const char *sql, const char *text, int64_t number)
{
	sqlite3_stmt *stmt;

	if (stmt_prepare(db, "", sql, &stmt, NULL) != 0)
		return NULL;
	if (text != NULL)
		stmt_bind_text(stmt, 1, text);
	else if (sqlite3_bind_parameter_count(stmt) > 0)
		(void)sqlite3_bind_int64(stmt, 1, number);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		return stmt;
	(void)sqlite3_finalize(stmt);
	return NULL;
}

int64_t db_number(sqlite3 *db, const char *sql, const char *text)
{
	sqlite3_stmt *stmt = first_row(db, sql, text, 0);
	int64_t value = stmt != NULL ? sqlite3_column_int64(stmt, 0) : -1;

	(void)sqlite3_finalize(stmt);
	return value;
}

char *db_text(sqlite3 *db, const char *sql, int64_t number)
{
	sqlite3_stmt *stmt = first_row(db, sql, NULL, number);
	char *text = stmt != NULL ? xstrdup_null(stmt_text(stmt, 0)) : NULL;

	(void)sqlite3_finalize(stmt);
	return text;
}

void stmt_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	(void)sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

void stmt_bind_number(sqlite3_stmt *stmt, int at, double value)
{
	if (run_has(value))
		(void)sqlite3_bind_double(stmt, at, value);
	else
		(void)sqlite3_bind_null(stmt, at);
}

const char *stmt_text(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

double stmt_number(sqlite3_stmt *stmt, int column)
{
	double value = sqlite3_column_double(stmt, column);
	bool may_be_null = !(fabs(value) > 0);

	return may_be_null && sqlite3_column_type(stmt, column) == SQLITE_NULL ? RUN_ABSENT : value;
}

int stmt_step(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	(void)sqlite3_reset(stmt);
	return rc;
}

int stmt_prepare(sqlite3 *db, const char *what, const char *sql, sqlite3_stmt **stmt,
		 struct err *err)
{
	if (sqlite3_prepare_v2(db, sql, -1, stmt, NULL) == SQLITE_OK)
		return 0;
	return db_fail(db, what, err);
}

int stmt_prepare_all(sqlite3 *db, const char *what, const char *const *sql, size_t n,
		     sqlite3_stmt **stmts, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &stmts[i],
				       NULL) != SQLITE_OK)
			return db_fail(db, what, err);
	return 0;
}

int stmt_end_walk(sqlite3 *db, const char *what, sqlite3_stmt *stmt, int result, struct err *err)
{
	int rc = sqlite3_finalize(stmt);

	if (stmt == NULL)
		return -1;
	if (result == 0 && rc != SQLITE_OK)
		return db_fail(db, what, err);
	return result;
}

void table_names(struct buf *sql, const struct table *table, const char *prefix)
{
	for (size_t i = 0; i < table->n; i++)
		buf_appendf(sql, "%s%s%s", i > 0 ? ", " : "", prefix, table->columns[i].name);
}

char *table_put_sql(const struct table *table)
{
	AUTO_BUF sql = buf_new(65536);

	buf_appendf(&sql, "INSERT %sINTO %s(", table->n_fixed == 0 ? "OR REPLACE " : "",
		    table->name);
	table_names(&sql, table, "");
	buf_append_str(&sql, ") VALUES(");
	for (size_t i = 0; i < table->n; i++)
		buf_appendf(&sql, "%s?%zu", i > 0 ? ", " : "", i + 1);
	buf_append_str(&sql, ")");
	if (table->n_fixed > 0)
		buf_appendf(&sql, " ON CONFLICT(%s) DO UPDATE SET ", table->columns[0].name);
	for (size_t i = table->n_fixed; i > 0 && i < table->n; i++)
		buf_appendf(&sql, "%s%s = ?%zu", i > table->n_fixed ? ", " : "",
			    table->columns[i].name, i + 1);
	return buf_detach(&sql);
}

int table_put(sqlite3 *db, const char *what, const struct table *table, const void *row,
	      struct err *err)
{
	AUTO_TEXT sql = table_put_sql(table);
	sqlite3_stmt *stmt;
	int rc = stmt_prepare(db, what, sql, &stmt, err);

	if (rc != 0)
		return -1;
	row_bind(stmt, 1, table, row);
	rc = sqlite3_step(stmt);
	(void)sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : db_fail(db, what, err);
}

sqlite3_stmt *table_select(sqlite3 *db, const char *what, const struct table *table,
			   struct err *err, const char *rest, ...)
{
	AUTO_BUF sql = buf_new(65536);
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, rest);
	char *text = sqlite3_vmprintf(rest, ap);
	va_end(ap);
	buf_append_str(&sql, "SELECT ");
	table_names(&sql, table, "");
	buf_appendf(&sql, " FROM %s %s", table->name, text);
	sqlite3_free(text);
	return stmt_prepare(db, what, sql.data, &stmt, err) == 0 ? stmt : NULL;
}

void row_bind(sqlite3_stmt *stmt, int at, const struct table *table, const void *row)
{
	for (size_t i = 0; i < table->n; i++, at++) {
		const struct column *column = &table->columns[i];
		const void *member = (const char *)row + column->offset;
		struct column_blob blob;
		const char *text;

		switch (column->type) {
		case COLUMN_TEXT:
		case COLUMN_WORD:
			memcpy(&text, member, sizeof(text));
			stmt_bind_text(stmt, at, text);
			break;
		case COLUMN_CHARS:
			text = member;
			stmt_bind_text(stmt, at, *text != '\0' ? text : NULL);
			break;
		case COLUMN_ENUM:
			stmt_bind_text(stmt, at, column->names[*(const unsigned int *)member]);
			break;
		case COLUMN_OPTIONAL:
			if (*(const int64_t *)member == column->absent)
				(void)sqlite3_bind_null(stmt, at);
			else
				(void)sqlite3_bind_int64(stmt, at, *(const int64_t *)member);
			break;
		case COLUMN_INT:
			(void)sqlite3_bind_int64(stmt, at, *(const int64_t *)member);
			break;
		case COLUMN_SHORT:
			(void)sqlite3_bind_int(stmt, at, *(const int *)member);
			break;
		case COLUMN_BOOL:
			(void)sqlite3_bind_int(stmt, at, *(const bool *)member);
			break;
		case COLUMN_NUMBER:
			stmt_bind_number(stmt, at, *(const double *)member);
			break;
		case COLUMN_BLOB:
			memcpy(&blob, member, sizeof(blob));
			(void)sqlite3_bind_blob64(stmt, at, blob.n > 0 ? blob.v : NULL,
						  blob.n * (size_t)column->absent, SQLITE_STATIC);
			break;
		}
	}
}

static unsigned int find_name(const struct column *column, const char *text)
{
	int i = text != NULL ? str_index(column->names, text) : -1;

	return (unsigned int)(i >= 0 ? i : column->absent);
}

void row_read(sqlite3_stmt *stmt, int at, const struct table *table, void *row)
{
	for (size_t i = 0; i < table->n; i++, at++) {
		const struct column *column = &table->columns[i];
		void *member = (char *)row + column->offset;
		struct column_blob blob;
		const char *text;
		size_t len;

		switch (column->type) {
		case COLUMN_TEXT:
			text = stmt_text(stmt, at);
			memcpy(member, &text, sizeof(text));
			break;
		case COLUMN_CHARS:
			text = stmt_text(stmt, at);
			len = text != NULL ? strnlen(text, (size_t)column->absent - 1) : 0;
			memcpy(member, text != NULL ? text : "", len);
			((char *)member)[len] = '\0';
			break;
		case COLUMN_WORD:
			text = column->names[find_name(column, stmt_text(stmt, at))];
			memcpy(member, &text, sizeof(text));
			break;
		case COLUMN_ENUM:
			*(unsigned int *)member = find_name(column, stmt_text(stmt, at));
			break;
		case COLUMN_OPTIONAL:
		case COLUMN_INT:
			*(int64_t *)member =
				column->absent != 0 && sqlite3_column_type(stmt, at) == SQLITE_NULL
					? column->absent
					: sqlite3_column_int64(stmt, at);
			break;
		case COLUMN_SHORT:
			*(int *)member = sqlite3_column_int(stmt, at);
			break;
		case COLUMN_BOOL:
			*(bool *)member = sqlite3_column_int(stmt, at) != 0;
			break;
		case COLUMN_NUMBER:
			*(double *)member = stmt_number(stmt, at);
			break;
		case COLUMN_BLOB:
			blob.v = (void *)(uintptr_t)sqlite3_column_blob(stmt, at);
			blob.n = (size_t)(sqlite3_column_bytes(stmt, at) / column->absent);
			memcpy(member, &blob, sizeof(blob));
			break;
		}
	}
}

bool row_next(sqlite3_stmt *stmt, const struct table *table, void *row)
{
	if (stmt == NULL || sqlite3_step(stmt) != SQLITE_ROW)
		return false;
	row_read(stmt, 0, table, row);
	return true;
}

static void change_texts(const struct table *table, void *row, bool copy)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct column *column = &table->columns[i];
		char *member = (char *)row + column->offset;
		bool is_blob = column->type == COLUMN_BLOB;
		struct column_blob blob;
		char *before, *after = NULL;

		if (column->type != COLUMN_TEXT && !is_blob)
			continue;
		memcpy(&before, member, sizeof(before));
		if (!copy) {
			free(before);
		} else if (!is_blob) {
			after = xstrdup_null(before);
		} else if (before != NULL) {
			memcpy(&blob, member, sizeof(blob));
			after = xcalloc(blob.n + 1, (size_t)column->absent);
			memcpy(after, before, blob.n * (size_t)column->absent);
		}
		memcpy(member, &after, sizeof(after));
	}
}

void row_own(const struct table *table, void *row)
{
	change_texts(table, row, true);
}

void row_release(const struct table *table, void *row)
{
	change_texts(table, row, false);
}
