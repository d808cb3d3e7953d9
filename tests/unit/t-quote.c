/* SPDX-License-Identifier: MIT */
/* quote.c: a real sh reads exactly the given words. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/quote.h"
#include "tests/support/tap.h"

/* Append the output of `sh -c text`. */
static void run_sh(const char *text, struct buf *out)
{
	char data[4096];
	int fds[2];
	ssize_t n;
	pid_t pid;

	if (pipe(fds) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	while ((n = read(fds[0], data, sizeof(data))) > 0)
		buf_append(out, data, (size_t)n);
	close(fds[0]);
	waitpid(pid, NULL, 0);
}

/* Pass all words to one printf '%s\0' and compare its output byte for byte. */
static void check_words(const char *const *words, size_t n, const char *name)
{
	const char *argv[300] = { "printf", "%s\\000" };
	struct buf text, want, got;

	buf_init(&text, 1 << 20);
	buf_init(&want, 1 << 20);
	buf_init(&got, 1 << 20);
	for (size_t i = 0; i < n; i++) {
		argv[2 + i] = words[i];
		buf_append(&want, words[i], strlen(words[i]) + 1);
	}
	quote_argv(&text, argv);
	run_sh(text.data, &got);
	ok(got.len == want.len && memcmp(got.data, want.data, want.len) == 0, "%s", name);
	buf_release(&text);
	buf_release(&want);
	buf_release(&got);
}

static void test_words(void)
{
	const char *const words[] = {
		"",	 "plain", "two words", "it's", "''",	   "'",	       "\"",
		"$HOME", "`id`",  "$(id)",     "a\nb", "\n",	   "\\",       "\\n",
		"-n",	 "--",	  "*",	       "?",    "[a]",	   "{a,b}",    "~",
		"~root", "#no",	  "!!",	       "a;b",  "a&b",	   "a|b",      "<in",
		">out",	 "(x)",	  "\t",	       "\r",   "\x01\x7f", "\xff\xfe", "\xe2\x80\x94",
		"a=b",	 "A=b",	  "%s",	       "%%",   "end\\",	   "if",       "!",
	};

	check_words(words, sizeof(words) / sizeof(*words), "difficult words");
}

static void test_bytes(void)
{
	char text[255][2];
	const char *words[255];

	for (int i = 0; i < 255; i++) {
		text[i][0] = (char)(i + 1);
		text[i][1] = '\0';
		words[i] = text[i];
	}
	check_words(words, 255, "every byte except NUL");
}

static void test_random(void)
{
	static char text[100][40];
	const char *words[100];
	unsigned int seed = 7;

	for (int i = 0; i < 100; i++) {
		size_t len = (size_t)rand_r(&seed) % 39;

		for (size_t k = 0; k < len; k++)
			text[i][k] = "'\"\\$` \n!*?abc-=~#&|;<>(){}[]%^"
				     "\x80\xff"[rand_r(&seed) % 32];
		words[i] = text[i];
	}
	check_words(words, 100, "a hundred random words");
}

static void test_form(void)
{
	const char *const argv[] = { "tail", "-n", "5", "/a/b.txt", "x y", NULL };
	struct buf out;

	buf_init(&out, 100);
	quote_argv(&out, argv);
	is_str(out.data, "tail -n 5 /a/b.txt 'x y'", "plain words are not quoted");
	buf_release(&out);
}

int main(void)
{
	test_words();
	test_bytes();
	test_random();
	test_form();
	return tap_done();
}
