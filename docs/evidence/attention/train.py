# SPDX-License-Identifier: MIT
"""A small language model on made-up tokens, flash or cuDNN attention.

SDPA=flash|cudnn picks the kernel, ITERATIONS and SEED what they say.  Logs in
the shape of the parameter-golf trainers, the clock read behind a synchronise.
"""
import os
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION,
            "cudnn": SDPBackend.CUDNN_ATTENTION}
SDPA = os.environ.get("SDPA", "flash")
SEED = int(os.environ.get("SEED", "42"))
ITERATIONS = int(os.environ.get("ITERATIONS", "60"))
BATCH, LENGTH, VOCAB, WIDTH, HEADS, LAYERS = 64, 2048, 1024, 512, 8, 9


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.mix = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(
            batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        with sdpa_kernel(BACKENDS[SDPA]):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mix(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.relu(self.up(self.norm2(x))).square())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH)
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.embed.weight)
        return F.cross_entropy(logits.float().view(-1, VOCAB),
                               targets.reshape(-1))


def batches(generator):
    """Tokens with something to learn: a noisy walk over the vocabulary."""
    while True:
        steps = torch.randint(0, 7, (BATCH, LENGTH + 1), device="cuda",
                              generator=generator)
        tokens = steps.cumsum(1) % VOCAB
        yield tokens[:, :-1], tokens[:, 1:]


def main():
    torch.manual_seed(SEED)
    generator = torch.Generator(device="cuda").manual_seed(SEED)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    data = batches(generator)
    held_out = next(data)
    print(f"seed:{SEED}\nworld_size:1 grad_accum_steps:1", flush=True)
    print(f"train_batch_tokens:{BATCH * LENGTH} train_seq_len:{LENGTH} "
          f"iterations:{ITERATIONS} warmup_steps:0 "
          "max_wallclock_seconds:600.000", flush=True)
    print(f"[sdpa] {SDPA}", flush=True)
    train_ms = 0.0
    for step in range(1, ITERATIONS + 1):
        tokens, targets = next(data)
        torch.cuda.synchronize()
        began = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        train_ms += (time.perf_counter() - began) * 1000
        if step <= 5 or step % 5 == 0:
            print(f"step:{step}/{ITERATIONS} train_loss:{loss.item():.4f} "
                  f"train_time:{train_ms:.0f}ms "
                  f"step_avg:{train_ms / step:.2f}ms", flush=True)
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        val = model(*held_out).item()
    print(f"step:{ITERATIONS}/{ITERATIONS} val_loss:{val:.4f} "
          f"train_time:{train_ms:.0f}ms step_avg:{train_ms / ITERATIONS:.2f}ms")
    print(f"peak memory allocated: "
          f"{torch.cuda.max_memory_allocated() // 2**20} MiB reserved: "
          f"{torch.cuda.max_memory_reserved() // 2**20} MiB")


main()
