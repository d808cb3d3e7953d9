/* SPDX-License-Identifier: MIT */
/* Writes from outside of a store: a bench's results, the noise register. */
#include "config.h"

#include "store/schema.h"
#include "store/store_priv.h"

int
store_write_once(const char *db_path, const char *what,
		 int (*write)(sqlite3 *db, const void *user, struct err *err),
		 const void *user, struct err *err)
{
	const struct store_options options = { .path = db_path };
	struct store *store = store_open(&options, err);
	sqlite3 *db = NULL;
	int rc;

	if (store == NULL || store_close(store, err) != 0 ||
	    store_open_db(db_path, true, &db, err) != 0)
		return -1;
	if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		rc = schema_fail(db, what, err);
	else
		rc = write(db, user, err);
	if (rc == 0 &&
	    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		rc = schema_fail(db, what, err);
	if (rc != 0 && !sqlite3_get_autocommit(db))
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	(void)sqlite3_close(db);
	return rc;
}
