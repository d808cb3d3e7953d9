# SPDX-License-Identifier: MIT
"""Time the arms of a kernel bench in one process: kernel_probe.py SPEC

SPEC is a JSON object: task, module, function (null: make), seconds, margin,
arms [{tag, folder, env, launch}], the control first.  The task is a module in
the control's folder, so that an arm cannot replace it: inputs(case, seed)
returns the arguments of one call.  It may also define CASES, TOLERANCE,
work(case) and DEVICE.

Every round runs all arms in random order.  Every arm has separate inputs, new
ones in each round, and the output of a timed call is compared with the
control's.  That detects a result that was computed earlier, and one that
points to the control's memory.  On a GPU a pass is a CUDA graph of calls, over
enough copies of the inputs that they do not fit into the L2 cache.  If an arm
cannot be captured, all arms run without a graph.  On a CPU perf_counter_ns
times the calls.

Prints one JSON object per arm, one per line.  Output of the arms goes to
stderr.
"""
import contextlib
import copy
import gc
import importlib.util
import json
import math
import os
import random
import statistics
import sys
import time
import traceback

NOW = time.perf_counter_ns
MIN_ROUNDS = 8
MAX_ROUNDS = 2000
WARM_ROUNDS = 2
CPU_CALLS = 16
GPU_CALLS = 256
GPU_PASS_MS = 2.0
GPU_WARM_S = 0.3
EAGER_CALLS = 20
PLACE_ROUNDS = 4
# GB/s of memory and TFLOP/s of dense bfloat16, from the data sheets.
PEAKS = (("H200", 4800, 989), ("H100 NVL", 3938, 835),
         ("H100 PCIe", 2039, 756), ("H100", 3352, 989), ("B200", 8000, 2250),
         ("A100-SXM4-80GB", 2039, 312), ("A100", 1555, 312),
         ("L40S", 864, 362), ("RTX 4090", 1008, 165))


class Failed(Exception):
    """The result of an arm is wrong or cannot be used."""


def load(name, folder, path):
    """Load a module under this name.  Modules that it imports from its folder
    are dropped from sys.modules, so that each arm loads its own."""
    file = os.path.join(folder, path)
    before = set(sys.modules)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise ImportError("%s is not a Python module" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        # An arm could forge bytecode that is kept for the next process.
        exec(spec.loader.source_to_code(spec.loader.get_data(file), file), module.__dict__)
    finally:
        sys.path.remove(folder)
    for other in set(sys.modules) - before - {name}:
        at = getattr(sys.modules[other], "__file__", None) or ""
        if at.startswith(folder + os.sep):
            del sys.modules[other]
    return module


@contextlib.contextmanager
def variables(env):
    kept = dict(os.environ)
    os.environ.update(env)
    try:
        yield
    finally:
        for name in env:
            os.environ.pop(name, None)
        os.environ.update(kept)


@contextlib.contextmanager
def bytecode_kept():
    """If torch is installed without bytecode, store the bytecode of all imports in the
    bench's folder: otherwise each process would spend 3 s compiling torch."""
    torch = importlib.util.find_spec("torch")
    has_none = torch is not None and torch.origin and not os.path.isdir(
        os.path.join(os.path.dirname(torch.origin), "__pycache__"))
    if has_none and "HGYM_PROBE" in os.environ and not sys.pycache_prefix:
        sys.pycache_prefix = os.path.join(
            os.path.dirname(os.environ["HGYM_PROBE"]), "..", "bytecode")
        sys.dont_write_bytecode = False
    try:
        yield
    finally:
        if not sys.dont_write_bytecode:
            sys.pycache_prefix = None
            sys.dont_write_bytecode = True


def is_tensor(value):
    return hasattr(value, "data_ptr") and hasattr(value, "clone")


def leaves(value):
    """The values of nested tuples, lists and dicts of tensors and arrays."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)) and not all(
            isinstance(v, (int, float, complex, str)) for v in value):
        return [leaf for v in value for leaf in leaves(v)]
    return [value]


def twin(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(twin, value))
    if isinstance(value, dict):
        return {key: twin(v) for key, v in value.items()}
    return value.clone() if is_tensor(value) else copy.deepcopy(value)


def memory(value):
    """The addresses of the memory of a value's leaves; immutable leaves have none."""
    places = set()
    for leaf in leaves(value):
        if is_tensor(leaf):
            places.add(leaf.untyped_storage().data_ptr())
        elif hasattr(leaf, "__array_interface__"):
            places.add(leaf.__array_interface__["data"][0])
        elif not isinstance(leaf, (int, float, complex, str, bytes, tuple,
                                   type(None))):
            places.add(id(leaf))
    return places - {0}


def outputs(returned, slots):
    """The outputs of calls; a call that returns None changed its arguments."""
    return [args if out is None else out
            for out, args in zip(returned, slots)]


def numbers(leaf):
    if hasattr(leaf, "tolist"):
        leaf = leaf.tolist()
    if isinstance(leaf, (list, tuple, bytearray, bytes)):
        return [number for one in leaf for number in numbers(one)]
    return [leaf]


def differ_tensors(got, want, tolerance):
    if got.shape != want.shape or got.dtype != want.dtype:
        raise Failed("its output is %s %s, the control's %s %s" % (
            tuple(got.shape), got.dtype, tuple(want.shape), want.dtype))
    if not want.is_floating_point():
        wrong = int((got != want).sum())
        return (float(wrong), float(wrong), wrong > 0)
    got, want = got.double(), want.double()
    away = (got - want).abs()
    away[(got == want) | (got.isnan() & want.isnan())] = 0.0
    wrong = ~(away <= tolerance["abs"] + tolerance["rel"] * want.abs())
    return (float(away.max()) if away.numel() else 0.0,
            float((away / want.abs().clamp_min(1e-30)).max())
            if away.numel() else 0.0, bool(wrong.any()))


def differ_numbers(got, want, tolerance):
    got, want = numbers(got), numbers(want)
    if len(got) != len(want):
        raise Failed("its output has %d values, the control's %d" % (
            len(got), len(want)))
    most, share, wrong = 0.0, 0.0, False
    for a, b in zip(got, want):
        if a == b or (a != a and b != b):
            continue
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return (math.inf, math.inf, True)
        away = abs(a - b)
        most, share = max(most, away), max(share, away / max(abs(b), 1e-30))
        wrong |= not away <= tolerance["abs"] + tolerance["rel"] * abs(b)
    return (most, share, wrong)


def middle(values):
    """The mean of the middle three fifths of the values."""
    values, cut = sorted(values), len(values) // 5
    return statistics.fmean(values[cut:len(values) - cut])


class Cpu:
    """Times functions on the host with its clock."""
    mode, cold = "cpu", None

    def __init__(self):
        self.device = "cpu"
        with contextlib.suppress(OSError), open("/proc/cpuinfo") as stream:
            for line in stream:
                if line.startswith("model name"):
                    self.device = line.split(":", 1)[1].strip()
                    break
        self.peak = (None, None)

    def calls(self, arm, sample, n_arms, seconds):
        """The number of calls in a pass."""
        start = NOW()
        arm.call(*sample)
        took = max(NOW() - start, 1)
        return max(1, min(CPU_CALLS, int(
            seconds * 1e9 / (MIN_ROUNDS * n_arms * took))))

    def prepare(self, arms, failed):
        pass

    def cycle(self, arms):
        """The number of rounds until every arm has used all arms' memory."""
        return 1

    def move(self, arms, failed):
        """Move the arms to other memory before the next round, if due."""

    def refresh(self, arms, fresh):
        """Make new inputs for every call of the next pass."""
        for arm in arms:
            arm.slots = [twin(fresh(i)) for i in range(len(arm.slots))]
        gc.collect()

    def renewed(self, n):
        return range(n)

    def time(self, arm):
        """Microseconds per call; the outputs are in arm.out."""
        call, out = arm.call, []
        start = NOW()
        for args in arm.slots:
            out.append(call(*args))
        took = NOW() - start
        arm.out = outputs(out, arm.slots)
        return took / 1e3 / len(out)

    def extras(self, arm, us):
        return {}


class Cuda(Cpu):
    """Times kernels on the first visible GPU with CUDA events."""

    def __init__(self, torch):
        self.torch = torch
        self.device = torch.cuda.get_device_name()
        self.mode = "graph"
        self.peak = next((peak[1:] for peak in PEAKS
                          if peak[0] in self.device), (None, None))

    def calls(self, arm, sample, n_arms, seconds):
        torch = self.torch
        out = arm.call(*sample)
        torch.cuda.synchronize()
        size = sum(leaf.numel() * leaf.element_size()
                   for leaf in leaves((list(sample), out)) if is_tensor(leaf))
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size",
                     50 << 20)
        room = torch.cuda.mem_get_info()[0] // 4
        n = min(GPU_CALLS, 3 * l2 // max(size, 1) + 1,
                room // max(2 * n_arms * size, 1))
        n = max(2, n)
        self.cold = n * size >= 2 * l2
        return n

    def prepare(self, arms, failed):
        """Compile, capture, and wait for the GPU clocks to rise."""
        torch, self.rounds = self.torch, 0
        for arm in arms:
            with failed(arm), variables(arm.env):
                for _ in range(3):
                    arm.out = [arm.call(*args) for args in arm.slots[:2]]
                torch.cuda.synchronize()
        self.capture(arms, failed)
        # The clocks of an idle card take a while to rise.
        end = NOW() + GPU_WARM_S * 1e9
        while arms[0].error is None and NOW() < end:
            with failed(arms[0]):
                self.elapsed(arms[0], 10)

    def capture(self, arms, failed):
        """Capture a graph of each arm's calls.  If one arm fails, no arm uses
        a graph."""
        torch = self.torch
        for arm in [arm for arm in arms if arm.error is None]:
            if self.mode == "eager":
                break
            try:
                with variables(arm.env):
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        out = [arm.call(*args) for args in arm.slots]
                arm.graph, arm.out = graph, outputs(out, arm.slots)
            except Exception as why:  # any reason: no arm uses a graph
                self.mode = "eager"
                print("%s cannot be captured: %s" % (arm.tag, why),
                      file=sys.stderr)
                with contextlib.suppress(Exception):
                    torch.cuda.synchronize()
        for arm in [arm for arm in arms if arm.error is None]:
            with failed(arm):
                once = max(self.elapsed(arm, 5) / 5, 1e-3)
                arm.replays = max(1, min(200, math.ceil(GPU_PASS_MS / once)))

    def cycle(self, arms):
        return PLACE_ROUNDS * len(arms) if self.mode == "graph" else 1

    def move(self, arms, failed):
        """Let the arms exchange their memory: at another address the time of
        the same kernel differs by half a percent, and every process has the
        same addresses."""
        self.rounds += 1
        if self.mode == "eager" or self.rounds % PLACE_ROUNDS:
            return
        slots = [arm.slots for arm in arms]
        for arm, there in zip(arms, slots[1:] + slots[:1]):
            arm.slots, arm.out, arm.graph = there, None, None
        self.capture(random.sample(arms, len(arms)), failed)

    def renewed(self, n):
        return range(n) if self.mode == "eager" else [random.randrange(n)]

    def refresh(self, arms, fresh):
        self.fresh = fresh
        if self.mode == "eager":
            for arm in arms:
                arm.slots = [twin(fresh(i)) for i in range(len(arm.slots))]
            self.torch.cuda.synchronize()

    def run(self, arm):
        if self.mode == "graph":
            arm.graph.replay()
        else:
            call = arm.call
            arm.out = outputs([call(*args) for args in arm.slots], arm.slots)

    def elapsed(self, arm, times):
        """Milliseconds that this many passes take by the GPU's clock."""
        torch = self.torch
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        for _ in range(times):
            self.run(arm)
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    def time(self, arm):
        times = arm.replays if self.mode == "graph" else 1
        took = self.elapsed(arm, times)
        if self.mode == "graph":
            self.replay_fresh(arm)
        return took * 1e3 / times / len(arm.slots)

    def replay_fresh(self, arm):
        """Overwrite the outputs, change one input, and replay the graph, to
        check that it still computes its outputs."""
        torch, given = self.torch, memory(arm.slots)
        for leaf in leaves(arm.out):
            # An output that is also an argument is needed by the next call.
            if not is_tensor(leaf) or memory(leaf) & given:
                continue
            if leaf.dtype == torch.bool:
                leaf.logical_not_()
            else:
                leaf.fill_(math.nan if leaf.is_floating_point() else 113)
        for index in self.chosen:
            for to, of in zip(leaves(arm.slots[index]),
                              leaves(self.fresh(index))):
                if is_tensor(to):
                    to.copy_(of)
        arm.graph.replay()
        torch.cuda.synchronize()

    def extras(self, arm, us):
        """The cost of a call that the host launches."""
        torch, n = self.torch, len(arm.slots)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times, host, passes = [], [], math.ceil(EAGER_CALLS / n)
        for _ in range(5):
            torch.cuda.synchronize()
            begin.record()
            start = NOW()
            for _ in range(passes):
                for args in arm.slots:
                    arm.call(*args)
            host.append((NOW() - start) / 1e3 / n / passes)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e3 / n / passes)
        eager = statistics.median(times)
        idle = max(0.0, 1.0 - us / eager) if self.mode == "graph" else None
        return {"eager_us": eager, "launch_us": max(0.0, eager - us),
                "host_us": statistics.median(host), "idle_share": idle,
                "host_bound": idle > 0.5 if idle is not None
                else statistics.median(host) > 0.9 * eager}


class Arm:
    """One of the kernels, and its results."""

    def __init__(self, index, spec):
        self.tag = spec["tag"]
        self.folder = os.path.abspath(spec["folder"])
        self.env = spec.get("env") or {}
        self.launch = spec.get("launch") or {}
        self.name = "hgym_arm_%d" % index
        self.wrong = False
        self.error = self.call = self.out = self.graph = None
        self.slots, self.cases, self.times = [], [], []
        self.max_abs = self.max_rel = 0.0
        self.module = None

    def begin(self, case, function):
        """Set the callable for a case: from make(case), or the function."""
        if function is not None:
            named = getattr(self.module, function)
            self.call = (lambda *args: named(*args, **self.launch)) \
                if self.launch else named
        else:
            self.call = self.module.make(case, **self.launch)
        self.times, self.out = [], None


class Bench:
    """All arms of one process."""

    def __init__(self, spec):
        self.spec = spec
        self.arms = [Arm(i, one) for i, one in enumerate(spec["arms"])]
        self.seed = random.SystemRandom().randrange(1 << 30)

    @contextlib.contextmanager
    def failed(self, arm):
        """An exception in an arm ends this arm only."""
        try:
            yield
        except Failed as why:
            arm.error, arm.wrong = str(why), True
        except Exception as why:
            traceback.print_exc()
            arm.error = "%s: %s" % (type(why).__name__, why)

    def alive(self):
        return [arm for arm in self.arms if arm.error is None]

    def setup(self):
        folder, torch = self.arms[0].folder, None
        with bytecode_kept():
            self.task = load("hgym_task", folder, self.spec["task"])
            if getattr(self.task, "DEVICE", None) != "cpu":
                with contextlib.suppress(ImportError):
                    import torch
                with contextlib.suppress(Exception):
                    import triton  # noqa: F401 (most kernels do)
        for arm in self.arms:
            with self.failed(arm), variables(arm.env):
                arm.module = load(arm.name, arm.folder, self.spec["module"])
        if torch is not None and torch.cuda.is_available():
            self.clock = Cuda(torch)
        elif os.environ.get("CUDA_VISIBLE_DEVICES"):
            raise RuntimeError("the bench needs GPUs, but python3 has no "
                               "torch with CUDA")
        else:
            self.clock = Cpu()
        given = getattr(self.task, "TOLERANCE", {})
        self.tolerance = {"abs": float(given.get("abs", 1e-3)),
                          "rel": float(given.get("rel", 1e-3))}

    def fresh_seed(self):
        self.seed += 1
        return self.seed

    def check(self, indexes):
        """Compare every arm's outputs of this round with the control's."""
        control = self.arms[0]
        own = memory([control.out, control.slots])
        for arm in self.alive()[1:]:
            with self.failed(arm):
                if memory(arm.out) & own:
                    raise Failed("its output is in the control's memory")
                places = [memory(out) for out in arm.out]
                for i in indexes:
                    # A buffer shared by all calls holds the last output.
                    if i + 1 < len(places) and any(
                            places[i] & later for later in places[i + 1:]):
                        i = len(places) - 1
                    self.compare(arm, arm.out[i], control.out[i])

    def compare(self, arm, got, want):
        got, want = leaves(got), leaves(want)
        if len(got) != len(want):
            raise Failed("its output has %d parts, the control's %d" % (
                len(got), len(want)))
        for a, b in zip(got, want):
            differ = differ_tensors if is_tensor(a) and is_tensor(b) \
                else differ_numbers
            away, share, wrong = differ(a, b, self.tolerance)
            arm.max_abs = max(arm.max_abs, away)
            arm.max_rel = max(arm.max_rel, share)
            if wrong and away != away:
                raise Failed("its output has NaN where the control's has none")
            if wrong:
                raise Failed("its output differs from the control's by %.3g, "
                             "%.3g times the value" % (away, share))

    def round(self, case, first):
        """Run all arms once, in random order; in the first round the control
        runs last."""
        n = len(self.arms[0].slots)
        made = {}

        def fresh(index):
            if index not in made:
                made[index] = self.task.inputs(case, self.fresh_seed())
            return made[index]

        self.clock.chosen = chosen = list(self.clock.renewed(n))
        if self.clock.mode == "graph":
            # A buffer shared by all calls holds the last output.
            self.clock.chosen = sorted({*chosen, n - 1})
        alive = self.alive()
        order = alive[1:] + alive[:1] if first \
            else random.sample(alive, len(alive))
        self.clock.refresh(alive, fresh)
        took = {}
        for arm in order:
            with self.failed(arm), variables(arm.env):
                took[arm] = self.clock.time(arm)
        if self.arms[0].error is None:
            self.check(chosen)
        return {arm: us for arm, us in took.items() if arm.error is None}

    def precise(self):
        """Is every arm's difference known to a fifth of the margin?"""
        control = self.arms[0].times
        for arm in self.alive()[1:]:
            ratio = [math.log(a / b) for a, b in zip(arm.times, control)]
            if 2 * statistics.stdev(ratio) / math.sqrt(len(ratio)) > \
                    self.spec["margin"] / 5:
                return False
        return True

    def measure(self, case, seconds):
        for arm in self.alive():
            with self.failed(arm), variables(arm.env):
                arm.begin(case, self.spec["function"])
        if self.arms[0].error is not None:
            return
        sample = twin(self.task.inputs(case, self.fresh_seed()))
        with self.failed(self.arms[0]), variables(self.arms[0].env):
            n = self.clock.calls(self.arms[0], sample, len(self.arms), seconds)
        if self.arms[0].error is not None:
            return
        inputs = [self.task.inputs(case, self.fresh_seed()) for _ in range(n)]
        for arm in self.alive():
            arm.slots = [twin(one) for one in inputs]
        self.clock.prepare(self.alive(), self.failed)
        end = NOW() + seconds * 1e9
        for turn in range(MAX_ROUNDS):
            took = self.round(case, turn == 0)
            if self.arms[0].error is not None:
                return
            if turn < WARM_ROUNDS:
                continue
            for arm, us in took.items():
                arm.times.append(us)
            done = turn + 1 - WARM_ROUNDS
            if done >= MIN_ROUNDS and (
                    NOW() > end or (self.precise() and not done %
                                    self.clock.cycle(self.alive()))):
                break
            self.clock.move(self.alive(), self.failed)
        for arm in self.alive():
            with self.failed(arm), variables(arm.env):
                self.keep(arm, case)
            arm.slots, arm.out, arm.graph = [], None, None

    def keep(self, arm, case):
        us = middle(arm.times)
        if not us > 0:
            raise Failed("it takes less time than the clock can measure")
        row = {"name": case.get("name") or " ".join(
            "%s=%s" % pair for pair in case.items()),
            "us": us, "rounds": len(arm.times), "calls": len(arm.slots),
            "spread_pct": 100 * statistics.stdev(arm.times) / us}
        row.update(self.clock.extras(arm, us))
        if hasattr(self.task, "work"):
            size, flops = self.task.work(case)
            for key, amount, scale, peak in (
                    ("gb_s", size, 1e-3, self.clock.peak[0]),
                    ("tflop_s", flops, 1e-6, self.clock.peak[1])):
                if amount:
                    row[key] = amount / us * scale
                    row[key + "_of_peak"] = row[key] / peak if peak else None
        arm.cases.append(row)

    def result(self, arm):
        if arm.error is not None:
            return {"arm": arm.tag, "status": "failed", "wrong": arm.wrong,
                    "error": arm.error[:140]}
        row = {"arm": arm.tag, "status": "passed", "mode": self.clock.mode,
               "device": self.clock.device, "cold": self.clock.cold,
               "tolerance": self.tolerance, "max_abs": arm.max_abs,
               "max_rel": arm.max_rel, "cases": arm.cases}
        row["us"] = math.exp(statistics.fmean(
            math.log(case["us"]) for case in arm.cases))
        bound = [case["host_bound"] for case in arm.cases
                 if "host_bound" in case]
        if bound:
            row["host_bound"] = any(bound)
        return row

    def run(self):
        control = self.arms[0]
        with self.failed(control):
            self.setup()
            cases = getattr(self.task, "CASES", None) or [{}]
            for case in cases:
                self.measure(case, self.spec["seconds"] / len(cases))
        for arm in self.arms:
            if control.error is not None and arm.error is None:
                arm.error = "the control failed: " + control.error
        return [self.result(arm) for arm in self.arms]


def main():
    spec = json.loads(sys.argv[1])
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    gc.disable()
    for row in Bench(spec).run():
        told.write(json.dumps(row) + "\n")
    told.flush()
    # Run no atexit handlers of the arms, and do not wait for their threads.
    os._exit(0)


if __name__ == "__main__":
    main()
