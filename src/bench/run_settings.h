/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_RUN_SETTINGS_H
#define HGYM_BENCH_RUN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * What a training log prints of its settings before its first row: words
 * "key:value" and "key=value", and lines "key: value".  Which of them are
 * settings nobody knows; what is the same in all runs of an arm is taken for
 * one.
 */
#define RUN_SETTING_KEY	  48
#define RUN_SETTING_VALUE 80
#define RUN_SETTINGS_MAX  256

struct run_setting {
	char key[RUN_SETTING_KEY], value[RUN_SETTING_VALUE];
	uint64_t line;
};

struct run_settings {
	struct run_setting *v; /* owned */
	size_t n, cap;
};

/* Take what one line prints. */
void run_settings_line(struct run_settings *settings, struct str line,
		       uint64_t number);
/* Forget what was printed from that line on: the first row is there. */
void run_settings_end(struct run_settings *settings, uint64_t line);
/* The value of a key, or NULL; also where it was printed differently twice. */
const char *run_settings_get(const struct run_settings *settings,
			     const char *key);
/* Was it printed with more than one value? */
bool run_settings_wavers(const struct run_settings *settings, const char *key);
void run_settings_release(struct run_settings *settings);

#endif
