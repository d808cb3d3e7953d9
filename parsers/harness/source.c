/* SPDX-License-Identifier: MIT */
/* Find the files of one run, and collect the contradictions between them. */
#include "parsers/harness/parts.h"

#define DISPUTE_MAX  320
#define MAX_DISPUTES 64

bool harness_is_old(const struct harness_build *b, const struct harness_file *file)
{
	const struct harness_file *config =
		harness_files_find(b->files, HARNESS_CONFIG, b->run->dir, 0, 0);

	return b->run->ordered && config != NULL && file->ctime_ms < config->ctime_ms;
}

const struct harness_file *harness_run_file(const struct harness_build *b, enum harness_kind kind,
					    unsigned int number)
{
	return harness_try_file(b, kind, number, 0);
}

const struct harness_file *harness_try_file(const struct harness_build *b, enum harness_kind kind,
					    unsigned int number, unsigned int try)
{
	const struct harness_file *file =
		harness_files_find(b->files, kind, b->run->dir, number, try);

	return file != NULL && !harness_is_old(b, file) ? file : NULL;
}

bool harness_is_open(const struct harness_build *b, enum harness_kind prompt,
		     enum harness_kind output, unsigned int number)
{
	return harness_run_file(b, prompt, number) != NULL &&
	       harness_run_file(b, output, number) == NULL;
}

struct str harness_text_file(const struct harness_build *b, enum harness_kind kind,
			     unsigned int number)
{
	const struct harness_file *file = harness_run_file(b, kind, number);

	return file != NULL ? (struct str){ file->text, file->len } : (struct str){ NULL, 0 };
}

const cJSON *harness_json_file(const struct harness_build *b, enum harness_kind kind,
			       unsigned int number)
{
	const struct harness_file *file = harness_run_file(b, kind, number);

	return file != NULL ? file->json : NULL;
}

struct str harness_flag(const char *command, const char *name)
{
	const char *p = command;
	size_t len = strlen(name);

	while (p != NULL && (p = strstr(p, "--")) != NULL) {
		p += 2;
		if (strncmp(p, name, len) != 0 || (p[len] != ' ' && p[len] != '='))
			continue;
		p += len + 1;
		while (*p == ' ')
			p++;
		return (struct str){ p, strcspn(p, " \"';|&") };
	}
	return (struct str){ NULL, 0 };
}

void harness_dispute(struct harness_build *b, const char *fmt, ...)
{
	struct harness_run *run = b->run;
	char text[DISPUTE_MAX];

	if (run->disputes == NULL)
		run->disputes = harness_pool_alloc(b->pool, MAX_DISPUTES, sizeof(*run->disputes));
	if (run->n_disputes == MAX_DISPUTES)
		return;
	print_args(text, fmt);
	run->disputes[run->n_disputes++] = harness_pool_text(b->pool, str_from(text), sizeof(text));
}
