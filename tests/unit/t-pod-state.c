/* SPDX-License-Identifier: MIT */
/* The pace of a log, and the state of a link. */
#include "model/pod_state.h"

#include "tests/support/tap.h"

static void test_pace(void)
{
	struct pod_pace pace = { 0 };
	int64_t now = 1000;

	is_int(pod_pace_p99_ms(&pace), -1, "nothing is known at first");
	ok(!pod_pace_is_silent(&pace, 1 << 30), "a log without a known pace is not silent");
	for (int i = 0; i < 8; i++)
		pod_pace_bytes(&pace, now += 2000);
	is_int(pod_pace_patience_ms(&pace), -1, "seven gaps are too few");
	pod_pace_bytes(&pace, now += 2000);
	is_int(pod_pace_p99_ms(&pace), 2000, "the gap of a regular log is known");
	is_int(pod_pace_patience_ms(&pace), POD_PACE_MIN_MS, "patience has a minimum");
	for (int i = 0; i < 20; i++)
		pod_pace_bytes(&pace, now += 10);
	is_int(pod_pace_p99_ms(&pace), 2000, "bursts are not gaps");
	pod_pace_bytes(&pace, now += 30000);
	is_int(pod_pace_patience_ms(&pace), 120000,
	       "patience is four times the longest of few gaps");
	ok(!pod_pace_is_silent(&pace, now + 120000), "the log is not silent yet");
	ok(pod_pace_is_silent(&pace, now + 120001), "the log is silent now");
	for (int i = 0; i < 200; i++)
		pod_pace_bytes(&pace, now += 5000);
	is_int(pod_pace_patience_ms(&pace), 20000, "old gaps are forgotten");
	for (int i = 0; i < 200; i++)
		pod_pace_bytes(&pace, now += 3600000);
	is_int(pod_pace_patience_ms(&pace), POD_PACE_MAX_MS, "patience has a maximum");
}

static const struct {
	const char *name;
	struct pod_facts facts;
	enum pod_state state;
	const char *why;
	int64_t retry_at_ms;
} cases[] = {
	{ "nothing requested", { .link = LINK_IDLE }, POD_UNKNOWN, "", 0 },
	{ "first connection", { .link = LINK_CONNECTING }, POD_CONNECTING, "", 0 },
	{ "a later connection",
	  { .link = LINK_CONNECTING, .was_up = true, .why = "reset" },
	  POD_RECONNECTING,
	  "reset",
	  0 },
	{ "waits, and was never connected",
	  { .link = LINK_WAITING, .why = "timed out", .retry_at_ms = 77 },
	  POD_UNREACHED,
	  "timed out",
	  77 },
	{ "waits after a lost connection",
	  { .link = LINK_WAITING, .was_up = true, .why = "timed out", .retry_at_ms = 77 },
	  POD_RECONNECTING,
	  "timed out",
	  77 },
	{ "refused",
	  { .link = LINK_REFUSED, .why = "no key fits" },
	  POD_REFUSED,
	  "no key fits",
	  0 },
	{ "refused, tried again later",
	  { .link = LINK_REFUSED, .why = "no key fits", .retry_at_ms = 77 },
	  POD_REFUSED,
	  "no key fits",
	  77 },
	{ "closed", { .link = LINK_GONE }, POD_GONE, "", 0 },
	{ "connected, without a follower yet",
	  { .link = LINK_LIVE, .now_ms = 5000 },
	  POD_CONNECTING,
	  "starting the follower",
	  0 },
	{ "live", { .link = LINK_LIVE, .now_ms = 5000, .last_frame_ms = 4000 }, POD_LIVE, "", 0 },
	{ "the follower sends no frames",
	  { .link = LINK_LIVE, .now_ms = 20000, .last_frame_ms = 4000 },
	  POD_SILENT,
	  "follower has not responded for 16 s",
	  0 },
	{ "one of two runs is silent",
	  { .link = LINK_LIVE,
	    .now_ms = 5000,
	    .last_frame_ms = 4000,
	    .n_under_way = 2,
	    .n_silent = 1,
	    .silent_ms = 100 },
	  POD_LIVE,
	  "",
	  0 },
	{ "all runs are silent",
	  { .link = LINK_LIVE,
	    .now_ms = 5000,
	    .last_frame_ms = 4000,
	    .n_under_way = 2,
	    .n_silent = 2,
	    .silent_ms = 61500 },
	  POD_SILENT,
	  "no log has grown for 61 s",
	  0 },
	{ "paused for a bench",
	  { .link = LINK_LIVE, .now_ms = 50000, .last_frame_ms = 4000, .is_paused = true },
	  POD_LIVE,
	  "reading is paused",
	  0 },
};

static void test_states(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pod_verdict v;

		pod_state_decide(&cases[i].facts, &v);
		is_int(v.state, cases[i].state, cases[i].name);
		is_str(v.why, cases[i].why, "the state has its reason");
		is_int(v.retry_at_ms, cases[i].retry_at_ms, "the state has its next attempt");
	}
}

int main(void)
{
	test_pace();
	test_states();
	return tap_done();
}
