/* SPDX-License-Identifier: MIT */
/* `init`: ask for a host and its logs, test both, and add a pod to the configuration. */
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "conf/edit.h"
#include "pods/preflight.h"
#include "pods/probe.h"

#define ANSWER_BYTES 1000
#define SSH_BYTES    (1U << 20)

struct init_call {
	bool accept_new;
};

/* Ask on the terminal; an empty answer means the fallback. Returns false if the input ended. */
static bool ask(const char *question, const char *fallback, char answer[ANSWER_BYTES])
{
	char line[ANSWER_BYTES];

	(void)printf(fallback[0] != '\0' ? "%s [%s]: " : "%s%s: ", question, fallback);
	(void)fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL) {
		(void)putchar('\n');
		return false;
	}
	struct str text = str_trim(str_from(line));
	(void)snprintf(answer, ANSWER_BYTES, "%.*s", text.len > 0 ? (int)text.len : ANSWER_BYTES,
		       text.len > 0 ? text.p : fallback);
	return true;
}

static void print_ssh_hosts(void)
{
	AUTO_TEXT path = file_expand_home("~/.ssh/config");
	AUTO_BUF text = buf_new(SSH_BYTES);
	const char *separator = "Hosts in ~/.ssh/config: ";
	struct str rest, line, word;

	if (file_read(path, &text, NULL) != 0)
		return;
	rest = buf_str(&text);
	while (str_next(&rest, '\n', &line)) {
		line = str_trim(line);
		if (!str_next(&line, ' ', &word) || word.len != 4 ||
		    strncasecmp(word.p, "host", 4) != 0)
			continue;
		while (str_next(&line, ' ', &word)) {
			if (word.len == 0 || word.len > 64 || strcspn(word.p, "*?!\"") < word.len)
				continue;
			(void)printf("%s%.*s", separator, (int)word.len, word.p);
			separator = ", ";
		}
	}
	(void)fputs(separator[0] == ',' ? "\n" : "", stdout);
}

/* Return the configuration with one more pod ("local" is this machine), owned; NULL with err. */
static cJSON *add_pod(const char *path, const char *host, const char *logs, struct err *err)
{
	const char *at = strrchr(host, '@'), *from = at != NULL ? at + 1 : host;
	AUTO_TEXT name = xstrndup(from, strcspn(from, ":"));
	bool is_local = strcmp(host, "local") == 0;
	AUTO_FREE char *here = get_current_dir_name();
	bool is_here = is_local && here != NULL && logs[0] != '/' && logs[0] != '~';
	AUTO_TEXT pattern = xasprintf("%s%s%s", is_here ? here : "", is_here ? "/" : "", logs);
	cJSON *root = conf_edit(path, err);

	if (root == NULL)
		return NULL;
	if (json_get(root, "pods") == NULL)
		(void)cJSON_AddArrayToObject(root, "pods");
	cJSON *pod = json_new(JTEXT("name", name), JTEXT(is_local ? "transport" : "ssh", host));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(pod, "logs"), cJSON_CreateString(pattern));
	cJSON_AddItemToArray(cJSON_GetObjectItem(root, "pods"), pod);
	return root;
}

/* Test the last pod and return its row of `pods check`, owned; NULL with err. */
static cJSON *test_pod(const struct conf *conf, bool accept_new, struct err *err)
{
	const struct pods_probe probe = { .pods = &conf->pods[conf->n_pods - 1],
					  .n = 1,
					  .accept_new = accept_new,
					  .limit_s = PODS_PROBE_LIMIT_S };
	cJSON *row = NULL;

	(void)printf("Testing %s ...\n", conf_pod_target(probe.pods));
	(void)fflush(stdout);
	if (pods_probe(&probe, &row, err) > 0)
		(void)err_set(err, ERR_CANCELLED, "init: stopped");
	return row;
}

/* The user's answers so far. */
struct draft {
	char host[ANSWER_BYTES], logs[ANSWER_BYTES]; /* "": ask */
	char kept[ANSWER_BYTES]; /* pattern to accept even without a matching file */
	bool accept_new;
};

/* Explain why the test failed, and ask for another answer. Returns false if the input ended. */
static bool ask_again(struct draft *draft, const cJSON *row)
{
	const cJSON *first = json_first(json_get(row, "failures"));
	const cJSON *logs = json_first(json_get(row, "logs"));
	const cJSON *found = json_first(json_get(logs, "near"));
	const char *near = found != NULL ? strchr(cJSON_GetStringValue(found), ' ') : NULL;
	char answer[ANSWER_BYTES];

	if (preflight_status(row) == err_exit_status(ERR_NET)) {
		bool is_new = !draft->accept_new &&
			      strcmp(json_get_string(first, "class", ""), "hostkey") == 0;

		(void)printf("%s\nnext: %s\n", json_get_string(first, "text", ""),
			     json_get_string(first, "next", ""));
		if (!is_new)
			return ask("Press Enter to test again, or type another host", draft->host,
				   draft->host);
		if (!ask("Is this the pod's key? Type yes, or another host", "no", answer))
			return false;
		draft->accept_new = strcmp(answer, "yes") == 0;
		if (!draft->accept_new)
			print_into(draft->host, "%s", strcmp(answer, "no") == 0 ? "" : answer);
		return true;
	}
	(void)printf("%s\n", json_get_string(row, "text", ""));
	/* `near` lists texts like "3 PATTERN", most files first: offer the first pattern. */
	print_into(draft->kept, "%s", draft->logs);
	return ask("Log pattern (type the same again to keep it)",
		   near != NULL ? near + 1 : draft->kept, draft->logs);
}

static int exec_init(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct init_call *call = opaque;
	AUTO_TEXT path = conf_file(&args->context->conf);
	struct draft draft = { .accept_new = call->accept_new };
	bool has_input = true;
	int status = 0;

	print_into(draft.host, "%s", args->argc > 0 ? args->argv[0] : "");
	print_into(draft.logs, "%s", args->argc > 1 ? args->argv[1] : "");
	(void)printf("This adds a pod to %s.\n", path);
	if (draft.host[0] == '\0')
		print_ssh_hosts();
	while (has_input) {
		struct err why = { ERR_NONE, "" };
		struct conf fresh;

		if (draft.host[0] == '\0')
			has_input = ask("Host of ~/.ssh/config, user@host:port, or local", "",
					draft.host);
		if (draft.host[0] != '\0' && draft.logs[0] == '\0')
			has_input = ask("Pattern of its logs", "~/logs/*.log", draft.logs);
		if (draft.host[0] == '\0' || !has_input)
			continue;
		AUTO_JSON root = add_pod(path, draft.host, draft.logs, err);
		if (root == NULL)
			return -1;
		AUTO_FREE char *text = cJSON_Print(root);
		if (conf_parse(&fresh, path, str_from(text), &why) != 0) {
			(void)printf("%s\n", why.text);
			draft.host[0] = '\0';
			continue;
		}
		AUTO_JSON row = test_pod(&fresh, draft.accept_new, err);
		const cJSON *logs = json_first(json_get(row, "logs"));
		conf_release(&fresh);
		if (row == NULL)
			return -1;
		status = preflight_status(row);
		bool is_reached = status != err_exit_status(ERR_NET);
		bool has_logs = json_get_number(logs, "files", 1) > 0 ||
				strcmp(draft.kept, draft.logs) == 0;
		if (!is_reached || !has_logs) {
			has_input = ask_again(&draft, row);
			continue;
		}
		if (conf_write(path, root, err) != 0)
			return -1;
		if (json_get_string(row, "text", NULL) != NULL)
			(void)printf("note: %s\n", json_get_string(row, "text", ""));
		(void)printf("Wrote %s\n\n"
			     "hgym-tui             opens the dashboard\n"
			     "hgym-tui pods check  tests GPU, disk and Python of each pod\n"
			     "hgym-tui init        adds another pod\n",
			     path);
		return cmd_flush(err);
	}
	say_error("init: nothing was written");
	return status == err_exit_status(ERR_NET) ? status : err_exit_status(ERR_NODATA);
}

static const struct cmd_option options[] = {
	CMD_ACCEPT_NEW_OPTION(init_call),
	CMD_OPTIONS_END,
};

const struct cmd cmd_init = {
	.name = "init",
	.usage = "[OPTIONS] [HOST [PATTERN]]",
	.summary = "add a pod to the configuration, after a test",
	.section = "pods",
	CMD_OPTIONS(options, init_call),
	.most = 2,
	.needs = CONTEXT_CONF,
	.exec = exec_init,
};
