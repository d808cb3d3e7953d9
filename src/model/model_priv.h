/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_MODEL_PRIV_H
#define HGYM_MODEL_MODEL_PRIV_H

#include "model/model.h"

/* What the parts of the model share; for src/model/model*.c alone. */

/* A copy of text, safe to show, of no more than cap_bytes; owned by you. */
char *model_sanitised(const char *text, size_t cap_bytes);
/* Push a point, unless it is NaN or infinite; *series is made when NULL. */
void model_push_point(struct series **series, const struct series_point *point);
void model_free_series(struct series *series[METRIC_COUNT]);
/* The log of that file, NULL: none is known. */
struct model_log *model_find_log(const struct model *model, size_t pod,
				 const char *path);

void model_pod_release(struct model_pod *pod);
void model_run_free(struct model_run *mr);

#endif
