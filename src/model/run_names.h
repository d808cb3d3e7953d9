/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/* Give each run a distinct name (model_run.name): its folder without the prefix that all folders
 * share and, if folder and seed are not enough, its file, pod or index. Next to runs that are named
 * by their files, the only run of another folder is too. Cheap if nothing changed. */
void run_names_update(struct model *model);

/* The group of a log: its folder, or the folder above one that only names a seed ("seed_0"). */
char *run_names_group(const char *path);

/* Is it a folder name that every project has ("logs", "out"), and that does not identify a run? */
bool run_names_is_common(struct str name);
