/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/compare.h"

/* Which arms the bench of a HarnessGym run compares:
 *
 * - By default: the task's template (the control), the run's best checkpoint, and the workspace if
 *   it differs from the checkpoint, measured by the run's own command.  The bench copies them
 *   before its first run.  Each run works in a fresh copy of its arm, and fails if one of the
 *   judge's files differs from the template's.
 * - With `settings`: the checkpoint's kernel with the settings of the template (the control), with
 *   its own settings, and with those of other verified iterations.  If the checkpoint has a
 *   task.py, the functions are timed directly; otherwise the run's own command measures them.
 * - For a comparison: the workspaces of the trials that count, measured by the judge of the task.
 *   Trials with an earlier trial's files are left out.  The first plain one is the control. */
struct harness_ab {
	const struct harness_run *run; /* NULL: the trials of compare */
	const struct harness_compare *compare;
	const char *workspace; /* absolute path */
	const char *pod;       /* name in the configuration; NULL: this machine */
	bool settings;
};

/* Build the bench.json, which is a valid plan; owned by the caller.  NULL with err, for example if
 * the run has no checkpoint, no command that measures a score, or no settings. */
cJSON *harness_ab_json(const struct harness_ab *asked, struct err *err) MUST_USE;
