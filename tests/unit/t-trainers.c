/* SPDX-License-Identifier: MIT */
/* run_reader: rows of other trainers, and their values. */
#include "parsers/format.h"
#include "parsers/median.h"
#include "tests/support/run_case.h"

#define FIT(first, last)                                              \
	"{'loss': " first ", 'learning_rate': 5e-05, 'epoch': 0.5}\n" \
	"{'loss': " last ", 'learning_rate': 5e-05, 'epoch': 2.0}\n"

static const struct run_case cases[] = {
	{ "nanoGPT: the iteration of an evaluation is not in the median",
	  "tokens per iteration will be: 40,960\n"
	  "step 0: train loss 4.1000, val loss 4.2000\n"
	  "iter 0: loss 4.1500, time 9000.00ms, mfu -100.00%\n"
	  "iter 10: loss 3.1000, time 30.00ms, mfu 9.10%\n"
	  "iter 20: loss 2.9000, time 32.00ms, mfu 9.10%\n"
	  "step 30: train loss 2.5000, val loss 2.6000\n"
	  "iter 30: loss 2.7000, time 5000.00ms, mfu 8.10%\n"
	  "iter 40: loss 2.6000, time 31.00ms, mfu 8.10%\n"
	  "step 60: train loss 2.3000, val loss 2.4000\n"
	  "iter 60: loss 2.5000, time 33.00ms, mfu 8.10%\n",
	  1,
	  { { "steps", "60" },
	    { "last_train_loss", "2.5" },
	    { "last_val_loss", "2.4" },
	    { "step_ms_median", "32.5" },
	    { "train_batch_tokens", "40960" },
	    { "tok_s_last", "null" },
	    { "status", "\"finished\"" } } },
	{ "nanoGPT: a log that does not end after an evaluation was cut",
	  "step 0: train loss 4.1000, val loss 4.2000\n"
	  "iter 0: loss 4.1500, time 9000.00ms, mfu -100.00%\n"
	  "iter 10: loss 3.1000, time 30.00ms, mfu 9.10%\n",
	  1,
	  { { "steps", "10" }, { "status", "\"truncated\"" } } },
	{ "llama2.c: rows without a name for their step",
	  "0 | loss 4.1500 | lr 0.000000e+00 | 900.00ms | mfu -100.00%\n"
	  "step 0: train loss 4.1000, val loss 4.2000\n"
	  "1 | loss 3.1000 | lr 5.000000e-07 | 30.00ms | mfu 9.10%\n"
	  "2 | loss 2.9000 | lr 1.000000e-06 | 32.00ms | mfu 9.10%\n"
	  "step 2: train loss 2.5000, val loss 2.6000\n",
	  1,
	  { { "steps", "2" },
	    { "last_train_loss", "2.9" },
	    { "last_val_loss", "2.6" },
	    { "step_ms_median", "32" } } },
	{ "a step that appears again continues the run",
	  "0 ] loss 4.1500 ; lr 0.1\nstep 0: train loss 4.1, val loss 4.2\n"
	  "1 ] loss 3.1000 ; lr 0.1\n2 ] loss 2.9000 ; lr 0.1\n"
	  "step 2: train loss 2.5, val loss 2.6\n3 ] loss 2.7 ; lr 0.1\n",
	  1,
	  { { "last_train_loss", "2.7" }, { "last_val_loss", "2.6" } } },
	{ "Composer: a row on several lines",
	  "[batch=1/50]:\n\t Train loss/train/total: 9.5\n"
	  "\t Train throughput/device/tokens_per_sec: 1200.5\n"
	  "[batch=2/50]:\n\t Train loss/train/total: 9.25\n"
	  "\t Train throughput/device/tokens_per_sec: 1300.5\n"
	  "[Eval batch=1/9] Eval on eval data:\n"
	  "\t Eval metrics/eval/LanguageCrossEntropy: 9.125\n",
	  1,
	  { { "steps", "2" },
	    { "planned_steps", "50" },
	    { "last_train_loss", "9.25" },
	    { "last_val_loss", "9.125" },
	    { "tok_s_per_device_last", "1300.5" } } },
	{ "fairseq: a validation among rows without a rule",
	  "train_inner | epoch 001:    100 / 500 loss=9.5, ppl=724, "
	  "num_updates=100, lr=0.1\n"
	  "train_inner | epoch 001:    200 / 500 loss=9.25, ppl=609, "
	  "num_updates=200, lr=0.1\n"
	  "train_inner | epoch 001:    300 / 500 loss=9, ppl=512, "
	  "num_updates=300, lr=0.1\n"
	  "valid | epoch 001 | valid on 'valid' subset | loss 8.75 | ppl 430 "
	  "| num_updates 300\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "9" }, { "last_val_loss", "8.75" } } },
	{ "Marian: updates are steps",
	  "Ep. 1 : Up. 500 : Sen. 48,500 : Cost 9.5 * 12,345 @ 99 after 49,000 "
	  ": Time 12.34s : 1234.5 words/s : gNorm 1.2\n"
	  "Ep. 1 : Up. 1,000 : Sen. 97,000 : Cost 8.5 * 12,345 @ 99 after "
	  "98,000 : Time 12.34s : 1234.5 words/s : gNorm 1.2\n",
	  1,
	  { { "steps", "1000" }, { "last_train_loss", "8.5" } } },
	{ "ESPnet: the end of an epoch has both losses",
	  "[gpu] 2026-05-01 10:00:00,123 (trainer:3) INFO: 1epoch results: "
	  "[train] loss=3.5, time=1 minute, [valid] cer=0.9, loss_ctc=9, "
	  "loss=3.25, total_count=20\n",
	  1,
	  { { "last_train_loss", "null" }, { "last_val_loss", "3.25" } } },
	{ "icefall: the loss of the batch, not the sum",
	  "2026-05-01 10:00:00,123 INFO [train.py:9] (0/4) Epoch 1, batch 50, "
	  "loss[loss=3.5, ctc=1, over 34.00 frames. ], tot_loss[loss=4.5, ], "
	  "lr: 3e-03\n"
	  "2026-05-01 10:00:01,123 INFO [train.py:9] (0/4) Epoch 1, "
	  "validation: loss=3.25, ctc=1, over 94.00 frames. \n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3.5" }, { "last_val_loss", "3.25" } } },
	{ "WeNet",
	  "2026-05-01 10:00:00,1 DEBUG TRAIN Batch 0/50 loss 3.5 lr 1\n"
	  "2026-05-01 10:00:00,1 DEBUG CV Batch 0/50 loss 9.5 lr 1\n"
	  "2026-05-01 10:00:00,1 INFO Epoch 0 CV info cv_loss 3.25\n",
	  1,
	  { { "last_train_loss", "3.5" }, { "last_val_loss", "3.25" } } },
	{ "a TensorFlow Estimator",
	  "INFO:tensorflow:loss = 3.5, step = 100 (8.9 sec)\n"
	  "INFO:tensorflow:loss = 3.25, step = 200 (8.9 sec)\n"
	  "INFO:tensorflow:loss = 3, step = 300 (8.9 sec)\n"
	  "INFO:tensorflow:Saving dict for global step 300: acc = 0.5, "
	  "global_step = 300, loss = 3.125\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "3" }, { "last_val_loss", "3.125" } } },
	{ "Flax scripts of Hugging Face",
	  "Step... (500 | Loss: 3.5, Learning Rate: 0.1)\n"
	  "Epoch... (1/9 | Eval Loss: 3.25, Perplexity: 25)\n",
	  1,
	  { { "steps", "500" }, { "last_train_loss", "3.5" }, { "last_val_loss", "3.25" } } },
	{ "bars of a script that prints only its plan and validations otherwise",
	  "05/01/2026 10:00:00 - INFO - __main__ -   Total optimization steps "
	  "= 20\n"
	  "\r 5%|#  | 1/20 [00:01<00:20,  1.2it/s]"
	  "\r50%|## | 10/20 [00:09<00:10,  1.2it/s]\n"
	  "05/01/2026 10:00:09 - INFO - __main__ - epoch 0: perplexity: 30.5 "
	  "eval_loss: 3.5\n"
	  "\r99%|###| 19/20 [00:18<00:01,  1.2it/s]"
	  "\r100%|###| 20/20 [00:19<00:00,  1.2it/s]\n"
	  "05/01/2026 10:00:19 - INFO - __main__ - epoch 1: perplexity: 28.5 "
	  "eval_loss: 3.25\n"
	  "05/01/2026 10:00:20 - INFO - __main__ - epoch 2: perplexity: 25.5 "
	  "eval_loss: 3.125\n",
	  1,
	  { { "steps", "20" }, { "last_val_loss", "3.125" } } },
	{ "levanter's bar, whose steps are rounded",
	  "Progress on:train 900it/10.0kit rate:2.5it/s postfix:loss=3.5\n"
	  "Progress on:train 1.23kit/10.0kit rate:2.5it/s postfix:loss=3.25\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3.25" } } },
	{ "MindFormers: a step of the only epoch is the run's",
	  "- INFO - { Epoch:[  1/  1], step:[   10/ 1000], loss: 3.500, "
	  "per_step_time: 12ms, lr: 1e-05\n",
	  1,
	  { { "steps", "10" },
	    { "planned_steps", "1000" },
	    { "last_train_loss", "3.5" },
	    { "step_ms_median", "12" } } },
	{ "MindFormers: a step of one of two epochs is not",
	  "- INFO - { Epoch:[  2/  2], step:[   10/ 1000], loss: 3.500, "
	  "per_step_time: 12ms, lr: 1e-05\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3.5" } } },
	{ "ML-Agents has steps but no loss",
	  "[INFO] 3DBall. Step: 12000. Time Elapsed: 2.5 s. Mean Reward: 1.2. "
	  "Std of Reward: 0.7. Training.\n",
	  1,
	  { { "steps", "12000" }, { "last_train_loss", "null" } } },
	{ "llama.cpp's finetuning",
	  "train: [#   ] data=0000010/0001000 loss=3.50000\xc2\xb1"
	  "0.01 t=1\n"
	  "val:   [#   ] data=0000010/0000100 loss=9.50000\xc2\xb1"
	  "0.01 t=1\n"
	  "val:   [####] data=0000100/0000100 loss=3.25000\xc2\xb1"
	  "0.01 t=1\n",
	  1,
	  { { "last_train_loss", "3.5" }, { "last_val_loss", "3.25" } } },
	{ "a rule's rows after the prefixes of `ts` and srun",
	  "Nov 20 10:00:00 0: step:1/9 train_loss:3.5 train_time:10ms "
	  "step_avg:10ms\n"
	  "Nov 20 10:00:00 1: step:1/9 train_loss:4.5 train_time:10ms "
	  "step_avg:10ms\n"
	  "Nov 20 10:00:01 0: step:2/9 val_loss:3.25 val_bpb:1.5 "
	  "train_time:20ms step_avg:10ms\n",
	  1,
	  { { "steps", "2" }, { "last_train_loss", "3.5" }, { "last_val_loss", "3.25" } } },
	{ "bits per character are not nats",
	  "step 0: train loss 6.1000 BPC, val loss 6.2000 BPC\n"
	  "iter 0: loss 6.1500 BPC, time 80.00ms, mfu -100.00%\n"
	  "iter 10: loss 5.1000 BPC, time 30.00ms, mfu 9.10%\n",
	  1,
	  { { "steps", "10" },
	    { "last_train_loss", "null" },
	    { "last_val_loss", "null" },
	    { "step_ms_median", "55" } } },
	{ "build-nanogpt: three kinds of lines in one file",
	  "0 val 10.9\n0 hella 0.2400\n0 train 10.8\n1 train 9.5\n"
	  "2 val 8.75\n2 hella 0.2500\n2 train 8.7\n",
	  1,
	  { { "steps", "2" },
	    { "last_train_loss", "8.7" },
	    { "last_val_loss", "8.75" },
	    { "status", "\"finished\"" } } },
	{ "build-nanogpt's console",
	  "total desired batch size: 524288\n"
	  "validation loss: 10.95\n"
	  "HellaSwag accuracy: 240/1000=0.2400\n"
	  "step     0 | loss: 10.900000 | lr 8.0e-07 | norm: 15.1 | dt: "
	  "900.00ms | tok/sec: 500000.00\n"
	  "step     1 | loss: 9.800000 | lr 1.6e-06 | norm: 12.1 | dt: "
	  "100.00ms | tok/sec: 5242880.50\n",
	  1,
	  { { "steps", "1" },
	    { "last_train_loss", "9.8" },
	    { "last_val_loss", "10.95" },
	    { "step_ms_median", "500" },
	    { "tok_s_last", "5242880.5" },
	    { "status", "\"truncated\"" } } },
	{ "build-nanogpt's console, up to its last validation",
	  "step     1 | loss: 9.800000 | lr 1.6e-06 | norm: 12.1 | dt: "
	  "100.00ms | tok/sec: 5242880.50\n"
	  "validation loss: 9.95\n"
	  "step     2 | loss: 9.500000 | lr 1.6e-06 | norm: 12.1 | dt: "
	  "100.00ms | tok/sec: 5242880.50\n",
	  1,
	  { { "steps", "2" }, { "status", "\"finished\"" } } },
	{ "llm.c: NaN from the first row, and a scheduler's message in the last",
	  "| train_num_batches     | 40                 |\n"
	  "step    1/40 | loss     nan (+nanz)| norm    nan (+nanz)| lr "
	  "1.0e-06 | 3600.25 ms | 36.9% bf16 MFU | 145000 tok/s\n"
	  "val loss -nan\n"
	  "step    2/40 | loss     nan (+nanz)| norm    nan (+nanz)| lr "
	  "2.0e-06 | 3610.25 ms | 36.9% bf16 MFU | 146000 tok/s\n"
	  "step    3/40 | loss     nan (+nanz)| norm    nan (+nanz)| lr "
	  "3.0e-06 | 3616.slurmstepd-n1: error: *** JOB 77 ON n1 CANCELLED AT "
	  "2024-10-10T18:59:58 DUE TO TIME LIMIT ***\n",
	  1,
	  { { "steps", "2" },
	    { "last_train_loss", "null" },
	    { "last_val_loss", "null" },
	    { "step_ms_median", "3605.25" },
	    { "tok_s_last", "146000" },
	    { "planned_steps", "40" },
	    { "status", "\"killed\"" } } },
	{ "older logs of llm.c",
	  "step    1/74: train loss 4.367857 (acc 4.378) (1.25 ms, 123456 "
	  "tok/s)\n"
	  "val loss 4.5\n"
	  "step   74/74: train loss 3.25 norm 1.5 (1.75 ms, 137K tok/s)\n"
	  "total average iteration time: 1.500000 ms\n",
	  1,
	  { { "steps", "74" },
	    { "last_train_loss", "3.25" },
	    { "last_val_loss", "4.5" },
	    { "step_ms_median", "1.5" },
	    { "tok_s_last", "123456" },
	    { "status", "\"finished\"" } } },
	{ "a C program without memory crashed, with its reason",
	  "allocating 39612 MiB for activations\n"
	  "[CUDA ERROR] at file train_gpt2.cu:265:\nout of memory\n",
	  1,
	  { { "status", "\"crashed\"" }, { "steps", "null" } } },
	{ "nanochat: base training, then SFT without a plan: two runs",
	  "Total batch size 8,192 => gradient accumulation steps: 8\n"
	  "Step 00000 | Validation bpb: 3.20\n"
	  "step 00000/00002 (0.00%) | loss: 9.5 | lrm: 0.03 | dt: 170.64ms | "
	  "tok/sec: 4,755 | mfu: 0.03 | total time: 0.00m\n"
	  "step 00001/00002 (50.00%) | loss: 9.0 | lrm: 0.03 | dt: 150.64ms | "
	  "tok/sec: 5,755 | mfu: 0.03 | total time: 0.00m\n"
	  "Step 00002 | Validation bpb: 0.90\n"
	  "Total training time: 0.12m\n"
	  "Total batch size 4,096 => gradient accumulation steps: 1\n"
	  "Step 00000 | Validation bpb: 1.10\n"
	  "step 00001 (0.00%) | loss: 2.5 | lrm: 1.00 | dt: 5.25ms | tok/sec: "
	  "25,234 | mfu: 0.00 | epoch: 1 | total time: 0.00m\n"
	  "step 00002 (0.00%) | loss: 2.25 | lrm: 1.00 | dt: 5.75ms | "
	  "tok/sec: 1,025,696 | mfu: 0.00 | epoch: 1 | total time: 0.00m\n",
	  2,
	  { { "steps", "2" },
	    { "last_train_loss", "2.25" },
	    { "last_val_bpb", "1.1" },
	    { "planned_steps", "null" },
	    { "tok_s_last", "1025696" },
	    { "step_ms_median", "5.5" },
	    { "train_batch_tokens", "4096" },
	    { "final_bpb", "null" },
	    { "status", "null" } } },
	{ "nanochat: the rate of a slow step gives no time",
	  "Total batch size 1,000 => gradient accumulation steps: 1\n"
	  "step 00000/21400 (0.00%) | loss: 5.0 | lrm: 1.00 | dt: 10.00ms | tok/sec: 100,000 |\n"
	  "step 00001/21400 (0.01%) | loss: 4.9 | lrm: 1.00 | dt: 10.00ms | tok/sec: 100,000 |\n"
	  "step 00002/21400 (0.01%) | loss: 4.8 | lrm: 1.00 | dt: 900.00ms | tok/sec: 1,111 |\n",
	  1,
	  { { "tok_s_last", "1111" }, { "tok_s_interval", "null" }, { "step_ms_median", "10" } } },
	{ "nanochat: the tokenizer's time does not end a training",
	  "Training time: 0.06s\n"
	  "step 00000/00050 (0.00%) | loss: 9.5 | lrm: 0.03 | dt: 170.64ms | "
	  "tok/sec: 4,755 | mfu: 0.03 | total time: 0.00m\n",
	  1,
	  { { "steps", "0" }, { "status", "\"truncated\"" } } },
	{ "autoresearch: versions of one line, and the score after them",
	  "\rstep 00000 (0.0%) | loss: 9.0 | lrm: 1.00 | dt: 900ms | tok/sec: "
	  "145,000 | mfu: 9.1% | epoch: 1 | remaining: 300s    "
	  "\rstep 00001 (0.1%) | loss: 8.5 | lrm: 1.00 | dt: 310ms | tok/sec: "
	  "1,690,000 | mfu: 39.1% | epoch: 1 | remaining: 299s    "
	  "\rstep 00002 (0.2%) | loss: 8.25 | lrm: 1.00 | dt: 312ms | tok/sec: "
	  "1,680,000 | mfu: 39.1% | epoch: 1 | remaining: 0s    \n"
	  "---\n"
	  "val_bpb:          0.997900\n"
	  "training_seconds: 300.1\n"
	  "peak_vram_mb:     45060.2\n"
	  "num_steps:        3\n",
	  1,
	  { { "final_bpb", "0.9979" },
	    { "final_class", "\"final\"" },
	    { "steps", "3" },
	    { "last_train_loss", "8.25" },
	    { "step_ms_median", "312" },
	    { "tok_s_last", "1680000" },
	    { "status", "\"finished\"" } } },
	{ "torchtitan: colors, a device's rate, a harmless shutdown error",
	  "[rank0]:[titan] 2026-05-03 01:25:54,997 - root - INFO - Trainer is "
	  "initialized with local batch size 2, global batch size 16, "
	  "sequence length 260, total steps 2 (warmup 1)\n"
	  "[rank0]:[titan] 2026-05-03 01:27:02,692 - root - INFO - "
	  "\x1b[31mstep:  1  \x1b[32mloss:  5.95272  "
	  "\x1b[38;2;180;60;0mgrad_norm:  0.3497  \x1b[38;2;54;234;195mmemory:"
	  "  4.70GiB(14.97%)  \x1b[34mtps: 8  \x1b[36mtflops: 0.05  "
	  "\x1b[35mmfu: 0.01%\x1b[39m\n"
	  "[rank0]:[titan] 2026-05-03 01:27:02,692 - root - INFO - "
	  "\x1b[31mstep:  2  \x1b[32mloss:  5.5  \x1b[38;2;54;234;195mmemory:"
	  "  4.70GiB(14.97%)  \x1b[34mtps: 1,208  \x1b[36mtflops: 0.05  "
	  "\x1b[35mmfu: 0.01%\x1b[39m\n"
	  "[rank0]:[titan] 2026-05-03 01:49:36,045 - root - INFO - Training "
	  "completed\n"
	  "[rank0]:Traceback (most recent call last):\n"
	  "[rank0]:PythonFinalizationError: cannot join thread\n",
	  1,
	  { { "steps", "2" },
	    { "last_train_loss", "5.5" },
	    { "tok_s_per_device_last", "1208" },
	    { "tok_s_last", "null" },
	    { "status", "\"finished\"" } } },
	{ "the same error in another trainer's log is a failure",
	  "iter 10: loss 3.1000, time 30.00ms, mfu 9.10%\n"
	  "Training completed\n"
	  "Traceback (most recent call last):\n"
	  "RuntimeError: no\n",
	  1,
	  { { "status", "\"crashed\"" } } },
	{ "torchtitan: the rows come from rank 7, and are resumed",
	  "[rank0]:[titan] 2026-05-03 01:25:54,997 - root - INFO - Training "
	  "starts at step 12501, with local batch size 8, total steps 20000 "
	  "(warmup 200)\n"
	  "[rank7]:2026-05-03 01:25:55,000 - root - INFO - step: 12510  loss:  "
	  "3.25  memory: 2.50GiB(3.00%)  wps: 900  mfu: 1.00%\n"
	  "[rank7]:2026-05-03 01:25:56,000 - root - INFO - step: 12520  loss:  "
	  "3.125  memory: 2.50GiB(3.00%)  wps: 910  mfu: 1.00%\n"
	  "[rank6]:2026-05-03 01:25:56,000 - root - INFO - step: 12520  loss: "
	  "-1.0  memory: 2.50GiB(3.00%)  wps: 911  mfu: 1.00%\n",
	  1,
	  { { "steps", "12520" },
	    { "last_train_loss", "3.125" },
	    { "tok_s_per_device_last", "910" },
	    { "status", "\"truncated\"" } } },
	{ "Megatron: rows without a loss, other losses, a validation",
	  "  train_iters ..................................... 100\n"
	  "  seed ............................................ 4321\n"
	  "[default7]: [2024-05-10 12:00:00] iteration       10/     100 | consumed "
	  "samples:           40 | elapsed time per iteration (ms): 19900.5 | "
	  "learning rate: 0.000E+00 | loss scale: 8388608.0 | number of "
	  "skipped iterations:  10 |\n"
	  "[default6]: iteration       10/     100 | elapsed time per iteration "
	  "(ms): 1.5 | lm loss: 1.0E+00 |\n"
	  "[default7]: iteration       20/     100 | elapsed time per iteration "
	  "(s): 6.50 | learning rate: 3.750E-05 | lm-loss: 1.5E+01 | "
	  "moe aux loss: 9.0 | loss scale: 32768.0 | grad norm: 1.5 |\n"
	  " validation loss at iteration 20 | lm loss value: 1.25E+01 | lm loss "
	  "PPL: 2.0E+05 |\n"
	  " validation loss at the end of training for test data | lm loss "
	  "value: 9.0E+00 | lm loss PPL: 2.0E+05 |\n",
	  1,
	  { { "steps", "20" },
	    { "seed", "4321" },
	    { "last_train_loss", "15" },
	    { "last_val_loss", "12.5" },
	    { "step_ms_median", "13200.25" },
	    { "tok_s_last", "null" },
	    { "status", "\"truncated\"" } } },
	{ "GPT-NeoX: the iteration is the second number",
	  " samples/sec: 95.448 | iteration       10/      20 | elapsed time "
	  "per iteration (ms): 1341.5 | learning rate: 8.4E-07 | approx flops "
	  "per GPU: 58.7TFLOPS | lm_loss: 1.125E+01 | loss scale: 4096.0 |\n"
	  " validation results at iteration 10 | lm_loss value: 1.0E+01 | "
	  "lm_loss_ppl value: 2.2E+04 |\n",
	  1,
	  { { "steps", "10" },
	    { "planned_steps", "20" },
	    { "last_train_loss", "11.25" },
	    { "last_val_loss", "10" },
	    { "step_ms_median", "1341.5" } } },
	{ "Megatron, requeued: it goes back to its checkpoint",
	  " iteration       10/      40 | elapsed time per iteration (ms): 10.0 "
	  "| lm loss: 5.0E+00 |\n"
	  " iteration       30/      40 | elapsed time per iteration (ms): 10.0 "
	  "| lm loss: 4.0E+00 |\n"
	  "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT "
	  "2024-05-24T09:50:34 DUE TO PREEMPTION ***\n"
	  " iteration       20/      40 | elapsed time per iteration (ms): 11.0 "
	  "| lm loss: 4.5E+00 |\n"
	  " iteration       40/      40 | elapsed time per iteration (ms): 11.0 "
	  "| lm loss: 3.5E+00 |\n"
	  "[after training is done] datetime: 2024-05-24 10:50:34\n",
	  2,
	  { { "steps", "40" },
	    { "last_train_loss", "3.5" },
	    { "step_ms_median", "11" },
	    { "run_index", "1" },
	    { "status", "\"finished\"" } } },
	{ "plain DeepSpeed counts steps; samples are not tokens",
	  "[2024-01-01 10:00:00,000] [INFO] [timer.py:260:stop] "
	  "epoch=0/micro_step=10/global_step=10, "
	  "RunningAvgSamplesPerSec=173.4, CurrSamplesPerSec=175.1\n"
	  "[2024-01-01 10:00:10,000] [INFO] [logging.py:96:log_dist] [Rank 0] "
	  "step=20, skipped=0, lr=[0.001], mom=[[0.9, 0.999]]\n",
	  1,
	  { { "steps", "20" },
	    { "tok_s_last", "null" },
	    { "last_train_loss", "null" },
	    { "status", "null" } } },
	{ "Hugging Face: dictionaries in the bar, with the bar's steps",
	  "  0%|          | 0/40 [00:00<?, ?it/s]"
	  "\r 25%|##5       | 10/40 [00:05<00:15,  1.90it/s]"
	  "\r                                    \r{'loss': 2.5, 'grad_norm': "
	  "1.5, 'learning_rate': 5e-05, 'epoch': 0.25}\n"
	  "\r 25%|##5       | 10/40 [00:05<00:15,  1.90it/s]"
	  "\r 50%|#####     | 20/40 [00:05<00:15,  1.90it/s]"
	  "{'loss': '2.25', 'learning_rate': '2e-05', 'epoch': '0.5'}\n"
	  "\r 50%|#####     | 20/40 [00:05<00:15,  1.90it/s]\n"
	  "  0%|          | 0/7 [00:00<?, ?it/s]"
	  "\r 71%|#######   | 5/7 [00:00<00:00,  9.90it/s]\n"
	  "{'eval_loss': 2.125, 'eval_runtime': 1.5, 'epoch': 0.5}\n"
	  "\r 75%|#######5  | 30/40 [00:05<00:15,  1.90it/s]\n",
	  1,
	  { { "steps", "30" },
	    { "planned_steps", "40" },
	    { "last_train_loss", "2.25" },
	    { "last_val_loss", "2.125" },
	    { "step_ms_median", "null" },
	    { "status", "\"truncated\"" } } },
	{ "Hugging Face: a bar redrawn at the end does not clear the failure",
	  "  Total optimization steps = 300\n"
	  "  3%|#  | 10/300 [00:21<10:02,  2.09s/it]\n"
	  "{'loss': 1.5, 'learning_rate': 4.7e-05, 'epoch': 0.3}\n"
	  "Traceback (most recent call last):\n"
	  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried\n"
	  "  4%|#  | 11/300 [00:21<10:02,  2.09s/it]\n",
	  1,
	  { { "steps", "11" }, { "status", "\"oom\"" } } },
	{ "Hugging Face: bars of other things do not count steps",
	  "Map:  10%|#         | 10/100 [00:00<00:00, 1000it/s]\n"
	  " 50%|#####     | 50/100 [00:00<00:00, 1000.5it/s]\n"
	  "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.25}\n"
	  "{'loss': 2.0, 'learning_rate': 5e-05, 'epoch': 0.5}\n"
	  "{'train_runtime': 9.5, 'train_steps_per_second': 0.5, 'train_loss': "
	  "2.25, 'epoch': 1.0}\n"
	  "***** train metrics *****\n"
	  "  train_loss               =       2.25\n",
	  1,
	  { { "steps", "null" },
	    { "planned_steps", "null" },
	    { "last_train_loss", "2" },
	    { "status", "\"finished\"" } } },
	{ "Hugging Face: epochs that start again are another run",
	  FIT("2.5", "2.25") "{'train_runtime': 9.5, 'train_loss': 2.4, 'epoch': 2.0}\n" FIT(
		  "1.5", "1.25"),
	  2,
	  { { "last_train_loss", "1.25" }, { "run_index", "1" } } },
	{ "a fit that is resumed continues its run",
	  FIT("2.5", "2.25") "{'loss': 2.0, 'learning_rate': 5e-05, 'epoch': 1.0}\n",
	  1,
	  { { "last_train_loss", "2" } } },
	{ "fastText, with versions of one line",
	  "Read 1M words\n"
	  "\rProgress:  10.0% words/sec/thread:  9000 lr:  0.090000 avg.loss:  2.500000 ETA:   0h 0m 9s"
	  "\rProgress: 100.0% words/sec/thread:  9500 lr:  0.000000 avg.loss:  1.500000 ETA:   0h 0m 0s\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "1.5" }, { "status", "null" } } },
	{ "LLaMA-Factory: a dictionary after an arrow, and a rounded table",
	  "[INFO|trainer.py:2321] 2024-11-26 22:07:15,123 >>   Total "
	  "optimization steps = 17,000\n"
	  "[INFO|2024-11-26 22:09:01] logging.py:157 >> {'loss': 2.2818, "
	  "'learning_rate': 2.5000e-06, 'epoch': 0.29, 'throughput': '0.00'}\n"
	  "[INFO|2024-11-26 22:09:01] logging.py:157 >> {'eval_loss': "
	  "1.23456789, 'eval_runtime': 1.5, 'epoch': 0.29}\n"
	  "  eval_loss               =     1.2346\n",
	  1,
	  { { "planned_steps", "17000" },
	    { "steps", "null" },
	    { "last_train_loss", "2.2818" },
	    { "last_val_loss", "1.23456789" },
	    { "tok_s_last", "null" },
	    { "status", "\"truncated\"" } } },
	{ "LLaMA-Factory's own log",
	  "{\"current_steps\": 10, \"total_steps\": 20, \"loss\": 2.5, \"lr\": "
	  "1e-05, \"epoch\": 0.5, \"percentage\": 50.0, \"elapsed_time\": "
	  "\"0:01:02\", \"remaining_time\": \"0:01:02\", \"throughput\": "
	  "\"0.00\", \"total_tokens\": 0}\n"
	  "{\"current_steps\": 20, \"total_steps\": 20, \"eval_loss\": 2.25, "
	  "\"epoch\": 1.0, \"percentage\": 100.0}\n",
	  1,
	  { { "steps", "20" },
	    { "last_train_loss", "2.5" },
	    { "last_val_loss", "2.25" },
	    { "tok_s_last", "null" },
	    { "status", "\"finished\"" } } },
	{ "Lightning: the exact figure is kept, v_num is ignored",
	  "Sanity Checking: 0it [00:00, ?it/s]\n"
	  "Epoch 0: 100%|####| 10/10 [00:01<00:00,  8.1it/s, v_num=5, "
	  "train_loss=0.250, val_loss=0.332]\n"
	  "Epoch 0, global step 10: 'val_loss' reached 0.33250 (best 0.33250), "
	  "saving model to 'a.ckpt' as top 1\n"
	  "Epoch 1: 100%|####| 10/10 [00:01<00:00,  8.1it/s, v_num=5, "
	  "train_loss=0.125, val_loss=0.332]\n"
	  "Epoch 1, global step 20: 'val_acc' reached 0.90 (best 0.90), saving\n"
	  "`Trainer.fit` stopped: `max_epochs=2` reached.\n",
	  1,
	  { { "steps", "20" },
	    { "last_train_loss", "0.125" },
	    { "last_val_loss", "0.3325" },
	    { "step_ms_median", "null" },
	    { "status", "\"finished\"" } } },
	{ "Lightning: only bars",
	  "Epoch 0:  50%|##  | 5/10 [00:03<00:03, 130.1it/s, v_num=1, "
	  "train_loss_step=0.512]\n"
	  "Epoch 0: 100%|####| 10/10 [00:07<00:00, 131.2it/s, v_num=1, "
	  "train_loss_step=0.312, val_loss=0.298, train_loss_epoch=0.412]\n",
	  1,
	  { { "steps", "null" },
	    { "last_train_loss", "0.312" },
	    { "last_val_loss", "0.298" },
	    { "status", "null" } } },
	{ "Lightning, stopped at the keyboard",
	  "Epoch 0, global step 10: 'val_loss' reached 0.33250 (best 0.33250)\n"
	  "\nDetected KeyboardInterrupt, attempting graceful shutdown ...\n",
	  1,
	  { { "steps", "10" }, { "status", "\"killed\"" } } },
	{ "litgpt: an absent validation; micro-batches are not steps",
	  "Epoch 1 | iter 1 step 0 | loss train: 1.750, val: n/a | iter time: "
	  "548.72 ms\n"
	  "Epoch 1 | iter 2 step 1 | loss train: 1.660, val: n/a | iter time: "
	  "148.72 ms (step)\n"
	  "iter 2: val loss 1.8125, val time: 1234.56 ms\n"
	  "Epoch 1 | iter 4 step 2 | loss train: 1.500, val: 1.813 | iter time: "
	  "148.72 ms (step)\n"
	  "Training time: 12.50s\n"
	  "Final evaluation | val loss: 1.625 | val ppl: 5.078\n",
	  1,
	  { { "steps", "2" },
	    { "last_train_loss", "1.5" },
	    { "last_val_loss", "1.625" },
	    { "step_ms_median", "null" },
	    { "status", "\"finished\"" } } },
	{ "OLMo: a row on several lines",
	  "2024-01-30 12:00:00.123\thost:0\tolmo.train:785\tINFO\t[step=1/4]\n"
	  "    train/CrossEntropyLoss=11.25\n"
	  "    train/Perplexity=76,880\n"
	  "2024-01-30 12:00:01.123\thost:0\tolmo.train:785\tINFO\t[step=2/4]\n"
	  "    optim/total_grad_norm=5.5\n"
	  "    train/CrossEntropyLoss=10.75\n"
	  "    throughput/total_tokens=4,194,304\n"
	  "    throughput/device/tokens_per_second=45,538\n",
	  1,
	  { { "steps", "2" },
	    { "planned_steps", "4" },
	    { "last_train_loss", "10.75" },
	    { "tok_s_per_device_last", "45538" },
	    { "tok_s_last", "null" },
	    { "status", "\"truncated\"" } } },
	{ "MaxText: rows that were only dispatched do not change the median",
	  "Config param steps: 4\n"
	  "completed step: 0, seconds: 44.923, TFLOP/s/device: 17.022, "
	  "Tokens/s/device: 1094.129, total_weights: 196608, loss: 12.038\n"
	  "completed step: 1, seconds: 0.319, TFLOP/s/device: 2400.734, "
	  "Tokens/s/device: 154316.608, total_weights: 196608, loss: 12.038\n"
	  "completed step: 2, seconds: 5.500, TFLOP/s/device: 135.158, "
	  "Tokens/s/device: 8687.815, total_weights: 196608, loss: 11.689\n"
	  "completed step: 3, seconds: 5.500, TFLOP/s/device: 135.158, "
	  "Tokens/s/device: 8688.5, total_weights: 196608, loss: 11.5\n",
	  1,
	  { { "steps", "3" },
	    { "last_train_loss", "11.5" },
	    { "step_ms_median", "5500" },
	    { "tok_s_per_device_last", "8688.5" },
	    { "tok_s_last", "null" },
	    { "status", "\"finished\"" } } },
	{ "a part of a log, without the plan and the end",
	  "completed step: 8, seconds: 5.668, TFLOP/s/device: 134.911, "
	  "Tokens/s/device: 8671.946, total_weights: 196608, loss: 10.440\n",
	  1,
	  { { "steps", "8" }, { "planned_steps", "null" }, { "status", "null" } } },
	{ "timm: the value precedes the mean; batches are not steps",
	  "Train: 3 [   0/1251 (  0%)]  Loss: 5.67 (5.80)  Time: 0.312s,  "
	  "820.51/s  (0.320s,  800.10/s)  LR: 5.000e-04  Data: 0.010 (0.020)\n"
	  "Train: 3 [1250/1251 (100%)]  Loss: 5.50 (5.75)  Time: 0.300s,  "
	  "853.33/s  (0.310s,  825.80/s)  LR: 5.000e-04  Data: 0.010 (0.020)\n"
	  "Test: [  10/195]  Time: 0.1 (0.2)  Loss:  2.5000 (2.6000)  Acc@1: "
	  "50.0000 (49.0000)  Acc@5: 70.0 (69.0)\n"
	  "Test: [ 195/195]  Time: 0.1 (0.2)  Loss:  2.0000 (2.2500)  Acc@1: "
	  "50.0000 (49.0000)  Acc@5: 70.0 (69.0)\n"
	  "*** Best metric: 49.0 (epoch 3)\n",
	  1,
	  { { "steps", "null" },
	    { "last_train_loss", "5.5" },
	    { "last_val_loss", "2.25" },
	    { "step_ms_median", "306" },
	    { "tok_s_last", "null" },
	    { "status", "\"finished\"" } } },
	{ "MLPerf: an accuracy that is a loss keeps its name",
	  ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": "
	  "\"POINT_IN_TIME\", \"key\": \"seed\", \"value\": 7, \"metadata\": "
	  "{}}\n"
	  "0: :::MLLOG {\"key\": \"train_loss\", \"value\": 1.3125, "
	  "\"time_ms\": 2, \"metadata\": {\"samples_count\": 1344}}\n"
	  ":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.925, "
	  "\"metadata\": {\"samples_count\": 3072}}\n"
	  ":::MLLOG {\"key\": \"run_stop\", \"value\": 0.92, \"metadata\": "
	  "{\"status\": \"success\"}}\n",
	  1,
	  { { "seed", "7" },
	    { "steps", "null" },
	    { "last_train_loss", "1.3125" },
	    { "last_val_loss", "null" },
	    { "status", "\"finished\"" } } },
	{ "the table of an evaluation has scores and no loss",
	  "|  Tasks  |Version|Filter|n-shot| Metric |   |Value |   |Stderr|\n"
	  "|---------|------:|------|-----:|--------|---|-----:|---|-----:|\n"
	  "|arc_easy |      1|none  |     0|acc     |\xe2\x86\x91  |0.4335|\xc2"
	  "\xb1  |0.0102|\n"
	  "|         |       |none  |     0|acc_norm|\xe2\x86\x91  |0.4000|\xc2"
	  "\xb1  |0.0101|\n",
	  1,
	  { { "last_train_loss", "null" },
	    { "last_val_loss", "null" },
	    { "steps", "null" },
	    { "status", "\"finished\"" } } },
	{ "Hugging Face: only the end is printed",
	  "{'train_runtime': 9.5, 'train_steps_per_second': 0.5, 'train_loss': "
	  "2.25, 'epoch': 1.0}\n",
	  1,
	  { { "last_train_loss", "null" }, { "train_ms", "null" }, { "status", "\"finished\"" } } },
	{ "the number of a task before the line",
	  "7:  iteration       10/      20 | elapsed time per iteration (ms): "
	  "10.5 | lm loss: 5.0E+00 |\n"
	  "[1,6]<stdout>: iteration       10/      20 | elapsed time per "
	  "iteration (ms): 99.0 | lm loss: 4.0E+00 |\n"
	  "7:  iteration       12/      20 | elapsed time per iteration "
	  "(ms): 10.5 | lm loss: 4.5E+00 |\n"
	  " 0: srun: error: n1: task 3: Killed\n",
	  1,
	  { { "steps", "12" },
	    { "last_train_loss", "4.5" },
	    { "step_ms_median", "10.5" },
	    { "status", "\"killed\"" } } },
	{ "a user's interrupt ends a run; the failures after a crash are not its cause",
	  "iter 10: loss 3.1000, time 30.00ms, mfu 9.10%\n"
	  "Traceback (most recent call last):\n"
	  "  File \"train.py\", line 1\n"
	  "KeyboardInterrupt\n",
	  1,
	  { { "status", "\"killed\"" } } },
	{ "a crash remains a crash when the scheduler kills the rest of the job",
	  "iter 10: loss 3.1000, time 30.00ms, mfu 9.10%\n"
	  "Traceback (most recent call last):\n"
	  "RuntimeError: no\n"
	  "slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED AT "
	  "2021-05-24T09:50:34 ***\n",
	  1,
	  { { "status", "\"crashed\"" } } },
	{ "a segmentation fault is a crash",
	  "iter 10: loss 3.1000, time 30.00ms, mfu 9.10%\n"
	  "Segmentation fault (core dumped)\n",
	  1,
	  { { "status", "\"crashed\"" } } },
	{ "a number before its total at the start of the row is its step",
	  "[100/500] train=3.50 val=3.60\n[200/500] train=3.25 val=3.35\n"
	  "[300/500] train=3.00 val=3.20\n",
	  1,
	  { { "steps", "300" }, { "planned_steps", "500" }, { "status", "\"truncated\"" } } },
	{ "the last batch of the first epoch is not the end of the run",
	  "[100/300] loss=3.50\n[200/300] loss=3.25\n[300/300] loss=3.00\n",
	  1,
	  { { "planned_steps", "300" }, { "status", "null" } } },
	{ "one by one they count epochs",
	  "[1/10] train_loss=3.50 val_loss=3.60\n[2/10] train_loss=3.25 val_loss=3.35\n"
	  "[3/10] train_loss=3.00 val_loss=3.20\n[4/10] train_loss=2.90 val_loss=3.10\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "2.9" } } },
	{ "a reward between rows without a rule",
	  "step 100 loss 3.50\nMean reward: 13.50\nstep 200 loss 3.25\nMean reward: 14.50\n"
	  "step 300 loss 3.05\nMean reward: 14.75\nstep 400 loss 2.90\nMean reward: 15.50\n",
	  1,
	  { { "steps", "400" }, { "last_train_loss", "2.9" } } },
	{ "a sentence about validation does not announce a validation",
	  "step 100 loss 3.50\nstep 200 loss 3.25\nstep 300 loss 3.05\nValidation disabled\n"
	  "loss: 2.95, lr: 0.1\n",
	  1,
	  { { "steps", "300" }, { "last_val_loss", "null" } } },
	{ "names after their numbers",
	  "step 100 | 3.50 train | 3.60 val\nstep 200 | 3.25 train | 3.35 val\n"
	  "step 300 | 3.00 train | 3.20 val\n",
	  1,
	  { { "steps", "300" } } },
	{ "a last row one step after the others",
	  "[100] lr=0.1, loss=3.50\n[200] lr=0.1, loss=3.25\n[300] lr=0.1, loss=3.05\n"
	  "[301] lr=0.1, loss=3.04\n[301] eval_loss=2.25\n",
	  1,
	  { { "steps", "301" } } },
	{ "steps that start again with each epoch",
	  "epoch1 step 100 loss 3.50\nepoch1 step 200 loss 3.25\nepoch1 step 300 loss 3.05\n"
	  "epoch2 step 100 loss 2.90\nepoch2 step 200 loss 2.80\nepoch2 step 300 loss 2.70\n",
	  0,
	  { { NULL, NULL } } },
	{ "a number and its total that start again count the batches of an epoch",
	  "[100/300] loss=3.50\n[200/300] loss=3.25\n[300/300] loss=3.00\n"
	  "[100/300] loss=2.75\n[200/300] loss=2.60\n",
	  1,
	  { { "steps", "null" }, { "planned_steps", "null" }, { "last_train_loss", "2.6" } } },
	{ "the name of a run before the step",
	  "gpt2-small_3 step 100 loss 3.50\ngpt2-small_3 step 200 loss 3.25\n"
	  "gpt2-small_3 step 300 loss 3.00\neval-2 step 300 loss 3.40\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "3" } } },
	{ "rows of two runs in one log: those of the first one",
	  "exp7 step 100 loss 6.90\nexp2 step 100 loss 1.90\nexp7 step 200 loss 6.80\n"
	  "exp2 step 200 loss 1.80\nexp7 step 300 loss 6.70\nexp2 step 300 loss 1.70\n"
	  "exp2 step 400 loss 1.60\nexp2 step 400 val_loss 1.50\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "6.7" }, { "last_val_loss", "null" } } },
	{ "rows and a validation of one run",
	  "exp7 step 100 loss 6.90\nexp7 step 200 loss 6.80\nexp7 step 300 loss 6.70\n"
	  "exp7 step 300 val_loss 6.75\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "6.7" }, { "last_val_loss", "6.75" } } },
	{ "the name of a phase before the step is not the name of a run",
	  "warmup_1 step 100 loss 3.50\nwarmup_1 step 200 loss 3.25\n"
	  "warmup_1 step 300 loss 3.00\nwarmup_1 step 400 loss 2.90\n",
	  0,
	  { { NULL, NULL } } },
	{ "RecBole: a weekday, and a list after the epoch",
	  "Fri 28 Nov 2025 10:00:00  INFO  epoch 0 training [time: 5.12s, train loss: 99.5]\n"
	  "Fri 28 Nov 2025 10:00:01  INFO  epoch 0 evaluating [time: 0.5s, valid_score: 0.15]\n"
	  "Fri 28 Nov 2025 10:00:02  INFO  epoch 1 training [time: 5.12s, train loss: 89.5]\n"
	  "Fri 28 Nov 2025 10:00:03  INFO  epoch 1 evaluating [time: 0.5s, valid_score: 0.25]\n"
	  "Fri 28 Nov 2025 10:00:04  INFO  epoch 2 training [time: 5.12s, train loss: 79.5]\n"
	  "Fri 28 Nov 2025 10:00:05  INFO  epoch 2 evaluating [time: 0.5s, valid_score: 0.35]\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "79.5" }, { "last_val_loss", "null" } } },
	{ "DeepSpeed-Chat: a loss without a counter after the title of an evaluation",
	  "***** Running training *****\n"
	  "Epoch: 0, Step: 0, Rank: 0, loss = 3.50\nEpoch: 0, Step: 1, Rank: 0, loss = 3.25\n"
	  "Epoch: 0, Step: 2, Rank: 0, loss = 3.00\n"
	  "***** Evaluating perplexity, Epoch 1/1 *****\nppl: 9.5, loss: 2.25\n",
	  1,
	  { { "last_train_loss", "3" }, { "last_val_loss", "2.25" } } },
	{ "DeepSpeed-Chat: a loss after the title of a training is not a validation",
	  "***** Running training *****\n"
	  "Epoch: 0, Step: 0, Rank: 0, loss = 3.50\nEpoch: 0, Step: 1, Rank: 0, loss = 3.25\n"
	  "Epoch: 0, Step: 2, Rank: 0, loss = 3.00\n"
	  "***** Training statistics, Epoch 1/1 *****\nppl: 9.5, loss: 2.25\n",
	  1,
	  { { "last_val_loss", "null" } } },
	{ "logging_writer of CLU: the first number is the step, also of the validation",
	  "I1128 10:00:01.123456 140123 logging_writer.py:48] [100] lr=0.1, loss=3.50\n"
	  "I1128 10:00:02.123456 140123 logging_writer.py:48] [200] lr=0.1, loss=3.25\n"
	  "I1128 10:00:03.123456 140123 logging_writer.py:48] [300] lr=0.1, loss=3.00\n"
	  "I1128 10:00:04.123456 140123 logging_writer.py:48] [300] eval_loss=2.25\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "3" }, { "last_val_loss", "2.25" } } },
	{ "rsl_rl, and the seed of Lightning",
	  "Seed set to 42\n"
	  "                       Learning iteration 0/1500                       \n\n"
	  "               Mean surrogate loss: -0.0041\n"
	  "                       Mean reward: 1.50\n"
	  "                       Learning iteration 1/1500                       \n\n"
	  "               Mean surrogate loss: -0.0042\n"
	  "                       Mean reward: 2.50\n",
	  1,
	  { { "seed", "42" },
	    { "steps", "1" },
	    { "planned_steps", "1500" },
	    { "status", "\"truncated\"" } } },
	{ "the name of a module with a line number is not a figure",
	  "2025-11-28 10:00:01 | INFO | yolox.core.trainer:261 - step: 10/30, loss: 3.50\n"
	  "2025-11-28 10:00:02 | INFO | yolox.core.trainer:261 - step: 20/30, loss: 3.25\n"
	  "2025-11-28 10:00:03 | INFO | yolox.core.trainer:261 - step: 30/30, loss: 3.00\n",
	  1,
	  { { "steps", "30" }, { "last_train_loss", "3" } } },
	{ "rows after a bullet",
	  "* step 100 loss 3.50\n* step 200 loss 3.25\n* step 300 loss 3.00\n"
	  "* step * 400 loss 2\n",
	  1,
	  { { "steps", "300" }, { "last_train_loss", "3" } } },
	{ "verl: the bar has the plan",
	  "step:1 - actor/pg_loss:0.50 - training/global_step:1\n"
	  "Training Progress:   1%|          | 1/100 [00:10<16:30, 10.1s/it]\n"
	  "step:2 - actor/pg_loss:0.25 - training/global_step:2\n"
	  "Training Progress:   2%|          | 2/100 [00:20<16:20, 10.1s/it]\n"
	  "step:3 - actor/pg_loss:0.12 - training/global_step:3\n"
	  "Evaluating Progress: 50%|####      | 4/8 [00:20<00:20, 5.1s/it]\n"
	  "Training Progress:   3%|          | 3/100 [00:30<16:10, 10.1s/it]\n"
	  "step:4 - actor/pg_loss:0.06 - training/global_step:4\n",
	  1,
	  { { "steps", "4" }, { "planned_steps", "100" }, { "status", "\"truncated\"" } } },
	{ "a bar whose count is not the step does not give the plan of the rows",
	  "step:100 - loss:0.50\n  1%|    | 1/63 [00:10<16:30, 10.1s/it]\n"
	  "step:200 - loss:0.25\n  2%|    | 2/63 [00:20<16:20, 10.1s/it]\n"
	  "step:300 - loss:0.12\n  3%|    | 3/63 [00:30<16:10, 10.1s/it]\n"
	  "step:400 - loss:0.06\n",
	  1,
	  { { "steps", "400" }, { "planned_steps", "null" } } },
	{ "words like a trainer's are not rows",
	  "    print(f\"iter {iter_num}: loss {lossf:.4f}, time {dt:.2f}ms\")\n"
	  "step 1: train loss went down, val loss too\n"
	  "| total batch size      | as you like |\n"
	  "Training completed\n"
	  "Total training time: 3.2m\n"
	  " 45%|####      | 45/99 [00:10<00:12, 4.4it/s]\n",
	  0,
	  { { NULL, NULL } } },
};

/* A median is exact for few numbers, and within 0.1 % for many. */
static void test_median(void)
{
	struct median m = { .n = 0 };
	double got;

	ok(isnan(median_get(&m)), "no numbers, no median");
	for (int i = 1; i <= 4; i++)
		median_add(&m, i * 10.0);
	median_add(&m, (double)NAN);
	median_add(&m, -5);
	ok(median_get(&m) == 25, "the median of four numbers");
	median_release(&m);
	for (int i = 1; i <= MEDIAN_EXACT; i++)
		median_add(&m, 100 + i % 97);
	ok(m.bins == NULL && median_get(&m) == 148, "the median of 4,096 numbers is exact");
	for (int i = 0; i < 20000; i++)
		median_add(&m, 777.77);
	got = median_get(&m);
	ok(fabs(got - 777.77) <= 0.001 * 777.77, "the median of many numbers is nearly right: %g",
	   got);
	median_release(&m);
}

int main(void)
{
	struct format_set *formats = format_set_new_builtin();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case_check(formats, &cases[i]);
	test_median();
	format_set_free(formats);
	return tap_done();
}
