/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/metric.h"
#include "parsers/pairs.h"

/* Find the metric that a printed name and unit mean, if only one reading is possible: "loss",
 * "train/loss" and "lm loss" are a training loss, "dt" in ms a step time, "tok/sec" a throughput.
 * Otherwise METRIC_COUNT ("acc_loss", "loss scale", a "time" in seconds). *scale converts the value
 * to the metric's unit. A counter ("step", "iter", "iteration", "global_step") is METRIC_STEP. An
 * "epoch" is not, since it counts rows only if nothing else does. */
enum metric meaning_of(const struct pair *pair, double *scale);

/* Is this the training loss of a row without another one ("total_loss" next to "loss_cls")? */
bool meaning_is_total_loss(struct str name);

/* The same for an evaluation, whose loss is a mean: "average loss". */
bool meaning_is_mean_loss(struct str name);

/* Is this the name of a setting, such as a learning rate, and not of a measurement? */
bool meaning_is_setting(struct str name);
