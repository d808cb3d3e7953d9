/* SPDX-License-Identifier: MIT */
/* The configuration is either accepted as a whole or rejected, and every list stays within its
 * bounds. */
#include "conf/conf.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { ERR_NONE, "" };
	struct conf conf;

	if (conf_parse(&conf, "/etc/x/config.json", (struct str){ (const char *)data, size },
		       &err) != 0) {
		MUST(err.code != ERR_NONE && err.text[0] != '\0');
		return 0;
	}
	MUST(err.code == ERR_NONE);
	MUST(conf.n_pods <= CONF_MAX_PODS);
	for (size_t i = 0; i < conf.n_pods; i++) {
		const struct conf_pod *pod = &conf.pods[i];

		MUST(conf_find_pod(&conf, pod->name) == (int)i);
		MUST(strchr(pod->name, '/') == NULL);
		MUST((pod->transport == CONF_LOCAL || pod->transport == CONF_COMMAND) ==
		     (pod->ssh == NULL));
		MUST((pod->transport == CONF_COMMAND) == (pod->command.n > 0));
		MUST(pod->ssh == NULL || pod->ssh[0] != '-');
		MUST(pod->logs.n <= CONF_MAX_LIST);
	}
	conf_release(&conf);
	return 0;
}
