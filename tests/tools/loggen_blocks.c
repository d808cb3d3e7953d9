/* SPDX-License-Identifier: MIT */
/* Blocks of text that runs of every family print around their rows. */
#include "tests/tools/loggen_priv.h"

/* A training script as runs print it into their own log: none of its lines is a result, although
 * its format strings resemble some. */
static const char source_head[] = "import os\n"
				  "import sys\n"
				  "import time\n"
				  "\n"
				  "import torch\n"
				  "import torch.distributed as dist\n"
				  "from torch import nn\n"
				  "\n"
				  "\n"
				  "class Hyperparameters:\n"
				  "    seed = int(os.environ.get(\"SEED\", 1337))\n"
				  "    iterations = int(os.environ.get(\"ITERATIONS\", 20000))\n"
				  "    warmup_steps = 20\n"
				  "    train_batch_tokens = 524288\n"
				  "    max_wallclock_seconds = 600.0\n"
				  "\n"
				  "\n"
				  "def log0(text):\n"
				  "    if int(os.environ.get(\"RANK\", 0)) == 0:\n"
				  "        print(text, flush=True)\n";

static const char source_module[] =
	"\n"
	"\n"
	"class Block%d(nn.Module):\n"
	"    \"\"\"Layer %d: attention, then a wide relu squared.\"\"\"\n"
	"\n"
	"    def __init__(self, width, heads):\n"
	"        super().__init__()\n"
	"        self.norm = nn.RMSNorm(width)\n"
	"        self.mix = nn.MultiheadAttention(width, heads)\n"
	"        self.wide = nn.Linear(width, 4 * width, bias=False)\n"
	"        self.back = nn.Linear(4 * width, width, bias=False)\n"
	"        nn.init.zeros_(self.back.weight)  # starts as the identity\n"
	"\n"
	"    def forward(self, x):\n"
	"        y = self.norm(x)\n"
	"        x = x + self.mix(y, y, y, need_weights=False)[0]\n"
	"        return x + self.back(self.wide(self.norm(x)).relu() ** 2)\n";

static const char source_tail[] = "\n"
				  "\n"
				  "def train(args, model, batches):\n"
				  "    begin = time.perf_counter()\n"
				  "    log0(f\"seed:{args.seed}\")\n"
				  "    for step in range(1, args.iterations + 1):\n"
				  "        loss = model(next(batches))\n"
				  "        loss.backward()\n"
				  "        ms = 1000 * (time.perf_counter() - begin)\n"
				  "        log0(f\"step:{step}/{args.iterations} \"\n"
				  "             f\"train_loss:{loss:.4f} train_time:{ms:.0f}ms \"\n"
				  "             f\"step_avg:{ms / step:.2f}ms\")\n"
				  "        if ms > 1000 * args.max_wallclock_seconds:\n"
				  "            log0(f\"stopping_early: wallclock_cap \"\n"
				  "                 f\"train_time:{ms:.0f}ms step:{step}\")\n"
				  "            break\n"
				  "    # final_int8_zlib_roundtrip val_loss:1.0000 val_bpb:0.5000\n"
				  "\n"
				  "\n"
				  "if __name__ == \"__main__\":\n"
				  "    sys.exit(train(Hyperparameters(), build(), load()))\n";

void loggen_say_source(struct loggen *gen)
{
	struct buf module;

	loggen_say_text(gen, source_head);
	buf_init(&module, 4096);
	for (int i = 0; i < 11; i++) {
		buf_clear(&module);
		buf_appendf(&module, source_module, i, i);
		loggen_say_text(gen, module.data);
	}
	buf_release(&module);
	loggen_say_text(gen, source_tail);
}

void loggen_say_rule(struct loggen *gen)
{
	/* 100 characters. */
	loggen_say(gen, "==================================================%s",
		   "==================================================");
}

void loggen_say_torchrun_warning(struct loggen *gen)
{
	loggen_say_text(gen, "\n"
			     "*****************************************\n"
			     "Setting OMP_NUM_THREADS environment variable for each "
			     "process to be 1 in default, to avoid your system being "
			     "overloaded, please further tune the variable for optimal "
			     "performance in your application as needed. \n"
			     "*****************************************\n");
	loggen_wait(gen, 11000);
	loggen_say_text(gen, "[W318 14:38:11.514156940 Utils.hpp:137] Warning: "
			     "Environment variable NCCL_ASYNC_ERROR_HANDLING is "
			     "deprecated; use TORCH_NCCL_ASYNC_ERROR_HANDLING "
			     "instead (function operator())\n"
			     "NCCL version 2.27.5+cuda12.9\n");
}

void loggen_say_nvidia_smi(struct loggen *gen)
{
	static const char bar[] = "+-----------------------------------------+----------------"
				  "--------+----------------------+";

	loggen_say(gen, "%s", bar);
	loggen_say_text(gen, "| NVIDIA-SMI 580.126.09             Driver Version: "
			     "580.126.09     CUDA Version: 13.0     |\n"
			     "| GPU  Name                 Persistence-M | Bus-Id"
			     "          Disp.A | Volatile Uncorr. ECC |\n");
	for (unsigned int i = 0; i < gen->recipe.n_gpus; i++) {
		double power_w = 120 + 5 * loggen_normal(gen);
		double celsius = 38 + 3 * loggen_normal(gen);

		loggen_say(gen, "%s", bar);
		loggen_say(gen,
			   "|   %u  NVIDIA H100 80GB HBM3          Off |   "
			   "00000000:%02X:00.0 Off |                    0 |",
			   i, 0x0A + 13 * i);
		loggen_say(gen,
			   "| N/A   %2.0fC    P0            %3.0fW /  700W |    "
			   "1505MiB /  81559MiB |      0%%      Default |",
			   celsius, power_w);
	}
	loggen_say(gen, "%s", bar);
}

/* The messages of torchrun after a rank has died. */
static void say_child_failed(struct loggen *gen)
{
	loggen_wait(gen, 2000);
	loggen_say_text(gen, "E0506 15:28:20.036000 5089 torch/distributed/elastic/"
			     "multiprocessing/api.py:882] failed (exitcode: 1) "
			     "local_rank: 0 (pid: 5158) of binary: /usr/bin/python3\n"
			     "Traceback (most recent call last):\n"
			     "  File \"/usr/local/bin/torchrun\", line 7, in <module>\n"
			     "    sys.exit(main())\n"
			     "             ^^^^^^\n"
			     "torch.distributed.elastic.multiprocessing.errors."
			     "ChildFailedError: \n"
			     "======================================================="
			     "=====\n"
			     "train_gpt.py FAILED\n"
			     "-------------------------------------------------------"
			     "-----\n"
			     "Root Cause (first observed failure):\n"
			     "[0]:\n"
			     "  rank      : 0 (local_rank: 0)\n"
			     "  exitcode  : 1 (pid: 5158)\n"
			     "======================================================="
			     "=====\n");
}

static void say_traceback(struct loggen *gen, const char *what)
{
	loggen_wait(gen, 800);
	loggen_say(gen, "[rank0]: Traceback (most recent call last):");
	loggen_say(gen, "[rank0]:   File \"/workspace/train_gpt.py\", line "
			"1012, in <module>");
	loggen_say(gen, "[rank0]:     main()");
	loggen_say(gen, "[rank0]:     ^^^^^^");
	loggen_say(gen, "[rank0]:   File \"/workspace/train_gpt.py\", line "
			"874, in main");
	loggen_say(gen, "[rank0]:     loss = model(x, y)");
	loggen_say(gen, "[rank0]: %s", what);
}

void loggen_say_crash(struct loggen *gen)
{
	say_traceback(gen, "RuntimeError: The size of tensor a (1024) must "
			   "match the size of tensor b (2048) at "
			   "non-singleton dimension 1");
	say_child_failed(gen);
}

void loggen_say_oom(struct loggen *gen)
{
	say_traceback(gen, "torch.OutOfMemoryError: CUDA out of memory. Tried "
			   "to allocate 2.00 GiB. GPU 0 has a total capacity "
			   "of 79.11 GiB of which 1.12 GiB is free.");
	say_child_failed(gen);
}
