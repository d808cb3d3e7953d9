/* SPDX-License-Identifier: MIT */
/* run_reader: figures that could be mistaken for a run's score. */
#include "parsers/format.h"
#include "tests/support/run_case.h"

static const struct run_case cases[] = {
	{ "a figure of the model before quantization is not the score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_prequant_sliding_window val_loss:2 val_bpb:1.09 eval_time:9ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "final_unquantized_sliding val_loss:2 val_bpb:1.08 eval_time:9ms\n",
	  1,
	  { { "final_bpb", "1.14518023" },
	    { "sliding_bpb", "null" },
	    { "prequant_bpb", "null" } } },
	{ "a pre-quantization figure with another label",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "pre-quant val_loss:2.1 val_bpb:1.12 eval_time:1200.5ms\n"
	  "post-prequant-ttt val_loss:2.1 val_bpb:1.11 eval_time:9ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n",
	  1,
	  { { "final_bpb", "1.14518023" }, { "prequant_bpb", "1.11" } } },
	{ "a float model under a final label is not the score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_bf16_sliding_window val_loss:2 val_bpb:1.1 eval_time:9ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n",
	  1,
	  { { "final_bpb", "null" }, { "sliding_bpb", "null" }, { "quant_bpb", "1.14518023" } } },
	{ "a label that names a part of the evaluation gives no score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "final_ttt_lora_100docs val_loss:2 val_bpb:1.1 eval_time:9ms\n",
	  1,
	  { { "final_bpb", "null" }, { "ttt_bpb", "null" }, { "sliding_bpb", "null" } } },
	{ "a line that reports a part gives no score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "final_int6_sliding_window val_loss:2 val_bpb:1.1 tokens:1048576/62021632 eval_time:9ms\n",
	  1,
	  { { "final_bpb", "null" }, { "ttt_bpb", "null" }, { "sliding_bpb", "null" } } },
	{ "an evaluation that reports that it was aborted gives no score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "legal_ttt val_loss:2 val_bpb:1.1 eval_time:9ms (aborted)\n",
	  1,
	  { { "final_bpb", "null" }, { "ttt_bpb", "null" }, { "sliding_bpb", "null" } } },
	{ "an evaluation that reports that it is complete gives the score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "final_int6_sliding_window val_loss:2 val_bpb:1.1 windows:969088/969088 eval_time:1500.5ms\n",
	  1,
	  { { "final_bpb", "1.1" }, { "eval_s", "1.5005" } } },
	{ "if two codecs have roundtrips, neither is the score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int8_roundtrip val_loss:2.1 val_bpb:1.15 eval_time:1ms\n"
	  "final_int5_roundtrip val_loss:2.1 val_bpb:1.18 eval_time:1ms\n",
	  1,
	  { { "final_bpb", "null" }, { "quant_bpb", "null" }, { "status", "\"finished\"" } } },
	{ "an evaluation that the settings announce is missing",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "  ttt_enabled: True\n"
	  "diagnostic quantized val_loss:2.7 val_bpb:1.0832 eval_time:45933ms\n",
	  1,
	  { { "final_bpb", "null" }, { "quant_bpb", "1.0832" }, { "status", "\"truncated\"" } } },
	{ "after the last evaluation, no earlier one is missing",
	  "  sliding_window_enabled: True\n"
	  "  ttt_enabled: True\n"
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "quantized val_loss:2.7 val_bpb:1.0832 eval_time:45933ms\n"
	  "quantized_ttt val_loss:2.7 val_bpb:1.0732 eval_time:45933ms\n",
	  1,
	  { { "final_bpb", "1.0732" }, { "status", "\"finished\"" } } },
	{ "bars and figures of other models do not contest the score",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "previous record val_bpb: 1.1194\n"
	  "SOTA val_bpb: 1.0894\n"
	  "eval:  50%|##   | 50/100 [00:30<00:30, 1.6it/s] bpb: 1.1234\n",
	  1,
	  { { "final_bpb", "1.14518023" } } },
	{ "a validation long before the end is not the quantized model's",
	  "step:5/99 val_loss:2 val_bpb:1.3 train_time:50ms step_avg:10ms\n"
	  "step:99/99 train_loss:2 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n",
	  1,
	  { { "last_val_bpb", "1.3" }, { "prequant_bpb", "null" } } },
	{ "a validation of the packed model does not belong to the training",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "step:99/99 val_loss:2.2 val_bpb:1.4 train_time:990ms\n",
	  1,
	  { { "last_val_bpb", "1.3" }, { "prequant_bpb", "1.3" } } },
	{ "a projected size is not the artifact's",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "Total submission size int6+lzma: 16400000 bytes\n"
	  "Total submission size int6+lzma: 15990000 bytes\n"
	  "Total submission size int6+lzma: 15000000 bytes (projected)\n",
	  1,
	  { { "artifact_bytes", "15990000" } } },
	{ "if two artifacts have sizes, neither counts",
	  "step:99/99 val_loss:2 val_bpb:1.3 train_time:990ms step_avg:10ms\n"
	  "Total submission size int6+lzma: 15990000 bytes\n"
	  "Total submission size int8+zlib: 21000000 bytes\n",
	  1,
	  { { "artifact_bytes", "null" } } },
	{ "the clock of a resumed run gives no step time",
	  "step:600/1000 train_loss:3 train_time:30000ms step_avg:50ms\n"
	  "step:800/1000 train_loss:3 train_time:40000ms step_avg:50ms\n"
	  "Traceback (most recent call last):\n"
	  "step:700/1000 train_loss:3 train_time:5000ms step_avg:7ms\n"
	  "step:800/1000 train_loss:3 train_time:10000ms step_avg:12ms\n"
	  "step:1000/1000 train_loss:3 train_time:20000ms step_avg:20ms\n",
	  1,
	  { { "steps", "1000" },
	    { "train_ms", "null" },
	    { "ms_per_step", "null" },
	    { "status", "\"finished\"" } } },
	{ "the clock of a log without its first rows gives no step time",
	  "step:5200/10000 train_loss:3 train_time:10000ms step_avg:1.92ms\n"
	  "step:10000/10000 train_loss:3 train_time:250000ms step_avg:25ms\n",
	  1,
	  { { "train_ms", "null" }, { "ms_per_step", "null" } } },
	{ "a last line that is cut within a number is ignored",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int8_zlib_roundtrip val_loss:2.0741 val_bpb:1.2",
	  1,
	  { { "final_bpb", "null" }, { "status", "\"truncated\"" } } },
	{ "a rate that may be cut is ignored",
	  "1000/2000 train_loss: 3.2 train_time: 0.8m tok/s: 8671604\n"
	  "2000/2000 train_loss: 3.2 train_time: 1.6m tok/s: 867",
	  1,
	  { { "tok_s_last", "8671604" }, { "steps", "1000" } } },
	{ "a complete last line is read without its newline",
	  "\xef\xbb\xbfseed:7\n"
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int8_zlib_roundtrip val_loss:2.0741 val_bpb:1.2284",
	  1,
	  { { "final_bpb", "1.2284" }, { "seed", "7" } } },
	{ "a last line that ends with a unit is read without its newline",
	  "step:9/9 val_loss:2 train_time:90ms step_avg:10ms",
	  1,
	  { { "final_val_loss", "2" } } },
	{ "a validation long before the stop is not the score",
	  "step:100/900 val_loss:3.5 train_time:4000ms step_avg:40ms\n"
	  "stopping_early: wallclock_cap train_time:32000ms step:800/900\n",
	  1,
	  { { "last_val_loss", "3.5" },
	    { "final_val_loss", "null" },
	    { "status", "\"finished\"" } } },
	{ "rows of llm.c",
	  "step    1/20 | loss 11.010 (+nanz)| norm 15.3 (+nanz)| "
	  "lr 8.57e-07 | 3056.36 ms | 42.6% bf16 MFU | 171534 tok/s\n"
	  "step   20/20 | loss 9.5 (-0.1z)| norm 1.3 (+0.2z)| "
	  "lr 8.57e-07 | 170.1 ms | 50.6% bf16 MFU | 3076000 tok/s\n",
	  1,
	  { { "steps", "20" },
	    { "last_train_loss", "9.5" },
	    { "tok_s_last", "3076000" },
	    { "train_ms", "null" },
	    { "status", "\"finished\"" } } },
	{ "rows of nanochat",
	  "step 00019/00020 (95.00%) | loss: 3.1 | lrm: 1.00 | dt: 501.23ms "
	  "| tok/sec: 1,045,123 | mfu: 47.12 | total time: 0.12m\n"
	  "Step 00020 | Validation bpb: 0.9123\n",
	  1,
	  { { "steps", "20" },
	    { "last_val_bpb", "0.9123" },
	    { "tok_s_last", "1045123" },
	    { "final_bpb", "null" },
	    { "status", "\"finished\"" } } },
	{ "rows of Megatron-LM",
	  " iteration        7/      10 | consumed samples:         1792 | "
	  "elapsed time per iteration (ms): 512.3 | learning rate: 1.5E-04 | "
	  "global batch size:   256 | lm loss: 6.5E+00 | loss scale: 1.0 |\n",
	  1,
	  { { "steps", "7" },
	    { "last_train_loss", "6.5" },
	    { "train_ms", "null" },
	    { "status", "\"truncated\"" } } },
	{ "times in other units",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90.5ms step_avg:10ms\n"
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:0.0905s step_avg:10ms\n",
	  1,
	  { { "train_ms", "90.5" } } },
	{ "the rows of an inner loop are not steps",
	  "step 5/10 | loss 0.1 | 3 ms\nstep 7/10 loss: 0.2\n"
	  "iter 500: loss 0.0012\n"
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n",
	  1,
	  { { "steps", "9" }, { "last_train_loss", "null" } } },
	{ "two seeds before the run starts: neither counts",
	  "  seed: 42\n  seed: 7\n"
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n",
	  1,
	  { { "seed", "null" } } },
	{ "a second seed after a failed start counts",
	  "seed:42\nTraceback (most recent call last):\nseed:7\n"
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n",
	  1,
	  { { "seed", "7" } } },
	{ "one of two averages is not the quantized model's",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "pre-quantization post-ema val_loss:2.1 val_bpb:1.12\n"
	  "pre-quantization post-swa val_loss:2.1 val_bpb:1.13\n"
	  "final_int6_roundtrip val_loss:2.1 val_bpb:1.15\n",
	  1,
	  { { "prequant_bpb", "1.12" }, { "final_bpb", "1.15" } } },
	{ "results with blanks or equal signs",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int6_roundtrip val_loss: 2.1 val_bpb: 1.15 eval_time: 9ms\n"
	  "legal_ttt val_loss=2.0, val_bpb=1.1, eval_time=1500ms\n",
	  1,
	  { { "quant_bpb", "1.15" },
	    { "final_bpb", "1.1" },
	    { "final_val_loss", "2" },
	    { "eval_s", "1.5" } } },
	{ "an evaluation before more training is not the score",
	  "step:500/900 val_loss:2 val_bpb:1.3 train_time:5000ms "
	  "step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.34518023\n"
	  "step:800/900 train_loss:2 train_time:8000ms step_avg:10ms\n",
	  1,
	  { { "final_bpb", "null" },
	    { "quant_bpb", "null" },
	    { "train_ms", "8000" },
	    { "status", "\"truncated\"" } } },
	{ "a clock that leaves out the first steps is valid",
	  "step:9/5100 train_loss:9 train_time:9000ms step_avg:nanms\n"
	  "step:20/5100 train_loss:9 train_time:1400ms step_avg:140ms\n"
	  "step:5100/5100 train_loss:3 train_time:700000ms step_avg:137ms\n",
	  1,
	  { { "train_ms", "700000" } } },
};

int main(void)
{
	struct format_set *formats = format_set_new_builtin();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case_check(formats, &cases[i]);
	format_set_free(formats);
	return tap_done();
}
