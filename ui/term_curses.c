/* SPDX-License-Identifier: MIT */
/* Shows cells and reads keys with ncurses. */
#include "ui/term.h"

#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/plain.h"
#include "ui/mouse.h"
#include "ui/picture.h"

#define CODE_ANSWER    (KEY_MAX + 1) /* start of an answer about a mode or capabilities */
#define CODE_TEXT_SIZE (KEY_MAX + 2)
#define CODE_PASTE_ON  (KEY_MAX + 3)
#define CODE_PASTE_OFF (KEY_MAX + 4)
#define CODE_FOCUS     (KEY_MAX + 5)
#define CODE_MOUSE     (KEY_MAX + 6)
#define CODE_MOUSE_OLD (KEY_MAX + 7)

#define WAITING_BYTES (4U << 20) /* limit of term_write(); more than a frame and a clipboard */

#define SYNC_BEGIN "\033[?2026h"
#define SYNC_END   "\033[?2026l"
#define PASTE_ON   "\033[?2004h"
#define PASTE_OFF  "\033[?2004l"

/* Ask for the size in pixels, and for capabilities (DA1), which every terminal answers. */
#define ASK_PIXELS "\033[14t\033[c"
#define DA1_SIXEL  4
#define MIN_CELL   3	/* pixels */
#define ASKED_MS   3000 /* time limit for an answer to arrive */
#define ANSWER_MS  1000 /* time limit from the first byte of an answer to its last */

/* From linux/memfd.h; required if sysctl vm.memfd_noexec is 2. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* More than the largest frame, which has a million cells with a different style each. */
#define QUEUE_BYTES	(64U << 20)
#define KEEP_BYTES	(1U << 20) /* an empty queue with more memory than this frees it */
#define CANCEL		"\030"	   /* aborts a sequence: ECMA-48 CAN */
#define OUTLET_STILL_MS 1000
#define OUTLET_DRAIN_MS 4000

/* Output to the terminal of stdout that never blocks. Curses writes to a memory file; the bytes go
 * from there to the terminal when it accepts them. So a terminal that accepts nothing, such as an
 * SSH client on a sleeping machine, does not stop the program.
 *
 * The terminal is opened twice, because stdout shares O_NONBLOCK with stdin and the shell. */
struct outlet {
	FILE *file; /* for curses: the terminal until outlet_redirect, then memory */
	int fd;	    /* of the terminal */
	bool is_redirected;
	struct buf queue;
	size_t sent; /* number of bytes of the queue that were written */
};

/* Open the terminal of stdout a second time; -1 if that is not possible. */
static int open_terminal(void)
{
	static const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	/* This works even if the terminal has no name in /dev, as in a container. */
	int fd = open("/proc/self/fd/1", flags);

	/* After su, the terminal may belong to another user, but /dev/tty can be opened. */
	if (fd < 0 && tcgetsid(STDOUT_FILENO) != (pid_t)-1)
		fd = open("/dev/tty", flags);
	if (fd >= 0 && !isatty(fd))
		fd_close(&fd);
	return fd;
}

static void outlet_free(struct outlet *outlet)
{
	if (outlet == NULL)
		return;
	if (outlet->file != NULL)
		(void)fclose(outlet->file);
	fd_close(&outlet->fd);
	buf_release(&outlet->queue);
	free(outlet);
}

static struct outlet *outlet_new(struct err *err)
{
	struct outlet *outlet = xnew(struct outlet, .queue = buf_new(QUEUE_BYTES));
	int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	outlet->fd = open_terminal();
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

/* Let outlet->file write to memory from now on; if that fails, it still writes to the terminal. */
static void outlet_redirect(struct outlet *outlet)
{
	unsigned int flags = MFD_CLOEXEC;
	int memory = memfd_create("terminal", flags | MFD_NOEXEC_SEAL);

	/* Linux before 6.3 rejects the flag. */
	if (memory < 0 && errno == EINVAL)
		memory = memfd_create("terminal", flags);
	if (memory < 0)
		return;
	(void)fflush(outlet->file);
	outlet->is_redirected = dup3(memory, fileno(outlet->file), O_CLOEXEC) >= 0;
	(void)close(memory);
}

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

static size_t count_queued(const struct outlet *outlet)
{
	return outlet->queue.len - outlet->sent;
}

/* Write what the terminal accepts now; true if nothing is left. */
static bool outlet_flush(struct outlet *outlet)
{
	if (!outlet->is_redirected)
		return true;
	outlet_collect(outlet);
	while (count_queued(outlet) > 0) {
		ssize_t n = fd_write_now(outlet->fd, outlet->queue.data + outlet->sent,
					 count_queued(outlet));

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return false;
		/* The terminal was closed: drop the rest. */
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

/* Write everything; true if nothing is left. Give up after OUTLET_DRAIN_MS, or if the terminal
 * accepts nothing for OUTLET_STILL_MS. */
static bool outlet_drain(struct outlet *outlet)
{
	int64_t end = clock_mono_ms() + OUTLET_DRAIN_MS;

	while (!outlet_flush(outlet)) {
		struct pollfd watch = { .fd = outlet->fd, .events = POLLOUT };

		if (poll(&watch, 1, OUTLET_STILL_MS) == 0 || clock_mono_ms() > end)
			return false;
	}
	return true;
}

/* Drop the queue and write data at once. If a part of the queue was written, abort a sequence that
 * may be incomplete. Without room, drop the kernel's queue, too. For signal handlers. */
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

/* Switches off synchronized output, bracketed paste, mouse, colors, application keys and the
 * alternate screen, and shows the cursor. */
static const char sane_bytes[] =
	"\033[?2026l\033[?2004l\033[?1000l\033[?1002l\033[?1003l\033[?1006l"
	"\033[0m\033[?1l\033>\033[?1049l\033[?25h\r";

/* State for restore_terminal(). The modes are those of stdin and stdout, which may be different
 * terminals: before the program changed them, and as the program needs them. */
static struct {
	volatile sig_atomic_t open;
	struct outlet *outlet;
	struct termios before[2], ours[2];
} saved;

/* Set the modes that the program needs (ours), or restore those from before. */
static void set_modes(bool ours)
{
	const struct termios *modes = ours ? saved.ours : saved.before;

	(void)tcsetattr(STDOUT_FILENO, TCSANOW, &modes[1]);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &modes[0]);
}

/* Restore the terminal if open. Async-signal-safe: runs in a signal handler and before abort. */
static void restore_terminal(void)
{
	if (!saved.open)
		return;
	saved.open = 0;
	outlet_force(saved.outlet, sane_bytes, sizeof(sane_bytes) - 1);
	set_modes(false);
}

static void on_fatal_signal(int signum)
{
	restore_terminal();
	(void)raise(signum); /* SA_RESETHAND has restored the default action */
}

static void catch_signals(const int *signals, size_t n)
{
	struct sigaction action = { .sa_handler = on_fatal_signal,
				    .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
	struct sigaction before;

	for (size_t i = 0; i < n; i++) {
		(void)sigaction(signals[i], NULL, &before);
		if (before.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &action, NULL);
	}
}

/* Save the modes, to restore them after a crash or a signal that has no other handler. */
static void save_modes(struct outlet *outlet)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT };
#ifndef __SANITIZE_ADDRESS__
	/* Sanitizers handle crashes themselves. */
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

	catch_signals(crashes, LENGTH(crashes));
#endif
	catch_signals(ends, LENGTH(ends));
	(void)tcgetattr(STDIN_FILENO, &saved.before[0]);
	(void)tcgetattr(STDOUT_FILENO, &saved.before[1]);
	saved.ours[0] = saved.before[0];
	saved.ours[1] = saved.before[1];
	saved.outlet = outlet;
	saved.open = 1;
	xalloc_set_abort_hook(restore_terminal);
}

static void forget_modes(void)
{
	set_modes(false);
	saved.open = 0;
	xalloc_set_abort_hook(NULL);
}

/* Block signals that would interrupt curses while it waits for the rest of a key. */
static void block_signals(sigset_t *before)
{
	static const int passing[] = { SIGCHLD, SIGCONT, SIGHUP, SIGWINCH };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < LENGTH(passing); i++)
		(void)sigaddset(&set, passing[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, before);
}

/* An answer of the terminal that is being read: a list of numbers. */
struct answer {
	int code; /* CODE_ANSWER or CODE_TEXT_SIZE */
	int numbers[32], n;
	int64_t end_ms; /* bytes after this monotonic time are keys */
};

struct term {
	SCREEN *screen;
	struct outlet *outlet;
	struct term_options options;
	struct canvas shown; /* the last frame */
	bool all_stale;	     /* write all cells of the next frame */
	bool has_sync;
	bool gone;
	bool rang; /* a bell is queued */
	struct key_mouse mouse;
	struct answer answer;
	enum { PIXELS_UNASKED, PIXELS_ASKED, PIXELS_NONE, PIXELS_SIXEL, PIXELS_KITTY } pixels;
	int64_t asked_ms;
	int cell_w, cell_h;			/* pixels, from the answer; 0: unknown */
	uint64_t pictures[CANVAS_MAX_PICTURES]; /* keys of the visible pictures */
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

static attr_t style_attributes(unsigned int style)
{
	return (style & STYLE_BOLD ? A_BOLD : A_NORMAL) |
	       (style & STYLE_REVERSE ? A_REVERSE : A_NORMAL) |
	       (style & STYLE_UNDERLINE ? A_UNDERLINE : A_NORMAL);
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
	for (int i = 0; i < STYLE_COUNT; i++) {
		const struct theme_style *style = theme_style(term->options.theme, (unsigned int)i);
		short fg = term->colors >= 256 ? style->color256 : style->color16;
		attr_t attributes = style_attributes(style->attributes);

		if (term->colors == 8 && fg >= 8) {
			attributes |= fg == 8 ? A_DIM : A_BOLD;
			fg = fg == 8 ? -1 : (short)(fg - 8);
		}
		term->pairs[i] = 0;
		if (term->colors > 0 && fg >= 0) {
			term->pairs[i] = (short)(i + 1);
			(void)init_pair((short)(i + 1), fg, -1);
		}
		if (term->colors == 0 && style->color16 == 8)
			attributes |= A_DIM;
		term->attributes[i] = attributes;
	}
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

/* May sequences be sent that the terminal does not know? Some terminals print such sequences. */
static bool may_ask(void)
{
	const char *name = getenv("TERM");

	return name != NULL && strcmp(name, "linux") != 0 && strcmp(name, "dumb") != 0 &&
	       strncmp(name, "vt", 2) != 0;
}

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
	/* If the terminal does not accept all output, restore at least its modes. */
	if (!outlet_drain(saved.outlet))
		outlet_force(saved.outlet, sane_bytes, sizeof(sane_bytes) - 1);
	set_modes(false);
}

static void set_escape_delay(const struct term_options *options)
{
	(void)set_escdelay(options->escape_delay_ms > 0 ? options->escape_delay_ms
			   : options->remote		? 60
							: 25);
}

struct term *term_open(const struct term_options *options, struct err *err)
{
	struct term *term;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(err, ERR_USAGE,
			"the dashboard needs a terminal; in a pipe use a command such as parse or "
			"runs");
		return NULL;
	}
	struct outlet *outlet = term_fits(err) ? outlet_new(err) : NULL;
	if (outlet == NULL)
		return NULL;
	save_modes(outlet);
	/* Keep newterm from installing its handlers: the program has its own. */
	(void)signal(SIGTSTP, SIG_IGN);
	(void)signal(SIGWINCH, SIG_IGN);
	SCREEN *screen = newterm(NULL, outlet->file, stdin);
	(void)signal(SIGTSTP, SIG_DFL);
	(void)signal(SIGWINCH, SIG_DFL);
	if (screen == NULL) {
		forget_modes();
		outlet_free(outlet);
		err_set(err, ERR_IO, "cannot set up the terminal");
		return NULL;
	}
	term = xnew(struct term, .screen = screen, .outlet = outlet, .options = *options);
	/* Curses changes modes only while its file is a terminal. */
	(void)raw();
	(void)noecho();
	(void)nonl();
	(void)intrflush(stdscr, FALSE);
	/* Keep the modes that curses set for stdout as those that the program needs. */
	struct termios *keys = &saved.ours[0], *shown = &saved.ours[1];
	(void)tcgetattr(STDOUT_FILENO, shown);
	keys->c_iflag = shown->c_iflag;
	keys->c_oflag = shown->c_oflag;
	keys->c_lflag = shown->c_lflag;
	memcpy(keys->c_cc, shown->c_cc, sizeof(keys->c_cc));
	set_modes(true);
	outlet_redirect(outlet);
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	set_escape_delay(&term->options);
	(void)curs_set(0);
	define_keys();
	init_colors(term);
	canvas_init(&term->shown);
	term->all_stale = true;
	enter_modes(term);
	return term;
}

void term_close(struct term *term)
{
	if (term == NULL)
		return;
	if (!term->gone)
		term_leave(term);
	delscreen(term->screen);
	forget_modes();
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

int term_out_fd(const struct term *term)
{
	return term->outlet->fd;
}

bool term_flush(struct term *term)
{
	if (!outlet_flush(term->outlet))
		return false;
	term->rang = false;
	return true;
}

bool term_has_pending(const struct term *term)
{
	return count_queued(term->outlet) > 0;
}

void term_size(UNUSED const struct term *term, int *width, int *height)
{
	struct winsize size = { 0 };

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

bool term_pixels(struct term *term, int *w, int *h)
{
	struct winsize size = { 0 };

	*w = *h = 0;
	if (term->pixels == PIXELS_UNASKED && may_ask()) {
		term->pixels = PIXELS_ASKED;
		term->asked_ms = clock_mono_ms();
		(void)term_write(term, ASK_PIXELS, sizeof(ASK_PIXELS) - 1);
	}
	if (term->pixels == PIXELS_ASKED)
		return clock_mono_ms() - term->asked_ms < ASKED_MS;
	if (term->pixels < PIXELS_SIXEL || term->colors < 256 || term->options.ascii)
		return false;
	/* Prefer the kernel's numbers: they change with the font size. */
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*w = size.ws_xpixel > 0 ? size.ws_xpixel / int_max(size.ws_col, 1) : term->cell_w;
	*h = size.ws_ypixel > 0 ? size.ws_ypixel / int_max(size.ws_row, 1) : term->cell_h;
	/* If the cell is too small for text, the numbers are not pixels. */
	return *w >= MIN_CELL && *h >= MIN_CELL;
}

/* Use a complete answer, whose last byte shows its kind. kitty and ghostty have their own protocol
 * for pictures and are recognized by TERM. */
static void use_answer(struct term *term, const struct answer *answer, uint32_t last)
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

/* Add a character to the answer that is being read; false if the user typed it. */
static bool feed_answer(struct term *term, uint32_t ch)
{
	struct answer *answer = &term->answer;
	int *number = &answer->numbers[answer->n];

	if (clock_mono_ms() > answer->end_ms)
		return false;
	if (ch >= '0' && ch <= '9') {
		*number = int_min(*number * 10 + (int)(ch - '0'), 9999);
	} else if (ch == ';') {
		answer->n += answer->n + 1 < (int)LENGTH(answer->numbers);
	} else if (ch == 'c' || ch == 't' || ch == 'y' || ch == '~') {
		use_answer(term, answer, ch);
		answer->end_ms = 0;
	} else {
		return ch == '$';
	}
	return true;
}

static void show_changes(struct term *term, const struct canvas *canvas)
{
	for (int y = 0; y < canvas->height && y < LINES; y++) {
		for (int x = 0; x < canvas->width && x < COLS; x++) {
			const struct cell *now = canvas_at(canvas, x, y);
			const struct cell *was = canvas_at(&term->shown, x, y);
			unsigned int style = now->style & STYLE_MASK;
			wchar_t text[3] = { (wchar_t)now->cp, (wchar_t)now->mark };
			cchar_t out;

			if (!term->all_stale && now->cp == was->cp && now->mark == was->mark &&
			    now->style == was->style)
				continue;
			if (term->options.ascii) {
				text[0] = now->cp == 0 ? L' ' : plain_char(now->cp);
				text[1] = 0;
			} else if (now->cp == 0) {
				continue;
			}
			(void)setcchar(&out, text,
				       term->attributes[style] | style_attributes(now->style),
				       term->pairs[style], NULL);
			(void)mvadd_wch(y, x, &out);
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

/* Show the pictures that changed. In some terminals a picture deletes the text in its cells: blank
 * these cells first, so that show_canvas() then writes their text again. */
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
		uint64_t key = picture_key(&picture, term->options.theme);
		if (i < term->n_pictures && key == term->pictures[i] && !term->all_stale)
			continue;
		term->pictures[i] = key;
		if (term->pixels == PIXELS_KITTY)
			picture_kitty(&picture, term->options.theme, i, &out);
		else
			picture_sixel(&picture, term->options.theme, &out);
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

/* Convert a curses key code; 0 if the program does not use this key. */
static uint32_t translate_key(int curses)
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
		block_signals(&before);
		int kind = get_wch(&code);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);

		*key = (struct key){ 0 };
		if (kind == ERR) {
			int waiting = 1;

			term->gone = ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0;
			/* get_wch() may have written output. */
			(void)term_flush(term);
			return false;
		}
		if (kind != KEY_CODE_YES && key_mouse_is_open(&term->mouse))
			(void)key_mouse_feed(&term->mouse, (uint32_t)code, key);
		else if (kind != KEY_CODE_YES)
			key->code = feed_answer(term, code) ? 0
				    : code == 127	    ? KEYCODE_BACKSPACE
							    : (uint32_t)code;
		else if (code == CODE_MOUSE || code == CODE_MOUSE_OLD)
			key_mouse_begin(&term->mouse, code == CODE_MOUSE);
		else if (code == CODE_ANSWER || code == CODE_TEXT_SIZE)
			term->answer = (struct answer){ .code = (int)code,
							.end_ms = clock_mono_ms() + ANSWER_MS };
		else
			key->code = translate_key((int)code);
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
	if (count_queued(term->outlet) + len > WAITING_BYTES)
		return false;
	(void)fwrite(data, 1, len, term->outlet->file);
	(void)fflush(term->outlet->file);
	(void)term_flush(term);
	return true;
}

void term_return(struct term *term)
{
	set_modes(true);
	(void)refresh();
	/* Curses sets this mode only while its file is a terminal. */
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
	set_modes(true);
	enter_modes(term);
	term_repaint(term);
}

void term_suspend(struct term *term)
{
	term_leave(term);
	(void)kill(0, SIGTSTP);
	term_return(term);
}
