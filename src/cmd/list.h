/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_LIST_H
#define HGYM_CMD_LIST_H

/* The commands, in the order of the help: each a struct cmd_<id>.  The only
 * list of them. */
#define CMD_LIST_OF(X)                                                         \
	X(parse)                                                               \
	X(board)                                                               \
	X(submission)                                                          \
	X(export)                                                              \
	X(formats_list)                                                        \
	X(formats_show)                                                        \
	X(formats_check)                                                       \
	X(harness)                                                             \
	X(collect)                                                             \
	X(pods)                                                                \
	X(pods_check)                                                          \
	X(runs)                                                                \
	X(samples)                                                             \
	X(bench_run)                                                           \
	X(bench_list)                                                          \
	X(bench_show)                                                          \
	X(bench_attach)                                                        \
	X(bench_abort)                                                         \
	X(bench_clean)                                                         \
	X(bench_stop)                                                          \
	X(bench_judge)                                                         \
	X(bench_audit)                                                         \
	X(bench_noise)                                                         \
	X(demo)                                                                \
	X(doctor)

#endif
