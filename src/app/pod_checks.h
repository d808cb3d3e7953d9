/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/* Checks of pods for the dashboard: each runs `hgym-tui pods check` over a separate connection
 * and puts its result into the model as lines of text. */
struct pod_checks;

/* context and model are borrowed. */
struct pod_checks *pod_checks_new(struct loop *loop, struct model *model,
				  const struct context *context);
/* Stops the checks that are running. */
void pod_checks_free(struct pod_checks *checks);
/* Start the check of a pod of the configuration. */
int pod_checks_start(struct pod_checks *checks, size_t pod, struct err *err) MUST_USE;
