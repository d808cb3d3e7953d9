/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"

/* Find out which bench is timing a pod now, for programs that must not disturb it.  The process
 * that drives a bench holds the lock of its results folder, and writes the path of the log of each
 * pod's run in progress to "current.<pod>" in that folder. */

/* Does a process hold the lock of this results folder? */
bool timed_is_driven(const char *dir);

/* Record that a run started on the pod; log is the path of its log below the results folder. */
int timed_set_log(const char *dir, const char *pod, const char *log, struct err *err) MUST_USE;

/* Path of the local copy of the log of the pod's run in progress; owned.  NULL: the last run has
 * ended (run.json is next to its log), or its log was not fetched yet. */
char *timed_log(const char *dir, const char *pod);
