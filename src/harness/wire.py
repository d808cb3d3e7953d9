# SPDX-License-Identifier: MIT
# Send a HarnessGym directory: first complete, then for each line on stdin the
# changes. The protocol is in src/harness/wire.h. Runs on the machine that
# has the directory, opens files only for reading and writes only to stdout.
# usage: DIR ALL. Unless ALL is "", the texts of older runs are sent, too. Comment
# lines are removed before the script is sent to a pod.
import base64, difflib, glob, hashlib, json, os, re, shutil, signal, stat
import subprocess, sys, time

TEXT, LINES, JSON, JUDGE = 1 << 18, 1 << 23, (1 << 22) + 1, 1 << 20
TABLE = "results.tsv", "run.log"
ENTRIES, YOUNG, PARTS, SEARCH_S = 4096, 2, 256, 5
HERE = sys.argv[1]
if HERE[:2] == "~/":
	HERE = os.path.expanduser(HERE)
ALL = sys.argv[2] != ""
# A file of the task also belongs to the judge if one of these words is a part of its
# name, even if the post-attempt command does not lead to it.
WORDS = """verif verify verifier bench benchmark judge reference oracle timing
timer evaluate eval evaluator grader score scorer scoring golden expected
measure conftest""".split()
# Modules that a verifier may import and a new file in its folder can shadow.
LIBRARIES = """abc argparse ast base64 bisect calendar codecs collections
conftest contextlib copy csv ctypes cupy dataclasses datetime decimal dis enum
fractions functools gc glob hashlib heapq importlib inspect io itertools json
keyword linecache locale logging math multiprocessing numbers numpy opcode
operator os pathlib pickle platform queue random re reprlib resource scipy
secrets select selectors shlex shutil signal sitecustomize socket statistics
string struct subprocess sys tempfile textwrap threading time timeit token
tokenize torch traceback triton types typing unittest usercustomize uuid
warnings weakref zipfile""".split()
BUILDS = ".o", ".a", ".cubin", ".fatbin"
RUNS = 64 if ALL else 33
PLUGINS = "entry_points.txt", "pyproject.toml", "setup.cfg", "setup.py"
COPIES = "workspace", "best", "workspace_template"
TEMPLATE = "qualification/workspace_template"
OLD = "post_attempt.stdout.txt", "baseline.stdout.txt"
known, sent, sums, last, forged, judges, tampers = {}, {}, {}, {}, {}, {}, {}
WRITTEN = " was written while the verifier ran"
written = {} # the ctimes of judge files that were seen then
originals = {} # checksums of judge files, seen before the first attempt or unchanged since


# A run id may contain slashes. They are sent as a character that looks like a slash,
# because the reader expects one folder per run.
nested = {}


def emit(text):
	for run, flat in nested.items():
		text = text.replace("runs/%s/" % run, "runs/%s/" % flat) \
			.replace(" %s/" % run, " %s/" % flat)
	sys.stdout.buffer.write(os.fsencode(text) + b"\n")


def look_at(path):
	try:
		return os.lstat(path)
	except (OSError, ValueError):
		return None


def is_folder(path):
	st = look_at(path)
	return st is not None and stat.S_ISDIR(st.st_mode)


def is_file(path):
	st = look_at(path)
	return st is not None and stat.S_ISREG(st.st_mode)


def key_of(st):
	return st.st_ctime_ns, st.st_mtime_ns, st.st_size, st.st_ino


# The names for which `counts` is true. At most ENTRIES, since an agent can create
# any number of files.
def names_in(path, counts=lambda name: True):
	try:
		with os.scandir(path) as entries:
			found = (e.name for e in entries
				if "\n" not in e.name and counts(e.name))
			return sorted(n for n, _ in zip(found, range(ENTRIES)))
	except (OSError, ValueError):
		return []


def stamp(ns):
	return "%d.%03d" % (ns // 10**9, ns // 10**6 % 1000)


def part(f, path, st, newest):
	name = path.rsplit("/", 1)[-1]
	if name.endswith((".prompt.txt", ".py")) or "/workspace/" in path or \
			name.endswith(".txt") and not (
			newest or name in OLD or name.startswith("post.")):
		return b""
	if name.endswith(".json"):
		return f.read(JSON)
	if path == TABLE[0]:
		return f.read(1 << 20)
	if path == TABLE[1]:
		f.seek(max(0, st.st_size - (1 << 16)))
		return f.read(1 << 16)
	if name.endswith(".txt"):
		f.seek(max(0, st.st_size - TEXT))
		return f.read(TEXT)
	ino, size = sent.get(path, (0, 0))
	if ino == st.st_ino and 0 < size <= st.st_size and st.st_size <= LINES:
		emit("A %d" % size)
		f.seek(size)
	else:
		f.seek(max(0, st.st_size - LINES))
	return f.read(LINES)


# Send a file unless it is unchanged.
def send(root, path, newest, now):
	full = os.path.join(root, path)
	try:
		fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
	except OSError:
		return
	with open(fd, "rb") as f:
		st = os.fstat(fd)
		key = key_of(st) + (newest,)
		if not stat.S_ISREG(st.st_mode) or known.get(path) == key:
			return
		emit("C " + stamp(st.st_ctime_ns))
		emit("F %s %d %s" % (stamp(st.st_mtime_ns), st.st_size, path))
		data = part(f, path, st, newest)
		sys.stdout.buffer.write(base64.encodebytes(data))
		whole = key_of(os.fstat(fd)) == key[:4]
	emit("." if whole else ",")
	known[path] = key if whole and now - st.st_ctime > YOUNG else None
	sent[path] = (st.st_ino, st.st_size) if whole else (0, 0)


# A kernel's settings in template and checkpoint, and the task that calls the kernel.
SETTINGS = ("qualification", "workspace_template", "kernel_config.json"), \
	("checkpoints", "best", "kernel_config.json"), \
	("checkpoints", "best", "task.py")


# List all files of a run. The checkpoint comes last, because HarnessGym writes it
# before the files that mention it.
def files_of(root, run, newest):
	found, stack = [], [("runs/" + run, 0)]
	while stack:
		path, depth = stack.pop()
		for name in names_in(os.path.join(root, path)):
			own = path + "/" + name
			if is_folder(os.path.join(root, own)):
				if depth < 4 and name not in COPIES:
					stack.append((own, depth + 1))
			elif name.endswith((".json", ".txt")):
				found.append(own)
	for above, below, name in SETTINGS:
		path = "runs/%s/%s" % (run, above)
		own = path + "/" + below
		if is_folder(os.path.join(root, path)) and \
				is_folder(os.path.join(root, own)) and \
				is_file(os.path.join(root, own, name)):
			found.append(own + "/" + name)
	return sorted(found, key=lambda path: "/checkpoints/" in path)


def changed_at(path):
	st = look_at(path)
	return st.st_ctime_ns if st else 0


# Return a checksum of what a file means; of its bytes if it is too long for that.
def sum_of_bytes(name, data):
	return hashlib.sha256(meaning_of(name, data) if len(data) < JUDGE else
		data).hexdigest()


# Return the ctime of a file, and a checksum of its meaning or of its bytes.
def copy_of(root, name, by_meaning=True):
	path = os.path.join(root, name)
	st, ctime = look_at(path), changed_at(path)
	if st is not None and stat.S_ISLNK(st.st_mode):
		try:
			st = os.stat(path)
			ctime = max(ctime, st.st_ctime_ns)
		except OSError:
			st = None
	if st is None or not stat.S_ISREG(st.st_mode) or \
			st.st_size > PARTS * JUDGE:
		return ctime, "none"
	if sums.get(path, (0,))[0] != key_of(st) or \
			time.time() - st.st_ctime <= YOUNG:
		try:
			sum = hashlib.sha256()
			with open(path, "rb") as f:
				data = f.read(JUDGE)
				sum.update(data)
				for _ in range(1, PARTS):
					sum.update(f.read(JUDGE))
			text = sum.hexdigest(), sum.hexdigest() if len(data) == \
				JUDGE else sum_of_bytes(name, data)
		except OSError:
			text = "none", "none"
		sums[path] = key_of(st), text
	return ctime, sums[path][1][by_meaning]


# Find which files task.md lets the agent edit. Only a copy older than the first
# attempt counts: the template's, or a copy that has not changed since the start.
def task_of(own, template, work):
	path = text_in(own + "/run_config.json", "task_path")
	inside = os.path.relpath(path, work) if work and path else "task.md"
	begun = changed_at(own + "/run_config.json")
	copies = [os.path.join(template, name) for name in
		(inside, os.path.basename(path) or "task.md", "task.md")
		if name[:2] != ".."] if template else []
	for full in copies + [path, os.path.join(work or "/", "task.md")]:
		if is_file(full) and (full in copies or
				0 < changed_at(full) <= begun):
			with open(full, "rb") as f:
				text = f.read(JUDGE).decode("utf-8", "replace")
			return full, editable_of(text)
	return None, editable_of("")


# All files that the command leads to in a folder, cached until one of them changes.
def judge_of(root, work, command, said=""):
	kept = judges.get((root, command))
	if kept is None or kept[0] != [changed_at(root)] + [changed_at(
			os.path.join(root, path)) for path in kept[1].uses]:
		judge = Judge(root, work, said)
		judge.shell(command)
		kept = [changed_at(root)] + [changed_at(os.path.join(root,
			path)) for path in judge.uses], judge
		judges[root, command] = kept
	return kept[1]


# The judge of a command, the owner of each file, and the files of the judge.
def judges_of(root, work, command, task, said=""):
	judge = judge_of(root, work, command, said)
	parts = {path: part_of(judge, path, task, WORDS)
		for path in [*judge.uses, *judge.tree()] if "*" not in path}
	return judge, parts, [path for path, part in parts.items()
		if part == "judge"]


# Find files in this folder of the workspace that replace a module of the judge, or
# that python, pytest and make read by default.
def shadows_of(work, template, below, judge, parts):
	modules = closure_of(judge.modules)
	# Modules that are built from sources of the candidate.
	own = {path.partition(".")[0] for path, part in parts.items()
		if part == "candidate"}
	stems = {path.partition(".")[0] for path in parts}

	def counts(name):
		stem = name.partition(".")[0]
		is_new = (stem in LIBRARIES or stem in modules or
			name == "GNUmakefile") and not os.path.exists(
			os.path.join(template, below, name))
		if is_new and name.endswith(".so") and stem in judge.modules and \
				below + stem not in stems and stem not in LIBRARIES \
				and not imports_of(stem):
			parts[below + name] = "unclear"
		return is_new and below + stem not in own and parts.get(
			below + name, parts.get(below + stem + ".py")
			) not in ("candidate", "named", "unclear")
	for name in names_in(os.path.join(work, below), counts):
		own, end = below + name, name.partition(".")[2]
		for init in names_in(os.path.join(work, own),
				lambda n: n.startswith("__init__.")):
			yield own + "/" + init
		if end in ("py", "pyc") or ".so" in "." + end or \
				name == "GNUmakefile":
			yield own


# Find the interpreters in the workspace that the command names, and the files that
# they run at startup.
def starters_of(work, command):
	for word in re.split(r"[\s;&|=]+", command):
		if "/bin/" in word and word[0] != "/" and \
				look_at(os.path.join(work, word)):
			yield os.path.normpath(word)
	for folder in ".*", "*":
		found = glob.glob(os.path.join(glob.escape(work), folder, "lib",
			"python*", "site-packages", "*"))
		for path in sorted(found)[:ENTRIES]:
			own = os.path.relpath(path, work)
			if own.split("/")[0] + "/bin/" in command and (
					own.endswith(".pth") or re.match(
					r"(site|user)customize\.",
					os.path.basename(own))):
				yield own


# Return when an entry of a folder was last added or removed. Compilers and formatters add
# folders of tools to copies of the task: then only the times of other folders count, and
# each file of the judge has its own time. is_copy: nothing runs in this folder, so that
# such a folder may also be gone again. saved: a folder of tools that has a file from before
# this time was there already, so it explains no later change.
def entries_at(path, is_copy=False, saved=0):
	names = {*names_in(path)}
	tools = [name for name in names & {*TOOLS} if not any(0 < changed_at(os.path.join(
		path, name, own)) <= saved for own in names_in(os.path.join(path, name)))]
	if not tools and not (is_copy and names):
		return changed_at(path)
	return max((entries_at(own, False, saved) for own in (os.path.join(path, name)
		for name in names if name not in TOOLS) if is_folder(own)), default=0)


# Return when the template folder, which HarnessGym creates once, last changed. 0: no trace
# of a template.
def template_at(template):
	if is_folder(template):
		return entries_at(template, True)
	above = os.path.dirname(template)
	return changed_at(above) if is_folder(above) else 0


# Prints 1 for each source whose cached byte code is what python compiles from it, else 0.
LOAD = """import sys
from importlib.machinery import SourceFileLoader
if sys.implementation.cache_tag != sys.argv[1]:
	sys.exit(2)
for path in sys.stdin.read().split("\\0"):
	loader = SourceFileLoader("x", path)
	try:
		code = loader.source_to_code(loader.get_data(path), path)
		print(int(loader.get_code("x") == code), flush=True)
	except Exception:
		print(0, flush=True)
"""


# Given pairs (source, byte code) of one version, find the byte code files that do not
# match their source. If python crashes on a pair, that and all later pairs are forged.
def forged_of(kind, pairs):
	level = "-" + "O" * int(kind[1][4:]) \
		if re.match(r"opt-[12]$", kind[1]) else "-B"
	tag = kind[1] if level == "-B" else kind[0]
	version = re.match(r"cpython-(\d)(\d+)$", tag)
	python = shutil.which("python%s.%s" % version.groups()) \
		if version else None
	try:
		done = subprocess.run([python or sys.executable, "-IBS", level,
			"-c", LOAD, tag], input="\0".join(source
			for source, code in pairs), stdout=subprocess.PIPE,
			stderr=subprocess.DEVNULL, timeout=60,
			errors="surrogateescape")
	except (OSError, subprocess.SubprocessError):
		return [code for source, code in pairs]
	if done.returncode != 2:
		same = done.stdout.split()
		return [code for i, (source, code) in enumerate(pairs)
			if same[i:i + 1] != ["1"]]
	found = []
	for source, code in pairs:
		try:
			with open(code, "rb") as f:
				if f.read(8)[4:5] == b"\1":
					found.append(code)
		except OSError:
			found.append(code)
	return found


# Find byte code in this folder of the workspace that python would run although
# it does not match the source. Files beyond the limits count as well.
def stale_of(work, below, names):
	cache = os.path.join(work, below, "__pycache__")
	asked, keys, found = {}, {}, []
	for name in names_in(cache, lambda n: n.endswith(".pyc") and
			n.count(".") > 1 and
			below + n.split(".")[0] + ".py" in names):
		path = os.path.join(cache, name)
		source = os.path.join(work, below, name.split(".")[0] + ".py")
		if not os.path.isfile(path) or not is_file(source):
			continue
		found.append(path)
		keys[path] = key_of(os.stat(path)), key_of(os.stat(source))
		if forged.get(path, (0,))[0] != keys[path]:
			kind = tuple(name[:-4].split(".")[-2:])
			kind = kind if kind[1][:4] == "opt-" else ("", kind[1])
			asked.setdefault(kind, []).append((source, path))
	for kind, pairs in list(asked.items())[:16]:
		for i in range(0, min(len(pairs), ENTRIES), 64):
			part = pairs[i:i + 64]
			bad = set(forged_of(kind, part))
			for source, path in part:
				forged[path] = keys[path], path in bad
	for path in found:
		if forged.get(path, (0, True)) != (keys[path], False):
			yield below + "__pycache__/" + os.path.basename(path)


# List the files of the workspace that can influence its measurements.
def deciders_of(work, template, command, judge, parts, found):
	found = list(found)
	folders = {"", *(re.sub(r"[^/]*$", "", name) for name in found),
		*(path + "/" for path in judge.paths if path)}
	for below in sorted(folders):
		names = {*found, *(below + n + ".py" for n in judge.modules)}
		found += stale_of(work, below, {n for n in names
			if parts.get(n) != "candidate"})
		if template:
			found += shadows_of(work, template, below, judge, parts)
	found += [path for path in sorted(judge.added) if path not in found and
		look_at(os.path.join(work, path)) and not (os.path.basename(path)
		in PYTEST and not meaning_of(path, data_of(work, path)))]
	return found + list(starters_of(work, command))


def data_of(root, path, size=JUDGE):
	full = os.path.join(root, path)
	try:
		if os.path.isfile(full): # opening a pipe would wait
			with open(full, "rb") as f:
				return f.read(size)
	except (OSError, ValueError):
		pass
	return b""


# What git prints about a repository. The agent may own it, so git must not
# start the programs that it configures. Raises an exception if git does not end in time.
def git_bytes(top, *words):
	given = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": "none",
		"GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1"}
	done = subprocess.run(["git", "--git-dir=" + top + "/.git", "-c",
		"safe.directory=*", *words], stdout=subprocess.PIPE,
		stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
		timeout=SEARCH_S, env={**os.environ, **given})
	return done.stdout


def git_words(top, *words):
	return git_bytes(top, *words).decode("ascii", "replace").split()


# Did git have this commit at time ns? git never writes the object of a commit again.
def had_commit(top, sum, ns):
	objects = os.path.join(top, ".git", "objects")
	packs = os.path.join(objects, "pack")
	return re.match(r"[0-9a-f]{40}$", sum) and (
		0 < changed_at(os.path.join(objects, sum[:2], sum[2:])) <= ns or
		any(name.endswith(".idx") and
		0 < changed_at(os.path.join(packs, name)) <= ns and
		bytes.fromhex(sum) in data_of(packs, name, 1 << 26)
		for name in names_in(packs)))


# Did the file mean the same in the commit that was checked out at time ns? A newer commit
# of that time must have the same content, since the agent can edit the log.
def is_in_git(work, name, ns):
	_, sum = copy_of(work, name)
	path = os.path.normpath(os.path.join(work, name))
	tops = [path[:i] for i, sign in enumerate(path) if sign == "/"][-8:]
	try:
		return data_of(work, name, 1) != b"" and any(has_content(top,
			os.path.relpath(path, top), sum, ns, key_of_git(top))
			for top in tops if os.path.exists(top + "/.git"))
	except (OSError, subprocess.SubprocessError):
		return False


# Changes with each commit, checkout, branch and tag, except in folders of branches.
def key_of_git(top):
	return tuple(changed_at(top + "/.git" + name) for name in ("", "/HEAD", "/logs/HEAD",
		"/packed-refs", "/refs/heads", "/refs/tags", "/objects/pack"))


# key is not read: it only makes each look after a change of the repository a new one.
@functools.lru_cache(maxsize=256)
def has_content(top, own, sum, ns, key):
	lines = [re.match(r"[0-9a-f]{40} ([0-9a-f]{40}) [^\t]*> (\d{1,12}) [-+]\d{4}(?:\t|$)",
		line) for line in text_of(top, ".git/logs/HEAD").split("\n")]
	heads = [m.group(1) for m in lines if m and int(m.group(2)) * 10**9 <= ns][-64:]
	heads = [*itertools.islice((head for head in reversed(heads)
		if had_commit(top, head, ns)), 1)]
	path = ["--ancestry-path"] if heads else [] # git needs a commit for it
	# If HEAD has not changed, other branches were not checked out.
	refs = ["--exclude=refs/stash", "--exclude=refs/remotes/*", "--all"] if not heads or \
		changed_at(top + "/.git/HEAD") > ns else []
	newer = git_words(top, "rev-list", *refs[:2], *path, "--max-count=64", *refs[2:], "HEAD",
		*("^" + head for head in heads), "--")
	commits = heads + [commit for commit in newer if had_commit(top, commit, ns)][:1]
	return len(commits) > 0 and all(sum_of_bytes(own, git_bytes(top, "cat-file", "blob",
		commit + ":" + own)) == sum for commit in commits)


# The times between which each verifier of a run ran.
def spans_of(own):
	return [(changed_at(path), changed_at(os.path.join(os.path.dirname(path),
		"reflection.prompt.txt"))) for path in glob.glob(glob.escape(own) +
		"/iterations/*/attempt.stdout.txt")]


# When the first attempt of a run started; 0: it has not.
def started_at(own):
	found = [changed_at(path) for path in glob.glob(glob.escape(own) +
		"/iterations/*/a*") if path.endswith(("/activation.json", "/attempt.prompt.txt"))]
	return min(found, default=0)


# Which folders of these files were moved while a verifier ran? This changes only the
# folder's ctime. A new entry changes both times.
def moved_in(own, work, names):
	spans = spans_of(own)
	for folder in sorted({name[:i] for name in names for i, sign in enumerate(name)
			if sign == "/"}):
		st = look_at(os.path.join(work, folder))
		if st is not None and st.st_ctime_ns != st.st_mtime_ns and any(
				begun < st.st_ctime_ns < end for begun, end in spans):
			yield folder + " was moved or replaced while the verifier ran"


# Send the line of a judge file, unless it has not changed.
def emit_judge(run, name, copies):
	line = " ".join("%s %s" % (stamp(ns), text) for ns, text in copies)
	line = "J %s %s/%s" % (line, run, name)
	if last.get((run, name)) != line:
		emit(line)
	last[run, name] = line


def send_judges(root, run, work, is_shown):
	own = os.path.join(root, "runs", run)
	template = os.path.join(own, "qualification", "workspace_template")
	best = os.path.join(own, "checkpoints", "best")
	best = best if is_folder(best) else None
	command = text_in(own + "/run_config.json", "post_attempt_command")
	ns, whole = template_at(template), template
	emit_judge(run, TEMPLATE, [(ns, "-" if is_folder(template) else "none"),
		(0, "-"), (0, "-")])
	template = template if is_folder(template) else None
	# Without a template, only the workspace shows which files belong to the judge.
	root_of = template or (work if not ns else None)
	if not command or not root_of:
		return
	full, task = task_of(own, template, work)
	said = text_in(own + "/run_config.json", "workspace")
	judge, parts, found = judges_of(root_of, work, command, task, said)
	# A configuration whose tolerance or shapes changed counts as the judge's.
	found += [name for name, part in parts.items() if part == "unclear" and
		name.endswith(".json") and template and (best or work) and
		limits_in(data_of(template, name)) != limits_in(data_of(
		best or work, name))]
	# If entries of the template are gone, a missing file that the command uses was one.
	if template and changed_at(template) > started_at(own) > 0:
		found += [name for name in judge.uses if parts.get(name) == "unclear" and
			not look_at(os.path.join(template, name)) and
			look_at(os.path.join(best or work or "/", name))]
	decide = deciders_of(work, template, command, judge, parts, found) \
		if work else found
	begun = changed_at(own + "/run_config.json")
	if full and full.startswith(whole):
		emit_judge(run, os.path.relpath(full, whole),
			[(changed_at(full), "-"), (0, "-"), (0, "-")])
	copies = {name: [copy_of(folder, name) if folder else (0, "-")
		for folder in (template, best, work)] for name in decide}
	lost = rewritten_in(run, own, template, best, copies)
	is_bare, hints = not template or any(not is_in_git(work, name, begun) for name in lost), []
	if is_bare and lost: # as if the run had no template
		emit_judge(run, TEMPLATE, [(0, "none"), (0, "-"), (0, "none")])
	spans, saved = spans_of(own), changed_at(own + "/checkpoints/best_manifest.json")
	if best and changed_at(best) > max(saved, entries_at(best, False, saved)) and saved:
		hints = ["the folder of the checkpoint changed after it was copied (byte code?)"]
	for name, (old, point, now) in copies.items():
		if any(begun < now[0] < end for begun, end in spans):
			written[run, name] = now[0] # HarnessGym may restore the file later
		point = max(point[0], entries_at(best, False, saved)) if best else 0, point[1]
		if is_bare:
			is_known = bool(is_in_git(work, name, begun))
			old, now = (0, now[1] if is_known else "-"), before_restore(own, best,
				work, name, now)
			if now != copies[name][2] and not is_known:
				hints.append("the verifier of this run was not compared")
		if name in lost:
			old, point = (0, old[1]), (0, point[1])
		emit_judge(run, name, [old, point, now])
	for name in sorted(judge.outside)[:16] if work else []:
		emit_judge(run, name, [(0, "-"), (0, "-"),
			copy_of(work, name)])
	forged = forgeries_of(own, template, best or work, work, command, said,
		parts, decide) if template and (best or work) else ([], [])
	hints += [name + WRITTEN for name in decide if (run, name) in written]
	forged[1].extend(text for text in dict.fromkeys(hints) if text not in forged[1])
	send_report(run, own, template, best, work, judge, parts, decide,
		forged, is_shown, lost if is_bare else None)


# Which judge files of the template or the checkpoint were rewritten during the run, if all
# copies still mean the same? Formatters do this, and the original is lost.
def rewritten_in(run, own, template, best, copies):
	started, saved = started_at(own), changed_at(own + "/checkpoints/best_manifest.json")
	is_same = all(len({sum for _, sum in found} - {"-"}) == 1 for found in copies.values())
	lost = []
	for name, (old, point, now) in copies.items() if template else ():
		if not 0 < started < old[0]:
			originals[run, name] = old[1] # seen before an agent could write it
		if is_same and originals.get((run, name)) != old[1] and 0 < started < old[0] or \
				best and is_same and 0 < saved < point[0] and copy_of(best, name,
				False)[1] != copy_of(template, name, False)[1]:
			lost.append(name)
	return lost


# HarnessGym copies a checkpoint back with its mtimes, which then are the only trace of when
# the agent last wrote the file.
def before_restore(own, best, work, name, copy):
	saved = changed_at(own + "/checkpoints/best_manifest.json")
	times = [st.st_mtime_ns for st in map(look_at, (os.path.join(folder, name)
		for folder in (best, work) if folder)) if st]
	return (times[0], copy[1]) if 0 < saved < copy[0] and len(times) == 2 and \
		times[0] == times[1] else copy


# Does a file that the judge may use differ from the template's?
def is_changed(name, template, best, work):
	return template is not None and copy_of(template, name)[1] != \
		copy_of(best or work, name)[1]


# Does only the layout of a file differ?
def is_formatted(name, old, new):
	return copy_of(old, name)[1] == copy_of(new, name)[1] and \
		copy_of(old, name, False)[1] != copy_of(new, name, False)[1]


# Report which files were compared, which uses could not be followed, and how the best
# checkpoint differs from the template.
# lost: judge files of the template whose original is unknown; None: all are known.
def send_report(run, own, template, best, work, judge, parts, decide, forged,
		is_shown, lost):
	begun = look_at(own + "/run_config.json")
	if begun is None:
		return
	report = {"compared": [name for name in decide if template and not lost and
			is_file(os.path.join(template, name))],
		"added": [name for name in decide if template and
			look_at(os.path.join(template, name)) is None],
		"formatted": [name for name in decide if template and any(folder
			and is_formatted(name, template, folder) for folder in (best, work))],
		"unresolved": judge.lost + sorted(name +
			": outside the workspace" for name in judge.outside) + [
			TEMPLATE + "/%s: rewritten during the run" % name
			for name in lost or ()],
		"used": [[part, name] for name, part in sorted(parts.items())
			if part in ("named", "unclear") and (best or work) and
			is_changed(name, template, best, work)]}
	report["tampers"], report["hints"] = forged
	if is_shown and best and template:
		report["changes"] = [[part_in(name, parts, decide), change,
			name] for change, name in changes_of(template, best)]
	if is_shown and best and work:
		report["work_differs"] = any(parts.get(name) != "product"
			for change, name in changes_of(best, work))
	emit_report("runs/%s/judge.report" % run, report, begun)


def text_of(folder, name):
	return data_of(folder, name).decode("utf-8", "replace")


# Find what the candidate's changed sources do to the verifier, in all files that the
# command leads to in the measured folder.
def forgeries_of(own, template, best, work, command, said, parts, decide):
	key = text_in(own + "/run_config.json", "post_attempt_score_key") or \
		text_in(own + "/run_config.json", "score_key")
	judge = judge_of(best, work, command, said)
	mine = sorted({*judge.uses, *(name for name, part in parts.items()
		if part == "candidate")} - {*decide})
	# A source whose imports cannot be followed may run any other source.
	others = [name for change, name in changes_of(template, best) if name
		not in decide and name not in mine and name.endswith((".py", *COMPILED))][:64] \
		if any(text.split(":")[0] in mine for text in judge.lost) else []
	at = own, key, command, hash(tuple((name, copy_of(template, name, False)[1],
		copy_of(best, name, False)[1]) for name in [*decide, *mine, *others]))
	if at not in tampers:
		tampers[at] = search_sources(template, best, judge, parts, decide, mine,
			others, key, "".join(" '%s'" % word for word in command.split()))
	found, hints = map(list, tampers[at])
	first = judge_of(template, work, command, said)
	for below in sorted(judge.before - {*first.paths}):
		for name in shadows_of(best, template, below + "/", first, {}):
			stem = name[len(below) + 1:].split("/")[0].split(".")[0]
			(found if stem in JUDGES or stem[-9:] == "customize" else
				hints).append(name + " hides a module of the verifier")
	hints += [path + " replaces a command of the verifier"
		for path in sorted(judge.added - first.added) if path.split("/")[0] not in
		TOOLS and os.path.isfile(os.path.join(best, path))]
	hints += moved_in(own, work, decide) if work else []
	hints += written_in(own, best, decide)
	if any(os.path.basename(path) == "conftest.py" for path in first.added):
		hints += [name + " adds a plugin to pytest" for change, name in
			changes_of(template, best) if os.path.basename(name) in PLUGINS
			and b"pytest11" in data_of(best, name)]
	# The scripts in use, without their own files that no longer lead to the verifier's.
	texts = "".join(text_of(best, name) for name in judge.uses
		if not name.endswith(COMPILED))
	for name in decide:
		stem, end = os.path.splitext(os.path.basename(name))
		any_of = r"[*%%]\%s\b" % end if end else "$^"
		was, now = (one.uses.get(name, set()) for one in (first, judge))
		is_lost = was & {"run", "import", "named", "included"} and not now
		leads = r"%s\b|%s" % (re.escape(stem + "."), any_of) if is_lost else \
			r"\$[<^+]|" + any_of
		if (is_lost or "compiled" in was - now) and not re.search(leads, texts):
			hints.append("the command no longer leads to " + name)
	return found[:8], hints[:8]


# Which of these files of the checkpoint were written while a verifier ran? HarnessGym
# copies them with their mtimes.
def written_in(own, best, names):
	spans = spans_of(own)
	for name in names:
		st = look_at(os.path.join(best, name))
		if st and any(begun < st.st_mtime_ns < end for begun, end in spans):
			yield name + WRITTEN


# Search the changed sources: mine, to which the command leads, and others.
def search_sources(template, best, judge, parts, decide, mine, others, key, words):
	verifier = {name: text_of(template, name) for name in decide}
	bodies = {name: text_of(best, name) for name in mine}
	judged = "\n".join(verifier.values())
	# A source or build that the judge names and the task does not have is the candidate's.
	named = [name for name in re.findall(r"[\"']([\w./-]+\.\w+)[\"']", judged + words)
		if parts.get(name) != "candidate" and not (name.endswith(SOURCES + BUILDS) and
		(name in mine or not is_file(os.path.join(template, name))))]
	files = [*decide, *named, *(top + "/" + name for top in judge.tops for name in decide)]
	found, hints = [], []
	for name in mine + others:
		if name.endswith(".pyc") and not is_file(os.path.join(template, name)):
			hints.append(name + " has no source")
		if name.endswith(COMPILED) and not is_built(name, judge, [
				*verifier.values(), *bodies.values()]) and copy_of(
				best, name)[1] != copy_of(template, name)[1]:
			hints.append("%s %s" % (name, look_at_compiled(data_of(best, name,
				PARTS * JUDGE), key, verifier)))
		if name.endswith(".json") and any('"%s"' % limit in judged.replace("'", '"')
				for limit, _ in {*limits_in(data_of(best, name))} ^ {*limits_in(
				data_of(template, name))}):
			hints.append(name + " changes a limit that the verifier reads")
		is_test = judge.uses.get(name) == {"run"} and re.match(
			r"(test_.*|.*_test)\.py$", os.path.basename(name))
		if is_test or not name.endswith(SOURCES + SCRIPTS) or copy_of(best, name,
				False)[1] == copy_of(template, name, False)[1]:
			continue
		runs = name in others or "run" in judge.uses.get(name, ()) and \
			not name.endswith(SCRIPTS)
		texts = "\n".join([judged, *(bodies[own] for own in mine if own != name)])
		more = tampers_in_time(name, data_of(best, name), None if runs else key,
			texts + words, files, verifier)
		found += more[0] if name not in others else []
		hints += more[1] if name not in others else more[0]
	return found, hints


# Does the command build this file of machine code from sources?
def is_built(name, judge, texts):
	stem = re.escape(os.path.basename(name).split(".")[0])
	named = r"[\"'][\w.]*\b(?:%s|%s)[\"']" % (stem, re.sub("^lib", "", stem))
	return any("built" in kinds and fnmatch.fnmatch(name, path)
		for path, kinds in judge.uses.items()) or any(re.search(named, text)
		and re.search(r"\w*Extension\(|(?<![\w.])load(_inline)?\(|cpp_extension\.load",
		text) for text in texts)


class TooSlow(BaseException): # "except Exception" must not catch it
	pass


def end_search(number, frame):
	raise TooSlow


# Like tampers_of, but give up a source that takes more than SEARCH_S.
def tampers_in_time(name, *given):
	signal.signal(signal.SIGALRM, end_search)
	signal.setitimer(signal.ITIMER_REAL, SEARCH_S, SEARCH_S)
	try:
		found = tampers_of(name, *given)
		signal.setitimer(signal.ITIMER_REAL, 0)
	except TooSlow:
		signal.setitimer(signal.ITIMER_REAL, 0)
		found = [], [name + " takes too long to search"]
	return found


# Send a report as if it were a file with the times in st.
def emit_report(path, report, st):
	emit_text(path, json.dumps(report).encode(), st)


def emit_text(path, text, st):
	if last.get(path) == text or len(text) > JSON - 1:
		return
	last[path] = text
	emit("C " + stamp(st.st_ctime_ns))
	emit("F %s %d %s" % (stamp(st.st_mtime_ns), len(text), path))
	sys.stdout.buffer.write(base64.encodebytes(text))
	emit(".")


def part_in(name, parts, decide):
	return "judge" if name in decide else parts.get(name, "other")


# Yield the files that differ between two folders, as (change, name).
def changes_of(old, new):
	names = [tree_of(folder) for folder in (old, new)]
	for name in sorted({*names[0], *names[1]}):
		if name not in names[1]:
			yield "removed", name
		elif name not in names[0]:
			yield "added", name
		elif copy_of(old, name, False)[1] != copy_of(new, name, False)[1]:
			yield "changed" if copy_of(old, name)[1] != copy_of(new,
				name)[1] else "reformatted", name


# Folders of tools: HarnessGym does not copy them, or no judge reads them.
TOOLS = (".git", ".harnessgym", ".harnessgym_build", ".venv", ".cache", "venv", "node_modules",
	"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")


# List all files below a folder, except those in folders of tools.
def tree_of(root):
	found, stack = [], [("", 0)]
	while stack:
		below, depth = stack.pop()
		for name in names_in(os.path.join(root, below)):
			path = os.path.join(root, below, name)
			if is_folder(path):
				if depth < 12 and name not in TOOLS:
					stack.append((below + name + "/",
						depth + 1))
			elif len(found) < ENTRIES:
				found.append(below + name)
	return found


# Return the string below these keys of a JSON file, or "".
def text_in(path, *keys):
	try:
		node = json.loads(data_of("", path))
		for key in keys:
			node = node[key]
	except (OSError, ValueError, LookupError, TypeError, RecursionError):
		node = ""
	return node if isinstance(node, str) else ""


# Compare the judge files of finished trials with the task folder that the report names,
# or else with a copy of it that a run of a trial made.
def send_trials(root, trials):
	task = text_in(root + "/compare_report.json", "workspace_template")
	copies = glob.glob(glob.escape(root) + "/*/trial_*/workspace/"
		".harnessgym/runs/*/qualification/workspace_template")
	for task in [task] * (task[:1] == "/" and is_folder(task)) + \
			sorted(copies)[:1]:
		compared, added, formatted = set(), set(), set()
		for own in trials:
			work = os.path.join(root, own, "workspace")
			command = text_in(os.path.join(root, own, "trial.json"),
				"post_result", "command")
			if not command or not is_folder(work):
				continue
			run, trial = own.split("/")
			_, editable = task_of(os.path.join(root, own), task,
				None)
			for name in deciders_of(work, task, command, *judges_of(
					task, None, command, editable)):
				if is_file(os.path.join(task, name)):
					compared.add(name)
				elif look_at(os.path.join(task, name)) is None:
					added.add(name)
				if is_formatted(name, task, work):
					formatted.add(name)
				own = trial + "/" + name
				to = [copy_of(task, name), (0, "-"),
					copy_of(work, name)]
				if to[0][1] != to[2][1] or (run, own) in last:
					emit_judge(run, own, to)
		return emit_report("judge.report", {
			"compared": sorted(compared), "added": sorted(added),
			"formatted": sorted(formatted),
			"files": {own: sum_of(os.path.join(root, own,
			"workspace")) for own in trials}}, os.stat(task))


# Return a checksum of all files of a folder; "" if it has none.
def sum_of(folder):
	found = [(name, copy_of(folder, name, False)[1])
		for name in tree_of(folder)]
	return hashlib.sha256(json.dumps(sorted(found)).encode()).hexdigest() \
		if found else ""


# Return the content of all files below root, by path.
def texts_of(root):
	found = {}
	for name in tree_of(root):
		if is_file(os.path.join(root, name)):
			with open(os.path.join(root, name), "rb") as f:
				found[name] = f.read(JUDGE)
	return found


# Describe the change of a file: a summary, and the lines of the diff.
def change_of(name, old, new):
	if new is None:
		return name + ": removed", []
	what = name + (": added" if old is None else ": changed")
	old = old or b""
	if b"\0" in old + new or len(old + new) > TEXT:
		return what, []
	old, new = (text.decode("utf-8", "replace").splitlines()
		for text in (old, new))
	if len(old) * len(new) > 10**7:
		return what, []
	lines = [*difflib.unified_diff(old, new, name, name, lineterm="", n=1)]
	count = [sum(line[0] == sign for line in lines[2:]) for sign in "+-"]
	return "%s, +%d -%d lines" % (what, *count), lines


# Send the diff from template to best checkpoint: summaries first, then lines.
def send_change(root, run):
	own = os.path.join(root, "runs", run)
	best = os.path.join(own, "checkpoints", "best")
	template = os.path.join(own, "qualification", "workspace_template")
	st = look_at(os.path.join(own, "checkpoints", "best_manifest.json"))
	if st is None or not is_folder(best) or not is_folder(template) or \
			last.get((run,)) == key_of(st):
		return
	last[run,] = key_of(st)
	try:
		old, new = texts_of(template), texts_of(best)
	except OSError:
		return
	changes = [change_of(name, old.get(name), new.get(name))
		for name in sorted({*old, *new})
		if old.get(name) != new.get(name)]
	text = "\n".join([head for head, _ in changes] or ["nothing changed"])
	text += "".join("\n\n" + "\n".join(lines)
		for _, lines in changes if lines)
	emit_text("runs/%s/checkpoints/best.diff" % run,
		text.encode("utf-8", "replace")[:TEXT], st)


# Return device and inode of a folder: the same in every container that mounts it.
def place_of(path):
	try:
		st = os.stat(path)
		return st.st_dev, st.st_ino
	except OSError:
		return None


# Return the places of a folder and of all folders above it.
def places_above(path):
	found = []
	while len(found) < 64:
		found.append(place_of(path))
		if found[-1] in (None, place_of("/"), *found[:-1]):
			break
		path += "/.."
	return found


# Is this the command line of a HarnessGym that works in one of these folders?
def is_of(pid, words, places):
	at = [i for i, word in enumerate(words)
		if re.match(r"harnessgym(\.|$)", word.rsplit("/", 1)[-1])]
	if not at or words[at[0] + 1:at[0] + 2] not in (["run"], ["compare"]):
		return False
	path, words = ".", words[at[0] + 2:]
	for i, word in enumerate(words):
		flag, equals, value = word.partition("=")
		if flag in ("--workspace", "--output-dir"):
			path = value if equals else (words[i + 1:] + ["."])[0]
			break
	own = "/proc/%s/root%s" if path[:1] == "/" else "/proc/%s/cwd/%s"
	return (place_of(own % (pid, path)) or place_of(path)) in places


# Return the ids of this process and of all its parents.
def own_line():
	found, pid = [], str(os.getpid())
	try:
		while pid not in ["0", *found]:
			found.append(pid)
			with open("/proc/%s/stat" % pid) as f:
				pid = f.read().rpartition(")")[2].split()[1]
	except OSError:
		pass
	return found


# Can all processes that may work there be seen? Yes, in the pid namespace of the
# machine (it has that number), and if only this container has the folder.
def sees_all(work):
	try:
		return os.readlink("/proc/self/ns/pid") == "pid:[4026531836]" or \
			os.stat(work).st_dev == os.stat("/").st_dev
	except OSError:
		return False


# Send "P 1" if HarnessGym works in this folder, and "P 0" if no process does. Any other
# process may be an agent of HarnessGym's Python API: send neither.
def send_process(work):
	places, line = places_above(work), own_line()
	pids = [pid for pid in names_in("/proc") if pid.isdigit()]
	for pid in pids:
		try:
			with open("/proc/%s/cmdline" % pid, "rb") as f:
				words = f.read(65536)
		except OSError:
			continue
		if b"harnessgym" in words and is_of(pid, os.fsdecode(words).split("\0"), places):
			return emit("P 1")
	if not os.path.exists("/proc/self/cmdline") or not sees_all(work) or \
			os.geteuid() not in (0, os.stat(work).st_uid):
		return
	folders = {place_of("/proc/%s/cwd" % pid): pid for pid in pids if pid not in line}
	if not any(places[0] in places_above("/proc/%s/cwd" % pid)
			for place, pid in folders.items() if place):
		emit("P 0")


def has(*names):
	return any(os.path.exists(os.path.join(*names[:1], name))
		for name in names[1:])


# Return the kind of a directory, the root of its files, its run and its workspace.
def kind_of(path):
	path = os.path.realpath(path)
	above, name = os.path.split(path)
	if has(path, ".harnessgym/runs"):
		return "workspace", path + "/.harnessgym", "", path
	if has(path, "compare_report.json", "plain/trial_1",
			"harnessed/trial_1"):
		return "compare", path, "", path
	if has(path, "run_config.json", "iterations/1"):
		if os.path.basename(above) != "runs":
			above, name = os.path.dirname(above), "%s/%s" % (
				os.path.basename(above), name)
		root = os.path.dirname(above)
		return "run", root, name, os.path.dirname(root)
	if name == ".harnessgym" and has(path, "runs"):
		return "workspace", path, "", above
	return ("table" if has(path, TABLE[0]) or loop_of(path) else None), \
		path, "", path


# Send the table of another loop as results.tsv, and the other facts about the loop.
def send_loop(root):
	loop = loop_of(root)
	if loop is None:
		return
	found = [st for st in map(look_at, [root] + loop["files"]) if st]
	newest = max(found[1:] or found, key=lambda st: st.st_mtime_ns)
	emit_text(TABLE[0], table_of(loop), newest)
	emit_report("loop.report", {key: loop[key] for key in
		("loop", "score", "higher", "wrong")}, newest)


# Yield the files that show which phase a trial is in.
def phases_of(root, runs):
	for run in names_in(os.path.join(root, runs)):
		below = "%s/%s/iterations/" % (runs, run)
		for number in names_in(os.path.join(root, below)):
			own = below + number
			for name in names_in(os.path.join(root, own)):
				if name.endswith(".txt"):
					yield own + "/" + name


def send_compare(root, now):
	paths, trials = ["compare_report.json"], []
	for group in "plain", "harnessed":
		for name in names_in(os.path.join(root, group)):
			own = group + "/" + name
			trials.append(own)
			paths += [own + "/trial.json", own + "/post.stdout.txt",
				own + "/post.stderr.txt"]
			runs = own + "/workspace/.harnessgym/runs"
			paths += [runs + "/%s/run_config.json" % run
				for run in names_in(os.path.join(root, runs))]
			if not has(root, own + "/trial.json"):
				paths += phases_of(root, runs)
	for path in paths:
		send(root, path, True, now)
	send_trials(root, trials)


def send_workspace(root, run, work, now):
	runs = os.path.join(root, "runs")
	names = [n for n in names_in(runs) if is_folder(os.path.join(runs, n))]
	for above in names:
		below = [above + "/" + n for n in names_in(os.path.join(runs,
			above)) if has(runs, above + "/" + n + "/run_config.json")]
		if below and not has(runs, above + "/run_config.json"):
			names = [n for n in names if n != above] + below
			nested.update((n, n.replace("/", "\u2215")) for n in below)
	names.sort(key=lambda n: -changed_at(os.path.join(runs, n)))
	paths = ["registry.json", "activation.json", "mcp_calls.jsonl"]
	paths += ["mcp/%s/.harnessgym/mcp_calls.jsonl" % name
		for name in names_in(os.path.join(root, "mcp"))]
	paths += ["history/" + name
		for name in names_in(os.path.join(root, "history"))
		if name.endswith(".jsonl")]
	for path in paths:
		send(root, path, True, now)
	for i, name in enumerate(names):
		if i < RUNS or name == run:
			newest = ALL or name == run or not run and i == 0
			for path in files_of(root, name, newest):
				send(root, path, newest, now)
			shown = name == run or not run and i == 0
			send_judges(root, name, work, shown)
			if shown:
				send_change(root, name)


def look():
	now = time.time()
	emit("\nHGH1 %d" % now)
	if re.search(r"[*?[]", HERE) and not os.path.exists(HERE):
		for path in sorted(glob.glob(HERE)):
			if kind_of(path)[0] and "\n" not in path:
				emit("D " + path)
		return emit("END")
	what, root, run, work = kind_of(HERE)
	if what is None:
		return emit("NONE\nEND")
	emit("R %s %s" % (what, run))
	if what == "table":
		for path in TABLE:
			send(root, path, True, now)
		if not has(root, TABLE[0]):
			send_loop(root)
	else:
		send_process(work)
	if what == "compare":
		send_compare(root, now)
	elif what != "table":
		send_workspace(root, run, work, now)
	for path in [path for path in sent
			if not is_file(os.path.join(root, path))]:
		emit("G " + path)
		known.pop(path, None)
		del sent[path]
	emit("END")


try:
	while True:
		look()
		sys.stdout.flush()
		if not sys.stdin.readline():
			break
except (BrokenPipeError, KeyboardInterrupt):
	os._exit(0)
