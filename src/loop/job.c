/* SPDX-License-Identifier: MIT */
/*
 * Blocking work on libuv's pool, with a cap for each kind, so that sleepy
 * name servers or key agents never keep the database from its commit.
 */
#include "config.h"

#include "loop/loop_uv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"

struct job {
	struct list link; /* in job_queue.waiting, until it begins */
	uv_work_t work;
	uv_sem_t is_worked; /* posted when its thread is done with it */
	struct loop *loop;
	enum job_kind kind;
	job_fn run;
	job_fn done;
	void *user;
	bool has_begun, is_told;
};

#define PARSE_MIN 2
#define PARSE_MAX 8

unsigned int
loop_job_cap(enum job_kind kind)
{
	static const unsigned int caps[JOB_KIND_COUNT] = {
		[JOB_STORE] = 1,
		[JOB_READ] = 1,
		[JOB_RESOLVE] = 2,
		[JOB_AUTH] = 2,
	};
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (kind != JOB_PARSE)
		return caps[kind];
	return cores < PARSE_MIN   ? PARSE_MIN
	       : cores > PARSE_MAX ? PARSE_MAX
				   : (unsigned int)cores;
}

void
job_queues_init(struct loop *loop)
{
	for (int i = 0; i < JOB_KIND_COUNT; i++)
		list_init(&loop->jobs[i].waiting);
}

void
job_pool_prepare(void)
{
	unsigned int sum = 0;
	char text[16];

	for (int i = 0; i < JOB_KIND_COUNT; i++)
		sum += loop_job_cap((enum job_kind)i);
	snprintf(text, sizeof(text), "%u", sum);
	setenv("UV_THREADPOOL_SIZE", text, 1);
}

static void
on_work(uv_work_t *work)
{
	struct job *job = work->data;

	job->run(job->user);
	uv_sem_post(&job->is_worked);
}

static void
free_job(struct job *job)
{
	uv_sem_destroy(&job->is_worked);
	free(job);
}

static void start_next(struct loop *loop, enum job_kind kind);

/* Hand the job back and let the next of its kind begin. */
static void
on_after_work(uv_work_t *work, int status)
{
	struct job *job = work->data;
	struct loop *loop = job->loop;
	enum job_kind kind = job->kind;

	assert(status == 0);
	(void)status;
	loop->jobs[kind].running--;
	start_next(loop, kind);
	if (!job->is_told)
		job->done(job->user);
	free_job(job);
}

static void
start_next(struct loop *loop, enum job_kind kind)
{
	struct job_queue *queue = &loop->jobs[kind];

	while (queue->running < loop_job_cap(kind) &&
	       !list_is_empty(&queue->waiting)) {
		struct job *job =
			list_entry(queue->waiting.next, struct job, link);

		list_remove(&job->link);
		job->has_begun = true;
		queue->running++;
		uv_queue_work(&loop->uv, &job->work, on_work, on_after_work);
	}
}

struct job *
loop_job_new(struct loop *loop, enum job_kind kind, job_fn work, job_fn done,
	     void *user)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->loop = loop;
	job->kind = kind;
	job->run = work;
	job->done = done;
	job->user = user;
	job->work.data = job;
	if (uv_sem_init(&job->is_worked, 0) != 0)
		abort();
	list_append(&loop->jobs[kind].waiting, &job->link);
	start_next(loop, kind);
	return job;
}

void
loop_job_finish(struct job *job)
{
	assert(!job->is_told);
	if (!job->has_begun) {
		list_remove(&job->link);
		job->run(job->user);
		job->done(job->user);
		free_job(job);
		return;
	}
	/* What is left of it goes when the loop hears of its end. */
	uv_sem_wait(&job->is_worked);
	job->is_told = true;
	job->done(job->user);
}

void
loop_job(struct loop *loop, enum job_kind kind, job_fn work, job_fn done,
	 void *user)
{
	(void)loop_job_new(loop, kind, work, done, user);
}
