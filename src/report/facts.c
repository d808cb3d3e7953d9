/* SPDX-License-Identifier: MIT */
/* Lists of facts; filled by whoever knows, printed by the screen. */
#include "config.h"

#include "report/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

#define TEXT_BYTES 4096

void
facts_init(struct facts *facts)
{
	memset(facts, 0, sizeof(*facts));
}

void
facts_release(struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		free(facts->v[i].text);
		free(facts->v[i].note);
	}
	for (size_t i = 0; i < facts->n_kept; i++)
		free(facts->kept[i]);
	free(facts->kept);
	free(facts->v);
	free(facts->sections);
	facts_init(facts);
}

void
facts_table(struct facts *facts, const char *title,
	    const struct facts_column *columns, size_t n_columns)
{
	facts->sections = xgrow(facts->sections, facts->n_sections,
				&facts->cap_sections, sizeof(*facts->sections));
	facts->sections[facts->n_sections++] =
		(struct facts_section){ title, facts->n, 0, columns,
					n_columns };
}

void
facts_section(struct facts *facts, const char *title)
{
	facts_table(facts, title, NULL, 0);
}

static struct fact *
facts_add(struct facts *facts, const struct fact *fact)
{
	if (facts->n_sections == 0)
		facts_section(facts, "");
	facts->v = xgrow(facts->v, facts->n, &facts->cap, sizeof(*facts->v));
	facts->v[facts->n] = *fact;
	facts->sections[facts->n_sections - 1].n++;
	return &facts->v[facts->n++];
}

__attribute__((format(printf, 1, 0))) static char *
fact_print(const char *fmt, va_list ap)
{
	struct buf text;

	buf_init(&text, TEXT_BYTES);
	buf_vappendf(&text, fmt, ap);
	return buf_detach(&text);
}

struct fact *
facts_text(struct facts *facts, const char *label, enum fact_style style,
	   const char *fmt, ...)
{
	struct fact fact = { .label = label,
			     .style = style,
			     .number = (double)NAN,
			     .unit = "" };
	va_list ap;

	va_start(ap, fmt);
	fact.text = fact_print(fmt, ap);
	va_end(ap);
	return facts_add(facts, &fact);
}

struct fact *
facts_number(struct facts *facts, const char *label, enum fmt_kind kind,
	     double number, int decimals, const char *unit)
{
	return facts_add(facts, &(struct fact){ .label = label,
						.kind = kind,
						.number = number,
						.decimals = decimals,
						.unit = unit });
}

const char *
facts_keep(struct facts *facts, const char *fmt, ...)
{
	va_list ap;

	facts->kept = xgrow(facts->kept, facts->n_kept, &facts->cap_kept,
			    sizeof(*facts->kept));
	va_start(ap, fmt);
	facts->kept[facts->n_kept] = fact_print(fmt, ap);
	va_end(ap);
	return facts->kept[facts->n_kept++];
}

void
fact_note(struct fact *fact, const char *fmt, ...)
{
	va_list ap;

	free(fact->note);
	va_start(ap, fmt);
	fact->note = fact_print(fmt, ap);
	va_end(ap);
}

const char *
fact_value(const struct fact *fact, char out[FACT_SIZE])
{
	char number[FMT_SIZE];

	if (fact->text != NULL)
		return fact->text;
	(void)fmt_value(fact->kind, fact->number, fact->decimals, number);
	(void)snprintf(out, FACT_SIZE, "%s%s%.20s", number,
		       fact->unit[0] != '\0' && !isnan(fact->number) ? " " : "",
		       isnan(fact->number) ? "" : fact->unit);
	return out;
}
