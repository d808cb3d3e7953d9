/* SPDX-License-Identifier: MIT */
/* The terminal through ncurses; the one file that knows it. */
#include "ui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "ui/mouse.h"
#include "ui/picture.h"
#include "ui/theme.h"

#define CODE_ANSWER    (KEY_MAX + 1) /* of a mode, or what it can */
#define CODE_TEXT_SIZE (KEY_MAX + 2)
#define CODE_PASTE_ON  (KEY_MAX + 3)
#define CODE_PASTE_OFF (KEY_MAX + 4)
#define CODE_FOCUS     (KEY_MAX + 5)
#define CODE_MOUSE     (KEY_MAX + 6)
#define CODE_MOUSE_OLD (KEY_MAX + 7)

/* More than a clipboard takes, and what waits behind a frame. */
#define WAITING_BYTES (4U << 20)

#define SYNC_BEGIN "\033[?2026h"
#define SYNC_END   "\033[?2026l"
#define PASTE_ON   "\033[?2004h"
#define PASTE_OFF  "\033[?2004l"

/* The pixels of its text; and what it can (DA1), which each one answers. */
#define ASK_PIXELS "\033[14t\033[c"
#define DA1_SIXEL  4
#define CELL_LEAST 3	/* pixels */
#define ASKED_MS   3000 /* for an answer */
#define ANSWER_MS  1000 /* from its first byte to its last */

/* Of linux/memfd.h: sysctl vm.memfd_noexec=2 demands it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* More than the largest frame: a million cells, each of a look of its own. */
#define QUEUE_BYTES	(64U << 20)
#define KEEP_BYTES	(1U << 20) /* of memory, between two frames */
#define CANCEL		"\030"	   /* ends a sequence without effect: ECMA-48 CAN */
#define OUTLET_STILL_MS 1000
#define OUTLET_DRAIN_MS 4000

/*
 * The way out to the terminal of stdout, which nothing can block: what is
 * written to a file of its own lies in memory until the terminal takes it.  A
 * terminal that takes nothing (an SSH client asleep) stops no one.
 *
 * The terminal is opened once more for it: O_NONBLOCK belongs to an open file,
 * and stdout's is shared with stdin and the shell that started us.
 */
struct outlet {
	/*
	 * To write to.  Its descriptor is the terminal's until outlet_hold,
	 * then no terminal's: nothing but writing may be expected of it.
	 */
	FILE *file;
	int fd;	      /* of the terminal: to watch for writing */
	bool is_held; /* file is memory, and not the terminal */
	struct buf queue;
	size_t sent; /* of queue */
};

/* The terminal of stdout with flags of our own; -1: it cannot be had. */
static int outlet_open(void)
{
	static const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	/* Also where no name of it is to be seen, as in a container. */
	int fd = open("/proc/self/fd/1", flags);

	/* After su it is another user's; but our session's is open to us. */
	if (fd < 0 && tcgetsid(STDOUT_FILENO) != (pid_t)-1)
		fd = open("/dev/tty", flags);
	if (fd >= 0 && !isatty(fd)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

/* What still waits is dropped; NULL: nothing. */
static void outlet_free(struct outlet *outlet)
{
	if (outlet == NULL)
		return;
	if (outlet->file != NULL)
		(void)fclose(outlet->file);
	if (outlet->fd >= 0)
		(void)close(outlet->fd);
	buf_release(&outlet->queue);
	free(outlet);
}

static struct outlet *outlet_new(struct err *err)
{
	struct outlet *outlet = xcalloc(1, sizeof(*outlet));
	int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	buf_init(&outlet->queue, QUEUE_BYTES);
	outlet->fd = outlet_open();
	if (outlet->fd < 0)
		outlet->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	outlet->file = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (outlet->file != NULL && outlet->fd >= 0)
		return outlet;
	(void)err_set_errno(err, ERR_IO, "cannot open the terminal");
	if (outlet->file == NULL && copy >= 0)
		(void)close(copy);
	outlet_free(outlet);
	return NULL;
}

/*
 * From here on nothing that is written to the file waits.  Where there is no
 * memory to be had for it, the file stays the terminal.
 */
static void outlet_hold(struct outlet *outlet)
{
	unsigned int flags = MFD_CLOEXEC;
	int memory = memfd_create("terminal", flags | MFD_NOEXEC_SEAL);

	/* Linux before 6.3 does not know the flag. */
	if (memory < 0 && errno == EINVAL)
		memory = memfd_create("terminal", flags);
	if (memory < 0)
		return;
	(void)fflush(outlet->file);
	outlet->is_held = dup3(memory, fileno(outlet->file), O_CLOEXEC) >= 0;
	(void)close(memory);
}

/* Move what was written into the queue. */
static void outlet_collect(struct outlet *outlet)
{
	int memory = fileno(outlet->file);
	off_t len = lseek(memory, 0, SEEK_CUR), at = 0;
	char block[16384];

	while (at < len) {
		size_t left = (size_t)(len - at);
		ssize_t n = pread(memory, block, left < sizeof(block) ? left : sizeof(block), at);

		if (n <= 0)
			break;
		buf_append(&outlet->queue, block, (size_t)n);
		at += n;
	}
	if (len > 0)
		(void)lseek(memory, 0, SEEK_SET);
}

/* What waits, of all that was handed on. */
static size_t outlet_waiting_bytes(const struct outlet *outlet)
{
	return outlet->queue.len - outlet->sent;
}

/*
 * Hand on what was written and flushed, as far as the terminal takes it now;
 * true when nothing is left.
 */
static bool outlet_send(struct outlet *outlet)
{
	if (!outlet->is_held)
		return true;
	outlet_collect(outlet);
	while (outlet_waiting_bytes(outlet) > 0) {
		ssize_t n = fd_write_now(outlet->fd, outlet->queue.data + outlet->sent,
					 outlet_waiting_bytes(outlet));

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return false;
		/* It is gone, and all that it was to show. */
		if (n < 0)
			break;
		outlet->sent += (size_t)n;
	}
	outlet->sent = 0;
	if (outlet->queue.room > KEEP_BYTES)
		buf_release(&outlet->queue);
	buf_clear(&outlet->queue);
	return true;
}

/*
 * Hand on all, and wait for the terminal until it has taken nothing for
 * OUTLET_STILL_MS, or OUTLET_DRAIN_MS went by; true when nothing is left.
 */
static bool outlet_drain(struct outlet *outlet)
{
	int64_t end = clock_mono_ms() + OUTLET_DRAIN_MS;

	while (!outlet_send(outlet)) {
		struct pollfd watch = { .fd = outlet->fd, .events = POLLOUT };

		if (poll(&watch, 1, OUTLET_STILL_MS) == 0 || clock_mono_ms() > end)
			return false;
	}
	return true;
}

/*
 * Write a last word past all that waits, which is dropped, in the kernel too
 * where there is no room; a sequence that was cut short is cancelled first.
 * Never blocks; async-signal-safe.
 */
static void outlet_force(struct outlet *outlet, const char *data, size_t len)
{
	bool is_cut = outlet->sent > 0;

	outlet->sent = outlet->queue.len;
	for (int i = 0; i < 2; i++) {
		if ((!is_cut || fd_write_now(outlet->fd, CANCEL, 1) == 1) &&
		    fd_write_now(outlet->fd, data, len) == (ssize_t)len)
			return;
		(void)tcflush(outlet->fd, TCOFLUSH);
		is_cut = true;
	}
}

/*
 * The terminal's modes: as they were before us, as we need them, and back
 * again whatever happens.  stdin has the same as stdout also where it is
 * another terminal.
 */

/* End of: sync, paste, mouse, colours, application keys, alternate screen;
 * the cursor is shown. */
static const char sane_bytes[] =
	"\033[?2026l\033[?2004l\033[?1000l\033[?1002l\033[?1003l\033[?1006l"
	"\033[0m\033[?1l\033>\033[?1049l\033[?25h\r";

/* What term_restore needs; the modes are of stdin and of stdout. */
static struct {
	volatile sig_atomic_t open;
	struct outlet *outlet;
	struct termios before[2], ours[2];
} saved;

/* The modes that we need, or (false) those of before us. */
static void term_sane_set(bool ours)
{
	const struct termios *modes = ours ? saved.ours : saved.before;

	(void)tcsetattr(STDOUT_FILENO, TCSANOW, &modes[1]);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &modes[0]);
}

void term_restore(void)
{
	if (!saved.open)
		return;
	saved.open = 0;
	outlet_force(saved.outlet, sane_bytes, sizeof(sane_bytes) - 1);
	term_sane_set(false);
}

static void term_on_end(int signum)
{
	term_restore();
	(void)raise(signum); /* its default action is back: SA_RESETHAND */
}

static void term_watch_for(const int *signals, size_t n)
{
	struct sigaction action = { .sa_handler = term_on_end,
				    .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
	struct sigaction before;

	for (size_t i = 0; i < n; i++) {
		(void)sigaction(signals[i], NULL, &before);
		if (before.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &action, NULL);
	}
}

/*
 * Remember the modes, and restore them on a crash and on the signals that end
 * a program, until someone else watches for those.
 */
static void term_sane_begin(struct outlet *outlet)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT };
#ifndef __SANITIZE_ADDRESS__
	/* A sanitizer reports crashes itself. */
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

	term_watch_for(crashes, LENGTH(crashes));
#endif
	term_watch_for(ends, LENGTH(ends));
	(void)tcgetattr(STDIN_FILENO, &saved.before[0]);
	(void)tcgetattr(STDOUT_FILENO, &saved.before[1]);
	saved.ours[0] = saved.before[0];
	saved.ours[1] = saved.before[1];
	saved.outlet = outlet;
	saved.open = 1;
	xalloc_set_abort_hook(term_restore);
}

/* What curses has made of the modes of stdout is what we need. */
static void term_sane_learn(void)
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

/* Everything is as it was, and stays so. */
static void term_sane_end(void)
{
	term_sane_set(false);
	saved.open = 0;
	xalloc_set_abort_hook(NULL);
}

/*
 * Hold back the signals that do not end a program, for as long as curses waits
 * for the rest of a key; before is the mask to be set again.
 */
static void term_sane_hold(sigset_t *before)
{
	static const int passing[] = { SIGCHLD, SIGCONT, SIGHUP, SIGWINCH };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < LENGTH(passing); i++)
		(void)sigaddset(&set, passing[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, before);
}

/* An answer of the terminal while it is read: numbers. */
struct answer {
	int code; /* of its beginning */
	int numbers[32], n;
	int64_t end_ms; /* what comes later are keys */
};

struct term {
	SCREEN *screen;
	struct outlet *outlet;
	struct term_options options;
	struct canvas shown; /* what the terminal shows */
	bool all_stale;
	bool has_sync;
	bool gone;
	bool rang; /* and the bell still waits */
	struct key_mouse mouse;
	struct answer answer;
	enum { PIXELS_UNASKED, PIXELS_ASKED, PIXELS_NONE, PIXELS_SIXEL, PIXELS_KITTY } pixels;
	int64_t asked_ms;
	int cell_w, cell_h;			/* as it said; 0: it did not */
	uint64_t pictures[CANVAS_MAX_PICTURES]; /* that are shown, by keys */
	size_t n_pictures;
	int colors; /* 256, 16, 8 or 0 */
	attr_t attributes[STYLE_COUNT];
	short pairs[STYLE_COUNT];
};

static bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0';
}

void term_options_init(struct term_options *options)
{
	const char *term = getenv("TERM");
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

	memset(options, 0, sizeof(*options));
	options->colors = env_is_set("NO_COLOR") ? 0 : -1;
	options->ascii = !utf8 || term == NULL || strcmp(term, "linux") == 0;
	options->mouse = true;
	options->sync = true;
	options->remote = env_is_set("SSH_TTY") || env_is_set("SSH_CONNECTION");
}

/* What a style's bits ask of curses. */
static attr_t style_attributes(unsigned int style)
{
	return (style & STYLE_BOLD ? A_BOLD : A_NORMAL) |
	       (style & STYLE_REVERSE ? A_REVERSE : A_NORMAL) |
	       (style & STYLE_UNDERLINE ? A_UNDERLINE : A_NORMAL);
}

/* A style's pair and attributes for the colours that there are. */
static void init_style(struct term *term, short style)
{
	const struct theme_style *s = theme_style(term->options.theme, (unsigned int)style);
	short fg = term->colors >= 256 ? s->color256 : s->color16;
	attr_t attributes = style_attributes(s->attributes);

	if (term->colors == 8 && fg >= 8) {
		attributes |= fg == 8 ? A_DIM : A_BOLD;
		fg = fg == 8 ? -1 : (short)(fg - 8);
	}
	term->pairs[style] = 0;
	if (term->colors > 0 && fg >= 0) {
		term->pairs[style] = (short)(style + 1);
		(void)init_pair((short)(style + 1), fg, -1);
	}
	if (term->colors == 0 && s->color16 == 8)
		attributes |= A_DIM;
	term->attributes[style] = attributes;
}

static void init_colors(struct term *term)
{
	int want = term->options.colors;

	term->colors = 0;
	if (want != 0 && has_colors()) {
		(void)start_color();
		(void)use_default_colors();
		term->colors = COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : 8;
		if (want == 16 && term->colors > 16)
			term->colors = 16;
	}
	for (int i = 0; i < STYLE_COUNT; i++)
		init_style(term, (short)i);
}

static void define_keys(void)
{
	static const struct {
		const char *bytes;
		int code;
	} keys[] = {
		{ "\033[?", CODE_ANSWER },	{ "\033[4;", CODE_TEXT_SIZE },
		{ "\033[200~", CODE_PASTE_ON }, { "\033[201~", CODE_PASTE_OFF },
		{ "\033[<", CODE_MOUSE },	{ "\033[M", CODE_MOUSE_OLD },
		{ "\033[I", CODE_FOCUS },	{ "\033[O", CODE_FOCUS },
		{ "\033[1~", KEY_HOME },	{ "\033[4~", KEY_END },
		{ "\033[H", KEY_HOME },		{ "\033[F", KEY_END },
		{ "\033OH", KEY_HOME },		{ "\033OF", KEY_END },
		{ "\033[A", KEY_UP },		{ "\033[B", KEY_DOWN },
		{ "\033[C", KEY_RIGHT },	{ "\033[D", KEY_LEFT },
		{ "\033[Z", KEY_BTAB },		{ "\033OP", KEY_F(1) },
		{ "\033[11~", KEY_F(1) },
	};

	for (size_t i = 0; i < LENGTH(keys); i++)
		(void)define_key(keys[i].bytes, keys[i].code);
}

/* Terminals that are known to print a question they do not understand. */
static bool may_ask(void)
{
	const char *name = getenv("TERM");

	return name != NULL && strcmp(name, "linux") != 0 && strcmp(name, "dumb") != 0 &&
	       strncmp(name, "vt", 2) != 0;
}

/* Modes that curses does not set itself. */
static void enter_modes(struct term *term)
{
	if (may_ask()) {
		(void)fputs(PASTE_ON, term->outlet->file);
		if (term->options.sync && !term->has_sync)
			(void)fputs("\033[?2026$p", term->outlet->file);
	}
	(void)fflush(term->outlet->file);
	term_mouse(term, term->options.mouse);
}

void term_leave(struct term *term)
{
	if (may_ask())
		(void)fputs(KEY_MOUSE_MODES_OFF PASTE_OFF, term->outlet->file);
	(void)fflush(term->outlet->file);
	(void)endwin();
	/* A terminal that does not take what waits gets what makes it sane. */
	if (!outlet_drain(saved.outlet))
		outlet_force(saved.outlet, sane_bytes, sizeof(sane_bytes) - 1);
	term_sane_set(false);
}

/*
 * newterm without curses' own handlers: of Ctrl-Z, and of a new size, which it
 * could not ask for; those of the end are term_sane's.
 */
static SCREEN *open_screen(FILE *out)
{
	(void)signal(SIGTSTP, SIG_IGN);
	(void)signal(SIGWINCH, SIG_IGN);
	SCREEN *screen = newterm(NULL, out, stdin);
	(void)signal(SIGTSTP, SIG_DFL);
	(void)signal(SIGWINCH, SIG_DFL);
	return screen;
}

static void set_escape_delay(const struct term_options *options)
{
	(void)set_escdelay(options->escape_delay_ms > 0 ? options->escape_delay_ms
			   : options->remote		? 60
							: 25);
}

static void init_screen(struct term *term)
{
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	set_escape_delay(&term->options);
	(void)curs_set(0);
	define_keys();
	init_colors(term);
	canvas_init(&term->shown);
	term->all_stale = true;
	enter_modes(term);
}

struct term *term_open(const struct term_options *options, struct err *err)
{
	struct term *term;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(err, ERR_USAGE,
			"the dashboard needs a terminal; for a pipe use "
			"a command such as parse or runs");
		return NULL;
	}
	struct outlet *outlet = term_fits(err) ? outlet_new(err) : NULL;
	if (outlet == NULL)
		return NULL;
	term_sane_begin(outlet);
	SCREEN *screen = open_screen(outlet->file);
	if (screen == NULL) {
		term_sane_end();
		outlet_free(outlet);
		err_set(err, ERR_IO, "the terminal cannot be set up");
		return NULL;
	}
	term = xcalloc(1, sizeof(*term));
	term->screen = screen;
	term->outlet = outlet;
	term->options = *options;
	/* What curses asks of a terminal, while its file is one. */
	(void)raw();
	(void)noecho();
	(void)nonl();
	(void)intrflush(stdscr, FALSE);
	term_sane_learn();
	outlet_hold(outlet);
	init_screen(term);
	return term;
}

void term_close(struct term *term)
{
	if (term == NULL)
		return;
	if (!term->gone)
		term_leave(term);
	delscreen(term->screen);
	term_sane_end();
	outlet_free(term->outlet);
	canvas_release(&term->shown);
	free(term);
}

void term_configure(struct term *term, const struct term_options *options)
{
	term->options.colors = options->colors;
	term->options.theme = options->theme;
	set_escape_delay(options);
	init_colors(term);
	if (options->mouse != term->options.mouse)
		term_mouse(term, options->mouse);
	term->all_stale = true;
}

bool term_has_colors(const struct term *term)
{
	return term->colors > 0;
}

int term_fd(const struct term *term)
{
	(void)term;
	return STDIN_FILENO;
}

int term_out_fd(const struct term *term)
{
	return term->outlet->fd;
}

bool term_flush(struct term *term)
{
	if (!outlet_send(term->outlet))
		return false;
	term->rang = false;
	return true;
}

bool term_has_pending(const struct term *term)
{
	return outlet_waiting_bytes(term->outlet) > 0;
}

void term_size(const struct term *term, int *width, int *height)
{
	struct winsize size = { 0 };

	(void)term;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*width = int_min(size.ws_col > 0 ? size.ws_col : COLS, CANVAS_MAX_SIDE);
	*height = int_min(size.ws_row > 0 ? size.ws_row : LINES, CANVAS_MAX_SIDE);
}

void term_resize(struct term *term)
{
	int width, height;

	term_size(term, &width, &height);
	(void)resizeterm(height, width);
	term->all_stale = true;
}

static int64_t now_ms(void)
{
	return clock_mono_ms();
}

bool term_pixels(struct term *term, int *w, int *h)
{
	struct winsize size = { 0 };

	*w = *h = 0;
	if (term->pixels == PIXELS_UNASKED && may_ask()) {
		term->pixels = PIXELS_ASKED;
		term->asked_ms = now_ms();
		(void)term_write(term, ASK_PIXELS, sizeof(ASK_PIXELS) - 1);
	}
	if (term->pixels == PIXELS_ASKED)
		return now_ms() - term->asked_ms < ASKED_MS;
	if (term->pixels < PIXELS_SIXEL || term->colors < 256 || term->options.ascii)
		return false;
	/* The kernel's change with the font. */
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*w = size.ws_xpixel > 0 ? size.ws_xpixel / int_max(size.ws_col, 1) : term->cell_w;
	*h = size.ws_ypixel > 0 ? size.ws_ypixel / int_max(size.ws_row, 1) : term->cell_h;
	/* What no text fits into was not told in pixels. */
	return *w >= CELL_LEAST && *h >= CELL_LEAST;
}

/*
 * Take over a whole answer; its last byte says of what it is one.  kitty and
 * ghostty have no sixel, but a protocol of kitty's; their names say so.
 */
static void answer_end(struct term *term, const struct answer *answer, uint32_t last)
{
	const char *name = getenv("TERM");
	const int *numbers = answer->numbers;

	if (answer->code == CODE_TEXT_SIZE && last == 't') {
		term->cell_h = numbers[0] / LINES;
		term->cell_w = numbers[1] / COLS;
	} else if (last == 'y' && numbers[0] == 2026) {
		term->has_sync = term->options.sync && numbers[1] >= 1 && numbers[1] <= 3;
	} else if (last == 'c' && name != NULL) {
		term->pixels = strstr(name, "kitty") || strstr(name, "ghostty") ? PIXELS_KITTY
										: PIXELS_NONE;
		for (int i = 1; i <= answer->n; i++)
			if (numbers[i] == DA1_SIXEL)
				term->pixels = PIXELS_SIXEL;
	}
}

/* Whether a character belongs to the answer under way; else it was typed. */
static bool answer_feed(struct term *term, uint32_t ch)
{
	struct answer *answer = &term->answer;
	int *number = &answer->numbers[answer->n];

	if (now_ms() > answer->end_ms)
		return false;
	if (ch >= '0' && ch <= '9') {
		*number = int_min(*number * 10 + (int)(ch - '0'), 9999);
	} else if (ch == ';') {
		answer->n += answer->n + 1 < (int)LENGTH(answer->numbers);
	} else if (ch == 'c' || ch == 't' || ch == 'y' || ch == '~') {
		answer_end(term, answer, ch);
		answer->end_ms = 0;
	} else {
		return ch == '$';
	}
	return true;
}

static void show_cell(struct term *term, const struct cell *cell, int x, int y)
{
	unsigned int style = cell->style & STYLE_MASK;
	wchar_t text[3] = { 0 };
	cchar_t out;

	if (cell->cp == 0 && !term->options.ascii)
		return;
	if (term->options.ascii) {
		text[0] = cell->cp == 0 ? L' ' : plain_char(cell->cp);
	} else {
		text[0] = (wchar_t)cell->cp;
		text[1] = (wchar_t)cell->mark;
	}
	(void)setcchar(&out, text, term->attributes[style] | style_attributes(cell->style),
		       term->pairs[style], NULL);
	(void)mvadd_wch(y, x, &out);
}

/* Give curses the cells that differ from what is shown. */
static void show_changes(struct term *term, const struct canvas *canvas)
{
	for (int y = 0; y < canvas->height && y < LINES; y++) {
		for (int x = 0; x < canvas->width && x < COLS; x++) {
			const struct cell *now = canvas_at(canvas, x, y);
			const struct cell *was = canvas_at(&term->shown, x, y);

			if (term->all_stale || now->cp != was->cp || now->mark != was->mark ||
			    now->style != was->style)
				show_cell(term, now, x, y);
		}
	}
}

static void show_canvas(struct term *term, const struct canvas *canvas, int x, int y)
{
	if (term->shown.width != canvas->width || term->shown.height != canvas->height) {
		canvas_resize(&term->shown, canvas->width, canvas->height);
		term->all_stale = true;
	}
	if (term->all_stale)
		(void)erase();
	show_changes(term, canvas);
	term->all_stale = false;
	memcpy(term->shown.cells, canvas->cells,
	       sizeof(struct cell) * (size_t)canvas->width * (size_t)canvas->height);
	(void)curs_set(x >= 0);
	if (x >= 0)
		(void)move(y, x);
	(void)refresh();
}

/* Append what makes the terminal show the picture, unless it does. */
static bool add_picture(struct term *term, struct picture *picture, size_t id, struct buf *out)
{
	uint64_t key = picture_key(picture, term->options.theme);

	if (id < term->n_pictures && key == term->pictures[id] && !term->all_stale)
		return false;
	term->pictures[id] = key;
	if (term->pixels == PIXELS_KITTY)
		picture_kitty(picture, term->options.theme, id, out);
	else
		picture_sixel(picture, term->options.theme, out);
	return true;
}

/*
 * Show the pictures that changed, over cells without text: that is written
 * behind them, for in some terminals a picture takes the place of text.
 */
static void show_pictures(struct term *term, const struct canvas *canvas)
{
	size_t n = (size_t)canvas->width * (size_t)canvas->height;
	AUTO_BUF out = buf_new(QUEUE_BYTES);
	struct canvas bare = *canvas;

	bare.cells = xcalloc(n, sizeof(*bare.cells));
	memcpy(bare.cells, canvas->cells, n * sizeof(*bare.cells));
	for (size_t i = 0; i < canvas->n_pictures; i++) {
		struct picture picture = canvas->pictures[i];

		picture_hide(&picture, canvas);
		if (add_picture(term, &picture, i, &out))
			canvas_fill(&bare, picture.cells, STYLE_NORMAL, PICTURE_CELL);
	}
	for (size_t i = canvas->n_pictures; i < term->n_pictures; i++)
		if (term->pixels == PIXELS_KITTY)
			picture_kitty_drop(i, &out);
	term->n_pictures = canvas->n_pictures;
	if (out.len > 0)
		show_canvas(term, &bare, -1, -1);
	(void)fwrite(out.data, 1, out.len, term->outlet->file);
	(void)fflush(term->outlet->file);
	free(bare.cells);
}

void term_present(struct term *term, const struct canvas *canvas, int x, int y)
{
	bool sync = term->has_sync;

	if (sync) {
		(void)fputs(SYNC_BEGIN, term->outlet->file);
		(void)fflush(term->outlet->file);
	}
	if (canvas->n_pictures + term->n_pictures > 0)
		show_pictures(term, canvas);
	show_canvas(term, canvas, x, y);
	if (sync)
		(void)fputs(SYNC_END, term->outlet->file);
	(void)fflush(term->outlet->file);
	(void)term_flush(term);
}

void term_repaint(struct term *term)
{
	term->all_stale = true;
	(void)clearok(curscr, TRUE);
}

static const struct {
	int curses;
	uint32_t code;
} key_codes[] = {
	{ KEY_UP, KEYCODE_UP },
	{ KEY_DOWN, KEYCODE_DOWN },
	{ KEY_LEFT, KEYCODE_LEFT },
	{ KEY_RIGHT, KEYCODE_RIGHT },
	{ KEY_HOME, KEYCODE_HOME },
	{ KEY_END, KEYCODE_END },
	{ KEY_PPAGE, KEYCODE_PAGE_UP },
	{ KEY_NPAGE, KEYCODE_PAGE_DOWN },
	{ KEY_BTAB, KEYCODE_BACK_TAB },
	{ KEY_BACKSPACE, KEYCODE_BACKSPACE },
	{ KEY_DC, KEYCODE_DELETE },
	{ KEY_IC, KEYCODE_INSERT },
	{ KEY_ENTER, '\r' },
	{ KEY_RESIZE, KEYCODE_RESIZE },
	{ CODE_PASTE_ON, KEYCODE_PASTE_BEGIN },
	{ CODE_PASTE_OFF, KEYCODE_PASTE_END },
};

/* The code of a curses function key; 0 when it is nothing to us. */
static uint32_t function_key(int curses)
{
	for (size_t i = 0; i < LENGTH(key_codes); i++)
		if (key_codes[i].curses == curses)
			return key_codes[i].code;
	if (curses >= KEY_F(1) && curses <= KEY_F(12))
		return KEYCODE_F1 + (uint32_t)(curses - KEY_F(1));
	return 0;
}

bool term_read(struct term *term, struct key *key)
{
	sigset_t before;
	wint_t code;

	for (;;) {
		/* None ends the wait for what follows an Esc. */
		term_sane_hold(&before);
		int kind = get_wch(&code);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);

		*key = (struct key){ 0 };
		if (kind == ERR) {
			int waiting = 1;

			term->gone = ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0;
			/* To read may have drawn. */
			(void)term_flush(term);
			return false;
		}
		if (kind != KEY_CODE_YES && key_mouse_is_open(&term->mouse))
			(void)key_mouse_feed(&term->mouse, (uint32_t)code, key);
		else if (kind != KEY_CODE_YES)
			key->code = answer_feed(term, code) ? 0
				    : code == 127	    ? KEYCODE_BACKSPACE
							    : (uint32_t)code;
		else if (code == CODE_MOUSE || code == CODE_MOUSE_OLD)
			key_mouse_begin(&term->mouse, code == CODE_MOUSE);
		else if (code == CODE_ANSWER || code == CODE_TEXT_SIZE)
			term->answer = (struct answer){ .code = (int)code,
							.end_ms = now_ms() + ANSWER_MS };
		else
			key->code = function_key((int)code);
		if (key->code != 0)
			return true;
	}
}

bool term_is_gone(const struct term *term)
{
	struct termios modes;

	return term->gone || tcgetattr(STDIN_FILENO, &modes) != 0;
}

void term_mouse(struct term *term, bool on)
{
	term->options.mouse = on;
	if (may_ask())
		(void)fputs(on ? KEY_MOUSE_MODES_ON : KEY_MOUSE_MODES_OFF, term->outlet->file);
	(void)fflush(term->outlet->file);
	(void)term_flush(term);
}

void term_bell(struct term *term)
{
	if (term->rang)
		return;
	(void)beep();
	term->rang = !term_flush(term);
}

bool term_write(struct term *term, const void *data, size_t len)
{
	if (outlet_waiting_bytes(term->outlet) + len > WAITING_BYTES)
		return false;
	(void)fwrite(data, 1, len, term->outlet->file);
	(void)fflush(term->outlet->file);
	(void)term_flush(term);
	return true;
}

void term_return(struct term *term)
{
	term_sane_set(true);
	(void)refresh();
	/* Curses asks for it only of a file that is a terminal. */
	(void)keypad(stdscr, TRUE);
	(void)clearok(curscr, TRUE);
	enter_modes(term);
	term_resize(term);
}

void term_resume(struct term *term)
{
	struct termios now;

	if (tcgetattr(STDIN_FILENO, &now) != 0 ||
	    (now.c_iflag == saved.ours[0].c_iflag && now.c_oflag == saved.ours[0].c_oflag &&
	     now.c_lflag == saved.ours[0].c_lflag))
		return;
	term_sane_set(true);
	enter_modes(term);
	term_repaint(term);
}

void term_suspend(struct term *term)
{
	term_leave(term);
	(void)kill(0, SIGTSTP);
	term_return(term);
}
