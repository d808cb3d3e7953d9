/* SPDX-License-Identifier: MIT */
/* Build lists of facts, which commands and the dashboard print. */
#include "report/facts.h"

#include <math.h>

#define TEXT_BYTES 65536

void facts_release(struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		free(facts->v[i].text);
	for (size_t i = 0; i < facts->n_kept; i++)
		free(facts->kept[i]);
	for (size_t i = 0; i < facts->n_sections; i++)
		free(facts->sections[i].columns);
	free(facts->kept);
	free(facts->v);
	free(facts->sections);
	*facts = (struct facts){ .n = 0 };
}

struct facts_section *facts_table(struct facts *facts, const char *title,
				  const struct facts_column *columns, size_t n_columns)
{
	struct facts_section section = { .title = title,
					 .first = facts->n,
					 .n_columns = n_columns };

	if (n_columns > 0) {
		section.columns = xcalloc(n_columns, sizeof(*columns));
		memcpy(section.columns, columns, n_columns * sizeof(*columns));
	}
	xpush(facts->sections, facts->n_sections, facts->cap_sections, section);
	return &facts->sections[facts->n_sections - 1];
}

struct facts_section *facts_section(struct facts *facts, const char *title)
{
	return facts_table(facts, title, NULL, 0);
}

static struct fact *facts_add(struct facts *facts, const struct fact *fact)
{
	if (facts->n_sections == 0)
		facts_section(facts, "");
	facts->sections[facts->n_sections - 1].n++;
	xpush(facts->v, facts->n, facts->cap, *fact);
	return &facts->v[facts->n - 1];
}

struct fact *facts_text(struct facts *facts, const char *label, enum fact_style style,
			const char *fmt, ...)
{
	struct fact fact = { .label = label, .style = style, .number = (double)NAN, .unit = "" };
	AUTO_BUF text = buf_new(TEXT_BYTES);

	buf_append_args(&text, fmt);
	fact.text = buf_detach(&text);
	return facts_add(facts, &fact);
}

struct fact *facts_number(struct facts *facts, const char *label, enum fmt_kind kind, double number,
			  int decimals, const char *unit)
{
	return facts_add(facts, &(struct fact){ .label = label,
						.kind = kind,
						.number = number,
						.decimals = decimals,
						.unit = unit });
}

struct fact *facts_cell(struct facts *facts, double number)
{
	const struct facts_section *s = &facts->sections[facts->n_sections - 1];
	const struct facts_column *column = &s->columns[s->n % s->n_columns];

	return facts_number(facts, "", column->kind, number, column->decimals, "");
}

const char *facts_keep(struct facts *facts, const char *fmt, ...)
{
	AUTO_BUF text = buf_new(TEXT_BYTES);

	buf_append_args(&text, fmt);
	xpush(facts->kept, facts->n_kept, facts->cap_kept, buf_detach(&text));
	return facts->kept[facts->n_kept - 1];
}

const char *fact_value(const struct fact *fact, char out[FACT_SIZE])
{
	if (fact->text != NULL)
		return fact->text;
	(void)snprintf(out, FACT_SIZE, "%s%s%.20s",
		       fmt_value(fact->kind, fact->number, fact->decimals).s,
		       fact->unit[0] != '\0' && !isnan(fact->number) ? " " : "",
		       isnan(fact->number) ? "" : fact->unit);
	return out;
}
