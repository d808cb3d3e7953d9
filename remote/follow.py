# SPDX-License-Identifier: MIT
# The follower for pods with python3; remote/frame.h and follow_priv.h describe
# its protocol. It opens files for reading only and writes only to its stdout.
# Comment lines are not sent. Indent with one tab per level.
import errno, glob, os, select, stat, struct, sys, time, zlib
try:
	import ctypes
	libc = ctypes.CDLL(None)
	libc.inotify_init1, libc.inotify_add_watch
except Exception:
	libc = None

MAX_FILES, DEAD, GRACE = 4096, 60, 60
BIG, VIEW, GAP = 1 << 20, 1 << 16, 0.01
HEAD, TAIL, SLICE = 1 << 18, 4096, 1 << 20
DIR_MASK, FILE_MASK, OPENED = 0x3c0, 0xc26, 0x20
GONE = errno.EPIPE, errno.ECONNRESET
FULL = errno.EMFILE, errno.ENFILE

mono = time.monotonic
files, by_key, held, refused = {}, {}, set(), set()
globs, named, new_globs, new_named, plain = [], [], [], [], ()
checks, wanted = [], []
step, quiet, going, last_id = 0.2, False, False, 0
inbuf, heard, seq, ino, wds, dirs = b"", mono(), 0, -1, {}, set()
hot, polled = set(), set()
room = select.poll()
room.register(1, select.POLLOUT)
room.register(0, select.POLLIN)
scan_at, scanned, poll_at, beat_at = 0, 0, 0, 0

# Maximum number of open files.
try:
	import resource
	most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
	resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
	MAX_OPEN = 1024 if most < 0 else max(8, min(1024, most - 24))
except Exception:
	MAX_OPEN = 200

# Compute the POSIX cksum with zlib's CRC, which needs the bits of each byte in
# reverse order.
mirror = bytes(int("{:08b}".format(i)[::-1], 2) for i in range(256))

def add(c, data):
	return zlib.crc32(data.translate(mirror), c)

def cksum(c, n):
	while n:
		c = add(c, bytes([n & 255]))
		n >>= 8
	return int("{:032b}".format(c)[::-1], 2)

class File:
	fd, wd, off, view, sending, opened = -1, -1, 0, 0, False, False
	gone, told, calm = None, (0, 0), (0, 0)

# Read requests of the client into inbuf; exit when the client closes its end.
def take():
	global inbuf, heard
	data = os.read(0, 65536)
	if not data or len(inbuf) > 1 << 20:
		sys.exit(0)
	inbuf += data
	heard = mono()

# Write all of data. While the client does not read, take its requests, and exit
# if none comes for DEAD seconds.
def put(data):
	b = memoryview(data)
	while len(b):
		try:
			b = b[os.write(1, b):]
		except BlockingIOError:
			for fd, ev in room.poll(5000):
				if fd == 0:
					take()
			if mono() - heard > DEAD:
				sys.exit(0)

def out(head, data=b""):
	if len(data) > 65536:
		put(head)
		put(data)
	else:
		put(head + data)

def line(*words):
	return (" ".join(str(w) for w in words) + "\n").encode()

def trouble(fid, e, path):
	path = path[:1000]
	if (path, e) not in refused and len(refused) < 4096:
		refused.add((path, e))
		out(line("E", fid, e, len(path)), path)

def unescape(s):
	p = s.split(b"\\0")
	return p[0] + b"".join(bytes([int(x[:3], 8)]) + x[3:] for x in p[1:])

def home(path):
	return os.path.expanduser(path) if path[:1] == b"~" else path

def command(w, words):
	global step, quiet, going, seq, globs, named, plain
	global new_globs, new_named, scan_at
	if w == b"I":
		step = max(0.02, int(words[0]) / 1000.0)
	elif w == b"G":
		new_globs.append(home(unescape(words[0])))
	elif w == b"F":
		new_named.append(home(unescape(words[0])))
	elif w == b"L":
		dev, inode = words[0].split(b":")
		wanted.append(((int(dev), int(inode)), unescape(words[1])))
	elif w == b"GO":
		globs, named = new_globs, new_named
		new_globs, new_named = [], []
		plain = {g for g in globs if not glob.has_magic(g)}
		refused.clear()
		scan_at, going = 0, True
		unlistable()
		rewatch()
	elif w == b"A":
		scan_at, going = 0, True
	elif w == b"Q":
		quiet = words[0] == b"1"
		scan_at = 0
		rewatch()
	elif w == b"P":
		seq = int(words[0])
		beat()
	elif w in (b"B", b"C") and int(words[0]) in files:
		f, off = files[int(words[0])], int(words[1])
		if w == b"B":
			begin(f, off)
		else:
			want = int(words[2]) if words[2:] else None
			checks.append([off, f, 0xffffffff, 0, want])
			checks.sort(key=lambda c: c[0])
			if want is None:
				forget(f)

def commands():
	global inbuf
	while b"\n" in inbuf:
		words, inbuf = inbuf.split(b"\n", 1)
		words = words.split(b" ")
		command(words[0], words[1:])

def beat():
	global beat_at
	beat_at = mono() + 2
	out(line("H", seq, int(mono() * 1000)))

# Report directories that cannot be listed: logs in them are not found.
def unlistable():
	for where in {os.path.dirname(g) for g in globs}:
		for d in glob.glob(where) if glob.has_magic(where) else [where]:
			try:
				os.listdir(d or b".")
			except OSError as e:
				if e.errno == errno.EACCES:
					trouble(0, e.errno, d)

# Hints (inotify) wake the follower before the next poll. Without them it finds
# the same changes later.
def watch(path, mask):
	return libc.inotify_add_watch(ino, path, mask) if ino >= 0 else -1

def watch_file(f):
	if f.fd >= 0 and (not quiet or f.path in named):
		f.wd = watch(b"/proc/self/fd/%d" % f.fd, FILE_MASK)
		if f.wd >= 0:
			wds[f.wd] = f

def watch_dir(path):
	if path not in dirs and len(dirs) < 64:
		dirs.add(path)
		wds[watch(path or b".", DIR_MASK)] = None

def rewatch():
	global ino
	if ino >= 0:
		os.close(ino)
	wds.clear()
	dirs.clear()
	ino = libc.inotify_init1(0x80800) if libc else -1
	for f in held:
		watch_file(f)
	for g in named if quiet else globs + named:
		if not glob.has_magic(os.path.dirname(g)):
			watch_dir(os.path.dirname(g))

# Add changed files to hot, or None if a directory changed.
def hints():
	try:
		b = os.read(ino, 65536) if ino >= 0 else b""
	except BlockingIOError:
		return
	i = 0
	while i < len(b):
		wd, mask, x, n = struct.unpack_from("iIII", b, i)
		i += 16 + n
		all_ = mask & 0x4000
		found = held if all_ else [wds[wd]] if wd in wds else []
		hot.update(found)
		for f in found:
			if f and mask & (0x4000 | OPENED):
				f.opened = True

# Remember the sent part of a file: a checksum of its first bytes, and its last.
def forget(f):
	f.off, f.head, f.nhead, f.tail = 0, 0, 0, b""

def note(f, data):
	if f.nhead < HEAD:
		d = data[:HEAD - f.nhead]
		f.head, f.nhead = zlib.crc32(d, f.head), f.nhead + len(d)
	f.tail = (f.tail + data[-TAIL:])[-TAIL:]
	f.off += len(data)

# Is the sent part of the file unchanged? Its last bytes are always compared,
# its first bytes only if the file may have been opened for writing since.
def same(f):
	n = len(f.tail)
	hints()
	if f.tail != os.pread(f.fd, n, f.off - n):
		return False
	if not f.opened and f.wd >= 0 and mono() - f.grew < 1:
		return True
	f.opened = False
	return f.head == zlib.crc32(os.pread(f.fd, f.nhead, 0))

def let_rest(f):
	held.discard(f)
	polled.discard(f)
	if ino >= 0 and wds.pop(f.wd, None):
		libc.inotify_rm_watch(ino, f.wd)
	os.close(f.fd)
	f.fd = f.wd = -1

# Open a file. If too many are open, close the one that has not grown longest.
def open_file(f):
	flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
	while True:
		if len(held) >= MAX_OPEN:
			let_rest(min(held, key=lambda f: f.grew))
		try:
			try:
				f.fd = os.open(f.path, flags | os.O_NOATIME)
			except PermissionError:
				f.fd = os.open(f.path, flags)
			break
		except OSError as e:
			if e.errno not in FULL or not held:
				raise
			let_rest(min(held, key=lambda f: f.grew))
	held.add(f)

# Open a closed file again, unless its path now names another file.
def hold(f):
	if f.fd < 0:
		open_file(f)
		st = os.fstat(f.fd)
		if (st.st_dev, st.st_ino) != f.key:
			let_rest(f)
			raise FileNotFoundError(errno.ENOENT, "gone")
		watch_file(f)

def where(f):
	real = os.path.realpath(f.path)
	real = real if real != os.path.abspath(f.path) else b""
	return len(f.path), len(real), f.path + real

# Open the file at path and report it with a new number.
def start(path, key, kind="N"):
	global last_id
	if len(path) > 1000:
		return trouble(0, errno.ENAMETOOLONG, path)
	f = File()
	f.path = path
	try:
		open_file(f)
		st = os.fstat(f.fd)
		f.key, n, r, data = key, *where(f)
		f.grew = mono() - time.time() + st.st_mtime
		if (st.st_dev, st.st_ino) != key or key in by_key or (
				r > 1000 or not stat.S_ISREG(st.st_mode)):
			return let_rest(f)
	except OSError as e:
		if e.errno != errno.ENOENT:
			trouble(0, e.errno, path)
		return
	last_id += 1
	f.id, f.size = last_id, st.st_size
	files[f.id] = by_key[key] = f
	f.told = f.size, st.st_ctime_ns
	refused.discard((path, errno.EACCES))
	out(line(kind, f.id, "%d:%d" % key, *f.told, n, r), data)
	forget(f)
	watch_file(f)
	watch_dir(os.path.dirname(path))
	return f

def drop(f):
	out(line("X", f.id, f.off if f.sending else 0))
	del files[f.id], by_key[f.key]
	checks[:] = [c for c in checks if c[1] is not f]
	if f.fd >= 0:
		let_rest(f)

def begin(f, off):
	if f.off != off:
		forget(f)
		f.off = off
	f.sending, f.told, f.calm = True, (0, 0), (0, 0)
	hot.add(f)
	safely(preview, f)

# Read the sent part of a file again if an earlier follower sent it.
def recall(f):
	if f.off and not f.tail:
		off, n = f.off, min(TAIL, f.off)
		forget(f)
		note(f, os.pread(f.fd, min(HEAD, off), 0))
		f.tail, f.off = os.pread(f.fd, n, off - n), off

def restart(f, size):
	out(line("T", f.id, size))
	forget(f)
	f.grew, f.view = mono(), 0
	polled.add(f)

# Compute a part of the first requested checksum (the shortest one). If it shows
# that the sent part has changed, send the file again, unless restart() did that
# already.
def check():
	off, f, c, at, want = checks[0]
	hold(f)
	data = os.pread(f.fd, min(SLICE, off - at), at)
	at += len(data)
	c = add(c, data)
	checks[0][2:4] = c, at
	if want is None:
		note(f, data)
	if at < off and data:
		return
	checks.pop(0)
	c = cksum(c, at)
	if want is None or want == c:
		out(line("C", f.id, at, c))
	elif f.off >= off:
		restart(f, os.fstat(f.fd).st_size)
		hot.add(f)

# Send a preview of the end of a file with a large backlog.
def preview(f):
	if f.sending and f.size - f.off > BIG and f.size > f.view:
		hold(f)
		recall(f)
		at = max(f.view, f.size - VIEW)
		data = os.pread(f.fd, VIEW, at)
		if data and same(f):
			out(line("V", f.id, at, len(data)), data)
			f.view = f.size

# Send one chunk of a file; true if there is more.
def drain(f):
	hold(f)
	recall(f)
	f.size = os.fstat(f.fd).st_size
	if f.size < f.off or f.size == f.off and f.opened and not same(f):
		restart(f, f.size)
	if f.size == f.off:
		return False
	data = os.pread(f.fd, min(1 << 18, f.size - f.off), f.off)
	if not same(f):
		restart(f, os.fstat(f.fd).st_size)
		return True
	if not data:
		return False
	out(line("D", f.id, f.off, len(data)), data)
	note(f, data)
	f.grew = mono()
	polled.add(f)
	return f.off < f.size

def has_grown(f):
	try:
		return os.fstat(f.fd).st_size != f.off
	except OSError:
		return True

# Call what(f), and drop the file if it can no longer be read.
def safely(what, f):
	global scan_at
	try:
		return what(f)
	except OSError as e:
		if e.errno in GONE:
			raise
		if e.errno != errno.ENOENT:
			trouble(f.id, e.errno, f.path)
		elif f.gone is None:
			scan_at = 0
			return False
		if f.id in files:
			drop(f)
		return False

# All requested files that exist, as a dict: (device, inode) to ([paths], stat).
def matches():
	seen = {}
	found = list(named)
	for g in [] if quiet else globs:
		found += [g] if g in plain else sorted(glob.glob(g))
	for p in found:
		try:
			st = os.stat(p)
		except OSError as e:
			if e.errno not in (errno.ENOENT, errno.ENOTDIR):
				trouble(0, e.errno, p)
			continue
		if stat.S_ISREG(st.st_mode):
			key = st.st_dev, st.st_ino
			if key not in seen:
				seen[key] = [p], st
			elif p not in seen[key][0]:
				seen[key][0].append(p)
	return seen

# The file exists: report a new name, a change, or that it stopped growing.
def look_at(f, paths, st):
	is_now = st.st_size, st.st_ctime_ns
	if f.gone is not None or f.path not in paths:
		f.gone, f.path = None, paths[0]
		n, r, data = where(f)
		out(line("M", f.id, n, r), data)
	if f.sending and st.st_size != f.off:
		hot.add(f)
	elif is_now != f.told and not quiet:
		if f.sending and f.calm[0] != is_now:
			f.calm = is_now, mono()
		elif not f.sending or mono() - f.calm[1] >= 2:
			f.told = is_now
			out(line("U", f.id, *is_now))

# The file has no name any more: drop it after GRACE seconds without growth.
def age(f):
	now = mono()
	if f.gone is None:
		f.gone = now
		out(line("M", f.id, 0, 0))
	elif now - max(f.gone, f.grew) > GRACE and not (
			f.sending and safely(drain, f)):
		if f.id in files:
			drop(f)

# Look in their directories for the files that the client requested by inode.
def look_for():
	for key, path in wanted:
		try:
			folder = os.path.dirname(path)
			for d in os.scandir(folder or b"."):
				if d.inode() == key[1] and key not in by_key:
					p = os.path.join(folder, d.name)
					f = start(p, key, "O")
					if f:
						f.gone = mono()
		except OSError:
			pass
	wanted.clear()

# Count the readable files for which no room was left. Files in tried do not
# count: they could not be opened.
def count_left(seen, tried):
	return sum(os.access(seen[k][0][0], os.R_OK)
		for k in seen.keys() - by_key.keys() - tried)

# Find new files, newest first. If there is no room for a new one, drop the
# oldest file that has not grown for a minute.
def scan():
	global going, scanned, scan_at, polled
	begun, seen = mono(), matches()
	for f in list(files.values()):
		if not quiet or f.path in named:
			if f.key in seen:
				look_at(f, *seen[f.key])
			elif f.id in files:
				age(f)
			if f.id in files and f.size - f.off > BIG:
				safely(preview, f)
	order = sorted(seen, key=lambda k: -seen[k][1].st_mtime
		) if seen.keys() - by_key.keys() else []
	old = [k for k in order[MAX_FILES:] if k in by_key]
	tried = set()
	for key in order[:MAX_FILES]:
		if key in by_key:
			continue
		if len(files) >= MAX_FILES:
			if not old or mono() - by_key[old[-1]].grew < 60:
				break
			drop(by_key[old.pop()])
		tried.add(key)
		start(seen[key][0][0], key)
	look_for()
	if going:
		n = len(files)
		out(line("S", n, n + count_left(seen, tried)))
		going = False
	scanned = mono()
	polled = {f for f in held if f.wd < 0 or f.gone is not None or
		scanned - f.grew < 60}
	scan_at = scanned + max(1, 99 * (scanned - begun))

def turn():
	global poll_at, hot
	if mono() >= scan_at:
		scan()
		poll_at = 0
	if mono() >= poll_at:
		poll_at = mono() + step
		hot.update(filter(has_grown, polled))
	hot.discard(None)
	if checks:
		safely(lambda f: check(), checks[0][1])
	now, hot = hot, set()
	for f in sorted(now, key=lambda f: f.id):
		if f.id in files and f.sending and (
				not quiet or f.path in named):
			if safely(drain, f):
				hot.add(f)
	if not quiet and mono() >= beat_at:
		beat()

def main():
	global scan_at
	os.set_blocking(1, False)
	out(b"\nHGF2 %s OK py %d\n" % (sys.argv[1].encode(), os.getpid()))
	turned = 0
	while mono() - heard < DEAD:
		now = mono()
		p = select.poll()
		p.register(0, select.POLLIN)
		listen = ino >= 0 and now - turned >= GAP
		if listen:
			p.register(ino, select.POLLIN)
		due = min(poll_at, scan_at, poll_at if quiet else beat_at)
		if ino >= 0 and not listen:
			due = min(due, turned + GAP)
		if hot or checks:
			due = 0
		elif not globs and not named:
			due = now + 1
		for fd, ev in p.poll(max(0, (due - now) * 1000 + 0.5)):
			if fd == 0:
				take()
			else:
				hints()
				turned = mono()
				if None in hot:
					scan_at = min(scan_at, scanned + 0.1)
		commands()
		if not globs and not named:
			continue
		now = mono()
		if hot or checks or now >= min(poll_at, scan_at, beat_at):
			turn()

try:
	main()
except (BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
	pass
