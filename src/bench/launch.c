/* SPDX-License-Identifier: MIT */
/* Build the scripts that a bench runs on pods, and parse their answers. */
#include "bench/launch.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/quote.h"

extern const struct embed_file launch_scripts[], launch_slurm[];
extern const struct embed_file kernel_probe_files[];

#define MAX_SHIPPED (8U * 1024 * 1024)
#define MAX_SECONDS 1e11
#define SCRIPT_CAP  (16U * 1024 * 1024)
#define ROOT	    "~/.hgym-bench"
/* A query for the state of a run waits up to this many seconds for its end. */
#define AWAIT_S 8

/* Append a path on the pod as a shell word, relative to the home unless it starts with "/". */
static void append_path(struct buf *out, const char *path)
{
	if (path[0] != '/')
		buf_append_str(out, "\"$HOME\"/");
	bool is_home = strcmp(path, "~") == 0;
	quote_word(out, str_from(path + (is_home ? 1 : strncmp(path, "~/", 2) == 0 ? 2 : 0)));
}

static void append_variable(struct buf *out, const char *name, const char *value)
{
	buf_appendf(out, "%s=", name);
	quote_word(out, str_from(value));
	buf_append_char(out, '\n');
}

static void append_paths(struct buf *out, const char *name, const struct plan_texts *paths)
{
	AUTO_BUF list = buf_new(65536);

	for (size_t i = 0; i < paths->n; i++)
		buf_appendf(&list, "%s\n", paths->v[i]);
	append_variable(out, name, list.data);
}

static void append_root(struct buf *out, const struct plan_pod *pod)
{
	buf_append_str(out, "HB_ROOT=");
	append_path(out, pod->root != NULL ? pod->root : ROOT);
	buf_append_char(out, '\n');
}

static bool has_path(const struct plan_env *env)
{
	return any_of(i, env->n, strcmp(env->v[i].name, "PATH") == 0);
}

/* Append the commands whose programs the preflight looks for on the pod.  Each line has "own", or
 * "made" if a patch or files may create the program, and then the command.  Commands with shell
 * syntax or with their own PATH are left out. */
static void append_needs(struct buf *out, const struct plan *plan)
{
	AUTO_BUF needs = buf_new(1024U * 1024);

	for (size_t arm = 0; arm < plan->n_variants; arm++) {
		const struct plan_variant *v = plan_arm(plan, arm);
		const char *command = v->command != NULL ? v->command : plan->command;

		if (!plan->kernel && !has_path(&plan->env) && !has_path(&v->env) &&
		    strpbrk(command, "|&;<>()$`\\\"'*?[]#~={}!\n") == NULL)
			buf_appendf(&needs, "%s %s\n",
				    v->patch != NULL || v->files.n > 0 ? "made" : "own", command);
	}
	append_variable(out, "HB_NEEDS", needs.data);
}

static void append_variables(struct buf *out, enum launch_op op, const struct launch *l)
{
	const struct plan *plan = l->plan;
	const struct plan_pod *pod = &plan->pods[l->pod];
	const struct plan_variant *control = &plan->variants[0];
	AUTO_BUF command = buf_new(1024U * 1024);

	append_root(out, pod);
	append_variable(out, "HB_BENCH", l->bench);
	append_variable(out, "HB_LOCK_DIR", pod->lock_dir != NULL ? pod->lock_dir : "/tmp");
	append_variable(out, "HB_JOB", l->job != NULL ? l->job : "");
	append_variable(out, "HB_TAG", plan_arm(plan, l->arm)->tag);
	buf_append_str(out, "HB_CWD=");
	if (plan_needs_copies(plan) && op != LAUNCH_SHIP && op != LAUNCH_PREFLIGHT)
		buf_append_str(out, "$HB_ROOT/$HB_BENCH/src.$HB_TAG");
	else
		append_path(out, plan->cwd);
	buf_append_str(out, "\nHB_GPUS='");
	plan_gpus_text(&pod->gpus, ",", out);
	buf_append_str(out, "'\nHB_LOCKS='");
	plan_gpus_text(&pod->gpus, " ", out);
	buf_append_str(out, pod->gpus.n == 0 ? "host'\n" : "'\n");
	append_variable(out, "HB_FOREIGN", plan->refuse_foreign ? "refuse" : "ignore");
	buf_appendf(out, "HB_TIMEOUT=%.0f\nHB_OFFSET=%llu\nHB_MAX=%u\n", plan->timeout_s,
		    (unsigned long long)l->offset, LAUNCH_CHUNK);
	buf_appendf(out, "HB_GRACE=%d\n", LAUNCH_GRACE_S);
	if (l->slurm != NULL)
		append_variable(out, "HB_HOLD", "1");
	append_paths(out, "HB_JUDGED", &plan->judge_files);
	append_paths(out, "HB_DATA", &plan->data);
	append_variable(out, "HB_CONTROL", control->tag);
	append_variable(out, "HB_READS",
			plan->kernel		   ? ""
			: control->command != NULL ? control->command
						   : plan->command);
	if (op == LAUNCH_PREFLIGHT)
		append_needs(out, plan);
	plan_command(plan, l->arm, l->pod, &command);
	append_variable(out, "HB_CMD", command.data);
	buf_clear(&command);
	plan_prepare_command(plan, l->arm, l->pod, &command);
	append_variable(out, "HB_PREPARE", command.data);
	if (plan->kernel && op == LAUNCH_START)
		append_variable(out, "HB_PROBE", kernel_probe_files[0].text);
}

/* Append a local file's content as a shell word.  A relative name starts at bench.json's folder. */
static int append_file(struct buf *out, const struct plan *plan, const char *name, struct err *err)
{
	const char *slash = strrchr(plan->file, '/');
	char path[PATH_MAX], block[65536];
	AUTO_BUF text = buf_new(MAX_SHIPPED);
	ssize_t n;

	print_into(path, "%.*s%s",
		   name[0] != '/' && slash != NULL ? (int)(slash - plan->file + 1) : 0, plan->file,
		   name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set_errno(err, ERR_CONFIG, "cannot open %s", path);
	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_append(&text, block, (size_t)n);
	(void)close(fd);
	if (n < 0)
		return err_set_errno(err, ERR_CONFIG, "cannot read %s", path);
	if (text.truncated || strlen(text.data) != text.len)
		return err_set(err, ERR_CONFIG, "cannot ship %s: it is %s", path,
			       text.truncated ? "larger than 8 MiB" : "not a text file");
	quote_word(out, str_from(text.data));
	return 0;
}

/* Append the shell function ship_files, which applies the changes of an arm to its copy. */
static int append_ship_files(struct buf *out, const struct launch *l, struct err *err)
{
	const struct plan_variant *v = plan_arm(l->plan, l->arm);

	buf_append_str(out, "ship_files() {\n:");
	array_each (file, v->files.v, v->files.n) {
		buf_append_str(out, file->from != NULL ? " &&\nwrite_file " : " &&\nmerge_json ");
		quote_word(out, str_from(file->path));
		buf_append_char(out, ' ');
		if (file->from == NULL)
			quote_word(out, str_from(file->overlay));
		else if (append_file(out, l->plan, file->from, err) != 0)
			return -1;
	}
	if (v->patch != NULL) {
		buf_append_str(out, " &&\nprintf '%s' ");
		if (append_file(out, l->plan, v->patch, err) != 0)
			return -1;
		buf_append_str(out, " | patch -p1");
	}
	/* Check settings last: files and the patch may add the code that reads them. */
	array_each (file, v->files.v, v->files.n) {
		if (file->overlay == NULL)
			continue;
		buf_append_str(out, " &&\ncheck_settings ");
		quote_word(out, str_from(file->path));
		buf_append_char(out, ' ');
		quote_word(out, str_from(file->overlay));
	}
	buf_append_str(out, "\n}\n");
	return 0;
}

int launch_check_files(const struct plan *plan, struct err *err)
{
	for (size_t arm = 0; arm < plan_n_arms(plan); arm++) {
		const struct launch l = { .plan = plan, .arm = arm };
		AUTO_BUF text = buf_new(MAX_SHIPPED * 4);

		if (append_ship_files(&text, &l, err) != 0)
			return -1;
	}
	return 0;
}

/* Append a shell script that runs `text` and then `call` on the node of an allocation. */
static void append_slurm(struct buf *out, const struct launch *l, bool ends, const char *text,
			 const char *call)
{
	const struct plan_pod *pod = &l->plan->pods[l->pod];
	const struct conf_slurm *slurm = l->slurm;
	const struct {
		const char *option, *value;
	} options[] = { { "--partition=", slurm->partition },
			{ "--gres=", slurm->gres },
			{ "--time=", slurm->time },
			{ "--account=", slurm->account } };

	append_root(out, pod);
	append_variable(out, "HB_BENCH", l->bench);
	append_variable(out, "HB_POD", pod->id);
	append_variable(out, "HB_ASK", l->ask ? "1" : "0");
	append_variable(out, "HB_ENDS", ends ? "1" : "0");
	append_variable(out, "HB_CALL", call);
	append_variable(out, "HB_TEXT", text);
	buf_append_str(out, "submit() { sbatch \"$@\"");
	for (size_t i = 0; i < LENGTH(options); i++) {
		if (options[i].value == NULL)
			continue;
		buf_appendf(out, " %s", options[i].option);
		quote_word(out, str_from(options[i].value));
	}
	for (size_t i = 0; i < slurm->extra.n; i++) {
		buf_append_char(out, ' ');
		quote_word(out, str_from(slurm->extra.v[i]));
	}
	buf_append_str(out, "; }\n");
	buf_append_str(out, launch_slurm[0].text);
}

int launch_script(struct buf *out, enum launch_op op, const struct launch *l, struct err *err)
{
	static const char *const calls[] = {
		[LAUNCH_PREFLIGHT] = "op_preflight",
		[LAUNCH_SHIP] = "op_ship",
		[LAUNCH_START] = "op_start",
		[LAUNCH_STATE] = "op_state",
		[LAUNCH_GPU] = "op_gpu",
		[LAUNCH_CUT] = "op_cut",
		[LAUNCH_ABORT] = "op_abort",
		[LAUNCH_CLEAN] = "op_clean",
		[LAUNCH_FINISH] = "op_finish",
	};
	const struct plan_pod *pod = &l->plan->pods[l->pod];
	bool is_custom = op == LAUNCH_STOP || op == LAUNCH_LOCK;
	AUTO_BUF text = buf_new(SCRIPT_CAP);
	AUTO_BUF call = buf_new(SCRIPT_CAP);

	if (op == LAUNCH_STOP && l->slurm != NULL)
		buf_append_str(&call, "op_release");
	else if (is_custom)
		buf_appendf(&call,
			    "(\n%s\n) >&2\nrc=$?\n"
			    "echo HB1 finished\n%s\nexit $rc",
			    op == LAUNCH_STOP ? pod->stop_cmd : pod->lock_clocks,
			    l->slurm != NULL ? "reply_clock" : "");
	else if (op == LAUNCH_STATE)
		buf_appendf(&call, "wait_for_end %d\nop_state", AWAIT_S);
	else
		buf_append_str(&call, calls[op]);
	if (!is_custom || l->slurm != NULL) {
		append_variables(&text, op, l);
		for (size_t i = 0; launch_scripts[i].text != NULL; i++)
			buf_append_str(&text, launch_scripts[i].text);
	}
	if (op == LAUNCH_SHIP && append_ship_files(&text, l, err) != 0)
		return -1;
	if (l->slurm != NULL)
		append_slurm(out, l, op >= LAUNCH_ABORT && op <= LAUNCH_FINISH, text.data,
			     call.data);
	else
		buf_appendf(out, "%s%s\n%s", text.data, call.data,
			    is_custom ? "" : "reply_clock\n");
	return 0;
}

/* The words of reply lines "HB1 WORD ...": flags, texts, and blobs, whose bytes follow the line. */
#define MEMBER(word, name)                                \
	{                                                 \
		word, offsetof(struct launch_reply, name) \
	}
#define TEXT(word, name, is_list)                                         \
	{                                                                 \
		word, offsetof(struct launch_reply, name),                \
			sizeof(((struct launch_reply *)0)->name), is_list \
	}

static const struct {
	const char *word;
	size_t at;
} flags[] = { MEMBER("exists", existed), MEMBER("shipped", shipped), MEMBER("cleaned", cleaned),
	      MEMBER("files", result.files_changed) },
  blobs[] = { MEMBER("data", data), MEMBER("host", host), MEMBER("stamps", stamps) };

static const struct {
	const char *word;
	size_t at, size;
	bool is_list; /* several lines are joined by "; " */
} texts[] = {
	TEXT("error", error, true),	      TEXT("runtime", result.runtime, true),
	TEXT("foreign", foreign, false),      TEXT("running", running, false),
	TEXT("work", result.work, false),     TEXT("stray", stray, false),
	TEXT("shared", result.shared, false), TEXT("held", held, false),
	TEXT("queued", queued, false),	      TEXT("alloc", result.alloc, false),
	TEXT("moved", moved, false),
};

/* The next word as a number; 0 if it is not a number. */
static double next_number(struct str *rest)
{
	struct str word;
	double value = 0.0;

	if (str_next(rest, ' ', &word))
		(void)str_to_double(word, &value);
	return value;
}

/* A time since 1970 or since boot; 0 if it is impossible. */
static double next_seconds(struct str *rest)
{
	double value = next_number(rest);

	return value >= 0.0 && value < MAX_SECONDS ? value : 0.0;
}

/* A whole number from the pod that fits an int, or -1. */
static int to_int(double value)
{
	return value > -1e9 && value < 1e9 ? (int)value : -1;
}

/* Parse "done RC T0 T1 UP0 UP1", or another state, which has no numbers. */
static void read_state(struct launch_reply *reply, struct str rest)
{
	static const struct {
		const char *word;
		enum launch_state state;
	} states[] = { { "running", LAUNCH_RUNNING },
		       { "done", LAUNCH_DONE },
		       { "busy", LAUNCH_BUSY },
		       { "full", LAUNCH_FULL },
		       { "lost", LAUNCH_LOST } };
	struct str word;

	if (!str_next(&rest, ' ', &word))
		return;
	reply->state = LAUNCH_NONE;
	for (size_t i = 0; i < LENGTH(states); i++)
		if (str_eq_cstr(word, states[i].word))
			reply->state = states[i].state;
	if (reply->state != LAUNCH_DONE)
		return;
	reply->result.rc = to_int(next_number(&rest));
	reply->result.t0_s = next_seconds(&rest);
	reply->result.t1_s = next_seconds(&rest);
	reply->result.up_s = -next_seconds(&rest);
	reply->result.up_s += next_seconds(&rest);
}

static void read_line(struct launch_reply *reply, struct str word, struct str rest)
{
	char *base = (char *)reply;
	double value;

	for (size_t i = 0; i < LENGTH(flags); i++)
		if (str_eq_cstr(word, flags[i].word))
			*(bool *)(base + flags[i].at) = true;
	for (size_t i = 0; i < LENGTH(texts); i++)
		if (str_eq_cstr(word, texts[i].word)) {
			char *text = base + texts[i].at;
			size_t len = texts[i].is_list ? strlen(text) : 0;

			(void)snprintf(text + len, texts[i].size - len, "%s%.*s",
				       len > 0 ? "; " : "", (int)rest.len, rest.p);
		}
	if (str_eq_cstr(word, "state")) {
		read_state(reply, rest);
	} else if (str_eq_cstr(word, "size")) {
		(void)str_to_u64(rest, &reply->size);
	} else if (str_eq_cstr(word, "env")) {
		buf_append(&reply->env, rest.p, rest.len);
		buf_append_char(&reply->env, '\n');
	} else if (str_eq_cstr(word, "hash") && rest.len >= 64) {
		print_into(reply->result.hash, "%.64s", rest.p);
	} else if (str_eq_cstr(word, "up")) {
		if (str_to_double(rest, &value) && value >= 0.0 && value < MAX_SECONDS)
			reply->pod_up_s = value;
	} else if (str_eq_cstr(word, "left")) {
		if (str_next(&rest, ' ', &word) && str_to_double(word, &value)) {
			reply->left = to_int(value);
			print_into(reply->names, "%.*s", (int)rest.len, rest.p);
		}
	}
}

void launch_reply_init(struct launch_reply *reply, struct str output)
{
	struct str line, word;

	*reply = (struct launch_reply){ .left = -1, .pod_up_s = (double)NAN };
	buf_init(&reply->env, 65536);
	while (str_next(&output, '\n', &line)) {
		if (!str_starts_with(line, "HB1 "))
			continue;
		line = str_skip(line, 4);
		reply->understood = true;
		if (!str_next(&line, ' ', &word))
			continue;
		for (size_t i = 0; i < LENGTH(blobs); i++) {
			uint64_t n;

			if (!str_eq_cstr(word, blobs[i].word))
				continue;
			/* The connection broke, or the reply is wrong: ignore the rest. */
			if (!str_to_u64(line, &n) || n > output.len)
				return;
			*(struct str *)(void *)((char *)reply + blobs[i].at) =
				(struct str){ output.p, (size_t)n };
			output = str_skip(output, (size_t)n);
		}
		read_line(reply, word, line);
	}
}

void launch_reply_release(struct launch_reply *reply)
{
	buf_release(&reply->env);
}
