# SPDX-License-Identifier: MIT
"""Check the kernel, then time it: one JSON object on stdout.

Best and median of the repeats of each case, each repeat timed alone with CUDA
events behind a flush of the L2 cache; the score is the sum of the bests.
"""
import argparse
import json
import statistics
import sys
import time

import torch

import kernel

CASES = {
    "dev": [(512, 1024), (256, 4096)],
    "final": [(1536, 1024), (896, 2048), (448, 4096), (192, 8192)],
}
TOLERANCE = 2e-2


def reference(x, gate, weight, eps=1e-6):
    x, gate = x.float(), gate.float()
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return x * scale * weight.float() * torch.nn.functional.silu(gate)


def time_case(inputs, warmup, repeats):
    flush = torch.empty(64 * 1024 * 1024, dtype=torch.int32, device="cuda")
    for _ in range(warmup):
        kernel.run(*inputs)
    times_us = []
    for _ in range(repeats):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        flush.zero_()
        start.record()
        kernel.run(*inputs)
        end.record()
        torch.cuda.synchronize()
        times_us.append(start.elapsed_time(end) * 1000)
    return times_us


def run_case(mode, rows, dim, args):
    generator = torch.Generator(device="cuda").manual_seed(rows * dim)
    x, gate = (torch.randn(rows, dim, device="cuda", dtype=torch.bfloat16,
                           generator=generator) for _ in range(2))
    weight = torch.rand(dim, device="cuda", dtype=torch.bfloat16,
                        generator=generator)
    got = kernel.run(x, gate, weight).float()
    wanted = reference(x, gate, weight)
    error = ((got - wanted).abs() / (1 + wanted.abs())).max().item()
    times_us = time_case((x, gate, weight), args.warmup, args.repeats)
    return {"name": f"{mode}_r{rows}_d{dim}", "rows": rows, "dim": dim,
            "status": "passed" if error <= TOLERANCE else "failed",
            "max_abs": error, "tolerance": TOLERANCE,
            "best_us": min(times_us),
            "median_us": statistics.median(times_us)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=sorted(CASES), default="dev")
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    began = time.monotonic()
    cases = [run_case(args.mode, *shape, args) for shape in CASES[args.mode]]
    passed = all(case["status"] == "passed" for case in cases)
    best_us = sum(case["best_us"] for case in cases)
    print(json.dumps({
        "status": "passed" if passed else "failed", "verified": passed,
        "mode": args.mode, "score": best_us, "best_us": best_us,
        "median_us": sum(case["median_us"] for case in cases),
        "cases": cases, "config": kernel.SETTINGS,
        "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "elapsed_seconds": time.monotonic() - began}))
    return 0 if passed else 1


sys.exit(main())
