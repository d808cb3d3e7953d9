/* SPDX-License-Identifier: MIT */
/* Pairs in lines of all kinds of trainers, and lines without pairs. */
#include "parsers/pairs.h"

#include <stdlib.h>

#include "base/buf.h"
#include "parsers/meaning.h"
#include "tests/support/tap.h"

/* Lines and their pairs as text: "name=value unit /total", "|" between them. */
static const struct {
	const char *line, *pairs;
} cases[] = {
	{ "iter 1640: loss 1.2009, time 35.95ms, mfu 9.62%",
	  "iter=1640|loss=1.2009|time=35.95 ms|mfu=9.62 %" },
	{ "step 0: train loss 4.3480, val loss 4.3422", "step=0|train loss=4.348|val loss=4.3422" },
	{ "step 10: train loss 10.5 BPC, val loss 12.5 BPC",
	  "step=10|train loss=10.5 BPC|val loss=12.5 BPC" },
	{ "9536 train 3.037911", "=9536|train=3.037911" },
	{ "step 9536 | loss: 3.59 | lr 6.0e-05 | norm: 0.3 | dt: 159.00ms | "
	  "tok/sec: 3297484.63",
	  "step=9536|loss=3.59|lr=6e-05|norm=0.3|dt=159 ms|"
	  "tok/sec=3297484.63" },
	{ "step   18/19560 | loss     nan (+nanz)| norm    nan (+nanz)| lr "
	  "1.54e-05 | 3657.33 ms | 36.9% bf16 MFU | 145602 tok/s",
	  "step=18/19560|loss=nan|norm=nan|lr=1.54e-05|=3657.33 ms|"
	  "bf16 MFU=36.9 %|=145602 tok/s" },
	{ "val loss 3.27", "val loss=3.27" },
	{ "step 00014/00050 (0.00%) | loss: 6.930737 | lrm: 1.00 | dt: "
	  "5.08ms | tok/sec: 25,212 | mfu: 0.03 | epoch: 1 pq: 0 rg: 1 | "
	  "total time: 0.00m",
	  "step=14/50|loss=6.930737|lrm=1|dt=5.08 ms|tok/sec=25212|mfu=0.03|"
	  "epoch=1|pq=0|rg=1|total time=0 m" },
	{ "Step 00000 | Validation bpb: 3.973425", "Step=0|Validation bpb=3.973425" },
	{ "step 00012 (3.1%) | loss: 5.1 | tok/sec: 1,234,567",
	  "step=12|loss=5.1|tok/sec=1234567" },
	{ "step: 126  loss:  4.39246  grad_norm:  0.3050  memory:  "
	  "5.52GiB(17.60%)  tps: 7,201  tflops: 1.22  mfu: 0.39%",
	  "step=126|loss=4.39246|grad_norm=0.305|memory=5.52 GiB|tps=7201|"
	  "tflops=1.22|mfu=0.39 %" },
	{ " iteration        3/    1000 | consumed samples:         6144 | "
	  "elapsed time per iteration (ms): 123907.8 | learning rate: "
	  "1.5E-06 | lm loss: 4.075231E+01 | loss scale: 4294967296.0 | "
	  "number of skipped iterations:   0 | number of nan iterations:   0 |",
	  "iteration=3/1000|consumed samples=6144|elapsed time per iteration="
	  "123907.8 ms|learning rate=1.5e-06|lm loss=40.75231|"
	  "loss scale=4294967296|number of skipped iterations=0|"
	  "number of nan iterations=0" },
	{ "validation loss at iteration 100 | lm loss value: 3.5E+00 | lm "
	  "loss PPL: 3.3E+01 |",
	  "iteration=100|lm loss value=3.5|lm loss PPL=33" },
	{ "{'loss': 2.1, 'grad_norm': 0.5, 'learning_rate': 2.5000e-06, "
	  "'epoch': 0.29}",
	  "loss=2.1|grad_norm=0.5|learning_rate=2.5e-06|epoch=0.29" },
	{ "{'loss': '2.1', 'learning_rate': '2e-05', 'epoch': '0.29'}",
	  "loss=2.1|learning_rate=2e-05|epoch=0.29" },
	{ "logging.py:157 >> {'loss': 2.2818, 'epoch': 0.29}", "" },
	{ "  train_loss               =     0.5123", "train_loss=0.5123" },
	{ "{\"current_steps\": 10, \"total_steps\": 8660, \"loss\": 1.5, "
	  "\"elapsed_time\": \"0:01:02\", \"remaining_time\": \"1 day\"}",
	  "current_steps=10|total_steps=8660|loss=1.5|elapsed_time=62 s" },
	{ "Epoch 3: 100%|\xe2\x96\x88\xe2\x96\x88| 10/10 [00:01<00:00, "
	  "8.1it/s, v_num=5aeb, train_loss=0.125]",
	  "Epoch=3|=100 %|=10/10|=8.1 it/s|train_loss=0.125" },
	{ "  0%|          | 0/20 [00:00<?, ?it/s, loss=3]", "=0 %|=0/20|loss=3" },
	{ "Epoch 1 | iter 2 step 1 | loss train: 1.660, val: n/a | iter time: "
	  "548.72 ms (step)",
	  "Epoch=1|iter=2|step=1|loss train=1.66|iter time=548.72 ms" },
	{ "[step=2/739328]", "step=2/739328" },
	{ "    throughput/device/tokens_per_second=45,538",
	  "throughput/device/tokens_per_second=45538" },
	{ "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, "
	  "Tokens/s/device: 8672.758, total_weights: 196608, loss: 10.374",
	  "completed step=9|seconds=5.667|TFLOP/s/device=134.924|"
	  "Tokens/s/device=8672.758|total_weights=196608|loss=10.374" },
	{ "Train: 3 [ 100/1251 (  8%)]  Loss: 5.67 (5.80)  Time: 0.312s, "
	  "820.5/s  (0.32s, 800.1/s)  LR: 5.0e-04  Data: 0.01 (0.02)",
	  "Train=3|=100/1251|Loss=5.67|Time=0.312 s|=820.5 /s|LR=0.0005|"
	  "Data=0.01" },
	/* Lines of trainers that have no test elsewhere. */
	{ "100/100 [==============================] - 1s 5ms/step - loss: "
	  "0.5012 - accuracy: 0.8100 - val_loss: 0.4",
	  "=100/100|=1 s|=5 ms/step|loss=0.5012|accuracy=0.81|val_loss=0.4" },
	{ "Epoch 1/10", "Epoch=1/10" },
	{ "train_inner | epoch 001:    100 / 2000 loss=17.5, nll_loss=17.4, "
	  "ppl=172.1, wps=2010, ups=0.25, wpb=8000, bsz=16, num_updates=100, "
	  "lr=1.2e-05, gnorm=3.3, wall=412",
	  "epoch=1|=100/2000|loss=17.5|nll_loss=17.4|ppl=172.1|wps=2010|"
	  "ups=0.25|wpb=8000|bsz=16|num_updates=100|lr=1.2e-05|gnorm=3.3|"
	  "wall=412" },
	{ "Epoch [1][50/7330]\tlr: 1.0e-03, eta: 1 day, 2:30:00, time: 0.5, "
	  "loss: 1.2",
	  "Epoch=1|=50/7330|lr=0.001|eta=1 day|time=0.5|loss=1.2" },
	{ "Epoch: [0][ 100/5004]\tTime  0.3 ( 0.4)\tLoss 6.9e+00 (6.9e+00)\t"
	  "Acc@1   0.39 (  0.10)",
	  "Epoch=0|=100/5004|Time=0.3|Loss=6.9|Acc@1=0.39" },
	{ "Epoch: [1]  [ 100/5004]  eta: 0:30:10  lr: 0.1  loss: 6.5 (6.6)  "
	  "time: 0.36  data: 0.0002  max mem: 5000",
	  "Epoch=1|=100/5004|eta=1810 s|lr=0.1|loss=6.5|time=0.36|"
	  "data=0.0002|max mem=5000" },
	{ "[10]\ttrain-rmse:0.51234\teval-rmse:0.61234",
	  "=10|train-rmse=0.51234|eval-rmse=0.61234" },
	{ "1|20|Loss: 2.3456:   2%|#         | 20/1000 [00:10<08:00,  2.0it/s]",
	  "=1|=20|Loss=2.3456|=2 %|=20/1000|=2 it/s" },
	{ "Steps:   1%|1         | 5/500 [00:10<16:00,  2.1s/it, lr=1e-5, "
	  "step_loss=0.03]",
	  "Steps=1 %|=5/500|=2.1 s/it|lr=1e-05|step_loss=0.03" },
	{ "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.301585",
	  "Train Epoch=1|=640/60000|Loss=2.301585" },
	{ "Epoch 1 of 3, step 10 of 500, loss = 2.5", "Epoch=1/3|step=10/500|loss=2.5" },
	{ "| iter: 100 | train/loss: 2.3 | grad norm: 1.1 |",
	  "iter=100|train/loss=2.3|grad norm=1.1" },
	{ "global_step=40, RunningAvgSamplesPerSec=173.4",
	  "global_step=40|RunningAvgSamplesPerSec=173.4" },
	{ "step 3 lr=[0.1, 0.1], mom=[(0.9, 0.999)] loss=1", "step=3|loss=1" },
	{ "step: 5, loss: -, acc: --, lr: 0.1", "step=5|lr=0.1" },
	{ "step: 5, loss: -1.5, acc: +2, d: -.5", "step=5|loss=-1.5|acc=2|d=-0.5" },
	{ "step 7, elapsed: 0:01:02, phase: train, id: 3f9a, loss 1",
	  "step=7|elapsed=62 s|loss=1" },
	{ "step 1 loss inf", "step=1|loss=inf" },
	{ "01/02 12:00:05 ms loss 3", "ms loss=3" },
	{ "[2023-01-01 12:00:05,123 INFO] Step 50/90; acc:   5.1; 12/13 tok/s; "
	  "  9 sec",
	  "Step=50/90|acc=5.1|=12/13 tok/s|=9 sec" },
	{ "2023/03/01 12:00:05 - step 1, day: 2023-03-01, loss 3", "step=1|loss=3" },
	{ "[01/02 12:00:05 d2.events]:  eta: 0:12:05  iter: 19  loss: 2",
	  "eta=725 s|iter=19|loss=2" },
	{ "step 1 u 1.2e-05 v 1.234567E+02 x 9e-30 y -2.5e3 z 1e400",
	  "step=1|u=1.2e-05|v=123.4567|x=9e-30|y=-2500|z=inf" },
	{ "step 1 id 1234567890123456 loss 123456789012345.6",
	  "step=1|id=1.23456789012346e+15|loss=123456789012346" },
	{ "|    ep_len_mean     | 22.1     |", "ep_len_mean=22.1" },
	{ "| rollout/           |          |", "" },
	{ "46/759 merges", "merges=46/759" },
	{ "epoch 3 loss 12345678901234567890.5 x 1", "epoch=3|loss="
						     "1.23456789012346e+19|x=1" },
	{ "{'loss': tensor(2.5, device='cuda:0', grad_fn=<NllLossBackward0>), "
	  "'step': np.int64(3), 'lr': np.float64(1e-3)}",
	  "loss=2.5|step=3|lr=0.001" },
	{ "step 3 loss: tensor(nan, device='cuda:0')", "step=3|loss=nan" },
	{ "Training loss (for one batch) at step 5: 2.5", "step=5|Training loss=2.5" },
	{ "Cost after iteration 5: 2.5", "iteration=5|Cost=2.5" },
	{ "loss at step 5: 2.5, lr: 0.1", "step=5|loss=2.5|lr=0.1" },
	{ "step#5: loss=2.5", "step=5|loss=2.5" },
	{ "3epoch:train:101-200batch: iter_time=1e-04, loss=2.5",
	  "epoch=3|iter_time=0.0001|loss=2.5" },
	{ "   --> TIME: 2026-01-01 10:00:00 -- STEP: 24/40 -- GLOBAL_STEP: 64",
	  "STEP=24/40|GLOBAL_STEP=64" },
	{ "     | > loss: 2.5  (2.75)", "loss=2.5" },
	{ "iter=  2 loss=2.5 eta=00:10:00 |--->", "iter=2|loss=2.5|eta=600 s" },
	{ "DLL 2026-05-20 10:00:00 - Training Iteration: 5  step_loss : 2.5",
	  "Training Iteration=5|step_loss=2.5" },
	{ "Iter(train) [  50/800]  lr: 1e-3  loss: 2.5", "Iter=50/800|lr=0.001|loss=2.5" },
	{ "step 5 | loss (train): 2.5 | loss (val): 2.75 | time (ms): 3",
	  "step=5|loss (train)=2.5|loss (val)=2.75|time=3 ms" },
	{ "val step 5 | loss 2.5", "step=5|loss=2.5" },
	{ "Train step of epoch [1/2]:  5%|# | 5/99 [00:01<00:02, 3it/s, a=1]",
	  "epoch=1/2|=5 %|=5/99|=3 it/s|a=1" },
	{ "epoch: 1 step: 5, loss is 2.5", "epoch=1|step=5|loss=2.5" },
	{ "loss=2.5\xc2\xb1"
	  "0.1 acc=3.5 \xc2\xb1 0.25% t=00:00:12",
	  "loss=2.5|acc=3.5|t=12 s" },
	{ "Epoch #3: step#: 5, loss=2", "Epoch=3|step=5|loss=2" },
	{ "[Batch 5/9] loss=2, speed=12.5K samples/s", "Batch=5/9|loss=2|speed=12.5 K samples/s" },
	{ "train_step            loss=2.5 step=3", "loss=2.5|step=3" },
	{ "5it [00:04,  1.3it/s, loss=2.5]", "=5 it|=1.3 it/s|loss=2.5" },
	{ "Epoch 0/9 5/99 0:00:01 0:02:10 9.5it/s loss: 2", "Epoch=0/9|=5/99|=9.5 it/s|loss=2" },
	{ "step=1,tgs (tokens/gpu/second)=4.5", "step=1|tgs=4.5 tokens/gpu/second" },
	/* Lines that are not rows. */
	{ "this is 5 of those", "" },
	{ "issue #5 of step 3", "" },
	{ "x = tensor([2.5], device=3)", "" },
	{ "see #5 of step 3", "" },
	{ "loss: foo(2.5)", "" },
	{ "", "" },
	{ "    for step in range(10):", "" },
	{ "loss = criterion(x, 3)", "" },
	{ "    --lr 0.1     --train-iters 1000 \\", "" },
	{ "  lr_decay_iters .................. 800", "" },
	{ "x[3] = y[4] * 2;", "" },
	{ "print(3)", "" },
	{ "  \"profile_step\": 1,", "" },
	{ "{\"a\": {\"step\": 1}}", "" },
	{ "Successfully installed numpy-1.26.4 torch-2.1.0", "" },
	{ "  File \"train.py\", line 137, in advance", "" },
	{ "drwxr-xr-x 2 root root 4096 Nov 22 23:29 step-100", "" },
	{ "[    1.234567] pci 0000:00:1f.0: [8086:a0c5] type 00", "" },
	{ "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200", "" },
	{ "Loading the checkpoint from /root/step-8000.", "" },
	{ "The training took 3 hours of the time on 8 devices.", "" },
	{ "#define STEP 3", "" },
	{ "if (step == 3)", "" },
	{ "https://example.org/step=3", "" },
	{ "a::b 3", "" },
	{ "-----------------", "" },
	{ "step 1 loss 2 {", "" },
};

static void add_pair(struct buf *out, const struct pair *pair)
{
	if (out->len > 0)
		buf_append_char(out, '|');
	buf_append(out, pair->name.p, pair->name.len);
	buf_appendf(out, "=%.15g", pair->value);
	if (isfinite(pair->total))
		buf_appendf(out, "/%.15g", pair->total);
	if (pair->unit.len > 0)
		buf_appendf(out, " %.*s", (int)pair->unit.len, pair->unit.p);
}

static void test_pairs(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].line);
		char *line = malloc(len + 1); /* without a NUL at the end */
		struct pair pairs[PAIRS_MAX];
		struct buf text;
		size_t n;

		memcpy(line, cases[i].line, len);
		n = pairs_read((struct str){ line, len }, pairs);
		buf_init(&text, 4096);
		for (size_t k = 0; k < n; k++)
			add_pair(&text, &pairs[k]);
		is_str(text.len > 0 ? text.data : "", cases[i].pairs, cases[i].line);
		buf_release(&text);
		free(line);
	}
}

static void test_lines(void)
{
	static const struct {
		const char *line;
		bool is_bar, evaluates;
	} lines[] = {
		{ "step 3 loss 2", false, false },
		{ "Validation | step 3 | loss 2", false, true },
		{ "eval: step 3 loss 2", false, true },
		{ "val step 3 loss 2", false, true },
		{ "[VAL] step 3 loss 2", false, true },
		{ "Epoch(val) [1][5/9]  loss: 2", false, true },
		{ "Epoch(train) [1][5/9]  loss: 2", false, false },
		{ "step 3 loss (train): 2 loss (val): 3", false, false },
		{ "step 3, val: n/a, loss 2", false, false },
		{ "step 3 | val loss 2", false, false },
		{ "Evaluating:  5%|# | 1/9 [00:01<00:02, 3it/s, acc=1]", true, true },
		{ "Validation DataLoader 0:  5%|# | 1/9 [00:01<00:02, 3it/s]", true, true },
		{ " 5%|# | 1/9 [00:01<00:02, 3it/s, loss=1]", true, false },
		{ "9/9 [=======>] - 1s - loss: 3", true, false },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct pair pairs[PAIRS_MAX];
		struct pairs_line about;

		pairs_read_slots(str_from(lines[i].line), pairs, &about, NULL, NULL);
		ok(about.is_bar == lines[i].is_bar && about.evaluates == lines[i].evaluates,
		   "about %s", lines[i].line);
	}
}

static void test_most(void)
{
	struct pair pairs[PAIRS_MAX];
	struct buf line;

	buf_init(&line, 4096);
	for (int i = 0; i < PAIRS_MAX; i++)
		buf_appendf(&line, "a=%d ", i);
	is_int((long long)pairs_read((struct str){ line.data, line.len }, pairs), PAIRS_MAX,
	       "the largest number of pairs");
	buf_appendf(&line, "a=1");
	is_int((long long)pairs_read((struct str){ line.data, line.len }, pairs), 0,
	       "a line with one pair more is not a row");
	buf_release(&line);
}

static void test_meaning(void)
{
	static const struct {
		const char *name, *unit;
		enum metric metric;
		double scale;
	} rows[] = {
		{ "loss", "", METRIC_TRAIN_LOSS, 1 },
		{ "Loss", "", METRIC_TRAIN_LOSS, 1 },
		{ "train/loss", "", METRIC_TRAIN_LOSS, 1 },
		{ "lm loss", "", METRIC_TRAIN_LOSS, 1 },
		{ "lm-loss", "", METRIC_TRAIN_LOSS, 1 },
		{ "loss", "BPC", METRIC_COUNT, 1 },
		{ "loss scale", "", METRIC_COUNT, 1 },
		{ "acc_loss", "", METRIC_COUNT, 1 },
		{ "aux_loss", "", METRIC_COUNT, 1 },
		{ "valid_loss", "", METRIC_VAL_LOSS, 1 },
		{ "Validation bpb", "", METRIC_VAL_BPB, 1 },
		{ "test_loss", "", METRIC_COUNT, 1 },
		{ "dt", "ms", METRIC_STEP_MS, 1 },
		{ "dt", "s", METRIC_STEP_MS, 1000 },
		{ "dt", "", METRIC_COUNT, 1 },
		{ "time", "ms", METRIC_STEP_MS, 1 },
		{ "time", "s", METRIC_COUNT, 1 },
		{ "elapsed time per iteration", "ms", METRIC_STEP_MS, 1 },
		{ "", "ms", METRIC_COUNT, 1 },
		{ "", "ms/step", METRIC_STEP_MS, 1 },
		{ "", "it/s", METRIC_COUNT, 1 },
		{ "", "tok/s", METRIC_TOK_S, 1 },
		{ "tok/sec", "", METRIC_TOK_S, 1 },
		{ "Tokens/s/device", "", METRIC_TOK_S_DEVICE, 1 },
		{ "tok/s", "k", METRIC_TOK_S, 1e3 },
		{ "loss", "k", METRIC_COUNT, 1 },
		{ "step_time_ms", "", METRIC_STEP_MS, 1 },
		{ "sec_per_iter", "", METRIC_STEP_MS, 1e3 },
		{ "step_ms", "", METRIC_STEP_MS, 1 },
		{ "step_s", "", METRIC_COUNT, 1 }, /* perhaps steps per second */
		{ "data_time_ms", "", METRIC_COUNT, 1 },
		{ "tps", "", METRIC_COUNT, 1 },
		{ "Iteration", "", METRIC_STEP, 1 },
		{ "completed step", "", METRIC_STEP, 1 },
		{ "global step", "", METRIC_STEP, 1 },
		{ "max_step", "", METRIC_COUNT, 1 },
		{ "epoch", "", METRIC_COUNT, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pair pair = { str_from(rows[i].name), str_from(rows[i].unit), 1,
				     (double)NAN };
		double scale;
		enum metric metric = meaning_of(&pair, &scale);

		ok(metric == rows[i].metric && (metric == METRIC_COUNT || scale == rows[i].scale),
		   "what \"%s\" in \"%s\" is", rows[i].name, rows[i].unit);
	}
}

int main(void)
{
	test_pairs();
	test_lines();
	test_most();
	test_meaning();
	return tap_done();
}
