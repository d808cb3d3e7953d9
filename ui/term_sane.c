/* SPDX-License-Identifier: MIT */
/* A sane terminal, also after a crash; for term_curses.c. */
#include "config.h"

#include "ui/term_sane.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "ui/term.h"

/* End of: sync, paste, mouse, colours, application keys, alternate screen;
 * the cursor is shown. */
static const char sane[] =
	"\033[?2026l\033[?2004l\033[?1000l\033[?1002l\033[?1003l\033[?1006l"
	"\033[0m\033[?1l\033>\033[?1049l\033[?25h\r";

/* What term_restore needs; the modes are of stdin and of stdout. */
static struct {
	volatile sig_atomic_t open;
	struct outlet *outlet;
	struct termios before[2], ours[2];
} saved;

void
term_restore(void)
{
	if (!saved.open)
		return;
	saved.open = 0;
	outlet_force(saved.outlet, sane, sizeof(sane) - 1);
	term_sane_set(false);
}

static void
on_end(int signum)
{
	term_restore();
	(void)raise(signum); /* its default action is back: SA_RESETHAND */
}

static void
watch_for(const int *signals, size_t n)
{
	struct sigaction action = { .sa_handler = on_end,
				    .sa_flags =
					    (int)SA_RESETHAND | SA_NODEFER };
	struct sigaction before;

	for (size_t i = 0; i < n; i++) {
		(void)sigaction(signals[i], NULL, &before);
		if (before.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &action, NULL);
	}
}

void
term_sane_begin(struct outlet *outlet)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT };
#ifndef __SANITIZE_ADDRESS__
	/* A sanitizer reports crashes itself. */
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				       SIGABRT };

	watch_for(crashes, sizeof(crashes) / sizeof(crashes[0]));
#endif
	watch_for(ends, sizeof(ends) / sizeof(ends[0]));
	(void)tcgetattr(STDIN_FILENO, &saved.before[0]);
	(void)tcgetattr(STDOUT_FILENO, &saved.before[1]);
	saved.ours[0] = saved.before[0];
	saved.ours[1] = saved.before[1];
	saved.outlet = outlet;
	saved.open = 1;
	xalloc_set_abort_hook(term_restore);
}

void
term_sane_learn(void)
{
	struct termios *keys = &saved.ours[0], *screen = &saved.ours[1];

	(void)tcgetattr(STDOUT_FILENO, screen);
	keys->c_iflag = screen->c_iflag;
	keys->c_oflag = screen->c_oflag;
	keys->c_lflag = screen->c_lflag;
	for (int i = 0; i < NCCS; i++)
		keys->c_cc[i] = screen->c_cc[i];
	term_sane_set(true);
}

bool
term_sane_is_ours(void)
{
	struct termios now;

	return tcgetattr(STDIN_FILENO, &now) != 0 ||
	       (now.c_iflag == saved.ours[0].c_iflag &&
		now.c_oflag == saved.ours[0].c_oflag &&
		now.c_lflag == saved.ours[0].c_lflag);
}

void
term_sane_set(bool ours)
{
	const struct termios *modes = ours ? saved.ours : saved.before;

	(void)tcsetattr(STDOUT_FILENO, TCSANOW, &modes[1]);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &modes[0]);
}

void
term_sane_end(void)
{
	term_sane_set(false);
	saved.open = 0;
	xalloc_set_abort_hook(NULL);
}

void
term_sane_leave(void)
{
	if (!outlet_drain(saved.outlet))
		outlet_force(saved.outlet, sane, sizeof(sane) - 1);
}

void
term_sane_hold(sigset_t *before)
{
	static const int passing[] = { SIGCHLD, SIGCONT, SIGHUP, SIGWINCH };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		(void)sigaddset(&set, passing[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, before);
}
