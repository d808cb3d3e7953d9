/* SPDX-License-Identifier: MIT */
/* `pods check` evaluates any answer of a pod, whatever the pod prints. */
#include <stdlib.h>
#include <string.h>

#include "parsers/json.h"
#include "pods/preflight.h"
#include "tests/support/tap.h"

static const char answer[] = "motd\nnonce\n"
			     "clock\t1700000000.250000000\n"
			     "shell\t/bin/bash\n"
			     "system\tLinux 6.1 x86_64\n"
			     "scratch\t/workspace\n"
			     "writable\t1\n"
			     "df\t/dev/sda 100 50 2000000 5% /workspace\n"
			     "smi\t0\n"
			     "gpu\t0, NVIDIA H100, 81559, 4, 0, 570.1\n"
			     "gpu\t1, NVIDIA H100, 81559, 70000, 3, 570.1\n"
			     "python\t3.11.2\n"
			     "torch\t2.7.0\n"
			     "end\t0\n";

static struct conf_pod pod = { .transport = CONF_LIBSSH2 };
static char pod_name[] = "p", pod_ssh[] = "h";

static cJSON *judge(struct str out, const struct stream_exit *exit, bool late)
{
	const struct preflight p = {
		.pod = &pod,
		.nonce = "nonce",
		.out = out,
		.exit = exit,
		.late = late,
		.connect_ms = 5,
		.sent_wall_ms = 1700000000000,
		.got_wall_ms = 1700000000100,
		.host_key = "",
		.need_gpu = true,
		.min_free_bytes = 1e6,
	};

	return preflight_row(&p);
}

static void is_failure(struct str out, const struct stream_exit *exit, bool late, const char *want,
		       const char *name)
{
	cJSON *row = judge(out, exit, late);

	is_str(json_get_string(row, "failure", NULL), want, name);
	cJSON_Delete(row);
}

static void test_good(void)
{
	const struct stream_exit exit = { .exited = true };
	static int only_first = 0; /* the pod keeps it for the next tests */
	cJSON *row;

	is_failure(STR_LIT(answer), &exit, false, "gpu", "a GPU with memory in use and no process");
	pod.gpus = &only_first;
	pod.n_gpus = 1;
	row = judge(STR_LIT(answer), &exit, false);
	is_str(json_get_string(row, "failure", NULL), NULL,
	       "a GPU that is not the pod's own may be busy");
	is_near(json_get_number(row, "clock_offset_s", -1), 0.2, 1e-6,
		"the clock is compared with the middle of request and answer");
	is_near(json_get_number(row, "free_bytes", -1), 2048e6, 1e-9, "the row has the free space");
	is_str(json_get_string(row, "gpu", NULL), "2x NVIDIA H100", "the row has the GPUs");
	ok(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(row, "triton")), "an absent fact is null");
	cJSON_Delete(row);
}

/* Processes that a bench left running: the message names the bench and how to stop it. */
static void test_jobs(void)
{
	static const char jobs[] = "nonce\nclock\t1700000000.0\nwritable\t1\nsmi\t0\n"
				   "df\t/dev/sda 100 50 2000000 5% /workspace\n"
				   "gpu\t0, NVIDIA H100, 81559, 4, 0, 570.1\npython\t3.11.2\n"
				   "job\t4242 /root/.hgym-bench/ab-1/0_p_B;\n"
				   "job\t4243 /root/.hgym-bench/ab-1/0_p_B;\nend\t0\n";
	static const char unnamed[] = "nonce\nclock\t1700000000.0\nwritable\t1\nsmi\t0\n"
				      "df\t/dev/sda 100 50 2000000 5% /workspace\n"
				      "gpu\t0, NVIDIA H100, 81559, 4, 0, 570.1\npython\t3.11.2\n"
				      "job\t4242 /x;\nend\t0\n";
	const struct stream_exit exit = { .exited = true };
	cJSON *row = judge(STR_LIT(jobs), &exit, false);

	is_str(json_get_string(row, "text", NULL),
	       "2 processes of an hgym-tui bench are still running (bench ab-1, pid 4242)",
	       "processes of a bench are reported");
	is_str(json_get_string(row, "next", NULL), "hgym-tui bench abort ab-1",
	       "the next step aborts the bench");
	cJSON_Delete(row);
	row = judge(STR_LIT(unnamed), &exit, false);
	is_str(json_get_string(row, "text", NULL),
	       "1 process of an hgym-tui bench is still running (pid 4242)",
	       "a process that does not show its bench is reported");
	is_str(json_get_string(row, "next", NULL), "hgym-tui bench list",
	       "the next step lists the benches");
	cJSON_Delete(row);
}

/* The code of the error and the exit status come before any words. */
static void test_classes(void)
{
	static const struct {
		enum err_code code;
		const char *class;
	} cases[] = {
		{ ERR_NET, "ssh" },	    { ERR_AUTH, "auth" },  { ERR_HOSTKEY, "hostkey" },
		{ ERR_TIMEOUT, "timeout" }, { ERR_CONFIG, "ssh" }, { ERR_REMOTE, "environment" },
	};
	struct stream_exit exit = { .exited = true, .status = 7 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream_exit lost = { 0 };

		err_set(&lost.err, cases[i].code, "Permission denied");
		is_failure(STR_LIT(answer), &lost, false, cases[i].class, cases[i].class);
	}
	is_failure(STR_LIT("nonce\nPermission denied\n"), &exit, false, "environment",
		   "an exit status");
	is_failure(STR_LIT(""), &exit, true, "timeout", "no answer in time");
	exit.status = 0;
	is_failure(STR_LIT("welcome\n"), &exit, false, "environment",
		   "a login that runs no commands");
}

/* An answer that is cut anywhere, or has any bytes changed, gives a row and never a crash. */
static void test_rubbish(void)
{
	const struct stream_exit exit = { .exited = true };
	char text[sizeof(answer)];
	unsigned int seed = 3;
	bool good = true;

	for (size_t n = 0; n < sizeof(answer); n++) {
		cJSON *row = judge((struct str){ answer, n }, &exit, false);

		good = good && cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(row, "failures"));
		cJSON_Delete(row);
	}
	ok(good, "an answer cut at any byte gives a row");
	for (int i = 0; i < 5000; i++) {
		cJSON *row;

		memcpy(text, answer, sizeof(text));
		for (int k = rand_r(&seed) % 12; k >= 0; k--)
			text[(size_t)rand_r(&seed) % sizeof(text)] =
				"\n\t, \0\xff\x1b\x30-"[rand_r(&seed) % 9];
		row = judge((struct str){ text, sizeof(text) - 1 }, &exit, false);
		good = good && json_get_string(row, "status", NULL) != NULL;
		cJSON_Delete(row);
	}
	ok(good, "5000 answers with some bytes changed give a row");
}

int main(void)
{
	pod.name = pod_name;
	pod.ssh = pod_ssh;
	test_good();
	test_jobs();
	test_classes();
	test_rubbish();
	return tap_done();
}
