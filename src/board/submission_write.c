/* SPDX-License-Identifier: MIT */
/* The folder of a submission; called by the command `submission`. */
#include "config.h"

#include "board/submission.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "board/print.h"
#include "report/new_folder.h"

#define BLOCK_BYTES 65536U

static int
write_json(const struct submission *s, const char *folder, struct err *err)
{
	char *path, *text;
	FILE *stream = new_folder_create(folder, "submission.json", &path, err);
	cJSON *root;

	if (stream == NULL)
		return -1;
	root = submission_json(s);
	text = cJSON_Print(root);
	(void)fprintf(stream, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(root);
	return new_folder_finish(stream, path, err);
}

static void
say_item(void *user, const char *sentence)
{
	struct buf clean;

	buf_init(&clean, 4096);
	utf8_sanitize(&clean, str_from(sentence));
	(void)fprintf(user, "- %s\n", clean.data);
	buf_release(&clean);
}

static int
write_readme(const struct submission *s, const char *folder, struct err *err)
{
	char *path;
	FILE *stream = new_folder_create(folder, "README.md", &path, err);
	struct buf text;

	if (stream == NULL)
		return -1;
	buf_init(&text, 4096);
	utf8_sanitize(&text,
		      str_from(s->name != NULL ? s->name : s->group->title));
	(void)fprintf(stream, "# %s\n\n", text.data);
	if (s->blurb != NULL)
		(void)fprintf(stream, "%s\n\n", s->blurb);
	(void)fputs("## Results\n\n", stream);
	board_print_md_group(stream, s->board, s->group, false);
	buf_clear(&text);
	board_track_line(&text, s->board->track);
	(void)fprintf(stream, "\n%s\n", text.data);
	(void)fputs("\n## To be settled\n\n", stream);
	if (submission_check(s, say_item, stream) == 0)
		(void)fputs("Nothing.\n", stream);
	buf_release(&text);
	return new_folder_finish(stream, path, err);
}

static const char *
log_of(const struct board_row *row)
{
	return row->log != NULL ? row->log : row->path;
}

/* All bytes of from into sha and, where there is one, to. */
static void
pass_bytes(FILE *from, FILE *to, struct sha256 *sha)
{
	char *block = xmalloc(BLOCK_BYTES);
	size_t n;

	while ((n = fread(block, 1, BLOCK_BYTES, from)) > 0) {
		sha256_update(sha, block, n);
		if (to != NULL)
			(void)fwrite(block, 1, n, to);
	}
	free(block);
}

void
submission_find_logs(struct board *board, const struct board_group *group)
{
	for (size_t i = 0; i < group->n_rows; i++) {
		struct board_row *row = board->rows[group->rows[i]];
		struct sha256 sha;
		FILE *from;

		if (row->log == NULL || row->sha256[0] != '\0')
			continue;
		from = fopen(row->log, "rbe");
		if (from == NULL)
			continue;
		sha256_init(&sha);
		pass_bytes(from, NULL, &sha);
		if (!ferror(from))
			sha256_hex(&sha, row->sha256);
		sha256_release(&sha);
		(void)fclose(from);
	}
}

/* Copy one log, and see that it is the one whose numbers are told. */
static int
copy_log(const struct submission *s, const struct board_row *row,
	 const char *folder, struct err *err)
{
	char *name = submission_log_name(s, row), *path;
	char hex[SHA256_HEX_SIZE];
	FILE *to, *from = fopen(log_of(row), "rbe");
	struct sha256 sha;
	bool failed;

	to = from != NULL ? new_folder_create(folder, name, &path, err) : NULL;
	if (from == NULL)
		err_set_errno(err, ERR_IO, "cannot open %s", log_of(row));
	free(name);
	if (to == NULL) {
		if (from != NULL)
			(void)fclose(from);
		return -1;
	}
	sha256_init(&sha);
	pass_bytes(from, to, &sha);
	sha256_hex(&sha, hex);
	sha256_release(&sha);
	failed = ferror(from) != 0;
	(void)fclose(from);
	if (new_folder_finish(to, path, err) != 0)
		return -1;
	if (failed)
		return err_set(err, ERR_IO, "cannot read %s", log_of(row));
	if (strcmp(hex, row->sha256) != 0)
		return err_set(err, ERR_IO, "%s has changed since it was read",
			       log_of(row));
	return 0;
}

/* Was this very copy made for a row before? A file may hold several runs. */
static bool
is_copied(const struct submission *s, size_t at)
{
	const struct board_row *row = s->board->rows[s->group->rows[at]];
	char *name = submission_log_name(s, row);
	bool copied = false;

	for (size_t i = 0; i < at && !copied; i++) {
		const struct board_row *other =
			s->board->rows[s->group->rows[i]];
		char *other_name = submission_log_name(s, other);

		copied = other->use == BOARD_COUNTED &&
			 strcmp(row->path, other->path) == 0 &&
			 strcmp(name, other_name) == 0;
		free(other_name);
	}
	free(name);
	return copied;
}

int
submission_write(const struct submission *s, const char *folder, bool logs,
		 struct err *err)
{
	if (new_folder_make(folder, err) != 0)
		return -1;
	for (size_t i = 0; logs && i < s->group->n_rows; i++) {
		const struct board_row *row = s->board->rows[s->group->rows[i]];

		if (row->use == BOARD_COUNTED && row->sha256[0] != '\0' &&
		    !is_copied(s, i) && copy_log(s, row, folder, err) != 0)
			return -1;
	}
	if (write_json(s, folder, err) != 0 ||
	    write_readme(s, folder, err) != 0)
		return -1;
	return 0;
}
