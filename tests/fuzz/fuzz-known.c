/* SPDX-License-Identifier: MIT */
/* Read lines of known_hosts, base64, key blobs, and messages of ssh on stderr. */
#include "remote/ssh_key.h"

#include <string.h>

#include "base/base64.h"
#include "remote/openssh.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size }, rest = text, part;
	struct known_keys known = { .n = 0 };
	struct buf out, back;
	struct err err;
	char type[64];

	known_keys_add(&known, text, NULL);
	MUST(known.n <= KNOWN_KEYS_MAX);
	buf_init(&out, 1 << 20);
	buf_init(&back, 1 << 20);
	known_keys_preference(&known, &out);
	MUST(out.len > 0);
	for (size_t i = 0; i < known.n; i++)
		MUST(known_keys_judge(&known, known.keys[i].type, known.keys[i].base64) !=
		     KNOWN_CHANGED);
	known_keys_clear(&known);
	buf_clear(&out);
	base64_encode(&out, text);
	MUST(base64_decode(&back, (struct str){ out.data, out.len }));
	MUST(back.len == size && (size == 0 || memcmp(back.data, data, size) == 0));
	ssh_key_type(type, text);
	while (ssh_wire_string(&rest, &part))
		MUST(part.p >= text.p && part.p + part.len <= text.p + size);
	openssh_error(&err, "pod", text);
	MUST(strchr(err.text, '\x1b') == NULL);
	buf_release(&out);
	buf_release(&back);
	return 0;
}
