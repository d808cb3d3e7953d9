/* SPDX-License-Identifier: MIT */
/* A bench as it is defined, and what follows from it; for run and show. */
#include "config.h"

#include "bench/plan.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quote.h"
#include "base/xalloc.h"
#include "parsers/json.h"

static int
read_all(const char *path, struct buf *text, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char block[65536];
	struct stat st;
	ssize_t n = 0;
	int result = 0;

	if (fd < 0)
		return err_set_errno(err, ERR_CONFIG, "cannot open %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		result = err_set(err, ERR_CONFIG, "%s is not a regular file",
				 path);
	while (result == 0 && (n = read(fd, block, sizeof(block))) > 0)
		buf_append(text, block, (size_t)n);
	if (result == 0 && n < 0)
		result = err_set_errno(err, ERR_CONFIG, "cannot read %s", path);
	if (result == 0 && text->truncated)
		result = err_set(err, ERR_CONFIG, "%s is too large", path);
	(void)close(fd);
	return result;
}

int
plan_load(struct plan *plan, const char *path, struct err *err)
{
	struct buf text;
	int result = -1;

	buf_init(&text, 1024U * 1024);
	if (read_all(path, &text, err) == 0)
		result = plan_parse(plan, path,
				    (struct str){ text.data, text.len }, err);
	buf_release(&text);
	return result;
}

static void
free_env(struct plan_env *env, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(env[i].name);
		free(env[i].value);
	}
	free(env);
}

static void
free_markers(struct plan_markers *markers)
{
	for (size_t i = 0; i < markers->n; i++)
		free(markers->text[i]);
}

static void
free_variant(struct plan_variant *v)
{
	free(v->tag);
	free(v->command);
	free(v->patch);
	free(v->noise_class);
	free_env(v->env, v->n_env);
	free_markers(&v->must);
	free_markers(&v->must_not);
	free_markers(&v->declares);
	for (size_t i = 0; i < v->n_files; i++) {
		free(v->files[i].path);
		free(v->files[i].from);
		free(v->files[i].overlay);
	}
}

static void
free_pod(struct plan_pod *pod)
{
	free(pod->id);
	free(pod->ssh);
	free(pod->transport);
	free(pod->identity);
	free(pod->known_hosts);
	free(pod->proxy_jump);
	free(pod->root);
	free(pod->lock_dir);
	free(pod->lock_clocks);
	free(pod->stop_cmd);
}

void
plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_variants; i++)
		free_variant(&plan->variants[i]);
	for (size_t i = 0; i < plan->n_pods; i++)
		free_pod(&plan->pods[i]);
	for (size_t i = 0; i < plan->n_hashed; i++)
		free(plan->hashed[i]);
	for (size_t i = 0; i < plan->n_data; i++)
		free(plan->data[i]);
	free(plan->data);
	free(plan->variants);
	free(plan->pods);
	free(plan->hashed);
	free_env(plan->env, plan->n_env);
	free(plan->file);
	free(plan->name);
	free(plan->cwd);
	free(plan->command);
	free(plan->commit);
	free(plan->data_sha256);
	free(plan->log);
	free(plan->end_marker);
	free(plan->noise_class);
	free(plan->key);
	*plan = (struct plan){ 0 };
}

size_t
plan_n_unpriced(const struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_pods; i++)
		n += isnan(plan->pods[i].usd_per_h) ? 1 : 0;
	return n;
}

size_t
plan_n_arms(const struct plan *plan)
{
	return plan->n_variants + (plan->aa ? 1 : 0);
}

const struct plan_variant *
plan_arm(const struct plan *plan, size_t arm)
{
	return &plan->variants[arm < plan->n_variants ? arm : 0];
}

void
plan_arm_tag(const struct plan *plan, size_t arm, struct buf *out)
{
	buf_append_str(out, plan_arm(plan, arm)->tag);
	if (arm >= plan->n_variants)
		buf_append_str(out, "~aa");
}

size_t
plan_n_rounds(const struct plan *plan)
{
	return plan->burn_in + (plan->blocks + plan->confirm) * plan->reps;
}

size_t
plan_n_runs(const struct plan *plan)
{
	size_t fresh = plan->confirm * plan->reps;
	size_t arms = plan->n_variants < 3 ? plan->n_variants : 3;

	return plan->n_pods *
	       ((plan_n_rounds(plan) - fresh) * plan_n_arms(plan) +
		fresh * arms);
}

unsigned char *
plan_schedule(const struct plan *plan, size_t pod)
{
	size_t n_arms = plan_n_arms(plan);
	unsigned char *order = xcalloc(plan_n_rounds(plan), n_arms);

	for (size_t i = 0; i < plan->burn_in * n_arms; i++)
		order[i] = (unsigned char)(i % n_arms);
	schedule_fill(order + plan->burn_in * n_arms, n_arms,
		      plan_n_rounds(plan) - plan->burn_in,
		      schedule_pod_seed(plan->seed, pod));
	return order;
}

bool
plan_needs_copies(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_variants; i++)
		if (plan->variants[i].patch != NULL ||
		    plan->variants[i].n_files > 0)
			return true;
	return false;
}

static void
add_env(struct buf *out, const struct plan_env *env, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_appendf(out, "%s=", env[i].name);
		quote_word(out, str_from(env[i].value));
		buf_append_char(out, ' ');
	}
}

void
plan_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const struct plan_pod *p = &plan->pods[pod];

	buf_append_str(out, "env ");
	if (p->n_gpus > 0) {
		buf_append_str(out, "CUDA_VISIBLE_DEVICES=");
		for (size_t i = 0; i < p->n_gpus; i++)
			buf_appendf(out, "%s%d", i > 0 ? "," : "", p->gpus[i]);
		buf_append_char(out, ' ');
	}
	add_env(out, plan->env, plan->n_env);
	add_env(out, v->env, v->n_env);
	buf_append_str(out, "sh -c ");
	quote_word(out,
		   str_from(v->command != NULL ? v->command : plan->command));
}
