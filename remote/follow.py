# SPDX-License-Identifier: MIT
# The follower, run on the pod by python3; remote/follow.h tells the protocol.
# It opens files for reading only and writes nowhere but to its stdout.
# Comment lines are left out of what is sent; indents are single tabs.
import errno, glob, os, select, stat, struct, sys, time
try:
	import ctypes
	libc = ctypes.CDLL(None)
	libc.inotify_init1, libc.inotify_add_watch
except Exception:
	libc = None

MAX_FILES, DEAD, GRACE = 512, 60, 5
BIG, VIEW, GAP = 1 << 20, 1 << 16, 0.01
DIR_MASK, FILE_MASK = 0x3c0, 0xc06
GONE = errno.EPIPE, errno.ECONNRESET

mono = time.monotonic
files, by_key, known, refused = {}, {}, [], set()
globs, named, new_globs, new_named = [], [], [], []
step, chunk, quiet, going, last_id = 0.2, 1 << 18, False, False, 0
inbuf, heard, seq, ino, wds, dirs = b'', mono(), 0, -1, {}, set()
rounds = 0
near, room = set(), select.poll()
room.register(1, select.POLLOUT)
room.register(0, select.POLLIN)
scan_at, scanned, poll_at, beat_at = 0, 0, 0, 0

table = []
for i in range(256):
	c = i << 24
	for k in range(8):
		c = (c << 1) ^ (0x104c11db7 if c & 0x80000000 else 0)
	table.append(c)

class File:
	pass

# POSIX cksum.
def cksum(data):
	c, n = 0, len(data)
	data = bytearray(data)
	while n:
		data.append(n & 255)
		n >>= 8
	for b in data:
		c = (c << 8 & 0xffffffff) ^ table[c >> 24 ^ b]
	return c ^ 0xffffffff

# Read what the client sent; its end is ours.
def take():
	global inbuf, heard
	data = os.read(0, 65536)
	if not data or len(inbuf) > 1 << 20:
		sys.exit(0)
	inbuf += data
	heard = mono()

# Write all; while the client does not read, hear it still.
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

def out(head, data=b''):
	if len(data) > 65536:
		put(head)
		put(data)
	else:
		put(head + data)

def line(*words):
	return (' '.join(str(w) for w in words) + '\n').encode()

def trouble(fid, e, path):
	if (path, e) not in refused and len(refused) < 4096:
		refused.add((path, e))
		out(line('E', fid, e, len(path)), path)

def unescape(s):
	p = s.split(b'\\0')
	return p[0] + b''.join(bytes([int(x[:3], 8)]) + x[3:] for x in p[1:])

def home(path):
	return os.path.expanduser(path) if path[:1] == b'~' else path

def command(words):
	global step, chunk, quiet, going, seq, globs, named, new_globs
	global new_named, scan_at, rounds
	w = words[0]
	if w == b'I':
		step = max(0.02, int(words[1]) / 1000.0)
	elif w == b'C':
		chunk = min(max(4096, int(words[1])), 1 << 18)
	elif w == b'G':
		new_globs.append(home(unescape(words[1])))
	elif w == b'F':
		new_named.append(home(unescape(words[1])))
	elif w in (b'R', b'K'):
		dev, inode = words[2].split(b':')
		n = [int(x) for x in words[3:8]]
		known.append([int(words[1]), (int(dev), int(inode))] + n +
			[unescape(words[8]), w == b'R'])
	elif w == b'GO':
		globs, named = new_globs, new_named
		new_globs, new_named = [], []
		refused.clear()
		scan_at, going, rounds = 0, True, 0
		rewatch()
	elif w == b'Q':
		quiet = words[1] == b'1'
		scan_at = 0
		rewatch()
	elif w == b'P':
		seq = int(words[1])
		beat()

def commands():
	global inbuf
	while b'\n' in inbuf:
		words, inbuf = inbuf.split(b'\n', 1)
		command(words.split(b' '))

def beat():
	global beat_at
	beat_at = mono() + 2
	out(line('H', seq, int(mono() * 1000)))

# Hints: a wake-up before the next poll; nothing relies on them.
def watch(path, mask):
	return libc.inotify_add_watch(ino, path, mask) if ino >= 0 else -1

def watch_file(f):
	if not quiet or f.path in named:
		f.wd = watch(b'/proc/self/fd/%d' % f.fd, FILE_MASK)
		wds[f.wd] = f

def watch_dir(path):
	if path not in dirs and len(dirs) < 64:
		dirs.add(path)
		wds[watch(path or b'.', DIR_MASK)] = None

def rewatch():
	global ino
	if ino >= 0:
		os.close(ino)
	wds.clear()
	dirs.clear()
	ino = libc.inotify_init1(0x80800) if libc else -1
	for f in files.values():
		watch_file(f)
	for g in named if quiet else globs + named:
		if not glob.has_magic(os.path.dirname(g)):
			watch_dir(os.path.dirname(g))

# Which files changed; None among them: a directory did.
def hints():
	try:
		b = os.read(ino, 65536)
	except BlockingIOError:
		return set()
	found, i = set(), 0
	while i < len(b):
		wd, mask, x, n = struct.unpack_from('iIII', b, i)
		i += 16 + n
		if mask & 0x4000:
			found.update(files.values())
		elif wd in wds:
			found.add(wds[wd])
	return found

def guard(f, start):
	f.off = start
	f.head = os.pread(f.fd, min(256, start), 0)
	f.tail = os.pread(f.fd, min(64, start), start - min(64, start))

def sums(f):
	return len(f.head), cksum(f.head), len(f.tail), cksum(f.tail)

# Does the file still begin and go on as what was sent of it?
def same(f):
	n = len(f.tail)
	return (f.head == os.pread(f.fd, len(f.head), 0) and
		f.tail == os.pread(f.fd, n, f.off - n))

# Where a file goes on for which the client has (or we had) something.  The
# path counts only where the inode is nowhere near: logs begin alike, and the
# one of the path may be the next.
def resume(f, size):
	for by_path in 0, 1:
		for r in known:
			key, where, off, hlen, hsum, tlen, tsum, path, seek = r
			it = path == f.path and where[1] not in near
			it = going and it if by_path else where == f.key
			if not it or off > size:
				continue
			guard(f, off)
			if sums(f) == (hlen, hsum, tlen, tsum):
				known.remove(r)
				return key
	guard(f, 0)
	return 0

# Open, and announce; only_known: leave it unless it can be resumed.
def start(path, only_known=False):
	global last_id
	if len(files) >= MAX_FILES:
		return trouble(0, errno.EMFILE, path)
	f = File()
	flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
	try:
		try:
			f.fd = os.open(path, flags | os.O_NOATIME)
		except PermissionError:
			f.fd = os.open(path, flags)
		st = os.fstat(f.fd)
		f.key, f.path = (st.st_dev, st.st_ino), path
		key = 0
		if stat.S_ISREG(st.st_mode) and f.key not in by_key:
			key = resume(f, st.st_size)
		if not stat.S_ISREG(st.st_mode) or f.key in by_key or (
				only_known and not key):
			return os.close(f.fd)
	except OSError as e:
		if e.errno != errno.ENOENT:
			trouble(0, e.errno, path)
		return
	last_id += 1
	f.id, f.gone, f.grew, f.view, f.wd = last_id, None, mono(), 0, -1
	f.size = st.st_size
	files[f.id] = by_key[f.key] = f
	refused.discard((path, errno.EACCES))
	where = '%d:%d' % f.key
	out(line('N', f.id, where, f.off, f.size, len(path), key), path)
	watch_file(f)
	watch_dir(os.path.dirname(path))
	preview_safely(f)

def drop(f):
	known.append([-f.id, f.key, f.off] + list(sums(f)) +
		[f.path, False])
	del known[:-2048]
	del files[f.id], by_key[f.key]
	if ino >= 0 and wds.pop(f.wd, None):
		libc.inotify_rm_watch(ino, f.wd)
	os.close(f.fd)

def restart(f, size):
	out(line('T', f.id, size))
	guard(f, 0)
	f.grew, f.view = mono(), 0

# The end of a file whose bytes in order are far behind, for the eye.
def preview(f):
	if f.size - f.off > BIG and f.size > f.view:
		at = max(f.view, f.size - VIEW)
		data = os.pread(f.fd, VIEW, at)
		if data and same(f):
			out(line('V', f.id, at, len(data)), data)
			f.view = f.size

def preview_safely(f):
	try:
		preview(f)
	except OSError as e:
		if e.errno in GONE:
			raise

# Send one chunk; true when more is there.
def drain(f):
	f.size = os.fstat(f.fd).st_size
	if f.size < f.off:
		restart(f, f.size)
	if f.size == f.off:
		return False
	data = os.pread(f.fd, min(chunk, f.size - f.off), f.off)
	if not same(f):
		restart(f, os.fstat(f.fd).st_size)
		return True
	if not data:
		return False
	out(line('D', f.id, f.off, len(data)), data)
	f.off += len(data)
	f.grew = mono()
	f.head = (f.head + data)[:256] if len(f.head) < 256 else f.head
	f.tail = (f.tail + data[-64:])[-64:]
	return f.off < f.size

def drain_safely(f):
	try:
		return drain(f)
	except OSError as e:
		if e.errno in GONE:
			raise
		trouble(f.id, e.errno, f.path)
		out(line('X', f.id, f.off))
		drop(f)
		return False

def matches():
	seen = {}
	found = list(named)
	for g in [] if quiet else globs:
		found += sorted(glob.glob(g))
	for p in found:
		try:
			st = os.stat(p)
		except OSError as e:
			if e.errno not in (errno.ENOENT, errno.ENOTDIR):
				trouble(0, e.errno, p)
			continue
		if stat.S_ISREG(st.st_mode):
			paths = seen.setdefault((st.st_dev, st.st_ino), [])
			if p not in paths:
				paths.append(p)
	return seen

def age(f, seen):
	now = mono()
	if f.key in seen:
		f.gone = None
		if f.path not in seen[f.key]:
			f.path = seen[f.key][0]
			out(line('M', f.id, len(f.path)), f.path)
	elif f.gone is None:
		f.gone = now
	elif now - max(f.gone, f.grew) > GRACE and not drain_safely(f):
		if f.id in files:
			out(line('X', f.id, f.off))
			drop(f)

def entries(where):
	try:
		return list(os.scandir(where or b'.'))
	except OSError:
		return []

# The inodes that lie where the known files lay.
def look_near(seen):
	near.clear()
	near.update(key[1] for key in seen)
	for where in set(os.path.dirname(r[7]) for r in known):
		near.update(d.inode() for d in entries(where))

# Files that were rotated out of the globs while no one looked.
def lost():
	for r in [r for r in known if r[8]]:
		where = os.path.dirname(r[7])
		for d in entries(where) if r[1][1] in near else []:
			if d.inode() == r[1][1] and r in known:
				start(os.path.join(where, d.name), True)

# Is what is known either open or nowhere near, seen twice?  A log may be
# rotated while we look.
def settled(seen):
	global rounds
	lost()
	look_near(seen)
	rounds += 1
	left = [r[1][1] in near for r in known if r[8]]
	return not left or rounds >= 5 or rounds >= 2 and not any(left)

def scan():
	global going, scanned, scan_at
	seen = matches()
	if going:
		look_near(seen)
	for f in list(files.values()):
		if not quiet or f.path in named:
			age(f, seen)
			if f.id in files:
				preview_safely(f)
	for key, paths in seen.items():
		if key not in by_key:
			start(paths[0])
	again = going and not quiet and not settled(seen)
	if going and not again:
		out(line('S', len(files)))
		going = False
	scanned = mono()
	scan_at = scanned + (0.1 if again else 1)

def turn(hot):
	global poll_at, scan_at
	now = mono()
	if now >= scan_at:
		scan()
		poll_at = 0
	if now >= poll_at:
		poll_at = mono() + step
		hot = set(files.values())
	hot.discard(None)
	more = set()
	for f in sorted(hot, key=lambda f: f.id):
		if f.id in files and (not quiet or f.path in named):
			if drain_safely(f):
				more.add(f)
	if not quiet and mono() >= beat_at:
		beat()
	return more

def main():
	global scan_at
	os.set_blocking(1, False)
	out(b'\nHGF1 %s OK py %d\n' % (sys.argv[1].encode(), os.getpid()))
	hot, turned = set(), 0
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
		if hot:
			due = 0
		elif not globs and not named:
			due = now + 1
		for fd, ev in p.poll(max(0, (due - now) * 1000 + 0.5)):
			if fd == 0:
				take()
			else:
				hot |= hints()
				turned = mono()
				if None in hot:
					scan_at = min(scan_at, scanned + 0.1)
		commands()
		if not globs and not named:
			continue
		now = mono()
		if hot or now >= min(poll_at, scan_at, beat_at):
			hot = turn(hot)

try:
	main()
except (BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
	pass
