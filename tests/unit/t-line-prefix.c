/* SPDX-License-Identifier: MIT */
/* line_prefix: ranks and times at the start of a line. */
#include "parsers/line_prefix.h"

#include "tests/support/tap.h"

static const struct {
	const char *line, *rest;
	int rank;
	int64_t wall_ms;
} cases[] = {
	{ "step:1/2 x", "step:1/2 x", -1, 0 },
	{ "[rank0]: Traceback", "Traceback", 0, 0 },
	{ "[rank13]:[W12] x", "[W12] x", 13, 0 },
	{ "[default3]:step", "step", 3, 0 },
	{ "[rank]: x", "[rank]: x", -1, 0 },
	{ "1776143914.261 1/20000 x", "1/20000 x", -1, 1776143914261 },
	{ "1776143914 x", "1776143914 x", -1, 0 },
	{ "1/20000 train_loss", "1/20000 train_loss", -1, 0 },
	{ "2026-11-20T21:30:00Z x", "x", -1, 1795210200000 },
	{ "2026-11-20 21:30:00,5 x", "x", -1, 1795210200500 },
	{ "[2026-11-20 23:30:00+02:00] x", "x", -1, 1795210200000 },
	{ "[2026-11-20 21:30:00] [rank1]: x", "x", 1, 1795210200000 },
	{ "2026-11-20 21:30", "2026-11-20 21:30", -1, 0 },
	/* An impossible date gives no time. */
	{ "2026-13-20T21:30:00Z x", "x", -1, 0 },
	{ "2026-11-20T24:30:00Z x", "x", -1, 0 },
	{ "20261120T213000Z x", "20261120T213000Z x", -1, 0 },
	{ "[05:45:45] x", "x", -1, 0 },
	{ "[05:45:45, x", "[05:45:45, x", -1, 0 },
	{ "INFO:root:step:1/2 x", "step:1/2 x", -1, 0 },
	{ "INFO:root:1/20000 x", "1/20000 x", -1, 0 },
	{ "INFO:__main__:seed:7", "seed:7", -1, 0 },
	{ "INFO: step:1/2 x", "step:1/2 x", -1, 0 },
	{ "[INFO] step:1/2 x", "step:1/2 x", -1, 0 },
	{ "[INFO]: step:1/2 x", "step:1/2 x", -1, 0 },
	{ "INFORM: x", "INFORM: x", -1, 0 },
	{ "[INFO|trainer.py:2321] 2024-11-26 22:07:15,123 >>   Total", "  Total", -1, 0 },
	{ "[INFO|2024-11-26 22:09:01] logging.py:157 >> {'loss': 2}", "{'loss': 2}", -1, 0 },
	{ "[rank0]:[titan] 2026-11-20 21:30:00,500 - root - INFO - step:  1", "step:  1", 0,
	  1795210200500 },
	{ "[titan] step", "[titan] step", -1, 0 },
	{ "INFO", "INFO", -1, 0 },
	{ "INFO:   seed: 7", "  seed: 7", -1, 0 },
	{ "2026-11-20T21:30:00Z   seed: 7", "  seed: 7", -1, 1795210200000 },
	{ "2026-11-20T21:30:00Z   step:7", "step:7", -1, 1795210200000 },
	{ "2026-11-20 21:30:00 - INFO -   seed: 7", "  seed: 7", -1, 1795210200000 },
	{ "2026-11-20 21:30:00: x", "x", -1, 1795210200000 },
	{ "2026-11-20 21:30:00\tx", "x", -1, 1795210200000 },
	{ "INFO:", "", -1, 0 },
	{ "DIAGNOSTIC post_ema x", "DIAGNOSTIC post_ema x", -1, 0 },
	{ "12:00:00 | INFO | a.core.b:261 - step: 1", "step: 1", -1, 0 },
	{ "12:00:00 | INFO | val.loss:3 | step: 1", "val.loss:3 | step: 1", -1, 0 },
	{ "12:00:00 INFO step:1/2 x", "step:1/2 x", -1, 0 },
	{ "[12:00:00][INFO] step:1/2 x", "step:1/2 x", -1, 0 },
	{ "[rank1]: INFO:root:step:1/2 x", "step:1/2 x", 1, 0 },
	{ "2026-11-20 21:30:00,500 - INFO - seed:7", "seed:7", -1, 1795210200500 },
	{ "2026-11-20 21:30:00,500 - train - INFO - seed:7", "seed:7", -1, 1795210200500 },
	{ "2026-11-20 21:30:00.500 | INFO     | a.b:<module>:12 - seed:7", "seed:7", -1,
	  1795210200500 },
	{ "2026-11-20 21:30:00,500 INFO train.py:12 | seed:7", "seed:7", -1, 1795210200500 },
	{ "2026-11-20 21:30:00,500 INFO [train.py:12] seed:7", "seed:7", -1, 1795210200500 },
	{ "[2026-11-20 21:30:00,500][root][INFO] - seed:7", "seed:7", -1, 1795210200500 },
	{ "[2026-11-20 21:30:00] [INFO] (train.py:12): seed:7", "seed:7", -1, 1795210200000 },
	{ "2026-11-20 21:30:00 INFO step:10/20 loss:3", "step:10/20 loss:3", -1, 1795210200000 },
	{ "2026-11-20 21:30:00 step:10/20 - INFO - x", "step:10/20 - INFO - x", -1, 1795210200000 },
	/* The prefixes of `ts`, syslog, journals and kubectl. */
	{ "Nov 20 21:30:00 step:10/20", "step:10/20", -1, 0 },
	{ "Nov  2 21:30:00 node-3 train[12]: step:1/2", "step:1/2", -1, 0 },
	{ "Nov 20 21:30:00 Train step[10]: loss", "Train step[10]: loss", -1, 0 },
	{ "Foo 20 21:30:00 step:1/2", "Foo 20 21:30:00 step:1/2", -1, 0 },
	{ "12:00:00 step:10/20", "step:10/20", -1, 0 },
	{ "12:00:00.125 | step:10/20", "step:10/20", -1, 0 },
	{ "12:00:00 -0.5", "-0.5", -1, 0 },
	{ "12:00:00, step", "12:00:00, step", -1, 0 },
	{ "12:00:00 [   INFO] step:10/20", "step:10/20", -1, 0 },
	{ "[pod/train-3/main] step:1/2", "step:1/2", 3, 0 },
	{ "[pod/train-x7k2p/main] step:1/2", "step:1/2", -1, 0 },
	{ "[pod/train-3", "[pod/train-3", -1, 0 },
	{ "2026-11-20 21:30:00,500 INFO t.py:1 in run -- step=1", "step=1", -1, 1795210200500 },
	{ "INFO t.py:1 in run of", "in run of", -1, 0 },
	{ "", "", -1, 0 },
};

/* Prefixes before lines without a rule; rest NULL: none. */
static const struct {
	const char *line, *rest;
	int rank;
} tasks[] = {
	{ "7:  iteration", " iteration", 7 },
	{ " 12: x", "x", 12 },
	{ "0: [rank3]: x", "x", 0 },
	{ "node-7: x", NULL, 0 },
	{ "7: ", NULL, 0 },
	{ "7:x", NULL, 0 },
	{ "123456: x", NULL, 0 },
	{ "[1,3] x", NULL, 0 },
	{ "", NULL, 0 },
};

static void test_tasks(void)
{
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		struct log_line p;
		bool is = line_prefix_task(str_from(tasks[i].line), &p);

		ok(is == (tasks[i].rest != NULL) &&
			   (!is || (str_eq_cstr(p.text, tasks[i].rest) && p.rank == tasks[i].rank)),
		   "the task of \"%s\"", tasks[i].line);
	}
}

int main(void)
{
	test_tasks();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct log_line p;

		line_prefix_split(str_from(cases[i].line), &p);
		ok(str_eq_cstr(p.text, cases[i].rest) && p.rank == cases[i].rank &&
			   p.wall_ms == cases[i].wall_ms,
		   "\"%s\"", cases[i].line);
	}
	return tap_done();
}
