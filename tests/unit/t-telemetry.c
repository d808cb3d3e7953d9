/* SPDX-License-Identifier: MIT */
/* Telemetry: blocks of a pod with and without GPUs, and malformed input. */
#include "parsers/telemetry.h"

#include "tests/support/tap.h"

static int feed(struct telemetry_reader *reader, const char *text)
{
	struct str rest = str_from(text), line;
	int blocks = 0;

	while (str_next(&rest, '\n', &line))
		blocks += telemetry_line(reader, line);
	return blocks;
}

static const char two_gpus[] = "Welcome to the pod\n"
			       "HGT1 <\n"
			       "L 3.52 2.10 1.00 4/512 12345\n"
			       "D 104857600\n"
			       "G 0, NVIDIA H100 80GB HBM3, 98, 71234, 612.34, 66, 1980, "
			       "0x0000000000000004\n"
			       "G 1, NVIDIA H100 80GB HBM3, 50, 100, 100.5, 40, 1200, "
			       "0x0000000000000001\n"
			       "HGT1 >\n";

static void test_gpus(void)
{
	static const int second[] = { 1 };
	struct telemetry_reader reader;

	telemetry_init(&reader, NULL, 0);
	is_int(feed(&reader, two_gpus), 1, "one block is complete");
	is_near(reader.now.host_load, 3.52, 1e-12, "the load of the host");
	is_near(reader.now.disk_free_bytes, 107374182400.0, 0, "free disk space");
	is_int(reader.now.n_gpus, 2, "two GPUs are counted");
	is_str(reader.now.gpu_name, "NVIDIA H100 80GB HBM3", "the name of the first GPU");
	is_near(reader.now.gpu_util, 74, 1e-12, "mean utilization");
	is_near(reader.now.gpu_busiest, 98, 0, "highest utilization");
	is_near(reader.now.gpu_mem_mib, 71234, 0, "highest memory use");
	is_near(reader.now.gpu_power_w, 712.84, 1e-9, "total power");
	is_near(reader.now.gpu_temp_c, 66, 0, "highest temperature");
	is_near(reader.now.gpu_sm_mhz, 1200, 0, "lowest clock");
	is_near(reader.now.gpu_throttle, 5, 0, "throttle reasons of all GPUs");
	is_int(reader.now.gpus[1].index, 1, "each GPU has its index");
	is_near(reader.now.gpus[1].util, 50, 0, "utilization of a GPU");
	is_near(reader.now.gpus[1].power_w, 100.5, 0, "power of a GPU");
	is_near(reader.now.gpus[0].throttle, 4, 0, "throttle reasons of a GPU");
	telemetry_init(&reader, second, 1);
	feed(&reader, two_gpus);
	is_int(reader.now.n_gpus, 1, "only configured GPUs are counted");
	is_near(reader.now.gpu_util, 50, 0, "figures are those of configured GPUs");
}

static void test_absent(void)
{
	struct telemetry_reader reader;

	telemetry_init(&reader, NULL, 0);
	is_int(feed(&reader, "HGT1 <\nL 0.5 1 1\nHGT1 >\n"), 1, "a block without GPUs is complete");
	is_int(reader.now.n_gpus, 0, "a block without GPUs has no GPU");
	ok(isnan(reader.now.gpu_util) && isnan(reader.now.gpu_power_w),
	   "values of GPUs are absent, not 0");
	ok(isnan(reader.now.disk_free_bytes), "free disk space is absent");
	feed(&reader, "HGT1 <\nG 0, Tesla, [N/A], [N/A], [Not Supported], "
		      "30, [N/A], [N/A]\nHGT1 >\n");
	is_int(reader.now.n_gpus, 1, "a GPU with few values is counted");
	ok(isnan(reader.now.gpu_util) && isnan(reader.now.gpu_throttle),
	   "values that the GPU does not report are absent");
	is_near(reader.now.gpu_temp_c, 30, 0, "values that the GPU reports are present");
	feed(&reader, "HGT1 <\nG 0, H100, 1, 1, 1, 1, 1, 0xffffffffffffffff\n"
		      "G 1, H100, 1, 1, 1, 1, 1, 0x0000000000000040\nHGT1 >\n");
	ok(isnan(reader.now.gpus[0].throttle), "throttle reasons of all ones are absent, not 0");
	is_near(reader.now.gpu_throttle, 64, 0, "the reasons of the other GPU count");
}

static void test_rubbish(void)
{
	struct telemetry_reader reader;

	telemetry_init(&reader, NULL, 0);
	is_int(feed(&reader, "G 0, x, 1, 1, 1, 1, 1, 0x1\nHGT1 >\n"), 0,
	       "lines outside of a block are ignored");
	is_int(feed(&reader, "HGT1 <\nG\nG 99999999999999999999, a\nG -1, x, "
			     "1, 1, 1, 1, 1, 0x1\nG 64, x, 1, 1, 1, 1, 1, "
			     "0x1\nL \nL nan inf\nD -\nX y\n\nHGT1 >\n"),
	       1, "a block with malformed lines is complete");
	ok(reader.now.n_gpus == 0 && isnan(reader.now.host_load) &&
		   isnan(reader.now.disk_free_bytes),
	   "the values of malformed lines are absent");
	is_int(feed(&reader, "HGT1 <\nL 1 1\nHGT1 <\nHGT1 >\n"), 1,
	       "a block after one that was cut off is complete");
	ok(isnan(reader.now.host_load), "the values of a block that was cut off are dropped");
}

int main(void)
{
	test_gpus();
	test_absent();
	test_rubbish();
	return tap_done();
}
