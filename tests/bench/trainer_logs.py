# SPDX-License-Identifier: MIT
"""Logs as well-known trainers print them, from runs with known speed.

Each writer takes a Run and returns the text of its log. Runs and their
steps differ slightly in speed, so that blocks vary like those of real runs.
Losses depend only on the step: all arms do the same work."""
import math
import random
import time

STEPS = 100
BATCH = 65536


class Run:
    """The times of the steps 1 to STEPS, in ms; step 1 compiles."""

    def __init__(self, name, step_ms, compile_ms=30000.0):
        self.random = random.Random(name)
        level = step_ms * (1 + 0.001 * self.random.gauss(0, 1))
        self.ms = [0.0] + [level * (1 + 0.004 * self.random.gauss(0, 1))
                           for _ in range(STEPS)]
        self.ms[1] += compile_ms * (1 + 0.2 * self.random.random())
        self.total = [sum(self.ms[:k + 1]) for k in range(STEPS + 1)]

    def loss(self, step):
        return 4 + 6.9 * math.exp(-step / 30)

    def mean(self, step, every):
        """Mean step time of the last `every` steps."""
        return (self.total[step] - self.total[step - every]) / every

    def clock(self, step, form="%Y-%m-%d %H:%M:%S", point=","):
        """Wall clock at the end of a step, with ms."""
        now = 1770000000.0 + self.total[step] / 1000
        return (time.strftime(form, time.gmtime(int(now))) +
                (point + "%03d" % (now % 1 * 1000) if point else ""))


def lines(*parts):
    return "".join(part + "\n" for part in parts)


def nanogpt(run):
    """`time` is that of one step; every tenth step is printed, from 0."""
    return lines(
        "tokens per iteration will be: 65,536", "num decayed parameter tensors: 50",
        "compiling the model... (takes a ~minute)",
        "step 0: train loss 10.9006, val loss 10.9052",
        *("iter %d: loss %.4f, time %.2fms, mfu %.2f%%" %
          (k, run.loss(k), run.ms[k + 1], -100 if k < 5 else 38.1)
          for k in range(0, STEPS, 10)),
        "step %d: train loss 4.2, val loss 4.3" % STEPS,
        "iter %d: loss %.4f, time %.2fms, mfu 38.10%%" %
        (STEPS, run.loss(STEPS), run.ms[STEPS]))


def llm_c(run):
    """tok/s is a moving average, ms the time of the step."""
    rows, rate = [], 0.0
    for k in range(1, STEPS + 1):
        now = BATCH / run.ms[k] * 1000
        rate = now if k < 3 else 0.95 * rate + 0.05 * now
        rows.append("step %4d/%d | loss %.6f (%+.2fz)| norm %.4f (%+.2fz)| "
                    "lr %.2e | %.2f ms | 41.2%% bf16 MFU | %.0f tok/s" %
                    (k, STEPS, run.loss(k), 0.1, 1.2, -0.3, 6e-4, run.ms[k],
                     rate))
    return lines("| total batch size      | %-50d |" % BATCH,
                 "| train_num_batches     | %-50d |" % STEPS,
                 "| num_processes         | 1" + 49 * " " + " |",
                 "val loss 10.988514", *rows, "val loss 4.251000",
                 "total average iteration time: %.6f ms" %
                 run.mean(STEPS, STEPS - 1))


def megatron(run):
    """Means over the last ten iterations."""
    return lines(
        "  seed ............................................ 1234",
        "  train_iters ..................................... %d" % STEPS,
        "  world_size ...................................... 1",
        *(" [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per "
          "iteration (ms): %.1f | learning rate: 1.500000E-04 | global batch "
          "size: %5d | lm loss: %.6E | loss scale: 1.0 | grad norm: 1.234 | "
          "number of skipped iterations:   0 | number of nan iterations:   0 |"
          % (run.clock(k, point=""), k, STEPS, 64 * k, run.mean(k, 10), 64,
             run.loss(k)) for k in range(10, STEPS + 1, 10)),
        "[after training is done] datetime: " + run.clock(STEPS, point=""))


def torchtitan(run):
    """A rate of one device over the last steps, without a batch size: the times
    of the lines count."""
    head = "[rank0]:[titan] %s - root - INFO - "
    every = 1
    return lines(
        head % run.clock(0) + "Training starts at step 1, with local batch "
        "size 8, global batch size 8, sequence length 8192, total steps %d "
        "(warmup 2)" % STEPS,
        *(head % run.clock(k) + "\x1b[31mstep: %2d  \x1b[32mloss: %8.5f  "
          "\x1b[38;2;180;60;0mgrad_norm:  1.2345  \x1b[38;2;54;234;195m"
          "memory: 29.90GiB(95.36%%)  \x1b[34mtps: %s  \x1b[36mtflops: 18.16"
          "  \x1b[35mmfu: 5.82%%\x1b[39m" %
          (k, run.loss(k), "{:,}".format(round(BATCH / run.mean(k, every) *
                                               1000)))
          for k in range(1, STEPS + 1, every)),
        head % run.clock(STEPS) + "Training completed")


def build_nanogpt(run):
    return lines(
        "using device: cuda", "total desired batch size: %d" % BATCH,
        "=> calculated gradient accumulation steps: 8",
        "validation loss: 10.9500",
        *("%sstep %5d | loss: %.6f | lr %.4e | norm: %.4f | dt: %.2fms | "
          "tok/sec: %.2f" % ("validation loss: 4.2510\n" * (k == STEPS), k - 1,
                             run.loss(k), 6e-4, 1.2, run.ms[k],
                             BATCH / run.ms[k] * 1000)
          for k in range(1, STEPS + 1)))


def train_time(run):
    """A training script that prints only the time since its start."""
    return lines(
        "seed:42 world_size:1 train_batch_tokens:%d" % BATCH,
        *("step:%d/%d train_loss:%.4f train_time:%.0fms" %
          (k, STEPS, run.loss(k), run.total[k])
          for k in range(5, STEPS + 1, 5)))


def step_avg(run):
    """One that prints only the mean since the start."""
    return lines(
        "seed:42 world_size:1 train_batch_tokens:%d" % BATCH,
        *("step:%d/%d train_loss:%.4f step_avg:%.2fms" %
          (k, STEPS, run.loss(k), run.total[k] / k)
          for k in range(5, STEPS + 1, 5)))


def words(run):
    return lines("Starting training", *(
        "Step %d of %d: loss %.4f, step time %.1f ms" %
        (k, STEPS, run.loss(k), run.ms[k]) for k in range(1, STEPS + 1)))


def same_moment(run):
    """Only the times of the lines; each second row has that of the row before."""
    return lines(*("%s INFO trainer: step %d/%d loss %.4f lr 0.0006" %
                   (run.clock(k - k % 2), k, STEPS, run.loss(k))
                   for k in range(1, STEPS + 1)))


def interval_rate(run):
    """tok/s over the steps since the previous row, and the batch size."""
    return lines("tokens per iteration will be: {:,}".format(BATCH), *(
        "step %d | loss %.4f | lr 6.00e-04 | tok/s %.0f" %
        (k, run.loss(k), BATCH / run.mean(k, 5) * 1000)
        for k in range(5, STEPS + 1, 5)))


def cumulative_rate(run):
    """tok/s since the start, and minutes, as parameter-golf prints them."""
    return lines(
        "train_batch_tokens:%d train_seq_len:1024 iterations:%d warmup_steps:5"
        " max_wallclock_seconds:600.000" % (BATCH, STEPS),
        "world_size:1 grad_accum_steps:8", "seed:42",
        *("%d/%d train_loss: %.4f train_time: %.1fm tok/s: %.0f" %
          (k, STEPS, run.loss(k), run.total[k] / 60000,
           k * BATCH / run.total[k] * 1000)
          for k in [1, 2, 3, 4, 5] + list(range(10, STEPS + 1, 5))))


def speedrun(run):
    """The clock starts again at step 10; there is no mean before."""
    rows, zero = [], run.total[10]
    for k in range(1, STEPS + 1):
        ms = run.total[k] - (zero if k > 10 else 0)
        avg = "nan" if k <= 11 else "%.2f" % (ms / (k - 10))
        rows.append("step:%d/%d train_loss:%.4f train_time:%.0fms "
                    "step_avg:%sms" % (k, STEPS, run.loss(k), ms, avg))
    return lines("step:0/%d val_loss:10.8258 train_time:0ms step_avg:nanms" %
                 STEPS, *rows,
                 "step:%d/%d val_loss:4.2510 train_time:%.0fms "
                 "step_avg:%.2fms" % (STEPS, STEPS, ms, ms / (STEPS - 10)))


def speedrun_plain(run):
    """The same, but rows up to step 10 print the mean since the start, not nan."""
    rows, zero = [], run.total[10]
    for k in range(1, STEPS + 1):
        ms = run.total[k] - (zero if k > 10 else 0)
        rows.append("step:%d/%d train_loss:%.4f train_time:%.0fms "
                    "step_avg:%.2fms" % (k, STEPS, run.loss(k), ms,
                                         ms / (k if k <= 10 else k - 10)))
    return lines(*rows, "step:%d/%d val_loss:4.2510 train_time:%.0fms "
                 "step_avg:%.2fms" % (STEPS, STEPS, ms, ms / (STEPS - 10)))


def speedrun_whole(run):
    """The speedrun's plain row, with a clock that is never reset."""
    return lines(
        *("step:%d/%d train_loss:%.4f train_time:%.0fms step_avg:%.2fms" %
          (k, STEPS, run.loss(k), run.total[k], run.total[k] / k)
          for k in range(1, STEPS + 1)),
        "step:%d/%d val_loss:4.2510 train_time:%.0fms step_avg:%.2fms" %
        (STEPS, STEPS, run.total[STEPS], run.total[STEPS] / STEPS))


def nanochat(run):
    return lines(*(
        "step %05d/%05d (%.2f%%) | loss: %.6f | grad norm: 0.5000 | lrm: 1.00 |"
        " dt: %.2fms | tok/sec: %s | mfu: 48.12 | total time: %.2fm" %
        (k - 1, STEPS, k * 100 / STEPS, run.loss(k), run.ms[k],
         "{:,}".format(int(BATCH / run.ms[k] * 1000)),
         run.total[k] / 60000) for k in range(1, STEPS + 1)),
        "Peak memory usage: 7652.31MiB", "Total training time: %.2fm" %
        (run.total[STEPS] / 60000), "Minimum validation bpb: 0.8120")


def litgpt(run):
    """Two iterations per step: their time is not that of a step."""
    return lines(*(
        "Epoch 1 | iter %d step %d | loss train: %.3f, val: n/a | iter time: "
        "%.2f ms%s" % (2 * k + i - 1, k, run.loss(k) + 0.1 * i, run.ms[k] / 2,
                       " (step)" * i)
        for k in range(1, STEPS + 1) for i in range(2)),
        "Training time: %.2fs" % (run.total[STEPS] / 1000),
        "Final evaluation | val loss: 4.251 | val ppl: 70.175")


def maxtext(run):
    return lines("Config param steps: %d" % STEPS, *(
        "completed step: %d, seconds: %.3f, TFLOP/s/device: 134.924, "
        "Tokens/s/device: %.3f, total_weights: 65536, loss: %.3f" %
        (k - 1, run.ms[k] / 1000, BATCH / run.ms[k] * 1000, run.loss(k))
        for k in range(1, STEPS + 1)))


def olmo(run):
    rows = []
    for k in range(1, STEPS + 1):
        rows += ["%s\tlocalhost:0\tolmo.train:926\tINFO\t[step=%d/%d]" %
                 (run.clock(k, point="."), k, STEPS),
                 "    optim/total_grad_norm=1.234",
                 "    train/CrossEntropyLoss=%.3f" % run.loss(k),
                 "    throughput/total_tokens=%d" % (k * BATCH),
                 "    throughput/device/tokens_per_second=%s" %
                 "{:,}".format(round(BATCH / run.ms[k] * 1000))]
    return lines(*rows)


def huggingface(run):
    """Only a progress bar has the step and whole seconds."""
    text = []

    def bar(k):
        def clock(s):
            return "%02d:%02d" % (s // 60, s % 60)
        done = run.total[k] / 1000
        text.append("\r%3d%%|%s| %d/%d [%s<%s, %5.2fit/s]" % (
            k * 100 // STEPS, ("\u2588" * (k * 10 // STEPS)).ljust(10), k,
            STEPS, clock(int(done)), clock(int(done / k * (STEPS - k))),
            1000 / run.ms[k]))

    for k in range(1, STEPS + 1):
        bar(k)
        if k % 5 == 0:
            text.append("\r%s\r{'loss': %.4f, 'grad_norm': 1.2345678806304932, "
                        "'learning_rate': 4.5e-05, 'epoch': %.2f}\n" %
                        (" " * 60, run.loss(k), k / STEPS))
            bar(k)
    text.append("\r%s\r{'train_runtime': %.4f, 'train_samples_per_second': "
                "%.3f, 'train_steps_per_second': %.3f, 'train_loss': 4.9, "
                "'epoch': 1.0}\n" %
                (" " * 60, run.total[STEPS] / 1000,
                 8e3 * STEPS / run.total[STEPS],
                 1e3 * STEPS / run.total[STEPS]))
    return "".join(text)


def lightning(run):
    text = []
    for k in range(1, STEPS + 1):
        done = run.total[k] / 1000
        text.append("\rEpoch 0: %3d%%|%s| %d/%d [%02d:%02d<%02d:%02d, %5.2fit/s,"
                    " v_num=0, train_loss=%.3f]" % (
                        k * 100 // STEPS,
                        ("\u2588" * (k * 10 // STEPS)).ljust(10), k, STEPS,
                        done // 60, done % 60, 0, 9, 1000 * k / run.total[k],
                        run.loss(k)))
    return "".join(text) + "\n`Trainer.fit` stopped: `max_steps=%d` reached.\n" \
        % STEPS


FAMILIES = {f.__name__: f for f in (
    nanogpt, llm_c, megatron, torchtitan, build_nanogpt, train_time, step_avg,
    words, same_moment, interval_rate, cumulative_rate, speedrun, speedrun_plain,
    speedrun_whole, nanochat, litgpt, maxtext, olmo, huggingface, lightning)}
