/* SPDX-License-Identifier: MIT */
/* Plays a recording into files and pods. */
#include "app/demo_player.h"

#include <assert.h>
#include <sys/stat.h>

#include "base/xalloc.h"

struct demo_player {
	struct demo_stage stage;
	struct str rest; /* the records after the next one */
	char kind;	 /* kind of the next record; '\0': end of the recording */
	struct str text;
	int64_t due_ms;
	size_t played; /* number of records */
	size_t pod;    /* MODEL_NONE: none named yet */
	char *path;    /* owned; path of `file` */
	FILE *file;    /* owned; NULL: none named yet */
	bool wrote;    /* unflushed text, last written at wrote_ms */
	int64_t wrote_ms;
	bool failed; /* err is set */
	struct err err;
	struct telemetry_reader telemetry;
};

static void read_record(struct demo_player *p)
{
	struct str line;
	int64_t ms;

	p->kind = '\0';
	if (p->rest.len == 0 || !str_next(&p->rest, '\n', &line))
		return;
	size_t n = index_of(i, line.len, strchr("-0123456789", line.p[i]) == NULL);
	assert(n < line.len);
	if (str_to_i64((struct str){ line.p, n }, &ms))
		p->due_ms += ms;
	p->kind = line.p[n];
	p->text = (struct str){ line.p + n + 1, line.len - n - 1 };
}

struct demo_player *demo_player_new(const struct demo_stage *stage, const char *recording)
{
	struct demo_player *p = xnew(struct demo_player, .stage = *stage,
				     .rest = str_from(recording), .pod = MODEL_NONE);

	telemetry_init(&p->telemetry, NULL, 0);
	read_record(p);
	return p;
}

void demo_player_free(struct demo_player *p)
{
	if (p->file != NULL)
		(void)fclose(p->file);
	free(p->path);
	free(p);
}

static void set_failed(struct demo_player *p)
{
	p->failed = true;
	err_set_errno(&p->err, ERR_IO, "cannot write %s", p->path);
}

static void flush_file(struct demo_player *p)
{
	int64_t ms = p->stage.begin_ms + p->wrote_ms;
	struct timespec at = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };
	const struct timespec times[2] = { at, at };

	if (p->file == NULL || !p->wrote)
		return;
	p->wrote = false;
	if (fflush(p->file) != 0 || futimens(fileno(p->file), times) != 0)
		set_failed(p);
}

static void open_file(struct demo_player *p, const char *mode)
{
	flush_file(p);
	if (p->file != NULL)
		(void)fclose(p->file);
	p->file = NULL;
	xset_text(&p->path, xasprintf("%s/%.*s", p->stage.folder, (int)p->text.len, p->text.p));
	char *slash = strrchr(p->path, '/');
	*slash = '\0';
	p->failed |= conf_make_dir(p->path, &p->err) != 0;
	*slash = '/';
	if (!p->failed && (p->file = fopen(p->path, mode)) == NULL)
		set_failed(p);
	p->wrote = true;
	p->wrote_ms = p->due_ms;
}

static void append_text(struct demo_player *p, struct str text, const char *end)
{
	(void)fwrite(text.p, 1, text.len, p->file);
	(void)fputs(end, p->file);
	p->wrote = true;
	p->wrote_ms = p->due_ms;
}

/* Set the state of a pod's connection; a change becomes an event, the first state does not. */
static void play_link(struct demo_player *p)
{
	struct model *model = p->stage.model;
	bool known = model->pods[p->pod].state != POD_UNKNOWN;
	struct str why = p->text, name;
	enum pod_state state = POD_UNKNOWN;

	(void)str_next(&why, ' ', &name);
	while (state < POD_GONE && !str_eq_cstr(name, pod_state_name(state)))
		state++;
	AUTO_TEXT reason = why.len > 0 ? xstrndup(why.p, why.len) : xstrdup("");
	model_pod_set_state(model, p->pod, state, reason, 0);
	if (known)
		model_event_addf(model, p->stage.begin_ms + p->due_ms,
				 state == POD_LIVE ? MODEL_INFO : MODEL_WARNING, p->pod,
				 "%s: %s%s%s", model->pods[p->pod].name, pod_state_name(state),
				 reason[0] != '\0' ? ": " : "", reason);
}

static void play_record(struct demo_player *p)
{
	struct str rest = p->text, part;
	AUTO_TEXT name = NULL;

	switch (p->kind) {
	case '>':
		open_file(p, "we");
		break;
	case '+':
		open_file(p, "ae");
		break;
	case '*': /* a log that is followed */
		open_file(p, "we");
		if (p->file != NULL)
			p->failed |= ingest_add_file(p->stage.ingest, p->pod, p->path, true,
						     &p->err) != 0;
		break;
	case ' ':
		append_text(p, p->text, "\n");
		break;
	case '_':
		append_text(p, p->text, "");
		break;
	case '^':
		append_text(p, p->text, "\r");
		break;
	case '@': /* a line in which each @ becomes the name of the folder */
		while (str_find(rest, "@") != NULL && str_next(&rest, '@', &part))
			append_text(p, part, p->stage.folder);
		append_text(p, rest, "\n");
		break;
	case '=':
		name = xstrndup(p->text.p, p->text.len);
		p->pod = model_pod_find(p->stage.model, name);
		assert(p->pod != MODEL_NONE);
		break;
	case '!':
		play_link(p);
		break;
	case ':':
		if (telemetry_line(&p->telemetry, p->text))
			model_pod_set_telemetry(p->stage.model, p->pod, &p->telemetry.now,
						p->stage.begin_ms + p->due_ms);
		break;
	default:
		assert(false);
	}
}

int demo_player_advance(struct demo_player *p, int64_t until_ms, struct err *err)
{
	while (p->kind != '\0' && p->due_ms <= until_ms && !p->failed) {
		play_record(p);
		p->played++;
		read_record(p);
	}
	flush_file(p);
	if (!p->failed)
		return 0;
	p->kind = '\0';
	p->failed = false;
	*err = p->err;
	return -1;
}

size_t demo_player_played(const struct demo_player *player)
{
	return player->played;
}
