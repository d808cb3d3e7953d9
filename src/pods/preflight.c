/* SPDX-License-Identifier: MIT */
/* Evaluate the output of the preflight script. */
#include "pods/preflight.h"

#include "base/quote.h"
#include "base/utf8.h"
#include "parsers/run.h"
#include "remote/frame.h"

/* A GPU with less than this in use, and idle, is free. */
#define IDLE_MIB     1024.0
#define IDLE_PERCENT 10.0
#define CLOCK_FAR_S  60.0
#define MAX_PATTERNS 16 /* patterns of "logs" that are tried */
#define CLEAN_BYTES  4000
/* Scratch directory of benches and followers unless remote_root is set. */
#define DEFAULT_ROOT "/tmp"

void preflight_command(struct buf *out, const char *nonce, const struct conf_pod *pod)
{
	const char *root = pod->remote_root != NULL ? pod->remote_root : DEFAULT_ROOT;
	const char *argv[7 + MAX_PATTERNS] = { "exec", "sh", "-s", "--", nonce, root };

	for (size_t i = 0; i < pod->logs.n && i < MAX_PATTERNS; i++)
		argv[6 + i] = pod->logs.v[i];
	quote_argv(out, argv);
}

#define PREFLIGHT_CLASS_ROW(id, name, next) [id] = { (name), (next) },
static const struct {
	const char *name, *next;
} classes[] = { PREFLIGHT_CLASS_LIST(PREFLIGHT_CLASS_ROW) };

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

/* Add a failure to the row; next NULL: the class's default.  Texts may have bytes from the pod. */
LIKE_PRINTF(4, 5)
static void add_failure(cJSON *row, enum preflight_class class, const char *next, const char *fmt,
			...)
{
	char text[1000];

	print_args(text, fmt);
	cJSON_AddItemToArray(cJSON_GetObjectItem(row, "failures"),
			     json_new(JTEXT("class", classes[class].name), JCLEAN("text", text),
				      JCLEAN("next", next != NULL ? next : classes[class].next)));
}

/* Add bytes from the pod without control characters; an empty text is null. */
static void add_clean(cJSON *object, const char *key, struct str s)
{
	AUTO_TEXT clean = utf8_copy(s, CLEAN_BYTES);

	json_add_string(object, key, s.len > 0 ? clean : NULL);
}

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

static bool find_fact(struct str facts, const char *key, struct str *value)
{
	return next_fact(&facts, key, value);
}

static void add_text_fact(cJSON *row, struct str facts, const char *key)
{
	struct str value = { NULL, 0 };

	(void)find_fact(facts, key, &value);
	add_clean(row, key, value);
}

static double number(struct str text)
{
	double value;

	return str_to_double(str_trim(text), &value) ? value : RUN_ABSENT;
}

static void judge_disk(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str value = { NULL, 0 }, word;
	double bytes = RUN_ABSENT;
	char texts[2][STR_NUMBER_SIZE];

	add_text_fact(row, facts, "scratch");
	/* df -Pk: file system, blocks, used, available, .. */
	if (find_fact(facts, "df", &value))
		for (int n = 0; n < 4 && str_next(&value, ' ', &word);)
			if (word.len > 0 && ++n == 4)
				bytes = number(word) * 1024.0;
	json_add_number(row, "free_bytes", bytes);
	if (find_fact(facts, "writable", &value) && str_eq_cstr(value, "0"))
		add_failure(row, PREFLIGHT_DISK, "set \"remote_root\" to a writable directory",
			    "the scratch directory is not writable");
	else if (bytes < p->min_free_bytes)
		add_failure(row, PREFLIGHT_DISK, NULL, "only %s MB free, %s MB needed",
			    str_number(floor(bytes / 1e6), 17, texts[0]),
			    str_number(ceil(p->min_free_bytes / 1e6), 17, texts[1]));
}

/* Add a GPU: index, name, total MiB, used MiB, utilization %, driver.  false: not a GPU. */
static bool add_gpu(const struct preflight *p, cJSON *row, struct str line, bool apps)
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
	bool is_selected = p->pod->n_gpus == 0 ||
			   any_of(i, p->pod->n_gpus, fabs(index - p->pod->gpus[i]) < 0.5);
	if (is_selected && !apps && (used > IDLE_MIB || util > IDLE_PERCENT))
		add_failure(row, PREFLIGHT_GPU, NULL,
			    "GPU %.0f is not idle: %.0f MiB in use, %.0f %% busy; the process is "
			    "not visible on the pod",
			    index, used, util);
	return true;
}

/* Add the processes on the GPUs (pid, MiB, name); returns their number. */
static size_t add_apps(cJSON *row, struct str facts)
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
		add_failure(row, PREFLIGHT_GPU, NULL, "the GPU is in use: %s", names.data);
	return n;
}

static void judge_gpu(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str rest = facts, line, status = { NULL, 0 };
	size_t apps = add_apps(row, facts), n = 0;
	struct str words = { NULL, 0 };
	AUTO_BUF names = buf_new(400);

	cJSON_AddArrayToObject(row, "gpus");
	if (!find_fact(facts, "smi", &status)) {
		if (p->need_gpu)
			add_failure(row, PREFLIGHT_GPU,
				    "install the NVIDIA driver, or pass --no-gpu",
				    "no nvidia-smi: the pod has no GPU or no driver");
	} else if (!str_eq_cstr(status, "0")) {
		find_fact(facts, "gpu", &words);
		add_failure(row, PREFLIGHT_GPU,
			    "run nvidia-smi on the pod; restart the pod, or use another one",
			    "nvidia-smi %s (exit status %.*s): %.*s",
			    str_eq_cstr(status, "124") ? "hangs" : "fails", (int)status.len,
			    status.p, (int)words.len, words.p);
	} else {
		while (next_fact(&rest, "gpu", &line))
			n += add_gpu(p, row, line, apps > 0);
		if (n == 0 && p->need_gpu)
			add_failure(row, PREFLIGHT_GPU, "use a pod with a GPU, or pass --no-gpu",
				    "nvidia-smi lists no GPU");
	}
	if (cJSON_GetObjectItem(row, "driver") == NULL)
		cJSON_AddNullToObject(row, "driver");
	/* "2x NVIDIA H100" */
	if (n > 1)
		buf_appendf(&names, "%zux ", n);
	buf_append_str(&names, json_get_string(json_first(json_get(row, "gpus")), "name", ""));
	json_add_string(row, "gpu", n > 0 ? names.data : NULL);
}

/* Compute the pod's clock minus this machine's; the pod read its clock between sent and got. */
static void judge_clock(const struct preflight *p, cJSON *row, struct str facts)
{
	struct str value;
	double theirs = find_fact(facts, "clock", &value) ? number(value) : RUN_ABSENT;
	double ours = (double)(p->sent_wall_ms + p->got_wall_ms) / 2e3;
	double unsure = (double)(p->got_wall_ms - p->sent_wall_ms) / 2e3;
	double offset = theirs - ours;

	/* A date command without %N prints it literally: only whole seconds are known then. */
	if (isnan(theirs) && find_fact(facts, "clock", &value) && str_find(value, ".") != NULL) {
		value.len = (size_t)(str_find(value, ".") - value.p);
		offset = number(value) + 0.5 - ours;
		unsure += 0.5;
	}
	json_add_number(row, "clock_offset_s", round(offset * 1e3) / 1e3);
	json_add_number(row, "clock_unsure_s", unsure);
	if (fabs(offset) > CLOCK_FAR_S + unsure)
		add_failure(row, PREFLIGHT_ENVIRONMENT, "set the clock of the pod",
			    "the pod's clock is off by %.0f s", offset);
}

/* Report processes that a bench left running: pid and HGYM_JOB, "<root>/<bench>/<run>;". */
static void judge_jobs(cJSON *row, struct str facts)
{
	cJSON *list = cJSON_AddArrayToObject(row, "jobs");
	struct str line, pid, first_pid = { NULL, 0 }, bench = { NULL, 0 };
	size_t n = 0;

	while (next_fact(&facts, "job", &line)) {
		if (!str_next(&line, ' ', &pid) || isnan(number(pid)))
			continue;
		cJSON *job = cJSON_CreateObject();
		json_add_number(job, "pid", number(pid));
		add_clean(job, "job", line);
		cJSON_AddItemToArray(list, job);
		if (n++ > 0)
			continue;
		first_pid = pid;
		for (struct str part = line, run = line; str_next(&line, '/', &part); run = part)
			bench = run;
	}
	if (n == 0)
		return;
	/* A process that just started or ended may not show its bench. */
	bool is_named = bench.len > 0;
	AUTO_TEXT next = xasprintf("hgym-tui bench %s%.*s", is_named ? "abort " : "list",
				   (int)bench.len, bench.p);
	add_failure(row, PREFLIGHT_ENVIRONMENT, next,
		    "%zu process%s of an hgym-tui bench %s still running (%s%.*s%spid %.*s)", n,
		    n > 1 ? "es" : "", n > 1 ? "are" : "is", is_named ? "bench " : "",
		    (int)bench.len, bench.p, is_named ? ", " : "", (int)first_pid.len, first_pid.p);
}

/* Report a failed connection, classified by the error code and not by the message. */
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
		add_failure(row, PREFLIGHT_ENVIRONMENT,
			    "make the startup files of the login shell print less",
			    "the pod's login shell printed more than %d bytes before it answered",
			    FRAME_NOISE_MAX);
		return;
	}
	if (p->late) {
		add_failure(row, PREFLIGHT_TIMEOUT, NULL, "no answer within the time limit");
		return;
	}
	for (size_t i = 0; i < LENGTH(of_codes); i++)
		if (p->exit->err.code == of_codes[i].code)
			class = of_codes[i].class;
	add_failure(row, class, NULL, "%s", p->exit->err.text);
}

/* Report a script that did not reach its end, with exit status and last line of stderr. */
static void judge_broken(const struct preflight *p, cJSON *row, bool began)
{
	struct str words = str_last_line(p->errors);

	if (p->exit->signalled)
		add_failure(row, PREFLIGHT_ENVIRONMENT, NULL, "the shell was killed by signal %s",
			    p->exit->signal);
	else if (!began && p->exit->status == 0)
		add_failure(row, PREFLIGHT_ENVIRONMENT,
			    "use a login that runs commands; see \"command\" in "
			    "hgym-tui-config(5) for a proxy",
			    "the login shell runs no commands (a proxy or a restricted login)");
	else
		add_failure(row, PREFLIGHT_ENVIRONMENT, NULL,
			    "the shell exited with status %d: %.*s", p->exit->status,
			    (int)words.len, words.p);
}

/* Add how many files match each pattern of "logs"; if none does, add where logs could be. */
static void add_logs(cJSON *row, struct str facts)
{
	cJSON *list = cJSON_AddArrayToObject(row, "logs"), *near = NULL;
	struct str line, key, n;

	while (str_next(&facts, '\n', &line)) {
		(void)str_next(&line, '\t', &key);
		if (str_eq_cstr(key, "logs") && str_next(&line, ' ', &n)) {
			cJSON *one = json_new(JNUM("files", number(n)));
			add_clean(one, "pattern", line);
			near = cJSON_AddArrayToObject(one, "near");
			cJSON_AddItemToArray(list, one);
		} else if (str_eq_cstr(key, "near") && near != NULL) {
			AUTO_TEXT clean = utf8_copy(line, CLEAN_BYTES);

			cJSON_AddItemToArray(near, cJSON_CreateString(clean));
		}
	}
}

static void add_summary(cJSON *row)
{
	const cJSON *failures = json_get(row, "failures");
	const cJSON *first = json_first(failures);
	AUTO_BUF names = buf_new(200);
	AUTO_BUF texts = buf_new(4000);
	const char *next = NULL;

	json_each (one, failures) {
		buf_appendf(&names, "%s%s", names.len > 0 ? "," : "",
			    json_get_string(one, "class", ""));
		buf_appendf(&texts, "%s%s", texts.len > 0 ? "; " : "",
			    json_get_string(one, "text", ""));
	}
	/* Logs may still come, so a pattern without files is a note and not a failure. */
	json_each (one, json_get(row, "logs")) {
		const char *separator = " (but ";

		if (json_get_number(one, "files", 0) > 0)
			continue;
		buf_appendf(&texts, "%sno file matches %s", texts.len > 0 ? "; " : "",
			    json_get_string(one, "pattern", ""));
		json_each (near, json_get(one, "near")) {
			buf_appendf(&texts, "%s%s", separator, cJSON_GetStringValue(near));
			separator = ", ";
		}
		buf_append_str(&texts, separator[0] == ',' ? ")" : "");
	}
	if (first != NULL)
		next = json_get_string(first, "next", "");
	else if (texts.len > 0)
		next = "start a run, or correct \"logs\" of the pod";
	json_add(row, JTEXT("status", first == NULL ? "ok" : "failed"),
		 JTEXT("failure", first == NULL ? NULL : names.data),
		 JTEXT("text", texts.len > 0 ? texts.data : NULL), JTEXT("next", next));
}

cJSON *preflight_row(const struct preflight *p)
{
	struct str rest = p->out, line, facts = { NULL, 0 }, value;
	cJSON *row = json_new(
		JTEXT("pod", p->pod->name),
		JTEXT("target", p->pod->transport == CONF_LOCAL ? NULL : conf_pod_target(p->pod)),
		JTEXT("transport", conf_transport_name(p->pod->transport)),
		JTEXT("host_key", p->host_key[0] != '\0' ? p->host_key : NULL),
		JNUM("connect_ms", p->connect_ms >= 0 ? (double)p->connect_ms : RUN_ABSENT));

	/* The facts come after the line with the nonce; without it the script did not start. */
	while (facts.p == NULL && str_next(&rest, '\n', &line))
		if (str_eq_cstr(line, p->nonce))
			facts = rest;
	cJSON_AddArrayToObject(row, "failures");
	if (p->late || p->exit->err.code != ERR_NONE) {
		judge_link(p, row);
	} else if (facts.p == NULL || !find_fact(facts, "end", &value)) {
		judge_broken(p, row, facts.p != NULL);
	} else {
		add_text_fact(row, facts, "shell");
		add_text_fact(row, facts, "system");
		judge_gpu(p, row, facts);
		judge_disk(p, row, facts);
		add_text_fact(row, facts, "python");
		add_text_fact(row, facts, "torch");
		add_text_fact(row, facts, "triton");
		if (!find_fact(facts, "python", &value))
			add_failure(row, PREFLIGHT_ENVIRONMENT, "install python3 on the pod",
				    "no working python3");
		judge_clock(p, row, facts);
		judge_jobs(row, facts);
		add_logs(row, facts);
	}
	add_summary(row);
	return row;
}
