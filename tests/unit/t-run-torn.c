/* SPDX-License-Identifier: MIT */
/* run_reader: logs that are cut, joined or quoted, and unusual numbers. */
#include "parsers/format.h"
#include "tests/support/run_case.h"

#define LAST                                                  \
	"step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms " \
	"step_avg:10ms\n"
#define AGAIN "step:99/99 train_loss:2 train_time:980ms step_avg:9.9ms\n" LAST
#define ROUND "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"

static const struct run_case cases[] = {
	{ "the first digits of a number with a comma are not the number",
	  LAST ROUND "legal_ttt val_loss:1.9 val_bpb:1,0812 eval_time:9ms\n",
	  1,
	  { { "ttt_bpb", "null" }, { "final_bpb", "null" }, { "quant_bpb", "1.14518023" } } },
	{ "a comma after a number ends it",
	  LAST ROUND "legal_ttt val_loss:1.9, val_bpb:1.0812, eval_time:9ms\n",
	  1,
	  { { "final_bpb", "1.0812" } } },
	{ "an evaluation with an unreadable figure may be the score",
	  LAST ROUND "legal_ttt val_loss:1.9 val_bpb:tensor(1.08)\n",
	  1,
	  { { "final_bpb", "null" }, { "quant_bpb", "1.14518023" } } },
	{ "an unreadable figure of the model before quantization may be the score",
	  LAST "DIAGNOSTIC post_ema val_loss:1.9 val_bpb:**1.12**\n" ROUND,
	  1,
	  { { "prequant_bpb", "null" }, { "last_val_bpb", "1.3" } } },
	{ "a quoted figure is not the run's",
	  LAST ROUND "final_int6_roundtrip_exact val_loss:1.9 "
		     "val_bpb:1.01230000 (PR #12)\n"
		     "legal_ttt val_loss:1.9 val_bpb:1.02 # reference\n",
	  1,
	  { { "quant_bpb", "1.14518023" }, { "ttt_bpb", "null" }, { "final_bpb", "null" } } },
	{ "a list of results that others printed is not the run's",
	  LAST ROUND "- final_int6_sliding_window val_loss:2 val_bpb:1.0123\n",
	  1,
	  { { "final_bpb", "null" }, { "quant_bpb", "1.14518023" } } },
	{ "a table before the run is not the run's",
	  "legal_ttt val_loss:1.9 val_bpb:1.0123 eval_time:9ms\n"
	  "seed:7\n" LAST ROUND,
	  1,
	  { { "seed", "7" }, { "ttt_bpb", "null" }, { "final_bpb", "1.14518023" } } },
	{ "labels of another model or of a part are not the run's",
	  LAST ROUND "final_teacher_roundtrip val_loss:2.1 val_bpb:1.2 eval_time:9ms\n"
		     "final_train_sliding val_loss:2.1 val_bpb:1.25 eval_time:9ms\n"
		     "final_pre_ttt val_loss:2.1 val_bpb:1.22 eval_time:9ms\n",
	  1,
	  { { "final_bpb", "1.14518023" }, { "sliding_bpb", "null" }, { "ttt_bpb", "null" } } },
	{ "text mixed into a sliding window line does not match",
	  LAST ROUND "final_int6_sliding_window_s64_exact val_loss:2 val_bpb:1.12\n"
		     "final_int6_sliding_window_ngram7 val_loss:2 val_bpb:1.05\n",
	  1,
	  { { "sliding_bpb", "1.12" }, { "final_bpb", "null" } } },
	{ "an unknown evaluation",
	  "final_eval_mode:strided stride:64\n" LAST ROUND,
	  1,
	  { { "quant_bpb", "null" }, { "final_bpb", "null" } } },
	{ "the known evaluation",
	  "final_eval_mode:standard\n" LAST ROUND,
	  1,
	  { { "quant_bpb", "1.14518023" }, { "final_bpb", "1.14518023" } } },
	{ "a sliding evaluation, recognized by its progress alone",
	  "  sliding_eval [  9.3%] 93/1000 windows running_bpb=1.2\n"
	  "final_int8_zlib_roundtrip val_loss:2.1 val_bpb:1.1452 "
	  "eval_time:9ms\n"
	  "final_int8_zlib_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n",
	  1,
	  { { "quant_bpb", "null" },
	    { "sliding_bpb", "1.14518023" },
	    { "final_class", "\"sliding\"" } } },
	{ "an evaluation that started and did not end",
	  LAST ROUND "ttt_sliding:start chunks=1893 chunk_tokens=32768\n",
	  1,
	  { { "final_bpb", "null" }, { "status", "\"truncated\"" } } },
	{ "cut after training: the evaluation is missing",
	  LAST "stopping_early: wallclock_cap train_time:990ms step:99/200\n"
	       "peak memory allocated: 10184 MiB reserved: 10624 MiB\n",
	  1,
	  { { "steps", "99" }, { "train_ms", "990" }, { "status", "\"truncated\"" } } },
	{ "cut during packing",
	  LAST "Serialized model: 67224983 bytes\n",
	  1,
	  { { "artifact_bytes", "null" }, { "status", "\"truncated\"" } } },
	{ "a loss-only run finishes without an evaluation summary",
	  "step:9/9 val_loss:3.2 train_time:90ms step_avg:10ms\n"
	  "GPT-2 val_loss:3.3 val_bpb:0.9912\n",
	  1,
	  { { "status", "\"finished\"" }, { "final_bpb", "null" } } },
	{ "a summary does not finish a run",
	  "step:5/9 val_loss:3.2 train_time:50ms step_avg:10ms\n"
	  "step:9/9 train_time:90ms step_avg:10ms\n"
	  "wandb: val_bpb: 0.9912\nsummary val_loss:3.1 val_bpb:0.9912\n",
	  1,
	  { { "status", "\"truncated\"" }, { "final_val_loss", "null" } } },
	{ "a stop without a step, long after the last row",
	  "step:10/99 train_loss:2 train_time:100ms step_avg:10ms\n"
	  "stopping_early: wallclock_cap train_time:600ms\n",
	  1,
	  { { "steps", "null" }, { "train_ms", "600" }, { "ms_per_step", "null" } } },
	{ "a time of zero is absent",
	  "stopping_early: wallclock_cap train_time:0ms step:99/200\n",
	  1,
	  { { "train_ms", "null" }, { "ms_per_step", "null" } } },
	{ "the last rows are repeated", AGAIN AGAIN, 1, { { "train_ms", "990" } } },
	{ "the first validation is not the quantized model's",
	  "step:0/99 val_loss:6.9 val_bpb:4.1 train_time:0ms\n" ROUND,
	  1,
	  { { "prequant_bpb", "null" }, { "final_bpb", "1.14518023" } } },
	{ "steps of another plan belong to another run",
	  "world_size:8 grad_accum_steps:1\n"
	  "step:0/3400 val_loss:11 train_time:0ms\n"
	  "step:3400/3400 val_loss:3.2 train_time:34000ms step_avg:10ms\n"
	  "step:125/3040 val_loss:4 train_time:2500ms step_avg:20ms\n"
	  "step:3040/3040 val_loss:3.3 train_time:60800ms step_avg:20ms\n",
	  2,
	  { { "steps", "3040" }, { "n_gpus", "null" }, { "final_val_loss", "3.3" } } },
	{ "the text after a bar is read as a line",
	  "train:  45%|##  | 45/99 [00:10<00:12,  4.4it/s, loss=3]" LAST
	  "\r100%|####| 9/9 [00:10<00:00,  1.1s/it]" ROUND
	  "100%|####| 9/9 [00:10<00:00,  1.1s/it] bpb: 1.0123\n",
	  1,
	  { { "steps", "99" }, { "last_val_bpb", "1.3" }, { "final_bpb", "1.14518023" } } },
	{ "a figure without decimals may be incomplete",
	  LAST ROUND "legal_ttt val_loss:1.9 val_bpb:1\n.0812 eval_time:9ms\n",
	  1,
	  { { "ttt_bpb", "null" }, { "final_bpb", "null" } } },
	{ "a stop with an unreadable step",
	  "100/900 train_loss: 3 train_time: 0.1m tok/s: 8671604\n"
	  "stopping_early: wallclock_cap train_time: 9000ms step: 250/\n",
	  1,
	  { { "train_ms", "null" }, { "ms_per_step", "null" } } },
	{ "rows of an evaluation loop do not belong to the training",
	  LAST "stopping_early: wallclock_cap train_time:990ms step:99/99\n" ROUND
	       "step:1/9 train_loss:0.5 train_time:30ms step_avg:30ms\n"
	       "step:9/9 train_loss:0.4 train_time:300ms step_avg:30ms\n"
	       "legal_ttt val_loss:1.9 val_bpb:1.0812 total time:700s\n",
	  1,
	  { { "steps", "99" },
	    { "train_ms", "990" },
	    { "last_train_loss", "null" },
	    { "final_bpb", "1.0812" },
	    { "eval_s", "null" } } },
	{ "a script after another run's settings belongs to the next run",
	  "import os\nx = 1\n"
	  "============================================================"
	  "========================================\n"
	  "Using seed=6\n"
	  "import os\nx = 2\n"
	  "============================================================"
	  "========================================\n"
	  "step:9/9 val_loss:3.2 train_time:90ms step_avg:10ms\n",
	  2,
	  { { "seed", "null" }, { "final_val_loss", "3.2" } } },
	{ "one label with two figures: neither counts",
	  LAST ROUND "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.15\n"
		     "legal_ttt val_loss:2 val_bpb:1.1 eval_time:9ms\n"
		     "legal_ttt val_loss:2 val_bpb:1.09 eval_time:9ms\n",
	  1,
	  { { "quant_bpb", "null" },
	    { "ttt_bpb", "null" },
	    { "final_bpb", "null" },
	    { "status", "\"finished\"" } } },
	{ "the last figure counts if the model was packed again",
	  LAST "Total submission size int6+lzma: 16400000 bytes\n" ROUND
	       "Total submission size int6+lzma: 15990000 bytes\n"
	       "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.15\n",
	  1,
	  { { "final_bpb", "1.15" }, { "artifact_bytes", "15990000" } } },
	{ "a repeated line is one figure", LAST ROUND ROUND, 1, { { "final_bpb", "1.14518023" } } },
	{ "a figure that cannot be bits per byte, and a time of zero",
	  LAST ROUND "legal_ttt val_loss:2 val_bpb:1119.2 eval_time:9ms\n"
		     "quantized_ttt val_loss:2 val_bpb:1.1 eval_time:0ms\n",
	  1,
	  { { "final_bpb", "1.1" }, { "eval_s", "null" } } },
	{ "an exception that Python ignored at exit is not a crash",
	  LAST ROUND "Exception ignored in: <function Tracker.__del__>\n"
		     "Traceback (most recent call last):\n"
		     "  File \"t.py\", line 3, in __del__\n",
	  1,
	  { { "status", "\"finished\"" }, { "final_bpb", "1.14518023" } } },
	{ "an exception after an ignored one is a crash",
	  LAST "Exception in thread Thread-1:\n"
	       "Traceback (most recent call last):\n"
	       "Traceback (most recent call last):\n",
	  1,
	  { { "status", "\"crashed\"" } } },
	{ "training after an evaluation is another run",
	  "seed:7\nlegal_ttt val_loss:1.9 val_bpb:1.0123 eval_time:9ms\n" LAST ROUND,
	  2,
	  { { "seed", "null" }, { "ttt_bpb", "null" }, { "final_bpb", "1.14518023" } } },
};

int main(void)
{
	struct format_set *formats = format_set_new_builtin();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case_check(formats, &cases[i]);
	format_set_free(formats);
	return tap_done();
}
