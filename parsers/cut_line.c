/* SPDX-License-Identifier: MIT */
/* A last line without its LF: what of it is sure; used by run_reader.c. */
#include "config.h"

#include "parsers/cut_line.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"

/* Digits behind the point of the number that ends at `end`. */
static size_t
decimals_before(const char *start, const char *end)
{
	const char *p = end;

	while (p > start && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return p > start && p[-1] == '.' ? (size_t)(end - p) : 0;
}

/* Loss and BPB come from one format: the BPB is whole if it is as long. */
static bool
is_as_long_as_loss(struct str line)
{
	static const char key[] = "val_loss";
	const char *end = line.p + line.len;
	const char *at = memmem(line.p, line.len, key, sizeof(key) - 1);
	size_t n = decimals_before(line.p, end);

	if (at == NULL || n < 4)
		return false;
	at += sizeof(key) - 1;
	while (at < end && strchr(":= .0123456789", *at) != NULL &&
	       (*at != ' ' || at[-1] == ':' || at[-1] == '='))
		at++;
	return at < end && decimals_before(line.p, at) == n;
}

bool
cut_line_is_whole(struct scanner *scanner, struct str line,
		  const struct record *record)
{
	struct record longer;
	struct buf text;
	bool same;

	if (line.p[line.len - 1] != '.' &&
	    (line.p[line.len - 1] < '0' || line.p[line.len - 1] > '9'))
		return true;
	buf_init(&text, line.len + 2);
	buf_append(&text, line.p, line.len);
	buf_append_char(&text, '7');
	same = scanner_scan(scanner, (struct str){ text.data, text.len },
			    &longer) &&
	       longer.rule == record->rule && longer.present == record->present;
	for (size_t m = 0; same && m < METRIC_COUNT; m++)
		same = !record_has(record, (enum metric)m) ||
		       longer.values[m] == record->values[m] ||
		       isnan(record->values[m]);
	buf_release(&text);
	return same ||
	       (record_has(record, METRIC_VAL_BPB) && is_as_long_as_loss(line));
}
