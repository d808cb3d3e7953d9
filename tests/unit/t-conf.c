/* SPDX-License-Identifier: MIT */
/* The configuration: the meaning of its keys, and each error message word for word. */
#include "conf/conf.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/tap.h"

static const char full[] = "{\"schema\": \"hgym-tui.config/1\", \"//\": [\"a comment\", {}],\n"
			   " \"track\": \"parameter-golf-10min\", \"tracks\": [\"t/x.json\"],\n"
			   " \"pods\": [\n"
			   "  {\"name\": \"rp-a\", \"ssh\": \"rp-a\", \"gpus\": [0, 3],\n"
			   "   \"logs\": [\"/workspace/logs/*.txt\"], \"usd_per_hour\": 2.69,\n"
			   "   \"//\": \"mine\"},\n"
			   "  {\"name\": \"rp-b\", \"ssh\": \"root@203.0.113.7:22022\",\n"
			   "   \"identity\": \"~/.ssh/id_ed25519\", \"known_hosts\": \"kh\",\n"
			   "   \"proxy_jump\": \"bastion\", \"transport\": \"openssh\",\n"
			   "   \"logs\": [\"~/pg/train_seed*.log\"],\n"
			   "   \"harnessgym\": [\"/root/task\"]},\n"
			   "  {\"name\": \"here\", \"transport\": \"local\",\n"
			   "   \"logs\": [\"runs/*/train.log\"]}],\n"
			   " \"groups\": {\"by\": \"source\"},\n"
			   " \"baseline\": {\"name\": \"PR#1855\", \"bpb\": [1.5, 1.25],\n"
			   "  \"nats_per_bpb\": 2.5},\n"
			   " \"formats\": [\"formats.d/mine.json\"],\n"
			   " \"benches\": [\"/b/*.json\"],\n"
			   " \"alerts\": {\"stall\": 90, \"bell\": false, \"command\": null,"
			   " \"metrics\": [{\"metric\": \"lm loss\", \"above\": 5},"
			   " {\"metric\": \"acc\", \"above\": 0, \"below\": -1.5}]},\n"
			   " \"keys\": {\"quit\": \"x\", \"help\": null},\n"
			   " \"ui\": {\"charset\": \"ascii\", \"mouse\": false,\n"
			   " \"log_colors\": false}}\n";

static void test_pods(const struct conf *conf)
{
	is_int((long long)conf->n_pods, 3, "three pods");
	is_str(conf->pods[0].ssh, "rp-a", "a pod given by an ssh alias");
	is_int((long long)conf->pods[0].n_gpus, 2, "number of GPUs of a pod");
	is_int(conf->pods[0].gpus[1], 3, "the second GPU");
	is_near(conf->pods[0].usd_per_hour, 2.69, 0, "price of a pod");
	ok(isnan(conf->pods[1].usd_per_hour), "a missing price is absent, not 0");
	is_str(conf->pods[1].identity, "/users/u/.ssh/id_ed25519", "~ is expanded");
	is_str(conf->pods[1].known_hosts, "/etc/kh",
	       "a relative path belongs to the folder of the file");
	is_str(conf->pods[1].logs.v[0], "~/pg/train_seed*.log",
	       "a path of the pod stays unchanged");
	is_int(conf->pods[1].transport, CONF_OPENSSH, "the transport that is set");
	is_int(conf->pods[0].transport, CONF_LIBSSH2, "the default transport");
	is_str(conf->pods[2].logs.v[0], "/etc/runs/*/train.log",
	       "logs of a local pod are paths on this machine");
	is_int(conf_find_pod(conf, "here"), 2, "a pod is found by name");
	is_int(conf_find_pod(conf, "her"), -1, "an unknown name is not found");
	ok(!conf_pod_same_link(&conf->pods[0], &conf->pods[1]) &&
		   conf_pod_same_link(&conf->pods[0], &conf->pods[0]),
	   "pods with different links differ");
}

static void test_full(void)
{
	struct err err = { ERR_NONE, "" };
	struct conf conf;

	is_int(conf_parse(&conf, "/etc/config.json", STR_LIT(full), &err), 0,
	       "a whole configuration");
	is_str(err.text, "", "a whole configuration has no error");
	test_pods(&conf);
	is_str(conf.track, "parameter-golf-10min", "track");
	is_str(conf.tracks.v[0], "/etc/t/x.json", "track files");
	is_str(conf.formats.v[0], "/etc/formats.d/mine.json", "formats");
	is_str(conf.benches.v[0], "/b/*.json", "benches");
	is_int(conf.group_by, CONF_BY_SOURCE, "groups");
	is_int((long long)conf.baseline.n_bpb, 2, "baseline");
	is_near(conf.baseline.nats_per_bpb, 2.5, 0, "nats per BPB of the baseline");
	is_int(conf.alerts.stall, CONF_STALL_SECONDS, "stall");
	is_near(conf.alerts.stall_s, 90, 0, "seconds of the stall alert");
	ok(!conf.alerts.bell && conf.alerts.command == NULL, "bell, command");
	ok(conf.alerts.n_metrics == 2 && strcmp(conf.alerts.metrics[0].metric, "lm loss") == 0 &&
		   conf.alerts.metrics[0].above == 5 && isnan(conf.alerts.metrics[0].below) &&
		   conf.alerts.metrics[1].above == 0 && conf.alerts.metrics[1].below == -1.5,
	   "alerts on metrics");
	is_int((long long)conf.n_keys, 2, "keys");
	is_str(conf.keys[0].action, "quit", "an action");
	is_str(conf.keys[0].key, "x", "the key of an action");
	ok(conf.keys[1].key == NULL, "an action without a key");
	is_str(conf.ui.charset, "ascii", "ui");
	ok(!conf.ui.mouse && conf.ui.utc, "a value that is given, and a default");
	ok(!conf.ui.log_colors, "a log's own colours are off");
	conf_release(&conf);
}

/* Each wrong configuration and its complete error message. */
static const struct {
	const char *text, *want;
} wrong[] = {
	{ "{\n \"pod\": []}", "c.json:2: pod: unknown key; did you mean \"pods\"?" },
	{ "{\"pods\": {}}", "c.json:1: pods: expected an array" },
	{ "[]", "c.json:1: expected an object" },
	{ "{\"pods\": [\n}",
	  "c.json:2: not valid JSON: unexpected text, or a missing } or ], in column 1" },
	{ "", "c.json:1: not valid JSON: the end is missing in column 1" },
	{ "{} {}", "c.json:1: not valid JSON: text after the end in column 4" },
	{ "{\"track\": \"a\",\n}",
	  "c.json:1: not valid JSON: a comma without a value after it in column 14" },
	{ "{\"pods\": [], }\n",
	  "c.json:1: not valid JSON: a comma without a value after it in column 12" },
	{ "{\"track\": 'a'}",
	  "c.json:1: not valid JSON: a string needs double quotes in column 11" },
	{ "{\"schema\": \"hgym-tui.config/2\"}",
	  "c.json:1: schema: expected \"hgym-tui.config/1\"" },
	{ "{\"track\": \"a\",\n\"track\": \"b\"}", "c.json:1: track: duplicate key" },
	{ "{\"track\": 1}", "c.json:1: track: expected a string" },
	{ "{\"pods\": [\n{}]}", "c.json:2: pods[0]: the key \"name\" is missing" },
	{ "{\"pods\": [{\"name\": \"a\"}]}",
	  "c.json:1: pods[0]: missing key \"ssh\" (or \"transport\": \"local\")" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"-oX\"}]}",
	  "c.json:1: pods[0].ssh: expected a host alias or "
	  "[user@]host[:port]" },
	{ "{\"pods\": [{\"name\": \"a b\", \"ssh\": \"h\"}]}",
	  "c.json:1: pods[0].name: a pod's name must not contain spaces or any of "
	  "/\\:*?[]{}'\"`$&|;<>()!#~" },
	{ "{\"pods\": [{\"name\": \"..\", \"ssh\": \"h\"}]}",
	  "c.json:1: pods[0].name: expected a name of 1 to 64 bytes that does not start "
	  "with - or ." },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\"},\n"
	  "{\"ssh\": \"i\",\n\"name\": \"a\"}]}",
	  "c.json:3: pods[1].name: pods[0] has the same name, \"a\"" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"port\": 1}]}",
	  "c.json:1: pods[0].port: unknown key; did you mean \"ssh\", a host alias or "
	  "[user@]host[:port]?" },
	{ "{\"pods\": [{\"name\": \"a\", \"HostName\": \"h\"}]}",
	  "c.json:1: pods[0].HostName: unknown key; did you mean \"ssh\", a host alias or "
	  "[user@]host[:port]?" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"key\": \"k\"}]}",
	  "c.json:1: pods[0].key: unknown key; did you mean \"identity\", the path of a "
	  "private key?" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"path\": \"*.log\"}]}",
	  "c.json:1: pods[0].path: unknown key; did you mean \"logs\", a list of paths?" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"host_key_alia\": \"k\"}]}",
	  "c.json:1: pods[0].host_key_alia: unknown key; did you mean \"host_key_alias\"?" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\",\n"
	  " \"transport\": \"telnet\"}]}",
	  "c.json:2: pods[0].transport: expected \"libssh2\", \"openssh\", "
	  "\"local\" or \"command\"" },
	{ "{\"pods\": [{\"name\": \"a\", \"transport\": \"command\"}]}",
	  "c.json:1: pods[0]: missing key \"command\": a program that provides a shell, "
	  "and its arguments" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"command\": []}]}",
	  "c.json:1: pods[0].command: not allowed with the transport \"libssh2\"" },
	{ "{\"pods\": [{\"name\": \"a\", \"transport\": \"local\",\n"
	  " \"ssh\": \"h\"}]}",
	  "c.json:2: pods[0].ssh: not allowed with the transport \"local\"" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\",\n\"logs\": "
	  "[\"x\",\n 3]}]}",
	  "c.json:3: pods[0].logs[1]: expected a non-empty string" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"gpus\": [0.5]}]}",
	  "c.json:1: pods[0].gpus[0]: expected the index of a GPU, 0 to 63" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"gpus\": [1, 1]}]}",
	  "c.json:1: pods[0].gpus[1]: duplicate GPU 1" },
	{ "{\"pods\": [{\"name\": \"a\", \"ssh\": \"h\", \"usd_per_hour\": "
	  "-1}]}",
	  "c.json:1: pods[0].usd_per_hour: expected a number from 0 to "
	  "1000000" },
	{ "{\"discover\": [{\"command\": [\"x\"]}]}",
	  "c.json:1: discover[0]: the key \"name\" is missing" },
	{ "{\"discover\": [{\"name\": \"x\", \"command\": []}]}",
	  "c.json:1: discover[0]: the command is empty" },
	{ "{\"discover\": [{\"name\": \"x\", \"command\": [\"y\"]},\n"
	  "{\"name\": \"x\", \"command\": [\"z\"]}]}",
	  "c.json:2: discover[1]: discover[0] has the same name, \"x\"" },
	{ "{\"groups\": {\"by\": \"moon\"}}",
	  "c.json:1: groups.by: expected \"dirname\", \"file\", \"source\", "
	  "\"pattern\" or \"pod\"" },
	{ "{\"groups\": {\"by\": \"pattern\"}}", "c.json:1: groups: missing key \"pattern\"" },
	{ "{\"groups\": {\"by\": \"pod\", \"pattern\": \"x\"}}",
	  "c.json:1: groups.pattern: only allowed with \"by\": \"pattern\"" },
	{ "{\"baseline\": {\"name\": \"x\"}}",
	  "c.json:1: baseline: needs \"bpb\", \"val_loss\" or \"file\"" },
	{ "{\"baseline\": {\"name\": \"x\", \"bpb\": [1, \"2\"]}}",
	  "c.json:1: baseline.bpb[1]: expected a number above 0" },
	{ "{\"alerts\": {\"stall\": \"soon\"}}",
	  "c.json:1: alerts.stall: expected \"auto\", false or seconds from 1 "
	  "to 86400" },
	{ "{\"alerts\": {\"metrics\": [{\"metric\": \"loss\"}]}}",
	  "c.json:1: alerts.metrics[0]: needs \"above\" or \"below\"" },
	{ "{\"alerts\": {\"metrics\": [{\"above\": 5}]}}",
	  "c.json:1: alerts.metrics[0]: the key \"metric\" is missing" },
	{ "{\"alerts\": {\"metrics\": [5]}}", "c.json:1: alerts.metrics[0]: expected an object" },
	{ "{\"alerts\": {\"metrics\": [{\"metric\": \"a\", \"over\": 5}]}}",
	  "c.json:1: alerts.metrics[0].over: unknown key" },
	{ "{\"alerts\": {\"bell\": 1}}", "c.json:1: alerts.bell: expected true or false" },
	{ "{\"keys\":\n {\"leave\": \"x\"}}", "c.json:2: keys.leave: unknown action \"leave\"" },
	{ "{\"keys\": {\"quit\": \"Hyper-x\"}}", "c.json:1: keys.quit: unknown key \"Hyper-x\"" },
	{ "{\"ui\": {\"log_colors\": \"never\"}}",
	  "c.json:1: ui.log_colors: expected true or false" },
	{ "{\"ui\": {\"theme\": \"mauve\"}}",
	  "c.json:1: ui.theme: expected \"dark\", \"light\" or \"contrast\"" },
	{ "{\"groups\": {\"pattern\": \"(\"}}",
	  "c.json:1: groups.pattern: invalid pattern: missing closing parenthesis at character 2 of "
	  "\"(\"" },
	{ "{\"keys\": {\"quit\": 1}}", "c.json:1: keys.quit: expected a key or null" },
	{ "{\"keys\": {\"quit\": \"x\",\n \"sort\": \"F5 x\"}}",
	  "c.json:2: keys.sort: F5 x is also bound to \"quit\"" },
	{ "{\"ui\": {\"charset\": \"utf-8\"}}",
	  "c.json:1: ui.charset: expected \"braille\", \"block\", \"ascii\" or "
	  "\"pixels\"" },
	{ "{\"mirror_cap_bytes\": 1}",
	  "c.json:1: mirror_cap_bytes: expected a number from 1000000 to "
	  "1e+15" },
	{ "{\"telemetry_s\": 0}", "c.json:1: telemetry_s: expected a number from 1 to 3600" },
};

static void test_wrong(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = { ERR_NONE, "" };
		struct conf conf;
		int rc = conf_parse(&conf, "c.json", str_from(wrong[i].text), &err);

		is_str(err.text, wrong[i].want, "the message of each error");
		if (rc == 0)
			conf_release(&conf);
		ok(rc == -1 && err.code == ERR_CONFIG, "the configuration is refused");
	}
}

static void test_environment(const char *dir)
{
	struct err err = { ERR_NONE, "" };
	struct conf conf;

	setenv("XDG_CONFIG_HOME", dir, 1);
	is_int(conf_load(&conf, NULL, &err), 0, "a missing file is not an error");
	is_int((long long)conf.n_pods, 0, "no pods without a file");
	conf_release(&conf);
	is_int(conf_load(&conf, "/nonexistent/c.json", &err), -1,
	       "a file that was named must exist");
	is_str(err.text, "cannot open /nonexistent/c.json: No such file or directory",
	       "the error names the missing file");
	is_int(err_exit_status(err.code), 2, "exit status 2");
	setenv("HARNESSGYM_GPU_HOST", "root@10.0.0.1", 1);
	setenv("HARNESSGYM_GPU_PORT", "22022", 1);
	setenv("HARNESSGYM_GPU_KEY", "~/k", 1);
	setenv("HARNESSGYM_GPU_REMOTE_ROOT", "/scratch", 1);
	is_int(conf_load(&conf, NULL, &err), 0, "variables make a pod");
	is_str(conf.pods[0].name, "harnessgym", "name of the pod from variables");
	is_str(conf.pods[0].ssh, "root@10.0.0.1:22022", "address of the pod from variables");
	is_str(conf.pods[0].identity, "/users/u/k", "key of the pod from variables");
	is_str(conf.pods[0].remote_root, "/scratch", "folder of the pod from variables");
	conf_release(&conf);
	setenv("HARNESSGYM_GPU_PORT", "22x", 1);
	is_int(conf_load(&conf, NULL, &err), -1, "a wrong port is refused");
	is_str(err.text, "HARNESSGYM_GPU_PORT: expected a port from 1 to 65535",
	       "the error names the variable");
	unsetenv("HARNESSGYM_GPU_HOST");
}

static void test_dirs(const char *dir)
{
	struct err err = { ERR_NONE, "" };
	char *path, deep[300];
	struct stat st;

	setenv("XDG_DATA_HOME", "relative", 1);
	path = conf_db_path(NULL, NULL);
	is_str(path, "/users/u/.local/share/hgym-tui/history.db",
	       "a relative XDG folder is ignored");
	free(path);
	path = conf_db_path(NULL, "~/x.db");
	is_str(path, "/users/u/x.db", "--db comes before the default");
	free(path);
	(void)snprintf(deep, sizeof(deep), "%s/a/b/c", dir);
	is_int(conf_make_dir(deep, &err), 0, "folders are created");
	is_int(conf_make_dir(deep, &err), 0, "existing folders are accepted");
	ok(stat(deep, &st) == 0 && (st.st_mode & 0777) == 0700, "created folders have mode 0700");
	for (size_t end = strlen(deep); end >= strlen(dir); end -= 2) {
		deep[end] = '\0';
		(void)rmdir(deep);
	}
}

int main(void)
{
	char dir[] = "/tmp/t-conf.XXXXXX";

	umask(022);
	setenv("HOME", "/users/u", 1);
	unsetenv("HGYM_TUI_CONFIG");
	unsetenv("HARNESSGYM_GPU_HOST");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_full();
	test_wrong();
	test_environment(dir);
	test_dirs(dir);
	return tap_done();
}
