/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/*
 * Give each run of the model a name (model_run.name) that tells it from the
 * others: its folder without what all folders begin with, and, where neither
 * folder nor seed tell it, its file, its pod, or its place in the file.
 * Cheap where nothing changed that names depend on.
 */
void run_names_update(struct model *model);

/* Is it the name of a folder that every project has ("logs", "out"), which tells no runs apart? */
bool run_names_is_common(struct str name);
