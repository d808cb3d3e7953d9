/* SPDX-License-Identifier: MIT */
/* `version` and --version: hgym-tui and the libraries that it runs with. */
#include "cmd/version.h"

#include <curses.h>
#include <libssh2.h>
#include <openssl/crypto.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <sqlite3.h>
#include <uv.h>

#include "cmd/cmd.h"

/* Return "6.4" for "ncurses 6.4" and the prefix "ncurses ". */
static const char *skip_prefix(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : text;
}

void version_libraries(struct version_library out[VERSION_LIBRARIES])
{
	static char pcre2[64] = "?";
	const struct version_library all[VERSION_LIBRARIES] = {
		{ "ncurses", skip_prefix(curses_version(), "ncurses ") },
		{ "libssh2", libssh2_version(0) },
		{ "SQLite", sqlite3_libversion() },
		{ "cJSON", cJSON_Version() },
		{ "PCRE2", pcre2 },
		{ "libuv", uv_version_string() },
		{ "libcrypto", skip_prefix(OpenSSL_version(OPENSSL_VERSION), "OpenSSL ") },
	};

	(void)pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
	memcpy(out, all, sizeof(all));
}

bool version_has_jit(void)
{
	uint32_t jit = 0;

	(void)pcre2_config(PCRE2_CONFIG_JIT, &jit);
	return jit != 0;
}

bool version_has_rsa_sha2(void)
{
	return libssh2_version(0x010b00) != NULL;
}

void version_print(void)
{
	struct version_library libraries[VERSION_LIBRARIES];

	version_libraries(libraries);
	printf("%s\n", PACKAGE_STRING);
	for (size_t i = 0; i < VERSION_LIBRARIES; i++)
		printf("%s %s%s\n", libraries[i].name, libraries[i].version,
		       strcmp(libraries[i].name, "PCRE2") != 0 ? ""
		       : version_has_jit()		       ? ", JIT on"
							       : ", JIT off");
}

static int exec_version(UNUSED struct cmd_args *args, UNUSED void *opaque, struct err *err)
{
	version_print();
	return cmd_flush(err);
}

const struct cmd cmd_version = {
	.name = "version",
	.usage = "",
	.summary = "show the versions of hgym-tui and its libraries",
	.fold = "",
	.exec = exec_version,
};
