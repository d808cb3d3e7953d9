/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "loop/loop.h"
#include "model/model.h"

/*
 * Preflights of pods for the dashboard: `hgym-tui pods check` as a child, by
 * a connection of its own, its row as lines in the model.
 */
struct pod_checks;

/* context and model are borrowed. */
struct pod_checks *pod_checks_new(struct loop *loop, struct model *model,
				  const struct context *context);
/* Ends those that run (NULL: nothing). */
void pod_checks_free(struct pod_checks *checks);
/* Begin the check of a pod of the configuration. */
int pod_checks_start(struct pod_checks *checks, size_t pod, struct err *err)
	__attribute__((warn_unused_result));
