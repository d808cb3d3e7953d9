/* SPDX-License-Identifier: MIT */
/* Files of a made-up run, written as HarnessGym writes: in place. */
#include "config.h"

#include "harness/gen_sheet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/xalloc.h"

#define QUANTUM_US 0.032 /* of the event clock: every score is a multiple */

double
gen_score_of(const struct gen_figures *f)
{
	return f->quanta * QUANTUM_US;
}

static void
pause_us(unsigned int us)
{
	struct timespec wait = { us / 1000000, (long)(us % 1000000) * 1000 };

	if (us > 0)
		(void)nanosleep(&wait, NULL);
}

/* Make every folder above path. */
static void
make_folders(const char *path)
{
	char *copy = xstrdup(path);

	for (char *p = strchr(copy + 1, '/'); p != NULL;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(copy, 0777);
		*p = '/';
	}
	free(copy);
}

/* The bytes of the sheet, in two halves where a live writer is wanted. */
static int
write_parts(const struct gen_sheet *s, int fd)
{
	size_t half = s->gen->torn_us > 0 ? s->text.len / 2 : 0;

	pause_us(s->gen->torn_us);
	if (fd_write_all(fd, s->text.data, half) != 0)
		return -1;
	if (half > 0)
		pause_us(s->gen->torn_us);
	return fd_write_all(fd, s->text.data + half, s->text.len - half);
}

/* Write the sheet to a file below .harnessgym and empty it. */
void
gen_put(struct gen_sheet *s, int flags, const char *fmt, ...)
{
	struct timespec times[2] = {
		{ s->at_ms / 1000, (s->at_ms % 1000) * 1000000 },
	};
	char name[256], *path;
	va_list ap;
	int fd;

	va_start(ap, fmt);
	(void)vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	path = xasprintf("%s/.harnessgym/%s", s->gen->dir, name);
	make_folders(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	if (fd < 0 || write_parts(s, fd) != 0)
		s->rc = err_set_errno(s->err, ERR_IO, "cannot write %s", path);
	times[1] = times[0];
	if (fd >= 0 && s->gen->torn_us == 0)
		(void)futimens(fd, times);
	if (fd >= 0)
		(void)close(fd);
	free(path);
	buf_clear(&s->text);
}

/* RFC 3339 as HarnessGym writes it. */
const char *
gen_stamp(int64_t at_ms, char out[CLOCK_RFC3339_SIZE + 8])
{
	size_t len;

	clock_rfc3339(at_ms, out);
	len = strlen(out);
	if (len > 0 && out[len - 1] == 'Z')
		(void)snprintf(out + len - 1, 8, "+00:00");
	return out;
}

/* The verifier's output for a score, split over its four cases. */
void
gen_add_verdict(struct buf *text, unsigned int quanta)
{
	static const struct {
		unsigned int rows, dim, share;
	} cases[] = {
		{ 4096, 1024, 12 },
		{ 2048, 2048, 18 },
		{ 1024, 4096, 28 },
		{ 192, 8192, 42 },
	};
	unsigned int left = quanta;

	buf_appendf(text, "{\"best_us\": %.3f, \"cases\": [",
		    quanta * QUANTUM_US);
	for (size_t i = 0; i < 4; i++) {
		unsigned int part =
			i < 3 ? quanta * cases[i].share / 100 : left;

		left -= part;
		buf_appendf(text,
			    "%s{\"best_us\": %.3f, \"dim\": %u, \"max_abs\": "
			    "0.0009765625, \"median_us\": %.3f, \"name\": "
			    "\"final_r%u_d%u\", \"rows\": %u, \"status\": "
			    "\"passed\", \"tolerance\": 0.02}",
			    i > 0 ? ", " : "", part * QUANTUM_US, cases[i].dim,
			    (part + 12) * QUANTUM_US, cases[i].rows,
			    cases[i].dim, cases[i].rows);
	}
	buf_appendf(text,
		    "], \"device\": \"NVIDIA H100 80GB HBM3\", \"median_us\": "
		    "%.3f, \"mode\": \"final\", \"score\": %.3f, \"status\": "
		    "\"passed\", \"target_best_us\": 90.0, \"verified\": true}",
		    (quanta + 48) * QUANTUM_US, quanta * QUANTUM_US);
}

/* The record of one run of the verifier; SSH refused where it has no score. */
void
gen_add_post(struct buf *text, const struct gen_figures *f)
{
	buf_append_str(text, "{\"command\": \"" GEN_COMMAND "\", ");
	if (f->quanta == 0) {
		buf_append_str(text,
			       "\"duration_seconds\": 0.31, \"json\": null, "
			       "\"return_code\": 2, \"score\": null, "
			       "\"score_key\": \"best_us\", \"status\": "
			       "\"failed\", \"timed_out\": false}");
		return;
	}
	buf_append_str(text, "\"duration_seconds\": 21.4, \"json\": ");
	gen_add_verdict(text, f->quanta);
	buf_appendf(text,
		    ", \"return_code\": 0, \"score\": %.3f, \"score_key\": "
		    "\"best_us\", \"status\": \"completed\", \"timed_out\": "
		    "false}",
		    gen_score_of(f));
}
