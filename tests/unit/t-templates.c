/* SPDX-License-Identifier: MIT */
/* templates: rows of trainers without a rule, and lines that are not rows. */
#include "parsers/templates.h"

#include <stdlib.h>

#include "base/buf.h"
#include "parsers/format.h"
#include "tests/support/run_case.h"

/* Lines inside Docker's JSON. */
#define WRAP(stream, text)                           \
	"{\"log\":\"" text "\",\"stream\":\"" stream \
	"\",\"time\":\"2026-01-01T00:00:00.123456789Z\"}\n"
#define OUT(text) WRAP("stdout", text)
#define ERR(text) WRAP("stderr", text)

#define STEPS(quote) \
	quote "step: 10, loss: 3.5\n" quote "step: 20, loss: 3.25\n" quote "step: 30, loss: 3\n"

#define PADDLE_EPOCH(n, loss, eval)                                             \
	"Epoch " n "/3\nstep 10/30 - loss: " loss "1\nstep 20/30 - loss: " loss \
	"2\nstep 30/30 - loss: " loss "3\nEval begin...\n"                      \
	"step 4/8 - loss: " eval "1\nstep 8/8 - loss: " eval "2\nEval samples: 100\n"

static const struct run_case cases[] = {
	{ "lines inside Docker's JSON: divided lines, colors, bars",
	  OUT("\\u001b[32mstep: 10, loss: 3.5\\u001b[0m\\n")
		  ERR("\\r 1%|#  | 1/9 [00:01<00:02, 1.5it/s]") OUT("step: 20, lo")
			  OUT("ss: 3.25\\n") OUT("step: 30, loss: 3\\nstep: 40, loss: 2.5\\n"),
	  1,
	  { { "steps", "40" },
	    { "last_train_loss", "2.5" },
	    { "matched", "5" },
	    { "lines", "5" } } },
	{ "a last part that Docker has not completed is cut",
	  OUT("step: 10, loss: 3.5\\n") OUT("step: 20, loss: 3.25\\n") OUT("step: 30, loss: 3\\n")
		  OUT("step: 40, loss: 2.5"),
	  1,
	  { { "steps", "40" }, { "last_train_loss", "3" } } },
	{ "an object without Docker's keys is not unwrapped",
	  "{\"log\":\"step: 10, loss: 3.5\\n\"}\n"
	  "{\"log\":\"step: 20, loss: 3.25\\n\"}\n"
	  "{\"log\":\"step: 30, loss: 3\\n\"}\n",
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document quotes between fences are not rows",
	  "# Notes\n\n## Run of Tuesday\n```text\n" STEPS("") "```\nDone.\n",
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document quotes below a sentence are not rows",
	  "What it printed:\n\n~~~\n" STEPS("") "~~~\n",
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document indents are not rows",
	  "---\nlicense: mit\n---\nMy trainer\n==========\n\nIt prints this::\n\n" STEPS("    "),
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document quotes as a list are not rows",
	  "# Notes\n\nWhat I saw:\n" STEPS("- "),
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document quotes after > are not rows",
	  "# Notes\n\n" STEPS("> "),
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document quotes after markup and titles are not rows",
	  "<p align=\"center\">\n\n[![CI](a.svg)](a)\n\n# Trainer\n\n1. Run it\n   ```\n   python t.py\n"
	  "   ```\n\nand\n\n<pre>\n" STEPS("") "</pre>\n",
	  0,
	  { { NULL, NULL } } },
	{ "rows that a document quotes as a table are not rows",
	  "# Results\n\nOne run.\n\n| step | loss |\n|---|---|\n| 10 | 3.5 |\n| 20 | 3.25 |\n",
	  0,
	  { { NULL, NULL } } },
	{ "a log that is fenced, and lists its rows",
	  "```\n" STEPS("- ") "```\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a log with headings that indents its rows",
	  "# Training log\n\n" STEPS("    "),
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a log whose titles precede settings",
	  "# Run 12\n\nseed = 1\n\n" STEPS("- "),
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a log with a ruler below its title",
	  "Training started\n~~~~~~~~~~~~~~~~\n" STEPS(""),
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a log with a line of HTML below its title",
	  "Trainer\n\n<pre>hello</pre>\n" STEPS(""),
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a log with a title, and its rows in a table",
	  "Training run\n============\n\n| step | loss |\n|---|---|\n| 10 | 3.5 |\n"
	  "| 20 | 3.25 |\n",
	  1,
	  { { "steps", "20" }, { "last_train_loss", "3.25" } } },
	{ "a table that starts again after its first row",
	  "step,loss\n500,3.5\nstep,loss\n1,4.5\n2,4.25\n3,4\n",
	  1,
	  { { "steps", "3" }, { "last_train_loss", "4" } } },
	{ "a log that prints a document between its rows",
	  "# Training\n\nThe model is small.\n" STEPS("") "# Sample\n\n```\nstep: 40, loss: 2\n",
	  1,
	  { { "steps", "40" }, { "last_train_loss", "2" } } },
	{ "a schedule has no rows, but rows of the same form after it count",
	  "lr_schedule:\n- step: 100, lr: 0.1\n- step: 200, lr: 0.05\n- step: 300, lr: 0.01\n"
	  "curriculum:\n- step: 0\n  seq_len: 128\n  lr: 0.1\n- step: 9\n  seq_len: 256\n  lr: 0.2\n"
	  "- step: 99\n  seq_len: 512\n  lr: 0.3\n" STEPS("- "),
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "rows without a loss are not a schedule",
	  "step: 10, lr: 0.1, grad_norm: 1.5\nstep: 20, lr: 0.1, grad_norm: 1.25\n"
	  "step: 30, lr: 0.05, grad_norm: 1.75\n",
	  1,
	  { { "steps", "30" } } },
	{ "rows with another total belong to the announced evaluation",
	  PADDLE_EPOCH("1", "3.5", "0.5") PADDLE_EPOCH("2", "3.25", "0.25")
		  PADDLE_EPOCH("3", "2.5", "0.125"),
	  1,
	  { { "last_train_loss", "2.53" } } },
	{ "training that continues does not belong to the evaluation, whatever the total",
	  "step 10/30 - loss: 3.5\nstep 20/30 - loss: 3.25\n"
	  "step 30/30 - loss: 3.125\nEvaluating ..\nLast phase of training\n"
	  "step 1/9 - loss: 2.5\nstep 2/9 - loss: 2.25\n",
	  2,
	  { { "steps", "2" }, { "last_train_loss", "2.25" } } },
	{ "a total in thousands is not a plan",
	  "train: 1%|#  | 198/2.00k [00:01<00:02, 1.5it/s, loss=3.5]\n"
	  "train: 1%|#  | 199/2.00k [00:01<00:02, 1.5it/s, loss=3.25]\n"
	  "train: 1%|#  | 200/2.00k [00:01<00:02, 1.5it/s, loss=3.125]\n",
	  0,
	  { { NULL, NULL } } },
	{ "Comet's summary at the end",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "COMET INFO:   Metrics [count] (min, max):\n"
	  "COMET INFO:     val_loss [5]  : (2.5, 3.5)\n",
	  1,
	  { { "last_train_loss", "3" }, { "last_val_loss", "null" } } },
	{ "the prefix of syslog is not a number of the row",
	  "Nov 20 10:00:00 gpu-3 python3[12345]: step: 10, loss: 3.5\n"
	  "Nov 20 10:00:01 gpu-3 python3[12345]: step: 20, loss: 3.25\n"
	  "Nov 20 10:00:02 step: 30, loss: 3.125\n",
	  1,
	  { { "steps", "30" },
	    { "metrics", "[{\"name\":\"loss\",\"unit\":null,\"metric\":\"train_loss\","
			 "\"points\":3,\"first\":3.5,\"last\":3.125,\"min\":3.125,"
			 "\"max\":3.5,\"min_step\":30}]" } } },
	{ "the prefix of a journal with full dates is not a number of the row",
	  "2026-01-05T10:00:01+0000 gpu1 python3[4711]: step 10 loss 3.5\n"
	  "2026-01-05T10:00:02+0000 gpu1 python3[4711]: step 20 loss 3.25\n"
	  "2026-01-05T10:00:03+0000 gpu1 python3[4711]: step 30 loss 3.125\n",
	  1,
	  { { "steps", "30" },
	    { "metrics", "[{\"name\":\"loss\",\"unit\":null,\"metric\":\"train_loss\","
			 "\"points\":3,\"first\":3.5,\"last\":3.125,\"min\":3.125,"
			 "\"max\":3.5,\"min_step\":30}]" } } },
	{ "the prefix of a journal does not count the rows",
	  "2026-01-05T10:00:01+0000 Train step[10]: loss 3.5\n"
	  "2026-01-05T10:00:02+0000 Train step[20]: loss 3.25\n"
	  "2026-01-05T10:00:03+0000 Train step[30]: loss 3.125\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3.125" } } },
	{ "Rich prints a time once, and a source line at the end of each line",
	  "[10:00:01] INFO     step 10 loss 3.5            train.py:123\n"
	  "           INFO     step 20 loss 3.25           train.py:123\n"
	  "[10:00:02] INFO     step 30 loss 3.125          train.py:123\n"
	  "           INFO     step 40 loss 3.0            train.py:123\n",
	  1,
	  { { "steps", "40" },
	    { "metrics", "[{\"name\":\"loss\",\"unit\":null,\"metric\":\"train_loss\","
			 "\"points\":4,\"first\":3.5,\"last\":3,\"min\":3,"
			 "\"max\":3.5,\"min_step\":40}]" } } },
	{ "three lines become rows; the first two are reported late",
	  "it 10 loss 3.5 lr 0.1\nit 20 loss 3.25 lr 0.1\n"
	  "it 30 loss 3.0 lr 0.1\n",
	  1,
	  { { "steps", "30" }, { "matched", "3" } } },
	{ "rows of two kinds in turn, of two runs with other names",
	  "step 10 loss 3.5\nstep 20 loss 3.25\nstep 30 loss 3.125\n"
	  "step 30 val_loss 3.5\nstep 40 loss 3\nstep 40 val_loss 3.25\n"
	  "step 50 loss 2.5\nstep 50 val_loss 3\nstep 5 val_loss 4.5\n"
	  "step 10 loss 4\nstep 10 val_loss 4.25\nstep 20 loss 3.75\n",
	  2,
	  { { "metrics", "[{\"name\":\"val_loss\",\"unit\":null,\"metric\":\"val_loss\","
			 "\"points\":2,\"first\":4.5,\"last\":4.25,\"min\":4.25,"
			 "\"max\":4.5,\"min_step\":10},"
			 "{\"name\":\"loss\",\"unit\":null,\"metric\":\"train_loss\","
			 "\"points\":2,\"first\":4,\"last\":3.75,\"min\":3.75,"
			 "\"max\":4,\"min_step\":20}]" } } },
	{ "a step, a loss",
	  "Step 10 | loss 3.5 | lr 1e-4\nStep 20 | loss 3.25 | lr 1e-4\n"
	  "Step 30 | loss 3.0 | lr 1e-4\n",
	  1,
	  { { "steps", "30" },
	    { "last_train_loss", "3" },
	    { "matched", "3" },
	    { "formats", "[\"generic\"]" } } },
	{ "two lines are not rows",
	  "Step 10 | loss 3.5 | lr 1e-4\nStep 20 | loss 3.25 | lr 1e-4\n",
	  0,
	  { { NULL, NULL } } },
	{ "lines whose counter does not increase are not rows",
	  "Step 10 | loss 3.5\nStep 10 | loss 3.25\nStep 10 | loss 3.125\n",
	  0,
	  { { NULL, NULL } } },
	{ "lines whose figures do not change are not rows",
	  "step=1, lr: 0.1\nstep=2, lr: 0.1\nstep=3, lr: 0.1\n",
	  0,
	  { { NULL, NULL } } },
	{ "lines with whole numbers only are not rows",
	  "iteration 1: words: 5\niteration 2: words: 6\n"
	  "iteration 3: words: 7\n",
	  0,
	  { { NULL, NULL } } },
	{ "lines with times only are not rows",
	  "step 1: time: 0.5s\nstep 2: time: 0.6s\nstep 3: time: 0.7s\n",
	  0,
	  { { NULL, NULL } } },
	{ "validations with the counter of the rows",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "step: 30, val_loss: 3.75\nstep: 40, loss: 2.5\n",
	  1,
	  { { "steps", "40" }, { "last_train_loss", "2.5" }, { "last_val_loss", "3.75" } } },
	{ "validations without a counter",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "Validation loss: 3.75\n",
	  1,
	  { { "steps", "30" }, { "last_val_loss", "3.75" } } },
	{ "a heading makes the loss a validation loss",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "Eval | step: 30, loss: 3.75\n",
	  1,
	  { { "last_train_loss", "3" }, { "last_val_loss", "3.75" } } },
	{ "emoji and arrows",
	  "\xe2\x9c\x85 Step 10 \xe2\x86\x92 loss: 3.5 \xe2\x80\xa2 lr: 0.1\n"
	  "\xe2\x9c\x85 Step 20 \xe2\x86\x92 loss: 3.25 \xe2\x80\xa2 lr: 0.1\n"
	  "\xe2\x9c\x85 Step 30 \xe2\x86\x92 loss: 3 \xe2\x80\xa2 lr: 0.1\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a loss after an arrow, a step with a total",
	  "[train] Step 100 out of 900 | Loss --> 3.5 | Lr --> 0.01 | \n"
	  "[train] Step 200 out of 900 | Loss --> 3.25 | Lr --> 0.01 | \n"
	  "[train] Step 300 out of 900 | Loss --> 3 | Lr --> 0.01 | \n",
	  1,
	  { { "steps", "300" }, { "planned_steps", "900" }, { "last_train_loss", "3" } } },
	{ "only the rows of the first task count",
	  "0: step 10 loss 3.5\n1: step 10 loss 4.5\n"
	  "0: step 20 loss 3.25\n1: step 20 loss 4.25\n"
	  "0: step 30 loss 3\n1: step 30 loss 4\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "an epoch with a ruler, and lines for both losses",
	  "Epoch 1/9\n------\ntrain Loss: 3.5 Acc: 0.5\nval Loss: 3.75 Acc: 0.5\n"
	  "\nEpoch 2/9\n------\ntrain Loss: 3.25 Acc: 0.5\nval Loss: 3.5 Acc: 0.5\n"
	  "\nEpoch 3/9\n------\ntrain Loss: 3 Acc: 0.5\nval Loss: 3.25 Acc: 0.5\n\n",
	  1,
	  { { "last_train_loss", "3" }, { "last_val_loss", "3.25" } } },
	{ "a duration",
	  "Iter 10: Train loss 3.5, It/sec 0.5\nIter 20: Train loss 3.25, It/sec 0.5\n"
	  "Iter 30: Train loss 3, It/sec 0.5\nIter 30: Val loss 3.75, Val took 2.1s\n",
	  1,
	  { { "steps", "30" }, { "last_val_loss", "3.75" } } },
	{ "lines after the end of an epoch",
	  "Epoch 1/3, Step 10, loss: 3.5\nEpoch 1/3, Step 20, loss: 3.25\n"
	  "Epoch 1/3, Step 30, loss: 3\n"
	  "Epoch 1/3 completed. Val Loss: 3.75, Val Perplexity: 42.5\n"
	  "| end of epoch 2 | time: 12.5s | valid loss 3.5 | valid ppl 33.1\n",
	  1,
	  { { "steps", "30" }, { "last_val_loss", "3.5" } } },
	{ "a total loss is the loss of a row without another",
	  "iter: 19 total_loss: 3.5 loss_cls: 1.5\n"
	  "iter: 39 total_loss: 3.25 loss_cls: 1.25\n"
	  "iter: 59 total_loss: 3.125 loss_cls: 1\n",
	  1,
	  { { "steps", "59" }, { "last_train_loss", "3.125" } } },
	{ "a total loss is ignored in a row with another loss",
	  "iter: 19 loss: 3.5 total_loss: 4.5\n"
	  "iter: 39 loss: 3.25 total_loss: 4.25\n"
	  "iter: 59 loss: 3.125 total_loss: 4\n",
	  1,
	  { { "steps", "59" }, { "last_train_loss", "3.125" } } },
	{ "units at the end of names, and thousands in units",
	  "step: 1 | loss: 3.5 | step_time_s: 0.5 | tokens/s: 19.5K | "
	  "seen: 1.5M/2.1B\n"
	  "step: 2 | loss: 3.25 | step_time_s: 0.25 | tokens/s: 20.5K | "
	  "seen: 2.5M/2.1B\n"
	  "step: 3 | loss: 3.125 | step_time_s: 0.25 | tokens/s: 21.5K | "
	  "seen: 3.5M/2.1B\n",
	  1,
	  { { "steps", "3" }, { "step_ms_median", "250" }, { "tok_s_last", "21500" } } },
	{ "a step and its total in quotes",
	  "{'loss': 3.5, 'global_step/max_steps': '5/1000'}\n"
	  "{'loss': 3.25, 'global_step/max_steps': '10/1000'}\n"
	  "{'loss': 3.125, 'global_step/max_steps': '15/1000'}\n",
	  1,
	  { { "steps", "15" }, { "planned_steps", "1000" }, { "last_train_loss", "3.125" } } },
	{ "a bar that runs once counts steps",
	  " 5%|# | 1/9 [00:01<00:02, 3it/s, loss=3.5]\r"
	  " 5%|# | 2/9 [00:01<00:02, 3it/s, loss=3.25]\r"
	  " 5%|# | 3/9 [00:01<00:02, 3it/s, loss=3]\n",
	  1,
	  { { "steps", "3" }, { "planned_steps", "9" }, { "last_train_loss", "3" } } },
	{ "the step of bars that restart is unknown",
	  " 5%|# | 1/3 [00:01<00:02, 3it/s, loss=3.5]\r"
	  " 5%|# | 2/3 [00:01<00:02, 3it/s, loss=3.25]\r"
	  " 5%|# | 3/3 [00:01<00:02, 3it/s, loss=3]\n"
	  " 5%|# | 1/3 [00:01<00:02, 3it/s, loss=2.5]\r"
	  " 5%|# | 2/3 [00:01<00:02, 3it/s, loss=2.25]\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.25" } } },
	{ "the step of bars before the end of an epoch is unknown",
	  " 5%|# | 1/3 [00:01<00:02, 3it/s, loss=3.5]\r"
	  " 5%|# | 2/3 [00:01<00:02, 3it/s, loss=3.25]\r"
	  " 5%|# | 3/3 [00:01<00:02, 3it/s, loss=3]\n"
	  "Epoch 1 done\n"
	  " 5%|# | 1/3 [00:01<00:02, 3it/s, loss=2.5]\r"
	  " 5%|# | 2/3 [00:01<00:02, 3it/s, loss=2.25]\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.25" } } },
	{ "a bar with another length belongs to an evaluation",
	  " 5%|# | 1/9 [00:01<00:02, 3it/s, loss=3.5]\r"
	  " 5%|# | 2/9 [00:01<00:02, 3it/s, loss=3.25]\r"
	  " 5%|# | 3/9 [00:01<00:02, 3it/s, loss=3]\n"
	  " 5%|# | 1/2 [00:01<00:02, 3it/s, loss=4.5]\r"
	  " 5%|# | 2/2 [00:01<00:02, 3it/s, loss=4.25]\n",
	  1,
	  { { "last_train_loss", "3" } } },
	{ "a dictionary on several lines",
	  "{'accuracy': 0.5,\n 'loss': 3.5,\n 'step': 10}\n"
	  "{'accuracy': 0.5,\n 'loss': 3.25,\n 'step': 20}\n"
	  "{'accuracy': 0.5,\n 'loss': 3,\n 'step': 30}\n"
	  "{'accuracy': 0.5,\n and more\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a dictionary after a line with its step",
	  "train | step: 10 | steps/sec: 1.5 | output: \n"
	  "    {'lr': 0.1,\n     'training_loss': 3.5}\n"
	  "train | step: 20 | steps/sec: 1.5 | output: \n"
	  "    {'lr': 0.1,\n     'training_loss': 3.25}\n"
	  "train | step: 30 | steps/sec: 1.5 | output: \n"
	  "    {'lr': 0.1,\n     'training_loss': 3}\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "list items below their step",
	  "--> STEP: 4/9 -- GLOBAL_STEP: 14\n  | > loss: 3.5  (4)\n\n"
	  "--> STEP: 5/9 -- GLOBAL_STEP: 15\n  | > loss: 3.25  (4)\n\n"
	  "--> STEP: 6/9 -- GLOBAL_STEP: 16\n  | > loss: 3  (4)\n\n",
	  1,
	  { { "steps", "16" }, { "last_train_loss", "3" } } },
	{ "a heading in brackets makes a validation",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "[VAL] step: 30, loss: 3.75\n",
	  1,
	  { { "last_train_loss", "3" }, { "last_val_loss", "3.75" } } },
	{ "a validation without a step, by its mean loss",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "Validation: avg loss: 3.75, accuracy: 0.5\n",
	  1,
	  { { "last_train_loss", "3" }, { "last_val_loss", "3.75" } } },
	{ "the prefixes of a container, a node, a logger",
	  "2026-01-01T09:59:58Z stdout F step 10 loss 3.5\n"
	  "2026-01-01T09:59:59Z stdout F step 20 loss 3.25\n"
	  "2026-01-01T10:00:00Z stdout F step 30 loss 3\n"
	  "[node1] 2026-01-01 10:00:01,123 (t:7) INFO: step 40 loss 2.5\n"
	  "I20260101 10:00:02 123 t.py:7] step 60 loss 2.125\n",
	  1,
	  { { "steps", "60" }, { "last_train_loss", "2.125" } } },
	{ "the ranks of MPI repeat the rows of the first one",
	  "[1,mpirank:0]<stdout>:step 10 loss 3.5\n[1,mpirank:1]<stdout>:step 10 loss 3.75\n"
	  "[1,mpirank:0]<stdout>:step 20 loss 3.25\n[1,mpirank:1]<stdout>:step 20 loss 3.5\n"
	  "[1,mpirank:0]<stdout>:step 30 loss 3\n[1,mpirank:1]<stdout>:step 30 loss 3.25\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a step in parentheses",
	  "Ep 1 (Step 000100): Train loss 4.9, Val loss 4.7\n"
	  "Ep 1 (Step 000200): Train loss 4.8, Val loss 4.6\n"
	  "Ep 1 (Step 000300): Train loss 4.7, Val loss 4.5\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "4.7" }, { "last_val_loss", "4.5" } } },
	{ "a name after a counter with a total is not its unit",
	  "Step 10/100 bpb 1.5 loss 3.5\nStep 20/100 bpb 1.4 loss 3.25\n"
	  "Step 30/100 bpb 1.3 loss 3.125\n",
	  1,
	  { { "steps", "30" }, { "planned_steps", "100" }, { "last_train_loss", "3.125" } } },
	{ "names with digits and parentheses",
	  "[METRICS (1 step stale)] step: 10 loss: 3.5 lr(1e-3): 0.5 5HT=0.95 ntokens: 485.20/513\n"
	  "[METRICS (1 step stale)] step: 20 loss: 3.25 lr(1e-3): 0.4 5HT=0.85 ntokens: 486.20/513\n"
	  "[METRICS (1 step stale)] step: 30 loss: 3.0 lr(1e-3): 0.3 5HT=0.75 ntokens: 487.20/513\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" }, { "planned_steps", "null" } } },
	{ "best and test losses are not validation losses",
	  "step: 10, loss: 3.5\nstep: 20, loss: 3.25\nstep: 30, loss: 3\n"
	  "best val loss: 3.75\ntest loss: 3\n",
	  1,
	  { { "last_val_loss", "null" } } },
	{ "an epoch is not a step",
	  "Epoch 1: train_loss=3.5 val_loss=3.75\n"
	  "Epoch 2: train_loss=3.25 val_loss=3.5\n"
	  "Epoch 3: train_loss=3.0 val_loss=3.25\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3" }, { "last_val_loss", "3.25" } } },
	{ "a counter within the epoch is not the step of the run",
	  "Epoch 1 step 10 loss 3.5\nEpoch 1 step 20 loss 3.25\n"
	  "Epoch 2 step 10 loss 3.0\nEpoch 2 step 20 loss 2.5\n"
	  "Epoch 3 step 10 loss 2.0\nEpoch 3 step 20 loss 1.5\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "1.5" } } },
	{ "a counter within a later epoch is not the step either",
	  "Epoch 3 step 10/90 loss 3.5\nEpoch 3 step 20/90 loss 3.25\n"
	  "Epoch 3 step 30/90 loss 3.0\n",
	  1,
	  { { "steps", "null" }, { "planned_steps", "null" }, { "last_train_loss", "3" } } },
	{ "a counter that continues after an epoch is the step",
	  "Epoch 3 step 10/90 loss 3.5\nEpoch 3 step 20/90 loss 3.25\n"
	  "Epoch 4 step 30/90 loss 3.0\nEpoch 4 step 40/90 loss 2.5\n",
	  1,
	  { { "steps", "40" }, { "planned_steps", "90" } } },
	{ "the first epoch counts from the first step",
	  "Epoch 1/9 step 10/90 loss 3.5\nEpoch 1/9 step 20/90 loss 3.25\n"
	  "Epoch 1/9 step 30/90 loss 3.0\n",
	  1,
	  { { "steps", "30" }, { "planned_steps", "null" } } },
	{ "a counter under a heading of the epoch is not the step",
	  "Epoch 1\nstep 10 loss 3.5\nstep 20 loss 3.25\nstep 30 loss 3\n"
	  "Epoch 2\nstep 10 loss 2.5\nstep 20 loss 2.25\nstep 30 loss 2\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2" } } },
	{ "a counter that restarts belongs to another run",
	  "step 10 loss 3.5\nstep 20 loss 3.25\nstep 30 loss 3\n"
	  "step 10 loss 2.5\nstep 20 loss 2.25\n",
	  2,
	  { { "steps", "20" }, { "last_train_loss", "2.25" } } },
	{ "Keras",
	  "Epoch 1/3\n"
	  "9/9 [=====] - 1s 5ms/step - loss: 2.5 - accuracy: 0.5 - val_loss: "
	  "2.75\n"
	  "Epoch 2/3\n"
	  "9/9 [=====] - 1s 5ms/step - loss: 2.25 - accuracy: 0.5 - val_loss: "
	  "2.5\n"
	  "Epoch 3/3\n"
	  "9/9 [=====] - 1s 5ms/step - loss: 2.125 - accuracy: 0.5 - "
	  "val_loss: 2.375\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.125" }, { "last_val_loss", "2.375" } } },
	{ "fairseq",
	  "2021-05-25 06:38:26 | INFO | train_inner | epoch 001:    100 / 200 "
	  "loss=17.5, nll_loss=17.4, ppl=172.1, num_updates=100, lr=1.2e-05\n"
	  "2021-05-25 06:38:27 | INFO | train_inner | epoch 001:    200 / 200 "
	  "loss=16.5, nll_loss=16.4, ppl=162.1, num_updates=200, lr=1.2e-05\n"
	  "2021-05-25 06:38:28 | INFO | train_inner | epoch 002:    100 / 200 "
	  "loss=15.5, nll_loss=15.4, ppl=152.1, num_updates=300, lr=1.2e-05\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "15.5" } } },
	{ "the figures below the counter",
	  "Iteration 2/700:\n  train loss: 10.5\n  tokens_per_second: 45,538\n"
	  "Iteration 3/700:\n  train loss: 10.25\n  tokens_per_second: 45,539\n"
	  "Iteration 4/700:\n  train loss: 10\n  tokens_per_second: 45,540\n",
	  1,
	  { { "steps", "4" },
	    { "planned_steps", "700" },
	    { "last_train_loss", "10" },
	    { "tok_s_last", "45540" } } },
	{ "one table per row",
	  "------------------\n| rollout/ |      |\n| total_timesteps | 10 |\n"
	  "| train/ |  |\n| loss | 2.5 |\n------------------\n"
	  "------------------\n| rollout/ |      |\n| total_timesteps | 20 |\n"
	  "| train/ |  |\n| loss | 2.25 |\n------------------\n"
	  "------------------\n| rollout/ |      |\n| total_timesteps | 30 |\n"
	  "| train/ |  |\n| loss | 2.125 |\n------------------\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.125" } } },
	{ "a bar that counts steps",
	  "steps:   0%|          | 0/9 [00:00<?, ?it/s]\r"
	  "steps:  11%|#         | 1/9 [00:01<00:08, 1.0it/s, avr_loss=2.5]\r"
	  "steps:  22%|##        | 2/9 [00:02<00:07, 1.0it/s, avr_loss=2.25]\r"
	  "steps:  33%|###       | 3/9 [00:03<00:06, 1.0it/s, avr_loss=2]\r"
	  "steps:  44%|####      | 4/9 [00:03<00:06, 1.0it/s, avr_loss=1.5]\n",
	  1,
	  { { "steps", "4" }, { "planned_steps", "9" }, { "last_train_loss", "null" } } },
	{ "a bar without a name",
	  " 11%|#    | 1/9 [00:01<00:08, 1.0it/s, loss=2.5]\r"
	  " 22%|##   | 2/9 [00:02<00:07, 1.0it/s, loss=2.25]\r"
	  " 33%|###  | 3/9 [00:03<00:06, 1.0it/s, loss=2]\n",
	  1,
	  { { "steps", "3" }, { "last_train_loss", "2" } } },
	{ "a bar of an evaluation",
	  "eval:  11%|#    | 1/9 [00:01<00:08, 1.0it/s, loss=2.5]\r"
	  "eval:  22%|##   | 2/9 [00:02<00:07, 1.0it/s, loss=2.25]\r"
	  "eval:  33%|###  | 3/9 [00:03<00:06, 1.0it/s, loss=2]\n",
	  0,
	  { { NULL, NULL } } },
	{ "dictionaries",
	  "{'loss_train': 2.5, 'learning_rate': 2.5e-06, 'epoch': 0.25}\n"
	  "{'loss_train': 2.25, 'learning_rate': 2.5e-06, 'epoch': 0.5}\n"
	  "{'loss_train': 2.125, 'learning_rate': 2.5e-06, 'epoch': 0.75}\n"
	  "{'val_loss': 2.75, 'runtime': 3.5, 'epoch': 0.75}\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.125" }, { "last_val_loss", "2.75" } } },
	{ "objects",
	  "{\"step\": 10, \"loss\": 2.5, \"time\": \"0:01:02\"}\n"
	  "{\"step\": 20, \"loss\": 2.25, \"time\": \"0:01:03\"}\n"
	  "{\"step\": 30, \"loss\": 2.125, \"time\": \"0:01:04\"}\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "2.125" } } },
	{ "a step in brackets that increases by more than one",
	  "I0513 18:05:50.000000 139 logging_writer.py:48] [100] "
	  "accuracy=0.1, loss=2.5\n"
	  "I0513 18:05:51.000000 139 logging_writer.py:48] [200] "
	  "accuracy=0.2, loss=2.25\n"
	  "I0513 18:05:52.000000 139 logging_writer.py:48] [300] "
	  "accuracy=0.3, loss=2.125\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "2.125" } } },
	{ "a time at the start of the line is not a counter",
	  "[103] accuracy=0.1, loss=2.5\n[207] accuracy=0.2, loss=2.25\n"
	  "[301] accuracy=0.3, loss=2.125\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.125" } } },
	{ "a rule's validation comes before the rows that are reported late",
	  "it 10 | loss: 3.5\nit 20 | loss: 3.25\n"
	  "iter 10: loss 3.5, beta 1\niter 20: loss 3.25, beta 1\n"
	  "step 20: train loss 3.1, val loss 3.2\n"
	  "iter 30: loss 3, beta 1\niter 40: loss 2.9, beta 1\n",
	  1,
	  { { "steps", "40" }, { "last_train_loss", "2.9" }, { "last_val_loss", "3.2" } } },
	{ "rounds of boosting are not steps",
	  "[0]\ttrain-rmse:0.5\teval-rmse:0.75\n"
	  "[1]\ttrain-rmse:0.25\teval-rmse:0.5\n"
	  "[2]\ttrain-rmse:0.125\teval-rmse:0.5\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "null" } } },
	{ "rounds of boosting are not steps if every tenth is printed",
	  "[10]\ttrain-rmse:0.5\teval-rmse:0.75\n"
	  "[20]\ttrain-rmse:0.25\teval-rmse:0.5\n"
	  "[30]\ttrain-rmse:0.125\teval-rmse:0.5\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "null" } } },
	{ "updates are counted, not the fraction of the epoch",
	  "{\"update\": 0.5, \"loss\": \"3.5\", \"num_updates\": \"10\"}\n"
	  "{\"update\": 1.0, \"loss\": \"3.25\", \"num_updates\": \"20\"}\n"
	  "{\"update\": 1.5, \"loss\": \"3.0\", \"num_updates\": \"30\"}\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "of two pods, only the rows of the first one count",
	  "[pod/t-0/a] step 10 loss 3.5\n[pod/t-1/a] step 10 loss 4.5\n"
	  "[pod/t-0/a] step 20 loss 3.25\n[pod/t-1/a] step 20 loss 4.25\n"
	  "[pod/t-0/a] step 30 loss 3\n[pod/t-1/a] step 30 loss 4\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "a task before the prefix of a logger",
	  "0: INFO    26-05-01 10:00:01.5 - 0:00:11 - Step: 10  loss:  3.5\n"
	  "0: INFO    26-05-01 10:00:02.5 - 0:00:12 - Step: 20  loss:  3.25\n"
	  "0: INFO    26-05-01 10:00:03.5 - 0:00:13 - Step: 30  loss:  3\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "thousands of tokens, step times with other names",
	  "step 1 | loss 3.5 | iter_dt 10.5ms | 12.5K tok/s\n"
	  "step 2 | loss 3.25 | iter_dt 10.5ms | 12.5K tok/s\n"
	  "step 3 | loss 3 | iter_dt 10.5ms | 12.5K tok/s\n",
	  1,
	  { { "step_ms_median", "10.5" }, { "tok_s_last", "12500" } } },
	{ "of two counters, the step counts, not the micro-batch",
	  "Epoch 1 | iter 2 step 1 | loss train: 1.5, val: n/a\n"
	  "Epoch 1 | iter 4 step 2 | loss train: 1.25, val: n/a\n"
	  "Epoch 1 | iter 6 step 3 | loss train: 1.125, val: n/a\n",
	  1,
	  { { "steps", "3" }, { "last_train_loss", "1.125" } } },
	{ "the same counter with two names",
	  "iter 10: loss 3.5\niter 20: loss 3.25\niter 30: loss 3\n"
	  "step 30: train loss 3.1, val loss 3.2\niter 40: loss 2.9\n"
	  "step 40: train loss 3.1, val loss 3.2\niter 50: loss 2.9\n"
	  "step 60: train loss 3.1, val loss 3.3\n",
	  1,
	  { { "steps", "60" }, { "last_train_loss", "2.9" }, { "last_val_loss", "3.3" } } },
	{ "losses in bits are not losses in nats",
	  "iter 10: loss 3.5 BPC\niter 20: loss 3.25 BPC\n"
	  "iter 30: loss 3 BPC\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "null" } } },
	{ "a printed NaN is NaN",
	  "step 1 loss 3.5\nstep 2 loss nan\nstep 3 loss nan\n",
	  1,
	  { { "status", "\"diverged\"" }, { "last_train_loss", "null" } } },
	{ "the rows of one rank count",
	  "[rank0]: step 1 loss 3.5\n[rank1]: step 1 loss 4.5\n"
	  "[rank0]: step 2 loss 3.25\n[rank1]: step 2 loss 4.25\n"
	  "[rank0]: step 3 loss 3.125\n[rank1]: step 3 loss 4.125\n",
	  1,
	  { { "matched", "3" }, { "last_train_loss", "3.125" } } },
	{ "a number at the end of the log may be cut",
	  "step 1 lr 0.5 loss 3.5\nstep 2 lr 0.5 loss 3.25\n"
	  "step 3 lr 0.5 loss 3.125\nstep 4 lr 0.5 loss 3.0",
	  1,
	  { { "steps", "4" }, { "last_train_loss", "3.125" } } },
	{ "a counter at the end of the log may be cut",
	  "loss 3.5 step 10\nloss 3.25 step 20\nloss 3 step 30\nloss 2 step 4",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "after the first row of a rule, only rules are used",
	  "step 1 loss 3.5\nstep 2 loss 3.25\nstep 3 loss 3.125\n"
	  "step:1/9 train_loss:2.5 train_time:10ms step_avg:10ms\n"
	  "step 4 loss 3.0\n",
	  2,
	  { { "last_train_loss", "2.5" }, { "steps", "1" } } },
};

/* Texts without rows, from real logs. */
static const char *const silent[] = {
	"2026-03-19 - rustbpe - INFO - Progress: 1% (46/759 merges) - Last "
	"merge: (1, 2) -> 301 (frequency: 45)\n"
	"2026-03-19 - rustbpe - INFO - Progress: 2% (47/759 merges) - Last "
	"merge: (1, 3) -> 302 (frequency: 44)\n"
	"2026-03-19 - rustbpe - INFO - Progress: 3% (48/759 merges) - Last "
	"merge: (1, 4) -> 303 (frequency: 43)\n",
	"46/759 merges\n47/759 merges\n48/759 merges\n",
	"Downloading: 45%|## | 45/99 [00:10<00:12, 4.5MB/s]\r"
	"Downloading: 46%|## | 46/99 [00:10<00:12, 4.6MB/s]\r"
	"Downloading: 47%|## | 47/99 [00:10<00:12, 4.7MB/s]\r",
	"   --- 3.5/10.5 MB 2.5 MB/s eta 0:00:03\n"
	"   --- 4.5/10.5 MB 2.6 MB/s eta 0:00:02\n"
	"   --- 5.5/10.5 MB 2.7 MB/s eta 0:00:01\n",
	"    step = 0\n    loss = 0.0\n    step = 1\n    loss = 1.5\n",
	"for step in range(10):\n    print(f\"step {step} loss {loss}\")\n",
	"  train_iters ..................... 1000\n"
	"  lr .............................. 0.00015\n",
	"    --lr 0.00015 --train-iters 1000 \\\n",
	"{\n  \"step\": 10,\n  \"loss\": 1.5\n}\n{\n  \"step\": 20,\n"
	"  \"loss\": 1.25\n}\n{\n  \"step\": 30,\n  \"loss\": 1.125\n}\n",
	"[1/9] Building C object a.o\n[2/9] Building C object b.o\n"
	"[3/9] Building C object c.o\n",
	"1/9 Test one .... Passed 0.03 sec\n2/9 Test two .... Passed 0.04 "
	"sec\n3/9 Test three .... Passed 0.05 sec\n",
	"[    1.234567] usb 1-1: new device number 3\n"
	"[    2.234567] usb 1-2: new device number 4\n"
	"[    3.234567] usb 1-3: new device number 5\n",
	"1 alpha 0.5\n2 beta 0.25\n3 gamma 0.125\n",
	"1 alpha 0.5\n2 alpha 0.25\n3 alpha 0.125\n",
	"Step 1: mix 0.5 kg flour\nStep 2: bake 0.75 hours\nStep 3: eat\n",
	"Iteration   1: 123.4 ops/s\nIteration   2: 125.4 ops/s\n"
	"Iteration   3: 124.4 ops/s\n",
	"batch 1: 0.5 GB\nbatch 2: 0.6 GB\nbatch 3: 0.7 GB\n",
};

static bool is_of_templates(const cJSON *run)
{
	const cJSON *formats = cJSON_GetObjectItemCaseSensitive(run, "formats");
	const cJSON *name;

	cJSON_ArrayForEach(name, formats) if (strcmp(name->valuestring, templates_format) ==
					      0) return true;
	return false;
}

static void test_silent(const struct format_set *formats)
{
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		cJSON *rows[RUN_CASE_ROWS];
		size_t n = run_case_rows(formats, silent[i], rows, RUN_CASE_ROWS);
		bool is_generic = false;

		for (size_t k = 0; k < n; k++) {
			is_generic = is_generic || is_of_templates(rows[k]);
			cJSON_Delete(rows[k]);
		}
		ok(!is_generic, "not a row: %.40s", silent[i]);
	}
}

static void count_row(void *user, const struct record *record, const struct log_line *place)
{
	(void)record;
	(void)place;
	++*(size_t *)user;
}

/* Endless new names replace older templates, and memory does not grow. */
static void test_bound(void)
{
	size_t n_rows = 0;
	struct templates *ts = templates_new(count_row, &n_rows);
	char text[100];

	for (int i = 0; i < 100000; i++) {
		struct log_line line = { .text = { text, 0 }, .line = 1, .rank = -1 };

		(void)snprintf(text, sizeof(text), "step %d n%d 0.5", i, i % 1000);
		line.text.len = strlen(text);
		(void)templates_read(ts, &line);
	}
	ok(n_rows == 0, "templates that appear too rarely are forgotten");
	templates_free(ts);
}

static void print_row(void *user, const struct record *record, const struct log_line *place)
{
	buf_appendf(user, "%d.%d.%d %.17g/%.17g", (int)place->line, place->rank, place->inside,
		    record_get(record, METRIC_STEP), record_get(record, METRIC_PLANNED));
	for (size_t i = 0; i < record->n_pairs; i++) {
		const struct record_pair *pair = &record->pairs[i];

		buf_appendf(user, " %.*s[%.*s]=%.17g/%d*%g", (int)pair->name.len, pair->name.p,
			    (int)pair->unit.len, pair->unit.p, pair->value, (int)pair->metric,
			    pair->scale);
	}
	buf_append_char(user, '\n');
}

/* Two readers of templates: one with the fast path, one without. */
struct reader {
	struct templates *ts;
	struct buf rows;
	bool is_slow;
	size_t n_fast; /* lines that the fast path read */
};

/* Feed a line of the shape, with the step for "@" and the value for "$", cut to `len` bytes. */
static void feed_line(struct reader readers[2], int n, const char *shape, const char *step,
		      const char *value, size_t len, int rank)
{
	AUTO_BUF text = buf_new(4096);

	for (; *shape != '\0'; shape++)
		if (*shape == '@')
			buf_append_str(&text, step);
		else if (*shape == '$')
			buf_append_str(&text, value);
		else
			buf_append_char(&text, *shape);
	for (struct reader *r = readers; r < readers + 2; r++) {
		const struct log_line line = { .text = { text.data,
							 text.len < len ? text.len : len },
					       .line = (uint64_t)n,
					       .rank = rank,
					       .plain = true };

		if (!r->is_slow && templates_read_similar(r->ts, &line) != SIMILAR_NONE)
			r->n_fast++;
		else
			(void)templates_read(r->ts, &line);
	}
}

/* Feed rows of two shapes in turn, with a different row among them. */
static void check_fast_path(const char *one, const char *other, const char *odd)
{
	struct reader readers[2] = { { .is_slow = true }, { .is_slow = false } };
	int n = 0;

	for (struct reader *r = readers; r < readers + 2; r++) {
		r->rows = buf_new(1 << 20);
		r->ts = templates_new(print_row, &r->rows);
	}
	for (size_t len = 0; len < 90; len++)
		for (int k = 0; k < 4; k++) {
			const char *shape = k % 2 == 0 ? one : other;
			char step[16], value[16];

			print_into(step, "%d", ++n);
			print_into(value, "%d.%d", 9 + n % 3, n % 7);
			feed_line(readers, n, shape, step, value, SIZE_MAX, 0);
			if (n > 12 && k == 1)
				feed_line(readers, n, one, step, odd, SIZE_MAX, 0);
			if (n > 12 && k == 2)
				feed_line(readers, n, one, odd, value, SIZE_MAX, 0);
			if (n > 12 && k == 3) {
				feed_line(readers, n, one, step, odd, len, 0);
				feed_line(readers, n, one, step, value, SIZE_MAX, 1);
			}
		}
	ok(readers[1].n_fast > 200 && strcmp(readers[0].rows.data, readers[1].rows.data) == 0,
	   "the fast path gives the same rows: %s with %s, %zu", one, odd, readers[1].n_fast);
	for (struct reader *r = readers; r < readers + 2; r++) {
		templates_free(r->ts);
		buf_release(&r->rows);
	}
}

static void test_roads(void)
{
	static const char *const shapes[] = {
		"step @ | loss $ | lr 1.5e-04 | dt: 20.25ms",
		"{'loss': $, 'grad_norm': 0.5, 'step': @}",
		"train:  7%|#   | @/900 [00:10<1:00:12, 4.5it/s, loss=$]",
		"@/900 [==>....] - ETA: 5s - loss: $ - acc: 0.5",
		"Nov 20 10:00:00 gpu-3 python3[@]: step: @, loss: $",
		"@, loss: $, tokens: 1,234",
		"[@/900 (  7%)] loss: $ (3.25)",
	};
	static const char odd[] = "nan|-inf||-|n/a|12345678901234567890|1e-7|1e400|1e+|1E5|5.|.5|"
				  "0.12345678901234567|-3|+3|-0|1.2.3|123456789012345e-30|5ms|"
				  "5 ms|5%|5k|3/10|3/x|(5)|[5]|5 (6)|'5'|5,|5, x 5|12.5|1,234|"
				  "1,23|12:30|0x1f|2026-01-02|5  | 5|5\t|1_000|5;|01|1234.5|1 2|"
				  "999999999999999|five|5 of 9|1,234,567.5";
	struct str rest, value;

	for (size_t i = 0; i < LENGTH(shapes); i++)
		for (rest = str_from(odd); str_next(&rest, '|', &value);) {
			char text[32];

			print_into(text, "%.*s", (int)value.len, value.p);
			check_fast_path(shapes[i], shapes[(i + 1) % LENGTH(shapes)], text);
		}
}

int main(void)
{
	struct format_set *formats = format_set_new_builtin();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case_check(formats, &cases[i]);
	test_silent(formats);
	test_bound();
	test_roads();
	format_set_free(formats);
	return tap_done();
}
