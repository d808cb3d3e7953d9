/* SPDX-License-Identifier: MIT */
/* --version: ours and what the program really runs with; doctor too. */
#include "config.h"

#include "cmd/version.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <curses.h>
#include <libssh2.h>
#include <openssl/crypto.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sqlite3.h>
#include <uv.h>

static void
put(struct version_library *library, const char *name, const char *version)
{
	library->name = name;
	(void)snprintf(library->version, sizeof(library->version), "%s",
		       version != NULL ? version : "?");
}

void
version_libraries(struct version_library out[VERSION_LIBRARIES])
{
	const char *curses = curses_version();
	const char *crypto = OpenSSL_version(OPENSSL_VERSION);
	char pcre2[64] = "?";

	(void)pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
	/* It says "ncurses 6.4.20221231". */
	put(&out[0], "ncurses",
	    strncmp(curses, "ncurses ", 8) == 0 ? curses + 8 : curses);
	put(&out[1], "libssh2", libssh2_version(0));
	put(&out[2], "SQLite", sqlite3_libversion());
	put(&out[3], "cJSON", cJSON_Version());
	put(&out[4], "PCRE2", pcre2);
	put(&out[5], "libuv", uv_version_string());
	/* It says "OpenSSL 3.0.19 27 Jan 2026". */
	put(&out[6], "libcrypto",
	    strncmp(crypto, "OpenSSL ", 8) == 0 ? crypto + 8 : crypto);
}

bool
version_has_jit(void)
{
	uint32_t jit = 0;

	(void)pcre2_config(PCRE2_CONFIG_JIT, &jit);
	return jit != 0;
}

bool
version_has_rsa_sha2(void)
{
	return libssh2_version(0x010b00) != NULL;
}

void
version_print(void)
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
