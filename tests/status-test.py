#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How a run ended: its status, as `parse` derives it from logs of every ending,
and its reason."""
import json
import os
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, ok  # noqa: E402

GOLF = ("step:990/1000 train_loss:2.2 train_time:990ms step_avg:1.00ms\n"
        "step:1000/1000 train_loss:2.1 train_time:1000ms step_avg:1.00ms\n"
        "step:1000/1000 val_loss:1.95 val_bpb:1.15 train_time:1000ms "
        "step_avg:1.00ms\n")
SCORE = "final_int6_sliding_window_exact val_loss:1.91 val_bpb:1.13624288\n"
LOOP = "".join("Step %d, Loss: %.1f\n" % (i, 5 - i / 100) for i in range(
    20, 101, 20))
PLANNED = "".join("step %d/%d loss %.2f\n" % (i, 200, 5 - i / 100)
    for i in range(0, 200, 10))
EPOCHS = "".join("epoch=%d loss=%.2f\n" % (i, 5 - i / 10) for i in range(1, 5))
SPEEDRUN = "".join(
    "step:%d/900 train_loss:%.4f train_time:%dms step_avg:10.00ms\n" % (i, 3.9 - i / 900, i * 10)
    + ("step:%d/900 val_loss:%.4f train_time:%dms step_avg:10.00ms\n" % (
        i, 3.7 - i / 1000, i * 10) if i % 300 == 0 else "") for i in range(100, 901, 100))
KERAS = "".join(
    "Epoch %d/5\n" % e + "".join(
        "%3d/100 [%s] - 1s 10ms/step - loss: %.4f\n" % (i, "=" * (i // 5),
        3 - e / 5 - i / 1000)
        for i in (50, 100)) for e in range(1, 6))
NESTED = "".join("Epoch:[1/1](%d/500) loss:%.3f lr:0.0001\n" % (i, 5 - i / 200)
                 for i in range(100, 501, 100))
TRACE = ("Traceback (most recent call last):\n  File \"t.py\", line 1\n"
         "RuntimeError: no\n")
EPISODE = "".join("\rEpisode [1/1]: %3d%%|##| %d/100 [00:10<40:12, 31.0s/it, kl=0.1, reward=%.2f]"
                  % (i, i, i / 9) for i in range(1, 21)) + "\n"
BATCHES = "".join("[train] epoch: [0/1], batch: [%d/500], loss: %.2f, lr: 0.1\n" % (i, 6 - i / 100)
                  for i in range(10, 301, 10))
LIGHTNING = "Epoch 0: 100%|##| 40/40 [00:10<00:00, 4.0it/s, train_loss=2.9, val_loss=2.500]\n"
BARS = "".join("%d/99 [==>..] - ETA: 9s - loss: %.2f\r" % (i, 4 - i / 99) for i in range(9, 99, 9))

# name, log, status, further keys
CASES = [
    ("a score", GOLF + SCORE, "finished", {"final_bpb": 1.13624288}),
    ("a score, then a failing teardown", GOLF + SCORE + TRACE, "finished",
     {"final_bpb": 1.13624288}),
    ("the plan is reached", PLANNED, "finished", {"steps": 190}),
    ("the plan is missed by two rows", PLANNED.replace("/200", "/220"),
        "truncated", {}),
    ("the plan is missed by one row that would have been printed",
     "".join("step %d/200 loss %.2f\n" % (i, 5 - i / 100) for i in range(
     10, 191, 10)),
     "truncated", {}),
    ("no plan and no end", LOOP, None, {"steps": 100}),
    ("no plan and no end, in epochs", EPOCHS, None, {}),
    ("Keras", KERAS, "finished", {}),
    ("Keras, in the fourth epoch of five", "\n".join(KERAS.split("\n")[:11]) +
        "\n", "truncated",
     {}),
    ("Lightning's Rich bar",
     "Epoch 3/3  \u2501\u2501\u2501\u2501 32/32 0:00:00 \u2022 0:00:00 "
     "312.35it/s train_loss: 0.141\n                      val_loss: 0.242\n"
     "Trainer.fit stopped: max_epochs=4 reached.\n", "finished",
     {"last_train_loss": 0.141, "last_val_loss": 0.242}),
    ("Lightning's Rich bar after the end",
     "`Trainer.fit` stopped: `max_epochs=3` reached.\n"
     "Epoch 2/2  \u2501\u2501\u2501\u2501 40/40 0:00:00 \u2022 0:00:00 "
     "43.10it/s train_loss: 0.079\n                      val_loss: 0.072\n",
     "finished", {"last_train_loss": 0.079, "last_val_loss": 0.072}),
    ("detectron2", "".join(
        "[11/27 10:%02d:00 d2.utils.events]:  eta: 0:01:00  iter: %d  total_loss: "
        "%.3f  loss_cls: 0.5  time: 0.2104  lr: 0.00025  max_mem: 2345M\n" % (
            i // 10, i - 1, 3 - i / 100) for i in range(20, 101, 20)) +
     "[11/27 10:12:00 d2.engine.hooks]: Overall training speed: 98 iterations in "
     "0:00:20 (0.2104 s / it)\n", "finished", {"steps": 99, "last_train_loss": 2.0}),
    ("a step in parentheses after words", "".join(
        "2026-11-27 10:00:00,123 INFO fairseq2.recipes - Train Metrics (step %d) - NLL "
        "Loss: %.3f | Gradient Norm: 1.2\n" % (i, 3 - i / 100)
        for i in range(10, 101, 10)), None, {"steps": 100}),
    ("Lightning's tqdm bar after the end",
     "".join("\rEpoch %d: %3d%%|##| %d/40 [00:00<00:00, 433.44it/s, train_loss=%.3f]"
             % (e, i * 5 // 2, i, 3 - e - i / 100) for e in range(3)
             for i in range(1, 41)) + "`Trainer.fit` stopped: `max_epochs=3` reached."
     "\n\rEpoch 2: 100%|##| 40/40 [00:00<00:00, 433.44it/s, train_loss=0.600]\n",
     "finished", {"last_train_loss": 0.6}),
    ("rows after the end of a training",
     "Training completed!\n".join("".join(
         "loss: %.2f, lr: 0.1, step: %d\n" % (4 - e / 10, e) for e in range(a, a + 9))
         for a in (0, 9)), None, {"steps": 17}),
    ("torchrun's prefix inside a line",
     "".join("[default0]:\n[default0]: %d%%|#### | %d/40 [00:00<00:01, 32.51it/s]"
             "[default0]:{'loss': '%.1f', 'grad_norm': '4.2', 'learning_rate': "
             "'3.8e-05', 'epoch': '0.2'}\n[default1]:\n" % (i * 10, i * 4, 8 - i / 10)
             for i in range(1, 11)), "finished",
     {"steps": 40, "last_train_loss": 7.0}),
    ("the rate of the official MLX trainer", GOLF.replace(
        "ms\n", "ms tok_s:17947\n", 2), "finished", {"tok_s_last": 17947}),
    ("nested plans", NESTED, "finished", {}),
    ("nested plans, the inner one not reached", NESTED.replace("/500)",
        "/900)"), "truncated",
     {}),
    ("the log ends inside a line", LOOP + "Saving the che", "truncated", {}),
    ("set-up lines have no step",
     "[2026-11-27 10:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] "
     "step=0, skipped=0, "
     "lr=[0.0], mom=[[0.9, 0.999]]\n" + "".join(
         "{'loss': %.2f, 'grad_norm': 1.0, 'learning_rate': 1e-05}\n" % (
         3 - i / 10)
         for i in range(5)), "truncated", {"steps": None}),
    ("another shape of row after a rule",
     "".join("step:%d/500 train_loss:3.3 train_time:%dms step_avg:10.00ms\n" %
     (i, i * 10)
             for i in range(1, 11)) + "".join(
         "step:%d/500 [QAT] train_loss:1.4 train_time:%dms lr:0.1\n" % (i,
         i * 10)
         for i in (100, 200, 300, 400)), "truncated", {"steps": 400,
             "last_train_loss": 1.4}),
    ("rows with a BPB of three decimals",
     "".join("step: %d, loss: 3.%d, train_bpb: 1.%d31\n" % (i, 9 - i, 9 - i)
     for i in range(1, 6)),
     None, {"steps": 5, "last_train_loss": 3.4}),
    ("rows with the BPB of a validation",
     "".join(
     "Iteration %d | train loss 1.9%d | val loss 2.0%d | val bpb 1.23%d5\n"
             % (i * 100, 9 - i, 9 - i, 9 - i) for i in range(1, 6)),
     None, {"steps": 500, "last_train_loss": 1.94, "last_val_loss": 2.04}),
    ("the text of an error in an object", LOOP +
        '{"error": "CUDA error: none"}\n', None, {}),
    ("MLX",
     "Starting training..., iters: 100\n" + "".join(
         "Iter %d: Train loss %.3f, Learning Rate 1.000e-05, It/sec 1.234, "
         "Tokens/sec 456.789, Trained Tokens %d, Peak mem 5.123 GB\n" % (
             i, 3 - i / 100, i * 370) for i in range(10, 101, 10)) +
     "Iter 100: Val loss 2.622, Val took 1.2s\n"
     "Saved final weights to adapters/adapters.safetensors.\n", "finished",
     {"steps": 100, "planned_steps": 100, "last_train_loss": 2.0,
      "final_val_loss": 2.622, "tok_s_last": 456.789}),
    ("Axolotl", "".join(
        "{'loss': %.2f, 'grad_norm': 1.0, 'learning_rate': 1e-05}\n" % (3 - i / 10)
        for i in range(5)) + "[2026-05-01 10:00:00,123] [INFO] "
     "[axolotl.train.train:120] [PID:4100] [RANK:0] Training completed! Saving "
     "trained model to ./out.\n", "finished", {"last_train_loss": 2.6}),
    ("LightGBM", "".join("[%d]\tvalid_0's binary_logloss: %.4f\n" % (
        i, 0.5 - i / 1000) for i in range(10, 101, 10)), None, {"steps": None}),
    ("two tables of Triton",
     "softmax-performance:\n         N       Triton        Torch\n"
     "0    256.0   234.567890   123.456789\n1    384.0   345.678901          NaN\n"
     "matmul-performance-fp16:\n         M       N       K      cuBLAS\n"
     "0    256.0   256.0   256.0    4.096000\n", "finished",
     {"metrics": [["softmax-performance/Triton", 345.678901],
                  ["softmax-performance/Torch", 123.456789],
                  ["matmul-performance-fp16/cuBLAS", 4.096]]}),
    ("a serving benchmark",
     "Request throughput (req/s):              8.10      \n"
     "P99 ITL (ms):                            40.00     \n", "finished", {}),
    ("bars behind the prefix of another rank",
     "".join("[default3]:" + "".join(
         "\r%3d%%|%s| %d/20 [00:%02d<00:09,  2.00it/s]" % (i * 5, "#" * (i // 2), i, i)
         for i in range(e * 5 - 4, e * 5 + 1)) + "\n[default3]:{'loss': %.1f, "
         "'grad_norm': 1.0, 'learning_rate': 1e-05}\n" % (4 - e) for e in range(1, 5)) +
         "[default3]:" + "\r 99%|#| 1/2 [00:01<00:01,  2.00it/s]" * 200 + "\n",
     "finished", {"steps": 20, "last_train_loss": 0.0}),
    ("a long bar behind the first prefix",
     "[default3]:" + "\r 99%|#| 1/2 [00:01<00:01,  2.00it/s]" * 200 +
     "\n" + LOOP.replace("Step", "[default3]:Step"), None,
     {"steps": 100, "last_train_loss": 4.0}),
    ("batches of an evaluation, and rows that start like a prefix", "".join(
        "Epoch: [%d][%4d/5005]\tTime  0.300 ( 0.310)\tLoss %.4e (7.0e+00)\n" % (
            e, i, 6 - e - i / 5005) for e in range(2) for i in range(1, 5005, 500)) +
     "".join("Test: [%3d/196]\tTime  1.201 ( 1.201)\tLoss 9.5e+00 (9.6e+00)\n" % i
             for i in (1, 101, 196)) + " *   Acc@1 12.300 Acc@5 33.100\n", None,
     {"last_train_loss": 4.0008, "last_val_loss": None}),
    ("batches of an evaluation below the end of an epoch", "".join(
        "Epoch: [0]  [%3d/100]  eta: 0:00:01  lr: 0.0001  loss: %.4f (7.1)  time: 0.41\n"
        % (i, 6 - i / 100) for i in range(0, 101, 10)) +
     "Epoch: [0] Total time: 0:00:41 (0.4123 s / it)\n"
     "Averaged stats: lr: 0.0002  loss: 5.0000 (5.5)\n" + "".join(
         "Test:  [%2d/20]  eta: 0:00:01  loss: 9.5000 (9.6)  acc1: 11.21 (11.31)\n" % i
         for i in (0, 10, 20)) + "Training time 0:01:31\n", "finished",
     {"last_train_loss": 5.0, "last_val_loss": None}),
    ("rows of training and validation in epochs", "".join(
        "%s [%d/5] loss %.2f acc 0.5\n" % (word, e, loss - e / 10)
        for e in range(1, 6) for word, loss in (("Train", 2), ("Valid", 3))), None,
     {"last_train_loss": 1.5}),
    ("rows of ranks of which a higher one prints first", "".join(
        "%d: step %d/100 | loss %.2f | lr 0.1\n" % (rank, i, 5 - i / 100 + rank)
        for i in range(10, 101, 10) for rank in (2, 0, 1)), "finished",
     {"steps": 100, "last_train_loss": 4.0}),
    ("rows of ranks in blocks", "".join(
        "%d: step %d/100 | loss %.2f | lr 0.1\n" % (rank, i, 5 - i / 100 + rank)
        for rank in (1, 0) for i in range(5, 101, 5)), "finished",
     {"steps": 100, "last_train_loss": 5.0}),
    ("steps in thousands", "".join(
        "step %dk/100k, loss=%.2f, lr=3e-4\n" % (i, 4 - i / 50) for i in range(1, 31)),
     "truncated", {"steps": 30000, "planned_steps": 100000, "last_train_loss": 3.4}),
    ("a download in thousands", LOOP + "".join(
        "\rx.bin: %d%%|#| %dk/100k [00:01<00:09, 9.8kB/s]" % (i, i) for i in range(9)) + "\n",
     None, {"steps": 100, "planned_steps": None}),
    ("a loss that Transformers filtered", "".join(
        "{'loss': %.1f, 'grad_norm': %s, 'learning_rate': 1e-05}\n" % (
            (0, "nan") if i > 5 else (3 - i / 10, "1.0")) for i in range(9)), "diverged",
     {"last_train_loss": 2.5}),
    ("a loss that was filtered for some steps", "".join(
        "{'loss': %.1f, 'grad_norm': %s, 'learning_rate': 1e-05}\n" % (
            (0, "nan") if i == 5 else (3 - i / 10, "1.0")) for i in range(9)), "truncated",
     {"last_train_loss": 2.2}),
    ("a table of runs", LOOP + "| run | step | loss |\n|---|---|---|\n" + "".join(
        "| run-%d | %d | %.2f |\n" % (i, i * 1000, 3 - i / 10) for i in range(1, 9)), None,
     {"steps": 100, "last_train_loss": 4.0}),
    ("a table of rows", "| epoch | step | loss |\n|---|---|---|\n" + "".join(
        "| %d | %d | %.2f |\n" % (i, i * 1000, 3 - i / 10) for i in range(1, 9)), None,
     {"steps": 8000, "last_train_loss": 2.2}),
    ("names with abbreviations", "".join(
        "12:00:0%d [SUCCESS] Step %d | Loss: %.3f | Grad. Norm: 0.1 | Peak Mem.: 61.2 GiB\n" % (
            i, i, 3 - i / 10) for i in range(1, 9)), None,
     {"steps": 8, "last_train_loss": 2.2}),
] + [("rows of two splits: " + train[:16], "".join(
    form % (i, 3 - i / 100) for i in range(10, 61, 10)
    for form in (train, train.replace("train", "val").replace("%.2f", "9%.2f"))), None,
    {"steps": 60, "last_train_loss": 2.4, "last_val_loss": 92.4})
    for train in ('{"split": "train", "step": %d, "loss": %.2f}\n',
                  "{'mode': 'train', 'step': %d, 'loss': %.2f}\n",
                  "phase=train step=%d loss=%.2f\n")] + [
    ("a table of two splits", "step,split,loss\n" + "".join(
        "%d,train,%.2f\n%d,val,9%.2f\n" % (i, 3 - i / 100, i, 3 - i / 100)
        for i in range(10, 61, 10)), None,
     {"steps": 60, "last_train_loss": 2.4, "last_val_loss": 92.4}),
    ("a text that is no split", "".join(
        '{"name": "val", "step": %d, "loss": %.2f}\n' % (i, 3 - i / 100)
        for i in range(10, 61, 10)), None,
     {"steps": 60, "last_train_loss": 2.4, "last_val_loss": None}),
    ("rows of two splits in brackets", "".join(
        "[train] step %d loss %.2f\n" % (i, 3 - i / 100) for i in range(10, 131, 10)) +
     "".join("[val] step %d loss 9.5\n" % i for i in range(130, 160, 10)), None,
     {"last_train_loss": 1.7, "last_val_loss": 9.5}),
    ("a logger's time of Rich", "".join(
        "[11/22/26 10:00:0%d] INFO     step %d loss %.2f      train.py:12\n" % (
            i, i * 10, 3 - i / 10) for i in range(1, 9)) +
     "[11/22/26 10:01:00] INFO     Training completed!\n", "finished",
     {"steps": 80, "last_train_loss": 2.2}),
    ("a service killed by systemd", "".join(
        "Sep 14 08:30:00 box python3[41]: step %d | train_loss %.2f | lr 0.1\n" % (i, 3 - i / 100)
        for i in range(10, 101, 10)) + "Sep 14 08:31:00 box systemd[1]: train.service: Failed "
     "with result 'oom-kill'.\n", "oom", {"steps": 100}),
    ("a bar in a part of the run: 20 of 100", EPISODE, "truncated", {}),
    ("a bar in one of several parts of the run", EPISODE.replace("Episode [1/1]", "Part 2/3"),
     "truncated", {"steps": None, "planned_steps": None}),
    *(("%s before a bar" % name, EPISODE.replace("Episode [1/1]", name).replace("/100 ", "/20 "),
       "finished", {"steps": 20, "planned_steps": 20})
      for name in ("[rank 0/8] train", "Seed 1/3", "Shard 3/8", "correct 100/1000")),
    ("a step before a bar", "".join(
        "Step %d/100: 100%%|##| 20/20 [00:10<00:00, 31.0s/it, loss=%.2f]\n" % (i, 3 - i / 99)
        for i in range(1, 21)), "truncated", {"steps": 20, "planned_steps": 100}),
    ("memory before a bar", EPISODE.replace("Episode [1/1]", "GPU mem 20/80"), "truncated",
     {"steps": 20, "planned_steps": 100}),
    ("a bar that repeats its counter", "".join(
        "\rStep %d/100: %3d%%|##| %d/100 [00:10<40:12, 31.0s/it, reward=%.2f]" % (i, i, i, i / 9)
        for i in range(1, 21)),
     "truncated", {"steps": 20, "planned_steps": 100}),
    ("a bar in a part of the run: all of 100", EPISODE.replace("/100 ", "/20 "), "finished",
     {}),
    ("batches of the only epoch: 300 of 500", BATCHES, "truncated", {}),
    ("batches of the only epoch: all of 300", BATCHES.replace("/500]", "/300]"), "finished",
     {"last_train_loss": 3.0}),
    ("batches of the last epoch: each 50th of 469", "".join(
        "Epoch %d/2 | batch %d/469 | loss %.3f\n" % (e, i, 4 - e - i / 500)
        for e in (1, 2) for i in range(0, 469, 50)), "finished", {"last_train_loss": 1.1}),
    ("batches of the last epoch, cut before the last two", "".join(
        "Epoch %d/2 | batch %d/469 | loss %.3f\n" % (e, i, 4 - e - i / 500)
        for e in (1, 2) for i in range(0, 469 if e == 1 else 370, 50)), "truncated", {}),
    ("a validation loss that became infinite", "".join(
        "Epoch 1 | iter %d step %d | loss train: %.2f, val: %s | iter time: 90.11 ms (step)\n" % (
            i, i, 3 - i / 100, "n/a" if i < 40 else 2.5 if i < 80 else "inf")
        for i in range(10, 101, 10)), "diverged", {}),
    ("the name of a run before each row, in columns", "run_id\tstatus\tstep\tloss\n" + "".join(
        "gpt-2\tok\t%d\t%.4f\n" % (i, 3 - i / 1000) for i in range(10, 1001, 10)),
     None, {"steps": 1000, "last_train_loss": 2.0}),
    ("a loss before a tab", "".join(
        "val-loss=2.5\tstep %d loss %.3f lr 0.1\n" % (i, 3 - i / 1000)
        for i in range(10, 1001, 10)), None, {"steps": 1000, "last_val_loss": 2.5}),
    ("a tag before a tab", "".join(
        "--seed 7\tstep %d/1000 loss %.3f lr 0.1\n" % (i, 3 - i / 1000)
        for i in range(10, 1001, 10)), "finished", {"steps": 1000, "last_train_loss": 2.0}),
    ("the time of a part of a step", "".join(
        "step %d loss %.2f update_ms 30\n" % (i, 3 - i / 100) for i in range(1, 101)),
     None, {"step_ms_median": None}),
    ("the time of a step", "".join(
        "step %d loss %.2f step_ms 30\n" % (i, 3 - i / 100) for i in range(1, 101)),
     None, {"step_ms_median": 30}),
    ("a bar whose loss ends with zeros", LIGHTNING + LIGHTNING.replace("2.500", "2.000"), None,
     {"last_val_loss": 2.0}),
    ("a bar that repeats a loss with fewer decimals",
     "Epoch 0, global step 40: 'val_loss' reached 2.50012 (best 2.50012), saving\n" + LIGHTNING,
     None, {"last_val_loss": 2.50012}),
    ("a name after a number without a unit", "".join(
        "step %d/40 loss %.2f tok/s %d\n" % (i, 3 - i / 10, 800 + i) for i in range(9)),
     "truncated", {"last_train_loss": 2.2, "tok_s_last": 808}),
    ("a unit before another number", "".join(
        "step %d/40 loss %.2f dt 12.0 ms %d tok/s\n" % (i, 3 - i / 10, 800 + i)
        for i in range(9)), "truncated", {"step_ms_median": 12, "tok_s_last": 808}),
    ("seconds per iteration", "".join(
        "iteration: %d/99  total_loss: %.2f  time: 0.31 s/iter  data_time: 0.1 s/iter\n" % (
            i, 3 - i / 10) for i in range(9)), "truncated", {"step_ms_median": 310}),
    ("the validation of an epoch in Keras's last bar", "".join(
        "Epoch %d/5\n%s99/99 [====] - 2s 5ms/step - loss: %.2f - val_loss: 3.%d1\n" % (
            e, BARS, 3 - e / 10, e) for e in (1, 2)), "truncated",
     {"last_train_loss": 2.8, "last_val_loss": 3.21}),
    ("a validation in another bar", "".join(
        "Epoch %d/5\n%s99/99 [====] - 2s 5ms/step - loss: %.2f\n"
        "20/20 [====] - 2s 5ms/step - loss: 4.%d1 - val_loss: 3.%d1\n" % (
            e, BARS, 3 - e / 10, e, e) for e in (1, 2)), "truncated",
     {"last_val_loss": None}),
    ("the time of an epoch", "".join(
        "Epoch %d in 3.%d sec\nTraining set accuracy 0.8%d\n" % (e, e, e) for e in range(9)),
     None, {"metrics": [["Epoch", 8], ["sec", 3.8], ["Training set accuracy", 0.88]]}),
    ("the name of a logger", LOOP + "2026-05-01 10:00:00 INFO my.trainer - Training done\n",
     "finished", {}),
    ("a word that is not the name of a logger",
     LOOP + "2026-05-01 10:00:00 INFO previous - Training done\n", None, {}),
    ("a pod's prefix before times", "".join(
        'train-0 main 2026-05-01T10:00:00.1Z {"step": %d, "loss": %.2f}\n' % (i, 3 - i / 10)
        for i in range(1, 20)) + "train-0 main 2026-05-01T10:00:09.1Z Killed\n", "killed",
     {"steps": 19}),
    ("interrupted after the end words", LOOP + "Training completed!\n" + TRACE,
        "crashed", {}),
]
CASES += [("an evaluation runs: " + x.strip(), GOLF + SCORE + x, "truncated",
           {"final_bpb": None, "sliding_bpb": 1.13624288})
          for x in ("ttt:start chunks=63\n", "ttt: starting 30 epochs\n",
                    "ttt_epoch:15/20 loss:3.1\n",
                    "  lora_ttt_batch [26.5%] 210/782\n",
                    "x_eval_progress batch:84/98\n", "final_int6_sli")]
CASES += [("a failure after the plan: " + x, GOLF + x + "\n", status, {})
          for status, x in (
              ("killed", "./run.sh: line 5:  1234 Killed   python train.py"),
              ("crashed",
                  "./run.sh: line 5:  1234 Segmentation fault (core dumped) "
                  "python t.py"),
              ("crashed", "Fatal Python error: Segmentation fault"),
              ("crashed",
                  "terminate called after throwing an instance of 'c10::Error'"),
              ("killed", "command terminated with exit code 137"),
              ("killed", "ERROR: Job 1 failed with return code list: [137]"),
              ("crashed",
                  "srun: error: node01: task 0: Exited with exit code 1"),
              ("crashed", "EXIT_CODE=1"), ("killed", "Hangup"),
              ("killed", "Main process received SIGINT, exiting"),
              ("crashed", "Error executing job with overrides: ['a=b']"),
              ("killed", "[1]+  Killed                  python train.py"),
              ("crashed", "[1]+  Exit 1                  python train.py"),
              ("crashed", "double free or corruption (!prev)"),
              ("killed", "^CTraceback (most recent call last):"),
              ("killed", "trainer-1 exited with code 137"),
              ("diverged", "Loss is nan, stopping training"))]
PLANNED = "".join("step %d/300 loss %.2f\n" % (i, 3 - i / 100) for i in range(10, 301, 10))
CASES += [("a failure of the launcher: " + x, rows + x + "\n", status, {
    "status_reason": reason % x})
    for failed, x in (("crashed", "make: *** [Makefile:3: train] Error 1"),
                      ("crashed", "error: Recipe `train` failed on line 12 with exit code 1"),
                      ("killed", "timeout: sending signal TERM to command 'python'"),
                      ("crashed", "Error: The command exited with status 1"))
    for rows, status, reason in (
        (PLANNED, failed, "line 31: %s"),
        (PLANNED + "Training finished.\n", "finished",
         "line 31: Training finished.; then line 32: %s"),
        (PLANNED + "step 300 val_loss 2.31\n", "finished",
         "step 300 of 300; then line 32: %s"))]
CASES += [("a failure of the program after the words of an end",
           PLANNED + "Training finished.\n" + "Fatal Python error: Aborted\n", "crashed", {})]
CASES += [
    ("a loss that autoresearch calls a failure", "".join(
        "\rstep %05d (%.1f%%) | loss: %.6f | lrm: 1.00 | dt: 300ms | tok/sec: 1,700,000 | mfu: "
        "40.0%% | epoch: 1 | remaining: %ds    " % (i, i / 10, 3 - i / 100, 300 - i)
        for i in range(30)) + "FAIL\n", "diverged", {"steps": 29, "last_train_loss": 2.71}),
    ("T5X: evaluations of the training tasks", "".join(
        "I0314 08:30:%02d.123456 140000 logging_writer.py:48] [%d] collection=%s accuracy=0.2%d, "
        "loss=%.2f\n" % (i, i * 100, name, i, loss - i / 10) for i in range(1, 10)
        for name, loss in (("train", 3), ("training_eval/mix", 5))), None,
     {"steps": 900, "last_train_loss": 2.1, "last_val_loss": 4.1}),
    ("a collection that is no evaluation", "".join(
        "I0314 08:30:%02d.123456 140000 logging_writer.py:48] [%d] collection=train loss=%.2f\n"
        % (i, i * 100, 3 - i / 10) for i in range(1, 10)), None,
     {"last_train_loss": 2.1, "last_val_loss": None}),
    *(("the message of a JSON logger: %s" % text, "".join(json.dumps(
        {level: "INFO", text: "step %d/300 | loss %.4f | lr 3e-4" % (i, 3 - i / 100)}) + "\n"
        for i in range(10, 101, 10)), "truncated", {"steps": 100, "last_train_loss": 2.0})
      for level, text in (("level", "msg"), ("severity", "message"), ("PRIORITY", "MESSAGE"))),
    ("an error in a JSON logger's message", PLANNED + json.dumps(
        {"level": "ERROR", "msg": "Fatal Python error: Aborted"}) + "\n", "finished", {}),
    ("a bar drawn again below a traceback", "".join(
        "\rEpoch 2:  %d0%%|##| %d/10 [00:01<00:01, 9.1it/s, train_loss=%.3f]" % (i, i, 3 - i / 9)
        for i in range(1, 6)) + TRACE + "\n\rEpoch 2:  50%|##| 5/10 [00:01<00:01, 2.1it/s, "
     "train_loss=2.444]\n", "crashed", {"last_train_loss": 2.444}),
    ("bars that a buffer printed below the end", "".join(
        "\rEpoch 2:  %d0%%|##| %d/10 [00:01<00:01, 9.1it/s, train_loss=%.3f]" % (i, i, 3 - i / 9)
        for i in range(1, 6)) + "[default0]:`Trainer.fit` stopped: `max_epochs=3` reached.\n" +
     "".join("\n\n\n\rEpoch 2:  %d0%%|##| %d/10 [00:01<00:01, 9.1it/s, train_loss=%.3f]" % (
         i, i, 3 - i / 9) for i in range(6, 10)) + "\n", "finished", {"last_train_loss": 2.0}),
    ("the first of two epochs that count from 1", "".join(
        "epoch: 1/2, iter: %d/100, total_loss: %.2f, lr: 1e-3\n" % (i, 3 - i / 100)
        for i in range(10, 101, 10)), "truncated", {}),
    ("a failure below the lines of one row", "".join(
        "-- Epoch %d\nNorm: 3.%d, NNZs: 20, Avg. loss: %.2f\n" % (i, i, 3 - i / 10)
        for i in range(1, 9)) + "Segmentation fault (core dumped)\n", "crashed", {}),
    ("a figure and its error", "".join(
        "[%d]\tcv_agg's valid l2-mean: 0.2%d + 0.01\n" % (i, 99 - i) for i in range(1, 31)) +
     "Early stopping, best iteration is:\n", "finished",
     {"metrics": [["cv_agg's valid l2-mean", 0.269]]}),
    ("a time unit after a setting", "".join(
        "step %d loss %.2f warmup 3 s 100 ms/step\n" % (i, 3 - i / 100) for i in range(9)),
     None, {"step_ms_median": 100}),
    ("a rate's name after a setting", "".join(
        "step %d loss %.2f lr 3e-4 tok/s 812\n" % (i, 3 - i / 100) for i in range(9)),
     None, {"tok_s_last": 812}),
    ("messages of JSON below indented lines", "[rank0]:hello\n" * 3 + "".join(
        '[rank0]: {"level":"INFO","msg":"step %d/100 loss %.2f"}\n' % (i, 2 - i / 100)
        for i in range(10, 101, 10)), "finished", {"last_train_loss": 1.0}),
    ("messages of JSON that look like a script", "".join(
        '{"level":"INFO","msg":"%s"}\n' % ("step %d/100 loss %.2f" % (i, 2 - i / 100)
                                           if i % 10 == 0 else "import os")
        for i in range(10, 101, 5)), "finished", {"steps": 100}),
    ("messages of JSON from two ranks", "".join(
        '2026-03-14 08:30:00 [rank%d]: {"level":"INFO","msg":"step %d/100 loss %.2f"}\n'
        % (i % 2, i // 20 * 10, i % 2 + 2 - i / 200) for i in range(20, 202)
        if i % 20 < 2), "finished", {"last_train_loss": 1.0}),
    ("a second fit that was cut, far below the first", "".join(
        "".join("Epoch 0: %3d%%|##| %d/100 [00:10<00:10, 9.1it/s, train_loss=%.2f]\n"
                % (i, i, top - i / 100) for i in range(10, end + 1, 10)) + after
        for top, end, after in ((3, 100, "`Trainer.fit` stopped: `max_epochs=1` reached.\n"
                                 + "x\n" * 30), (2.5, 50, ""))), None, {}),
    ("a launcher that fails during an evaluation", GOLF +
     "Training complete\nttt:start chunks=63\nexit code: 1\n", "crashed", {}),
    ("the time of an epoch, which is no end", "".join(
        "-- Epoch %d\nNorm: 3.%d, NNZs: 20, Avg. loss: %.2f\nTotal training time: 0.00 seconds.\n"
        % (i, i, 3 - i / 10) for i in range(1, 9)), None, {}),
    ("a time of day in brackets and a colon", "".join(
        "[08:30:%02d]: INFO step %d/100 loss %.3f\n" % (i, i * 10, 2 - i / 10)
        for i in range(1, 11)), "finished", {"steps": 100}),
    ("a loss and the loss of the batch", "".join(
        "step %d loss %.3f batch_loss %.3f\n" % (i * 10, 2 - i / 10, 2.1 - i / 10)
        for i in range(1, 11)), None, {"last_train_loss": 1.0}),
    ("a time of day in brackets", "".join(
        "[08:30:%02d] step %d/600 | train loss %.4f | lr 3.00e-04 | 121.5 ms | 4201 tok/s\n"
        % (i, i, 3 - i / 100) for i in range(1, 30)), "truncated",
     {"step_ms_median": 121.5, "tok_s_last": 4201}),
]
CASES += [
    ("a job that succeeds before its run has reached the plan: %s" % x, "".join(
        "step %d/1000 loss %.2f\n" % (i, 3 - i / 1000) for i in range(10, 401, 10)) + x + "\n",
     "finished", {"status_reason": "line 41: %s at step 400 of 1000" % x})
    for x in ("Finished: SUCCESS", "Training completed!")] + [
    ("a sample of the data in a JSON logger's line: %s" % list(x), PLANNED[:len(PLANNED) // 2] +
     "\n" + json.dumps(x) + "\n", "truncated", {})
    for x in ({"text": "Training completed!", "level": "INFO", "msg": "a sample"},
              {"event": "Training completed!", "level": "info", "message": "a sample"},
              {"text": "Training completed!", "level": 3})] + [
    ("a message of %s" % name, PLANNED[:len(PLANNED) // 2] + "\n" + json.dumps(x) + "\n",
     "finished", {}) for name, x in (
         ("Loguru", {"text": "Training completed!\n", "record": {"level": {"name": "INFO"}}}),
         ("structlog", {"event": "Training completed!", "level": "info"}))] + [
    ("a value that is not there yet: %s" % x, "".join(
        "[%04d/2000] loss=%.3f val=%s lr=0.0010 t=%.1fs\n" % (i, 3 - i / 1000, x, i / 10)
        for i in range(100, 1001, 100)), "truncated",
     {"steps": 1000, "planned_steps": 2000, "last_train_loss": 2.0, "last_val_loss": None})
    for x in ("None", "n/a", "null")] + [
    ("a validation without the plan between rows that have it", "".join(
        "step %d/500 | loss %.4f | lr 3.00e-04 | 120.0 ms | 50000 tok/s\n" % (i, 3 - i / 500)
        for i in range(10, 501, 10)) + "step 500 | val_loss 2.1111\n", "finished",
     {"last_val_loss": 2.1111, "final_val_loss": 2.1111, "last_train_loss": 2.0}),
    ("a validation of another step between rows that have a plan", "".join(
        "step %d/500 | loss %.4f | lr 3.00e-04 | 120.0 ms | 50000 tok/s\n" % (i, 3 - i / 500)
        for i in range(10, 501, 10)) + "step 900 | val_loss 2.1111\n", "finished",
     {"last_val_loss": None, "steps": 500})] + [
    ("batches of an epoch that is not over: %s" % name, text, "truncated", {})
    for name, text in (
        ("a bar", "".join("\rEpoch 0:  %d%%|#| %d/100 [01:00<02:00,  1.10it/s, Loss=%.4f]" % (
            i, i, 3 - i / 100) for i in range(1, 41)) + "\n"),
        ("GluonNLP", "".join("[Epoch 0 Batch %d/1000] loss=%.4f, lr=0.0000500\n" % (
            i, 3 - i / 1000) for i in range(100, 601, 100))),
        ("NeMo", "".join(
            "Training epoch 0, iteration %d/999 | lr: 1.2e-06 | global_step: %d | "
            "reduced_train_loss: %.4f\n" % (i, i, 3 - i / 999) for i in range(200))))] + [
    ("batches of an epoch that is over", "".join(
        "[Epoch 0 Batch %d/1000] loss=%.4f, lr=0.0000500\n" % (i, 3 - i / 1000)
        for i in range(100, 1001, 100)), None, {"last_train_loss": 2.0}),
    ("a bare word before a tab", "".join(
        "small\tstep %d/1000 loss %.3f lr 0.1\n" % (i, 3 - i / 1000)
        for i in range(10, 1001, 10)), "finished", {"steps": 1000, "last_train_loss": 2.0}),
    ("a part of the training before a tab", "".join(
        "%s\tstep %d loss %.3f lr 0.1\n" % (x, i, a - i / 1000)
        for i in range(10, 1001, 10) for x, a in (("train", 3), ("valid", 4))), None,
     {"steps": 1000, "last_train_loss": 2.0, "last_val_loss": 3.0}),
    ("icefall: the end", "".join(
        "2026-03-14 08:30:00,123 INFO [train.py:1082] (0/4) Epoch 30, batch %d, loss[loss=%.4f, "
        "simple_loss=0.3, over 5000.00 frames. ], tot_loss[loss=0.9, over 1.00 frames. ]\n" % (
            i, 1 - i / 1000) for i in range(0, 500, 50)) +
     "2026-03-14 08:36:00,123 INFO [train.py:1348] (0/4) Done!\n", "finished",
     {"last_train_loss": 0.55}),
    ("ESPnet, in its first epoch", "".join(
        "[gpu1] 2026-03-14 08:30:00,123 (trainer:779) INFO: 1epoch:train:%d-%dbatch: "
        "iter_time=0.001, loss_ctc=9.5, acc=0.71, loss=%.3f, train_time=1.2\n" % (
            i, i + 99, 55 - i / 100) for i in range(1, 1000, 100)), None,
     {"last_train_loss": 45.99}),
    ("WeNet", "".join(
        "2026-03-14 08:30:00,123 DEBUG TRAIN | steps/sec 2.1| Batch 0/%d loss %.6f lr 0.0004 "
        "grad_norm 50.1 rank 0\n" % (i, 100 - i / 100) for i in range(0, 1000, 100)) +
     "2026-03-14 08:40:00,123 INFO Epoch 0 Step 1000 CV info lr 4e-05 cv_loss 45.678900 rank 0 "
     "acc 0.31\n", "truncated", {"last_train_loss": 91.0, "last_val_loss": 45.6789}),
    ("MACE", "2026-03-14 08:30:01.123 INFO: Initial: head: Default, loss=12.3, RMSE_E_per_atom= "
     "1234.56 meV\n" + "".join(
         "2026-03-14 08:30:01.123 INFO: Epoch %d: head: Default, loss=%.8f, RMSE_E_per_atom=   "
         "98.00 meV, RMSE_F=   48.00 meV / A\n" % (i, 2 - i / 10) for i in range(8)) +
     "2026-03-14 08:40:01.123 INFO: Training complete\n", "finished",
     {"last_train_loss": None, "last_val_loss": 1.3}),
    ("MATLAB", "|%s|\n" % ("=" * 90) + "".join(
        "| %7d | %11d |       00:00:%02d |       %.2f%% |       %.4f |          0.0100 |\n" % (
            1 + i // 60, i, i // 10, 20 + i / 5, 2.5 - i / 250) for i in range(50, 201, 50)) +
     "Training finished: Max epochs completed.\n", "finished",
     {"steps": 200, "last_train_loss": 1.7}),
    ("MATLAB, with validations", "|%s|\n" % ("=" * 90) + "".join(
        "| %7d | %11d |       00:00:%02d |       %.2f%% |       %s |       %.4f |       %s | "
        "0.0100 |\n" % (1, i, i // 10, 20 + i / 5, "19.00%" if i % 100 == 0 else "      ",
                        2.5 - i / 250, "%.4f" % (2.6 - i / 250) if i % 100 == 0 else "      ")
        for i in range(50, 251, 50)), None,
     {"steps": 250, "last_train_loss": 1.5, "last_val_loss": 1.8}),
    ("MXNet", "".join(
        "INFO:root:Epoch[0] Batch [%d-%d]\tSpeed: 1234.56 samples/sec\taccuracy=0.%03d\n" % (
            i, i + 50, 300 + i) for i in range(0, 200, 50)) +
     "INFO:root:Epoch[0] Validation-accuracy=0.523000\n", None,
     {"last_train_loss": None}),
    ("Vowpal Wabbit", "average  since         example        example        current\n" + "".join(
        "%.6f %.6f %12d %12.1f %8.4f %8.4f %8d\n" % (1 / (i + 2), 1 / (i + 3), 2**i, 2.0**i, 1,
                                                     0.5, 25) for i in range(9)) +
     "\nfinished run\nnumber of examples = 300\nweighted example sum = 300.000000\n", "finished", {"last_train_loss": 0.1}),
    ("scikit-learn: the end", "".join(
        "-- Epoch %d\nNorm: 3.%d, NNZs: 20, Avg. loss: %.2f\nTotal training time: 0.00 seconds.\n"
        % (i, i, 3 - i / 10) for i in range(1, 9)) +
     "Convergence after 8 epochs took 0.01 seconds\n", "finished", {}),
]
CASES += [("after the official validation: " + x, SPEEDRUN + x + "\n", "finished",
           {"final_val_loss": 2.8}) for x in (
               "[EMA] step 900 val_loss 2.0", "Best checkpoint: step=900, val_loss=2.0",
               "step:900 val_loss:2.0 (fp8 model)", "step:900/900 [EMA] val_loss:2.0")]
CASES += [("in place of the official validation: " + x,
           SPEEDRUN.replace("step:900/900 val_loss:2.8000 train_time:9000ms step_avg:10.00ms", x),
           status, {"final_val_loss": loss}) for x, status, loss in (
               ("[EMA] step 900 val_loss 2.0", "truncated", None),
               ("Best checkpoint: step=900, val_loss=2.0", "truncated", None),
               ("step 900 val_loss 2.8", "finished", 2.8))]
CASES += [("units of an epoch of an unknown number, then " + x.strip(), "".join(
    "[%d/500] loss %.2f\n" % (i, 3 - i / 500) for i in range(100, 501, 100)) + x, status,
    {"planned_steps": None, "last_val_loss": 2.1}) for x, status in (
        ("epoch 1 val_loss 2.1000\n", None), ("{'epoch': 1, 'val_loss': 2.1}\n", None),
        ("Epoch 1/10 val_loss 2.1\n", "truncated"))]
CASES += [("not the end of the run: " + x, "".join(
    "step %d/900 loss %.2f\n" % (i, 3 - i / 900) for i in range(10, 200, 10)) + x + "\n", "truncated",
           {"steps": 190}) for x in ("(1/4) Done!", "[train.py:1348] (2/4) Done!",
                                                 "finished run")]
REASONS = {"a plan without steps": "line 7: Job succeeded"}
CASES += [("a plan without steps",
           "   \\\\   /|    Num examples = 1,000 | Num Epochs = 1 | Total steps = 60\n" + "".join(
               "{'loss': %.4f, 'grad_norm': 1.2, 'learning_rate': 0.0002, 'epoch': %.2f}\n" % (
                   3 - i / 10, i / 5) for i in range(1, 6)) + "Job succeeded\n", "finished", {})]
CASES += [
    ("fairseq: a row of an epoch that is not over", "".join(
        "2026-03-14 08:30:00 | INFO | train_inner | epoch 001:   %3d / 500 loss=%.3f, ppl=100.1, "
        "wps=50000, num_updates=%d, lr=1e-4\n" % (i, 10 - i / 100, i)
        for i in range(50, 301, 50)), "truncated", {"steps": 300, "last_train_loss": 7.0}),
    ("batches with their name after the total", "".join(
        "| epoch   1 | %5d/ 2000 batches | lr 20.00 | ms/batch 12.50 | loss %5.2f | ppl 20.00\n"
        % (i, 7 - i / 1000) for i in range(200, 1601, 200)), "truncated",
     {"last_train_loss": 5.4}),
    ("a speed in tokens per second", "".join(
        "Batch %d of 400 | Loss %.4f | Speed %d tok/s\n" % (i, 3 - i / 400, 900 + i)
        for i in range(10, 201, 10)), "truncated", {"last_train_loss": 2.5, "tok_s_last": 1100}),
    ("a speed in samples per second", "".join(
        "Batch %d of 400 | Loss %.4f | Speed %d samples/s\n" % (i, 3 - i / 400, 900 + i)
        for i in range(10, 201, 10)), "truncated", {"tok_s_last": None}),
    ("rows that only count on, after rows with a loss", "".join(
        "update:%d/100 loss:%.2f time:%dms\n" % (i, 3 - i / 100, i) for i in range(1, 21)) +
     "".join("update:%d/100 time:%dms\n" % (i, i) for i in range(21, 41)), "truncated",
     {"steps": 40, "last_train_loss": 2.8}),
    ("rows that count something else, after rows with a loss", "".join(
        "update:%d/100 loss:%.2f time:%dms\n" % (i, 3 - i / 100, i) for i in range(1, 21)) +
     "".join("update:%d/60 time:%dms\n" % (i, i) for i in range(21, 41)), "truncated",
     {"steps": 20, "last_train_loss": 2.8}),
    ("the least time of a step, which is no time in minutes", "".join(
        "step %d loss %.2f min_step_time %.1f\n" % (i, 3 - i / 100, i) for i in range(1, 21)),
     None, {"step_ms_median": None}),
]
CASES += [("end words: " + x, LOOP + x + "\n", "finished", {})
          for x in ("Training completed!", "Training finished.",
              "Finished Training",
                    "run complete @ step 500", "EXIT_CODE=0",
                    "[launch.py:351:main] Process 4100 exits successfully.",
                    "Overall training speed: 996 iterations in 0:01:02 "
                    "(0.0623 s / it)",
                    "done training")]
CASES += [("no end words: " + x, LOOP + x + "\n", None, {})
          for x in ('print("Training completed!")',
              "| Training completed | yes |",
                    "--done-training  stop when done",
                    "Training finished for epoch 3",
                    "exit code 0 means success")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for i, (_, text, _, _) in enumerate(CASES):
            with open(os.path.join(folder, "%03d.log" % i), "w") as f:
                f.write(text)
        with open(os.path.join(folder, "%03d.log" % len(CASES)), "w") as f:
            f.write(KERAS * 3)
        r = subprocess.run([TUI, "parse", "--json"] + sorted(
            os.listdir(folder)), cwd=folder,
                           capture_output=True, text=True)
    runs = {}
    for line in r.stdout.splitlines():
        run = json.loads(line)
        runs.setdefault(int(run["file"][:3]), []).append(run)
    fits = runs.pop(len(CASES))
    ok([x["status"] for x in fits] == ["finished"] * 3,
       "three fits of Keras are three runs", [x["status"] for x in fits])
    for i, (name, _, status, keys) in enumerate(CASES):
        want = dict(keys, status=status)
        for run in runs.get(i, []):
            run["metrics"] = [[m["name"], m["last"]] for m in run["metrics"]]
        got = [{k: x[k] for k in want} for x in runs.get(i, [])]
        ok(got == [want], name, "got %s, want %s: %s" % (
            got, want, [x["status_reason"] for x in runs.get(i, [])]))
        for run in runs.get(i, []):
            if name in REASONS:
                ok(run["status_reason"] == REASONS[name], name + ": the reason",
                   run["status_reason"])
            ok(bool(run["status_reason"]), name + ": has a reason", run[
                "status_reason"])
    return finish()


sys.exit(main())
