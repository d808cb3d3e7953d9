/* SPDX-License-Identifier: MIT */
/* --version: ours and what the program really runs with. */
#include "config.h"

#include "version.h"

#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>
#include <curses.h>
#include <libssh2.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sqlite3.h>
#include <uv.h>

void
version_print(void)
{
	char pcre2[64] = "?";
	uint32_t jit = 0;

	(void)pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
	(void)pcre2_config(PCRE2_CONFIG_JIT, &jit);
	printf("%s\n", PACKAGE_STRING);
	printf("%s\nlibssh2 %s\nSQLite %s\ncJSON %s\nPCRE2 %s, JIT %s\n"
	       "libuv %s\n",
	       curses_version(), libssh2_version(0), sqlite3_libversion(),
	       cJSON_Version(), pcre2, jit ? "on" : "off", uv_version_string());
}
