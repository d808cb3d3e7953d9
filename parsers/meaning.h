/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/metric.h"
#include "parsers/pairs.h"

/*
 * What a printed name and unit stand for, where only one reading is left:
 * "loss", "train/loss", "lm loss" are a training loss, "dt" in ms a step time,
 * "tok/sec" a throughput.  METRIC_COUNT where there is none, or more than one
 * ("acc_loss", "loss scale", a "time" of which nothing says of what).  *scale
 * takes the value to the metric's unit.  A counter ("step", "iter",
 * "iteration", "global_step") is METRIC_STEP; an "epoch" is none: it is a
 * counter only where a row has no other.
 */
enum metric meaning_of(const struct pair *pair, double *scale);

/*
 * Whether the name is that of a training loss where no other number of its row
 * is one: "total_loss" beside "loss_cls", "step_loss" beside "lr".
 */
bool meaning_is_total_loss(struct str name);

/* The same of an evaluation, whose loss is one mean: "average loss". */
bool meaning_is_mean_loss(struct str name);
