/* SPDX-License-Identifier: MIT */
/* What `pods check` asks of a pod, and makes of what it answered; pure. */
#include "pods/preflight.h"

#include <stdlib.h>

#include "base/embed.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "parsers/run.h"
#include "remote/frame.h"
#include "remote/openssh.h"

/* A GPU with less than this in use, and idle, is free. */
#define IDLE_MIB     1024.0
#define IDLE_PERCENT 10.0
#define CLOCK_FAR_S  60.0
/* Where benches and followers have their scratch when nothing is said. */
#define DEFAULT_ROOT "/tmp"

extern const struct embed_file preflight_text[];

const char *preflight_script(void)
{
	return preflight_text[0].text;
}

void preflight_command(struct buf *out, const char *nonce, const struct conf_pod *pod)
{
	const char *root = pod->remote_root != NULL ? pod->remote_root : DEFAULT_ROOT;
	const char *const argv[] = { "exec", "sh", "-s", "--", nonce, root, NULL };

	quote_argv(out, argv);
}

static const struct {
	const char *name, *next;
} classes[] = {
#define X(id, name, next) [PREFLIGHT_##id] = { (name), (next) },
	PREFLIGHT_CLASS_LIST(X)
#undef X
};

int preflight_status(const cJSON *row)
{
	static const enum preflight_class unreachable[] = { PREFLIGHT_SSH, PREFLIGHT_COMMAND,
							    PREFLIGHT_AUTH, PREFLIGHT_HOSTKEY,
							    PREFLIGHT_TIMEOUT };
	int status = 0;

	json_each (one, cJSON_GetObjectItem(row, "failures")) {
		const char *class = json_get_string(one, "class", "");

		status = err_exit_status(ERR_CHECK);
		for (size_t i = 0; i < LENGTH(unreachable); i++)
			if (strcmp(classes[unreachable[i]].name, class) == 0)
				return err_exit_status(ERR_NET);
	}
	return status;
}

/* One more failure in the row; the text may hold bytes of the pod. */
static void __attribute__((format(printf, 3, 4)))
fail(cJSON *row, enum preflight_class class, const char *fmt, ...)
{
	char text[1000];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cJSON_AddItemToArray(cJSON_GetObjectItem(row, "failures"),
			     json_new(JTEXT("class", classes[class].name), JCLEAN("text", text),
				      JTEXT("next", classes[class].next)));
}

/* Bytes of the pod, made harmless; nothing is null. */
static void add_clean(cJSON *object, const char *key, struct str s)
{
	AUTO_BUF clean = buf_new(4000);

	utf8_sanitize(&clean, s);
	json_add_string(object, key, s.len > 0 ? clean.data : NULL);
}

/* The facts: what follows the nonce on a line of its own; p NULL: none. */
static struct str facts_of(const struct preflight *p)
{
	struct str rest = p->out, line;

	while (str_next(&rest, '\n', &line))
		if (str_eq_cstr(line, p->nonce))
			return rest;
	return (struct str){ NULL, 0 };
}

/* The next fact of that key, from *rest on. */
static bool next_fact(struct str *rest, const char *key, struct str *value)
{
	struct str line, name;

	while (str_next(rest, '\n', &line)) {
		if (!str_next(&line, '\t', &name) || !str_eq_cstr(name, key))
			continue;
		*value = str_trim(line);
		return true;
	}
	return false;
}

static bool fact(struct str facts, const char *key, struct str *value)
{
	return next_fact(&facts, key, value);
}

static void add_text_fact(cJSON *row, struct str facts, const char *key)
{
	struct str value = { NULL, 0 };

	(void)fact(facts, key, &value);
	add_clean(row, key, value);
}

static double number(struct str text)
{
	double value;

	return str_to_double(str_trim(text), &value) ? value : RUN_ABSENT;
}

/* df -Pk: filesystem, blocks, used, available, .. */
static double free_bytes(struct str df)
{
	struct str word;
	int n = 0;

	while (str_next(&df, ' ', &word))
		if (word.len > 0 && ++n == 4)
			return number(word) * 1024.0;
	return RUN_ABSENT;
}

static void judge_disk(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str value = { NULL, 0 };
	double bytes = RUN_ABSENT;
	char texts[2][STR_NUMBER_SIZE];

	add_text_fact(row, facts, "scratch");
	if (fact(facts, "df", &value))
		bytes = free_bytes(value);
	json_add_number(row, "free_bytes", bytes);
	if (fact(facts, "writable", &value) && str_eq_cstr(value, "0"))
		fail(row, PREFLIGHT_DISK, "the scratch directory cannot be written to");
	else if (bytes < p->min_free_bytes)
		fail(row, PREFLIGHT_DISK, "%s MB are free, %s are needed",
		     str_number(floor(bytes / 1e6), 17, texts[0]),
		     str_number(ceil(p->min_free_bytes / 1e6), 17, texts[1]));
}

/* May this GPU be used by the configuration? */
static bool is_ours(const struct conf_pod *pod, double index)
{
	return any_of(i, pod->n_gpus, fabs(index - pod->gpus[i]) < 0.5) || pod->n_gpus == 0;
}

/* index, name, MiB in all, MiB in use, utilisation %, driver */
static bool take_gpu(const struct preflight *p, cJSON *row, struct str line, bool apps)
{
	cJSON *gpu = cJSON_CreateObject();
	struct str cell[6] = { { NULL, 0 } };
	size_t n = 0;

	while (n < 6 && str_next(&line, ',', &cell[n]))
		n++;
	double index = number(cell[0]);
	if (n < 6 || isnan(index)) {
		cJSON_Delete(gpu);
		return false;
	}
	double used = number(cell[3]);
	double util = number(cell[4]);
	json_add_number(gpu, "index", index);
	add_clean(gpu, "name", str_trim(cell[1]));
	json_add(gpu, JNUM("memory_mib", number(cell[2])), JNUM("used_mib", used),
		 JNUM("util", util));
	cJSON_AddItemToArray(cJSON_GetObjectItem(row, "gpus"), gpu);
	if (cJSON_GetObjectItem(row, "driver") == NULL)
		add_clean(row, "driver", str_trim(cell[5]));
	if (is_ours(p->pod, index) && !apps && (used > IDLE_MIB || util > IDLE_PERCENT))
		fail(row, PREFLIGHT_GPU,
		     "GPU %.0f is not idle: %.0f MiB in use, %.0f %% busy, by "
		     "no process that can be seen",
		     index, used, util);
	return true;
}

/* pid, MiB, name of each process on the GPUs */
static size_t take_apps(cJSON *row, struct str facts)
{
	cJSON *list = cJSON_AddArrayToObject(row, "processes");
	struct str line, pid, mib;
	AUTO_BUF names = buf_new(600);
	size_t n = 0;

	while (next_fact(&facts, "app", &line)) {
		if (!str_next(&line, ',', &pid) || !str_next(&line, ',', &mib) ||
		    isnan(number(pid)))
			continue;
		line = str_trim(line);
		pid = str_trim(pid);
		mib = str_trim(mib);
		cJSON *app = json_new(JNUM("pid", number(pid)), JNUM("memory_mib", number(mib)));
		add_clean(app, "name", line);
		cJSON_AddItemToArray(list, app);
		buf_appendf(&names, "%s%.*s (pid %.*s, %.*s MiB)", n++ > 0 ? ", " : "",
			    (int)line.len, line.p, (int)pid.len, pid.p, (int)mib.len, mib.p);
	}
	if (n > 0)
		fail(row, PREFLIGHT_GPU, "the GPU is in use: %s", names.data);
	return n;
}

/* "2x NVIDIA H100": how many there are and the name of the first. */
static void add_gpu_names(cJSON *row)
{
	const cJSON *gpus = cJSON_GetObjectItem(row, "gpus");
	const cJSON *first = cJSON_GetArrayItem(gpus, 0);
	AUTO_BUF text = buf_new(400);

	if (cJSON_GetArraySize(gpus) > 1)
		buf_appendf(&text, "%dx ", cJSON_GetArraySize(gpus));
	if (first != NULL)
		buf_append_str(&text, json_get_string(first, "name", ""));
	json_add_string(row, "gpu", first != NULL ? text.data : NULL);
}

static void judge_gpu(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str rest = facts, line, status = { NULL, 0 };
	size_t apps = take_apps(row, facts), n = 0;
	struct str words = { NULL, 0 };

	cJSON_AddArrayToObject(row, "gpus");
	if (!fact(facts, "smi", &status)) {
		if (p->need_gpu)
			fail(row, PREFLIGHT_GPU, "there is no nvidia-smi: no GPU, or no driver");
	} else if (!str_eq_cstr(status, "0")) {
		fact(facts, "gpu", &words);
		fail(row, PREFLIGHT_GPU, "nvidia-smi %s (exit status %.*s): %.*s",
		     str_eq_cstr(status, "124") ? "hangs" : "fails", (int)status.len, status.p,
		     (int)words.len, words.p);
	} else {
		while (next_fact(&rest, "gpu", &line))
			n += take_gpu(p, row, line, apps > 0);
		if (n == 0 && p->need_gpu)
			fail(row, PREFLIGHT_GPU, "nvidia-smi shows no GPU");
	}
	if (cJSON_GetObjectItem(row, "driver") == NULL)
		cJSON_AddNullToObject(row, "driver");
	add_gpu_names(row);
}

/* Theirs less ours; the answer came somewhen between sent and got. */
static void judge_clock(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str value;
	double theirs = fact(facts, "clock", &value) ? number(value) : RUN_ABSENT;
	double ours = (double)(p->sent_wall_ms + p->got_wall_ms) / 2e3;
	double unsure = (double)(p->got_wall_ms - p->sent_wall_ms) / 2e3;
	double offset = theirs - ours;

	/* A date without %N leaves it as it is: whole seconds then. */
	if (isnan(theirs) && fact(facts, "clock", &value) && str_find(value, ".") != NULL) {
		value.len = (size_t)(str_find(value, ".") - value.p);
		offset = number(value) + 0.5 - ours;
		unsure += 0.5;
	}
	json_add_number(row, "clock_offset_s", round(offset * 1e3) / 1e3);
	json_add_number(row, "clock_unsure_s", unsure);
	if (fabs(offset) > CLOCK_FAR_S + unsure)
		fail(row, PREFLIGHT_ENVIRONMENT, "the pod's clock is off by %.0f s", offset);
}

/* pid and mark of each process that a bench of ours left. */
static void judge_jobs(cJSON *row, struct str facts)
{
	cJSON *list = cJSON_AddArrayToObject(row, "jobs");
	struct str line, pid;
	size_t n = 0;

	while (next_fact(&facts, "job", &line)) {
		if (!str_next(&line, ' ', &pid) || isnan(number(pid)))
			continue;
		cJSON *job = cJSON_CreateObject();
		json_add_number(job, "pid", number(pid));
		add_clean(job, "job", line);
		cJSON_AddItemToArray(list, job);
		n++;
	}
	if (n > 0)
		fail(row, PREFLIGHT_ENVIRONMENT,
		     "%zu process%s of a bench of ours still run%s: see "
		     "`bench list`",
		     n, n > 1 ? "es" : "", n > 1 ? "" : "s");
}

/* The way there failed; by the class of the error, not by its words. */
static void judge_link(const struct preflight *p, cJSON *row)
{
	static const struct {
		enum err_code code;
		enum preflight_class class;
	} of_codes[] = { { ERR_TIMEOUT, PREFLIGHT_TIMEOUT },
			 { ERR_AUTH, PREFLIGHT_AUTH },
			 { ERR_HOSTKEY, PREFLIGHT_HOSTKEY },
			 { ERR_REMOTE, PREFLIGHT_ENVIRONMENT },
			 { ERR_LIMIT, PREFLIGHT_ENVIRONMENT } };
	enum preflight_class class =
		p->pod->transport == CONF_COMMAND ? PREFLIGHT_COMMAND : PREFLIGHT_SSH;

	if (p->is_noisy) {
		fail(row, PREFLIGHT_ENVIRONMENT,
		     "the pod's login shell printed more than %d bytes before "
		     "it answered",
		     FRAME_NOISE_MAX);
		return;
	}
	if (p->late) {
		fail(row, PREFLIGHT_TIMEOUT, "the answer did not come in time");
		return;
	}
	for (size_t i = 0; i < LENGTH(of_codes); i++)
		if (p->exit->err.code == of_codes[i].code)
			class = of_codes[i].class;
	fail(row, class, "%s", p->exit->err.text);
}

/* It ended, but not at its end: its exit status, then its last words. */
static void judge_broken(const struct preflight *p, cJSON *row, bool began)
{
	struct str words = openssh_last_line(p->errors);

	if (p->exit->signalled)
		fail(row, PREFLIGHT_ENVIRONMENT, "the shell was ended by signal %s",
		     p->exit->signal);
	else if (!began && p->exit->status == 0)
		fail(row, PREFLIGHT_ENVIRONMENT,
		     "the login shell runs no commands (a proxy, or a "
		     "restricted login)");
	else
		fail(row, PREFLIGHT_ENVIRONMENT, "the shell ended with exit status %d: %.*s",
		     p->exit->status, (int)words.len, words.p);
}

static void add_summary(cJSON *row)
{
	const cJSON *failures = json_get(row, "failures");
	const cJSON *first = json_first(failures);
	AUTO_BUF names = buf_new(200);
	AUTO_BUF texts = buf_new(4000);

	json_each (one, failures) {
		buf_appendf(&names, "%s%s", names.len > 0 ? "," : "",
			    json_get_string(one, "class", ""));
		buf_appendf(&texts, "%s%s", texts.len > 0 ? "; " : "",
			    json_get_string(one, "text", ""));
	}
	json_add(row, JTEXT("status", first == NULL ? "ok" : "failed"),
		 JTEXT("failure", first == NULL ? NULL : names.data),
		 JTEXT("text", first == NULL ? NULL : texts.data),
		 JTEXT("next", first == NULL ? NULL : json_get_string(first, "next", "")));
}

static void add_facts(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str value;

	add_text_fact(row, facts, "shell");
	add_text_fact(row, facts, "system");
	judge_gpu(p, row, facts);
	judge_disk(p, row, facts);
	add_text_fact(row, facts, "python");
	add_text_fact(row, facts, "torch");
	add_text_fact(row, facts, "triton");
	if (!fact(facts, "python", &value))
		fail(row, PREFLIGHT_ENVIRONMENT, "there is no working python3");
	judge_clock(p, row, facts);
	judge_jobs(row, facts);
}

cJSON *preflight_row(const struct preflight *p)
{
	struct str facts = facts_of(p), value;
	cJSON *row = json_new(
		JTEXT("pod", p->pod->name),
		JTEXT("target", p->pod->transport == CONF_LOCAL ? NULL : conf_pod_target(p->pod)),
		JTEXT("transport", conf_transport_name(p->pod->transport)),
		JTEXT("host_key", p->host_key[0] != '\0' ? p->host_key : NULL),
		JNUM("connect_ms", p->connect_ms >= 0 ? (double)p->connect_ms : RUN_ABSENT));

	cJSON_AddArrayToObject(row, "failures");
	if (p->late || p->exit->err.code != ERR_NONE)
		judge_link(p, row);
	else if (facts.p == NULL || !fact(facts, "end", &value))
		judge_broken(p, row, facts.p != NULL);
	else
		add_facts(p, row, facts);
	add_summary(row);
	return row;
}
