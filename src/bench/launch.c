/* SPDX-License-Identifier: MIT */
/* Scripts for pods and their answers; called by the session. */
#include "bench/launch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/quote.h"
#include "bench/kernel.h"

extern const struct embed_file launch_scripts[], launch_slurm[];

#define MAX_SHIPPED (8U * 1024 * 1024)
#define MAX_SECONDS 1e11
#define SCRIPT_CAP  (16U * 1024 * 1024)
#define ROOT	    "~/.hgym-bench"
/* Who only looks how a run goes waits so long for its end. */
#define AWAIT_S 8

/* A path of the pod as a word, below its home unless it begins with "/". */
static void add_path(struct buf *out, const char *path)
{
	if (path[0] != '/')
		buf_append_str(out, "\"$HOME\"/");
	quote_word(out, str_from(path + (strncmp(path, "~/", 2) == 0 ? 2 : 0)));
}

static void add_var(struct buf *out, const char *name, const char *value)
{
	buf_appendf(out, "%s=", name);
	quote_word(out, str_from(value));
	buf_append_char(out, '\n');
}

static void add_gpus(struct buf *out, const struct plan_pod *pod)
{
	buf_append_str(out, "HB_GPUS='");
	plan_gpus_text(&pod->gpus, ',', out);
	buf_append_str(out, "'\nHB_LOCKS='");
	plan_gpus_text(&pod->gpus, ' ', out);
	buf_append_str(out, pod->gpus.n == 0 ? "host'\n" : "'\n");
}

/* Paths, one a line. */
static void add_paths(struct buf *out, const char *name, const struct plan_texts *paths)
{
	AUTO_BUF list = buf_new(65536);

	for (size_t i = 0; i < paths->n; i++)
		buf_appendf(&list, "%s\n", paths->v[i]);
	add_var(out, name, list.data);
}

static bool has_path(const struct plan_env *env)
{
	return any_of(i, env->n, strcmp(env->v[i].name, "PATH") == 0);
}

/*
 * The words of the commands that a pod is asked for before they run: "own" or
 * "made" (by a patch or files), then the command; those that need a shell to be
 * understood, or bring a PATH of their own, are left out.
 */
static void add_needs(struct buf *out, const struct plan *plan)
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
	add_var(out, "HB_NEEDS", needs.data);
}

static void add_variables(struct buf *out, enum launch_op op, const struct launch *l)
{
	const struct plan *plan = l->plan;
	const struct plan_pod *pod = &plan->pods[l->pod];
	AUTO_BUF command = buf_new(1024U * 1024);

	buf_append_str(out, "HB_ROOT=");
	add_path(out, pod->root != NULL ? pod->root : ROOT);
	buf_append_char(out, '\n');
	add_var(out, "HB_BENCH", l->bench);
	add_var(out, "HB_LOCK_DIR", pod->lock_dir != NULL ? pod->lock_dir : "/tmp");
	add_var(out, "HB_JOB", l->job != NULL ? l->job : "");
	add_var(out, "HB_TAG", plan_arm(plan, l->arm)->tag);
	buf_append_str(out, "HB_CWD=");
	if (plan_needs_copies(plan) && op != LAUNCH_SHIP && op != LAUNCH_PREFLIGHT)
		buf_append_str(out, "$HB_ROOT/$HB_BENCH/src.$HB_TAG");
	else
		add_path(out, plan->cwd);
	buf_append_char(out, '\n');
	add_gpus(out, pod);
	add_var(out, "HB_FOREIGN", plan->refuse_foreign ? "refuse" : "ignore");
	buf_appendf(out, "HB_TIMEOUT=%.0f\nHB_OFFSET=%llu\nHB_MAX=%u\n", plan->timeout_s,
		    (unsigned long long)l->offset, LAUNCH_CHUNK);
	buf_appendf(out, "HB_GRACE=%d\n", LAUNCH_GRACE_S);
	if (l->slurm != NULL)
		add_var(out, "HB_HOLD", "1");
	add_paths(out, "HB_JUDGED", &plan->judge_files);
	add_paths(out, "HB_DATA", &plan->data);
	if (op == LAUNCH_PREFLIGHT)
		add_needs(out, plan);
	plan_command(plan, l->arm, l->pod, &command);
	add_var(out, "HB_CMD", command.data);
	if (plan->kernel && op == LAUNCH_START)
		add_var(out, "HB_PROBE", kernel_probe());
}

/* A file here, named relative to the bench's own, as one quoted word. */
static int add_file(struct buf *out, const struct plan *plan, const char *name, struct err *err)
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
	if (n < 0 || text.truncated || strlen(text.data) != text.len) {
		return err_set(err, ERR_CONFIG,
			       "%s cannot be shipped: it is unreadable, larger "
			       "than %u bytes, or no text",
			       path, MAX_SHIPPED);
	}
	quote_word(out, str_from(text.data));
	return 0;
}

/* The function ship_files of an arm. */
static int add_ship_files(struct buf *out, const struct launch *l, struct err *err)
{
	const struct plan_variant *v = plan_arm(l->plan, l->arm);

	buf_append_str(out, "ship_files() {\n:");
	array_each (file, v->files.v, v->files.n) {
		buf_append_str(out, file->from != NULL ? " &&\nput " : " &&\noverlay ");
		quote_word(out, str_from(file->path));
		buf_append_char(out, ' ');
		if (file->from == NULL)
			quote_word(out, str_from(file->overlay));
		else if (add_file(out, l->plan, file->from, err) != 0)
			return -1;
	}
	if (v->patch != NULL) {
		buf_append_str(out, " &&\nprintf '%s' ");
		if (add_file(out, l->plan, v->patch, err) != 0)
			return -1;
		buf_append_str(out, " | patch -p1");
	}
	/* Files and the patch may bring the hooks that an overlay needs. */
	for (size_t i = 0; i < v->files.n; i++) {
		if (v->files.v[i].overlay == NULL)
			continue;
		buf_append_str(out, " &&\nhooks ");
		quote_word(out, str_from(v->files.v[i].path));
		buf_append_char(out, ' ');
		quote_word(out, str_from(v->files.v[i].overlay));
	}
	buf_append_str(out, "\n}\n");
	return 0;
}

int launch_check_files(const struct plan *plan, struct err *err)
{
	for (size_t arm = 0; arm < plan_n_arms(plan); arm++) {
		const struct launch l = { .plan = plan, .arm = arm };
		AUTO_BUF text = buf_new(MAX_SHIPPED * 4);

		if (add_ship_files(&text, &l, err) != 0)
			return -1;
	}
	return 0;
}

/* The function submit: sbatch with the pod's own options behind ours. */
static void add_submit(struct buf *out, const struct conf_slurm *slurm)
{
	const struct {
		const char *option, *value;
	} options[] = { { "--partition=", slurm->partition },
			{ "--gres=", slurm->gres },
			{ "--time=", slurm->time },
			{ "--account=", slurm->account } };

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
}

/* The call of a text on the node of an allocation. */
static void add_slurm(struct buf *out, const struct launch *l, bool ends, const char *text,
		      const char *call)
{
	const struct plan_pod *pod = &l->plan->pods[l->pod];

	buf_append_str(out, "HB_ROOT=");
	add_path(out, pod->root != NULL ? pod->root : ROOT);
	buf_append_char(out, '\n');
	add_var(out, "HB_BENCH", l->bench);
	add_var(out, "HB_POD", pod->id);
	add_var(out, "HB_ASK", l->ask ? "1" : "0");
	add_var(out, "HB_ENDS", ends ? "1" : "0");
	add_var(out, "HB_CALL", call);
	add_var(out, "HB_TEXT", text);
	add_submit(out, l->slurm);
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
	bool is_own = op == LAUNCH_STOP || op == LAUNCH_LOCK;
	AUTO_BUF text = buf_new(SCRIPT_CAP);
	AUTO_BUF call = buf_new(SCRIPT_CAP);

	if (op == LAUNCH_STOP && l->slurm != NULL)
		buf_append_str(&call, "op_release");
	else if (is_own)
		buf_appendf(&call,
			    "(\n%s\n) >&2\nrc=$?\n"
			    "echo HB1 finished\n%s\nexit $rc",
			    op == LAUNCH_STOP ? pod->stop_cmd : pod->lock_clocks,
			    l->slurm != NULL ? "say_up" : "");
	else if (op == LAUNCH_STATE)
		buf_appendf(&call, "await %d\nop_state", AWAIT_S);
	else
		buf_append_str(&call, calls[op]);
	if (!is_own || l->slurm != NULL) {
		add_variables(&text, op, l);
		for (size_t i = 0; launch_scripts[i].text != NULL; i++)
			buf_append_str(&text, launch_scripts[i].text);
	}
	if (op == LAUNCH_SHIP && add_ship_files(&text, l, err) != 0)
		return -1;
	if (l->slurm != NULL)
		add_slurm(out, l, op >= LAUNCH_ABORT && op <= LAUNCH_FINISH, text.data, call.data);
	else
		buf_appendf(out, "%s%s\n%s", text.data, call.data, is_own ? "" : "say_up\n");
	return 0;
}

static void copy_rest(char *out, size_t size, struct str rest)
{
	(void)snprintf(out, size, "%.*s", (int)rest.len, rest.p);
}

static double next_number(struct str *rest)
{
	struct str word;
	double value = 0.0;

	if (str_next(rest, ' ', &word))
		(void)str_to_double(word, &value);
	return value;
}

/* A whole number from outside, kept within what an int holds. */
static int bounded(double value)
{
	return value > -1e9 && value < 1e9 ? (int)value : -1;
}

/* A time since 1970 or since boot; one that cannot be is 0. */
static double next_seconds(struct str *rest)
{
	double value = next_number(rest);

	return value >= 0.0 && value < MAX_SECONDS ? value : 0.0;
}

static void take_state(struct launch_reply *reply, struct str rest)
{
	struct str word;

	if (!str_next(&rest, ' ', &word))
		return;
	reply->state = str_eq_cstr(word, "running") ? LAUNCH_RUNNING
		       : str_eq_cstr(word, "done")  ? LAUNCH_DONE
		       : str_eq_cstr(word, "busy")  ? LAUNCH_BUSY
		       : str_eq_cstr(word, "full")  ? LAUNCH_FULL
		       : str_eq_cstr(word, "lost")  ? LAUNCH_LOST
						    : LAUNCH_NONE;
	if (reply->state != LAUNCH_DONE)
		return;
	reply->rc = bounded(next_number(&rest));
	reply->t0_s = next_seconds(&rest);
	reply->t1_s = next_seconds(&rest);
	reply->up_s = -next_seconds(&rest);
	reply->up_s += next_seconds(&rest);
}

/* Bytes behind a line: a log's, or a telemetry file's. */
static bool take_blob(struct str *output, struct str count, struct str *blob)
{
	uint64_t n;

	if (!str_to_u64(count, &n) || n > output->len)
		return false;
	*blob = (struct str){ output->p, (size_t)n };
	output->p += n;
	output->len -= (size_t)n;
	return true;
}

static void take_env(struct launch_reply *reply, struct str rest)
{
	buf_append(&reply->env, rest.p, rest.len);
	buf_append_char(&reply->env, '\n');
}

/* One more of several, "; " between. */
static void add_rest(char *out, size_t size, struct str rest)
{
	size_t len = strlen(out);

	(void)snprintf(out + len, size - len, "%s%.*s", len > 0 ? "; " : "", (int)rest.len, rest.p);
}

static void take_left(struct launch_reply *reply, struct str rest)
{
	struct str word;
	double value;

	if (!str_next(&rest, ' ', &word) || !str_to_double(word, &value))
		return;
	reply->left = bounded(value);
	copy_rest(reply->names, sizeof(reply->names), rest);
}

static void take_line(struct launch_reply *reply, struct str word, struct str rest)
{
	struct {
		const char *word;
		bool *flag;
	} flags[] = {
		{ "exists", &reply->existed },
		{ "shipped", &reply->shipped },
		{ "cleaned", &reply->cleaned },
		{ "files", &reply->files_changed },
	};
	double value;

	for (size_t i = 0; i < LENGTH(flags); i++)
		if (str_eq_cstr(word, flags[i].word))
			*flags[i].flag = true;
	if (str_eq_cstr(word, "state"))
		take_state(reply, rest);
	else if (str_eq_cstr(word, "size"))
		(void)str_to_u64(rest, &reply->size);
	else if (str_eq_cstr(word, "env"))
		take_env(reply, rest);
	else if (str_eq_cstr(word, "error"))
		add_rest(reply->error, sizeof(reply->error), rest);
	else if (str_eq_cstr(word, "foreign"))
		copy_rest(reply->foreign, sizeof(reply->foreign), rest);
	else if (str_eq_cstr(word, "running"))
		copy_rest(reply->running, sizeof(reply->running), rest);
	else if (str_eq_cstr(word, "work"))
		copy_rest(reply->work, sizeof(reply->work), rest);
	else if (str_eq_cstr(word, "runtime"))
		add_rest(reply->runtime, sizeof(reply->runtime), rest);
	else if (str_eq_cstr(word, "hash") && rest.len >= 64)
		print_into(reply->hash, "%.64s", rest.p);
	else if (str_eq_cstr(word, "up") && str_to_double(rest, &value) && value >= 0.0 &&
		 value < MAX_SECONDS)
		reply->pod_up_s = value;
	else if (str_eq_cstr(word, "left"))
		take_left(reply, rest);
	else if (str_eq_cstr(word, "stray"))
		copy_rest(reply->stray, sizeof(reply->stray), rest);
	else if (str_eq_cstr(word, "held"))
		copy_rest(reply->held, sizeof(reply->held), rest);
	else if (str_eq_cstr(word, "queued"))
		copy_rest(reply->queued, sizeof(reply->queued), rest);
	else if (str_eq_cstr(word, "alloc"))
		copy_rest(reply->alloc, sizeof(reply->alloc), rest);
	else if (str_eq_cstr(word, "moved"))
		copy_rest(reply->moved, sizeof(reply->moved), rest);
}

void launch_reply_init(struct launch_reply *reply, struct str output)
{
	struct str line, word;

	*reply = (struct launch_reply){ .left = -1, .pod_up_s = (double)NAN };
	buf_init(&reply->env, 65536);
	while (str_next(&output, '\n', &line)) {
		if (!str_starts_with(line, "HB1 "))
			continue;
		line.p += 4;
		line.len -= 4;
		reply->understood = true;
		if (!str_next(&line, ' ', &word))
			continue;
		if (str_eq_cstr(word, "data")) {
			if (!take_blob(&output, line, &reply->data))
				return;
		} else if (str_eq_cstr(word, "host")) {
			if (!take_blob(&output, line, &reply->host))
				return;
		} else if (str_eq_cstr(word, "stamps")) {
			if (!take_blob(&output, line, &reply->stamps))
				return;
		} else {
			take_line(reply, word, line);
		}
	}
}

void launch_reply_release(struct launch_reply *reply)
{
	buf_release(&reply->env);
}
