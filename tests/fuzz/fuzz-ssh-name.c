/* SPDX-License-Identifier: MIT */
/* Host names, and the output of `ssh -G` for them. */
#include "remote/openssh.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void check_dest(const char *text)
{
	struct err err = { ERR_NONE, "" };
	struct ssh_dest dest;

	memset(&dest, 0, sizeof(dest));
	if (ssh_dest_parse(&dest, text, &err) != 0) {
		MUST(err.code != ERR_NONE);
		return;
	}
	MUST(dest.host != NULL && dest.host[0] != '\0' && dest.host[0] != '-');
	MUST(dest.port >= 0 && dest.port <= 65535);
	ssh_dest_release(&dest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct remote_pod pod = { .name = "p", .ssh = "p" };
	struct str text = { (const char *)data, size };
	struct err err = { ERR_NONE, "" };
	struct ssh_target target;
	char *copy = malloc(size + 1);

	MUST(copy != NULL);
	memcpy(copy, data, size);
	copy[size] = '\0';
	check_dest(copy);
	memset(&target, 0, sizeof(target));
	/* ssh prints no NUL; the text ends at the first one. */
	text.len = strlen(copy);
	if (ssh_target_parse(&target, &pod, text, &err) == 0) {
		MUST(target.host != NULL && target.host[0] != '\0');
		MUST(target.port > 0 && target.port <= 65535);
		MUST(target.n_identities <= SSH_TARGET_FILES);
		MUST(target.n_known_hosts <= SSH_TARGET_FILES);
	}
	ssh_target_release(&target);
	free(copy);
	return 0;
}
