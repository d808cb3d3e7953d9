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
