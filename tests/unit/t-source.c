/* SPDX-License-Identifier: MIT */
/* Scripts in logs: many lines at once or line by line, known or new, with the same result. */
#include "parsers/source_fold.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "tests/support/tap.h"

static uint32_t seed = 1;

static size_t pick(size_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

#define RULE60 "============================================================"

/* Lines that end a script, lines that do not, and their neighbors. */
static const char *const pieces[] = {
	"    x = 1",
	"def f(x):",
	"",
	"\"\"\"doc",
	"end\"\"\"",
	"'''",
	"s = '''one line'''",
	"    \"\"\"\"four",
	"# a \"\" b '' c",
	"step_size = 3",
	"with x as y:",
	"[rank0]: x",
	"12/20 of it",
	"WIDTH = 512",
	RULE60,
	RULE60 "========================================",
	"=======",
	"a long line, so that it does not end within a stride or two",
};

static void make_text(struct buf *text, size_t n)
{
	buf_clear(text);
	buf_append_str(text, "import os\n");
	for (size_t i = 0; i < n; i++)
		buf_appendf(text, "%s\n", pieces[pick(sizeof(pieces) / sizeof(*pieces))]);
}

/* Print the result of folding text: the lines and the hash of each script. */
static void fold_text(struct buf *out, struct source_fold *fold, struct str text, bool skip)
{
	uint64_t line = 0;
	struct str rest = text, s;

	buf_clear(out);
	source_fold_reset(fold);
	while (rest.len > 0) {
		enum source_line what;
		size_t n = skip ? source_fold_skip(fold, rest, &line) : 0;

		rest = (struct str){ rest.p + n, rest.len - n };
		if (rest.len == 0 || !str_next(&rest, '\n', &s))
			break;
		line++;
		what = source_fold_line(fold, s);
		if (what == SOURCE_END || what == SOURCE_FIRST)
			buf_appendf(out, "%d at %d: %d %s\n", (int)what, (int)line,
				    (int)fold->lines, what == SOURCE_END ? fold->sha256 : "");
	}
	source_fold_finish(fold);
	buf_appendf(out, "%d: %d %s\n", (int)line, (int)fold->lines,
		    fold->sha256 != NULL ? fold->sha256 : "");
}

static void test_skip(void)
{
	struct source_fold by_line, at_once;
	struct buf text, a, b;
	size_t same = 0;

	source_fold_init(&by_line, 0);
	source_fold_init(&at_once, 3);
	buf_init(&text, 1 << 16);
	buf_init(&a, 1 << 16);
	buf_init(&b, 1 << 16);
	for (int i = 0; i < 2000; i++) {
		struct str s;

		make_text(&text, pick(60));
		s = (struct str){ text.data, text.len };
		fold_text(&a, &by_line, s, false);
		fold_text(&b, &at_once, s, true);
		same += strcmp(a.data, b.data) == 0;
	}
	is_int((long long)same, 2000,
	       "reading many lines at once and line by line gives the same hash");
	source_fold_release(&by_line);
	source_fold_release(&at_once);
	buf_release(&text);
	buf_release(&a);
	buf_release(&b);
}

/* Feed text in pieces, and compare with the hash of the whole text. */
static bool hashes_right(struct script_hash *h, struct str text)
{
	char want[SHA256_HEX_SIZE];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_update(&sha, text.p, text.len);
	sha256_hex(&sha, want);
	sha256_release(&sha);
	script_hash_start(h);
	while (text.len > 0) {
		size_t n = 1 + pick(text.len);

		script_hash_update(h, (struct str){ text.p, n });
		text = (struct str){ text.p + n, text.len - n };
	}
	return strcmp(script_hash_end(h), want) == 0;
}

/* Scripts that start alike, are repeated, and end early. */
static void test_hash(size_t n_known)
{
	static const char words[] = "aaaaaaaaaaaabcd";
	struct script_hash h;
	size_t right = 0;

	script_hash_init(&h, n_known);
	for (int i = 0; i < 5000; i++) {
		char text[16];
		size_t n = 1 + pick(sizeof(text) - 1);

		memset(text, 'a', sizeof(text));
		text[n - 1] = words[pick(sizeof(words) - 1)];
		if (pick(4) == 0) {
			script_hash_start(&h);
			script_hash_update(&h, (struct str){ text, n });
		}
		right += hashes_right(&h, (struct str){ text, n });
	}
	is_int((long long)right, 5000, "every hash is right");
	script_hash_release(&h);
}

static void test_long_script(void)
{
	size_t len = 700000;
	char *text = xmalloc(len);
	struct script_hash h;
	bool right = true;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + pick(20));
	script_hash_init(&h, 2);
	for (int i = 0; i < 4; i++)
		right = hashes_right(&h, (struct str){ text, len - i % 2 }) &&
			hashes_right(&h, STR_LIT("a short one\n")) && right;
	ok(right, "a script longer than the remembered size has its hash");
	for (size_t i = 0; i < h.n_known; i++)
		ok(h.known[i].text.len <= 256 * 1024, "the memory for scripts is bounded");
	script_hash_release(&h);
	free(text);
}

int main(void)
{
	test_skip();
	test_hash(0);
	test_hash(2);
	test_hash(24);
	test_long_script();
	return tap_done();
}
