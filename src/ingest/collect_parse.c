/* SPDX-License-Identifier: MIT */
/*
 * The reader of a log that is far behind works on another thread, so that
 * the loop can go on receiving.  What it says meanwhile is kept, and told on
 * the loop in the same order; collect_file.c feeds.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ingest/collect_priv.h"

/* So much may wait for the reader; then the loop waits too. */
#define WAITING_MAX_BYTES ((size_t)512 * 1024)

enum word_kind { WORD_SAMPLE, WORD_EVENT, WORD_RUN };

/* One thing that the reader said. */
struct word {
	enum word_kind kind;
	unsigned int run_index;
	union {
		struct sample sample;
		struct run_event event; /* text owned */
		struct run *run;	/* owned */
	};
};

struct block {
	char *data;
	size_t len, cap;
};

struct collect_parse {
	struct collect_file *file;
	struct job *job; /* NULL: the reader is here */
	struct block work, waiting;
	struct word *words;
	size_t n_words, cap_words;
	uint64_t first_line; /* of classes */
	unsigned char *classes;
	size_t n_classes, cap_classes;
};

static struct word *
add_word(struct collect_parse *p, enum word_kind kind, const struct run *run)
{
	struct word *word;

	p->words =
		xgrow(p->words, p->n_words, &p->cap_words, sizeof(*p->words));
	word = &p->words[p->n_words++];
	word->kind = kind;
	word->run_index = run->run_index;
	return word;
}

void
collect_parse_sample(struct collect_parse *p, const struct run *run,
		     const struct sample *sample)
{
	add_word(p, WORD_SAMPLE, run)->sample = *sample;
}

void
collect_parse_event(struct collect_parse *p, const struct run *run,
		    const struct run_event *event)
{
	struct word *word = add_word(p, WORD_EVENT, run);

	word->event = *event;
	word->event.text = xstrdup(event->text);
}

void
collect_parse_run(struct collect_parse *p, const struct run *run)
{
	struct word *word = add_word(p, WORD_RUN, run);

	word->run = xmalloc(sizeof(*word->run));
	run_copy(word->run, run);
}

void
collect_parse_line(struct collect_parse *p, uint64_t line,
		   enum line_class class)
{
	if (p->n_classes == 0)
		p->first_line = line;
	assert(line == p->first_line + p->n_classes);
	p->classes = xgrow(p->classes, p->n_classes, &p->cap_classes, 1);
	p->classes[p->n_classes++] = (unsigned char)class;
}

static void
tell_word(struct collect_file *file, struct word *word, struct run *at)
{
	at->run_index = word->run_index;
	switch (word->kind) {
	case WORD_SAMPLE:
		collect_file_sample(file, at, &word->sample);
		break;
	case WORD_EVENT:
		collect_file_event(file, at, &word->event);
		free(word->event.text);
		break;
	case WORD_RUN:
		collect_file_run(file, word->run);
		run_release(word->run);
		free(word->run);
		break;
	}
}

/* Tell all that was said; of a run only its number is known by then. */
static void
tell(struct collect_parse *p)
{
	struct run at;

	run_init(&at);
	for (size_t i = 0; i < p->n_words; i++)
		tell_word(p->file, &p->words[i], &at);
	run_release(&at);
	for (size_t i = 0; i < p->n_classes; i++)
		logclass_add(&p->file->log->classes, p->first_line + i,
			     (enum line_class)p->classes[i]);
	p->n_words = p->n_classes = 0;
}

static void
on_work(void *user)
{
	struct collect_parse *p = user;

	run_reader_feed(p->file->reader, p->work.data, p->work.len);
}

static void start(struct collect_parse *p);

static void
on_done(void *user)
{
	struct collect_parse *p = user;

	p->job = NULL;
	p->file->is_away = false;
	tell(p);
	collect_file_fed(p->file);
	if (p->waiting.len > 0)
		start(p);
}

static void
start(struct collect_parse *p)
{
	struct block work = p->work;

	p->work = p->waiting;
	p->waiting = work;
	p->waiting.len = 0;
	p->file->is_away = true;
	p->job = loop_job_new(p->file->pod->collect->o.loop, JOB_PARSE, on_work,
			      on_done, p);
}

static void
append(struct block *block, const void *data, size_t len)
{
	if (block->len + len > block->cap) {
		block->cap = block->len + len;
		block->data = xrealloc(block->data, block->cap);
	}
	memcpy(block->data + block->len, data, len);
	block->len += len;
}

void
collect_parse_feed(struct collect_file *file, const void *data, size_t len)
{
	struct collect_parse *p = file->parse;

	if (p == NULL) {
		p = file->parse = xcalloc(1, sizeof(*p));
		p->file = file;
	}
	if (p->job != NULL && p->waiting.len + len > WAITING_MAX_BYTES)
		loop_job_finish(p->job);
	append(&p->waiting, data, len);
	if (p->job == NULL)
		start(p);
}

void
collect_parse_settle(struct collect_file *file)
{
	while (file->parse != NULL && file->parse->job != NULL)
		loop_job_finish(file->parse->job);
}

void
collect_parse_free(struct collect_parse *p)
{
	if (p == NULL)
		return;
	assert(p->job == NULL);
	free(p->work.data);
	free(p->waiting.data);
	free(p->words);
	free(p->classes);
	free(p);
}
