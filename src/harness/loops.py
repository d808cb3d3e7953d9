# SPDX-License-Identifier: MIT
# Read the experiments of other agent loops as a table like results.tsv, in which
# each improvement has the status "keep". Sent before wire.py.
import glob, json, math, os, re

ROWS, TAIL = 5000, 1 << 22


def end_of(path):
	if not os.path.isfile(path): # opening a pipe would wait
		return ""
	try:
		with open(path, "rb") as f:
			f.seek(max(0, os.fstat(f.fileno()).st_size - TAIL))
			return f.read(TAIL).decode("utf-8", "replace")
	except OSError:
		return ""


def object_in(path):
	try:
		node = json.loads(end_of(path))
	except (ValueError, RecursionError):
		node = None
	return node if isinstance(node, dict) else {}


def number_of(value):
	if isinstance(value, bool) or not isinstance(value, (int, float, str)):
		return None
	try:
		value = float(value)
	except (ValueError, OverflowError):
		return None
	return value if math.isfinite(value) else None


# Find the files below a folder that match the patterns; the last 256, in natural order.
def files_below(root, *patterns):
	found = {path for p in patterns
		for path in glob.glob(glob.escape(root) + "/" + p)
		if os.path.isfile(path) and not os.path.islink(path)}
	return sorted(found, key=lambda path: [int(part) if part.isdecimal()
		else part for part in re.split(r"(\d+)", path)])[-256:]


# Return the metric that openevolve maximizes: combined_score, or else the mean. A
# program that failed has only "error" and "timeout", or the text of its error: None.
def fitness_of(metrics):
	values = {k: number_of(v) for k, v in metrics.items()
		if k not in ("error", "timeout")}
	values = {k: v for k, v in values.items() if v is not None}
	if not values or metrics.get("error") and \
			number_of(metrics["error"]) is None:
		return None
	return values.get("combined_score",
		sum(values.values()) / len(values))


def pairs_in(text):
	# Older versions add the gain over the parent: (Δ: name=+0.1).
	return dict(re.findall(r"([\w.]+)=([^,\s]+)", text.split(" (\u0394")[0]))


EVALUATED = re.compile(r"Evaluated program (\S+) in [\d.]+ ?s: (.*)")
METRICS = re.compile(r"\bMetrics: (\S+=.*)")
ITERATION = re.compile(r"Iteration (\d+): (?:Program|Child) (\S+)")


def openevolve(root):
	logs = files_below(root, "logs/openevolve_*.log", "openevolve_*.log",
		"openevolve*/logs/openevolve_*.log")
	best = files_below(root, "best/best_program_info.json",
		"checkpoints/*/best_program_info.json",
		"openevolve*/best/best_program_info.json",
		"openevolve*/checkpoints/*/best_program_info.json")
	rows, at, wrong, name = [], {}, [], None
	for line in (end_of(logs[-1]) if logs else "").split("\n"):
		named, scored = ITERATION.search(line), EVALUATED.search(line)
		if named:
			name = named.group(2)
			at[name] = named.group(1)
		if scored:
			rows.append((scored.group(1), fitness_of(pairs_in(
				scored.group(2)))))
		# A worker process may log its score only to its parent.
		elif METRICS.search(line) and name and \
				all(name != row[0] for row in rows):
			rows.append((name, fitness_of(pairs_in(
				METRICS.search(line).group(1)))))
	seen = [score for _, score in rows if score is not None]
	for path in best:
		info = object_in(path)
		score = fitness_of(info.get("metrics") or {}) \
			if isinstance(info.get("metrics") or {}, dict) else None
		if score is None:
			continue
		if not rows or path == best[-1] and not seen:
			rows.append((str(info.get("id")), score))
		elif logs and not any(abs(s - score) <= 6e-5 * max(1, abs(s))
				for s in seen):
			wrong.append("%s has %.10g, which the log does not have"
				% (os.path.relpath(path, root), score))
	if not rows:
		return None
	return {"loop": "openevolve", "score": "combined_score",
		"higher": True, "rows": [("", score, "fail" if score is None
		else "", "%s%s" % (name, " of iteration " + at[name]
		if name in at else "")) for name, score in rows],
		"wrong": wrong[:8], "files": logs[-1:] + best}


# Read KernelBench's results: all samples of each problem, and the reference times if any.
def kernelbench(root):
	path = os.path.join(root, "eval_results.json")
	rows, is_gain = [], True
	for problem, samples in object_in(path).items():
		if isinstance(samples, dict) and "compiled" in samples:
			samples = [samples]
		elif isinstance(samples, dict):
			samples = list(samples.values())
		for one in samples if isinstance(samples, list) else []:
			if not isinstance(one, dict) or "compiled" not in one:
				continue
			time = number_of(one.get("runtime"))
			base = number_of(one.get("ref_runtime"))
			correct = one.get("compiled") is True and \
				one.get("correctness") is True
			passed = correct and time is not None and time > 0
			correct = passed or correct and one.get("runtime") in (None, -1)
			is_gain = is_gain and (not passed or bool(base) and base > 0)
			rows.append((str(problem), one, time, base, passed,
				correct))
	if not rows:
		return None
	return {"loop": "KernelBench", "score": "speedup" if is_gain else
		"runtime_ms", "higher": is_gain, "rows": [("" if is_gain else
		problem, (base / time if is_gain else time) if passed else None,
		"" if correct else "fail", "problem %s, sample %s%s" % (problem,
		one.get("sample_id", 0), "" if passed else ": did not compile"
		if one.get("compiled") is not True else ": not timed"
		if correct else ": wrong result"))
		for problem, one, time, base, passed, correct in rows],
		"wrong": [], "files": [path]}


NS = {"ns": 1, "\u00b5s": 1e3, "\u03bcs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
SHOWN = re.compile(r"^\s*\u23f1\ufe0f? *([\d.]+)(?: *\u00b1 *[\d.]+)? *(\S+)", re.M)


# Yield the geometric mean of each block of GPU MODE's output, None if its check failed.
# The report of popcorn-cli shows the same times in other units, the ranked ones last.
def popcorn_blocks(text):
	means = {}
	if SHOWN.search(text):
		ranked = re.split(r"(?mi)^#+ .*bench.*$", text)[-1]
		values = [float(value) * NS.get(unit, math.nan) for value, unit in
			SHOWN.findall(ranked) if number_of(value)]
		good = values and "\u274c" not in text
		yield math.exp(sum(map(math.log, values)) / len(values)) \
			if good else None
		return
	for line in text.split("\n"):
		key, colon, value = line.strip().partition(": ")
		mean = re.match(r"benchmark\.(\d{1,6})\.mean$", key)
		if mean and colon:
			means[int(mean.group(1))] = number_of(value)
		elif key == "check" and (means or value != "pass"):
			values = list(means.values())
			good = value == "pass" and values and all(
				v is not None and v > 0 for v in values)
			yield math.exp(sum(map(math.log, values)) / len(values)) \
				if good else None
			means = {}


def popcorn(root):
	files = [path for path in files_below(root, "*.txt", "*.log", "*.out",
		"*/popcorn*.txt", "*/result.txt") if os.path.getsize(path) <=
		1 << 20 and re.search(r"(?m)^\s*benchmark\.0\.mean: |^check: |"
		r"^\s*\u23f1", end_of(path))]
	files.sort(key=os.path.getmtime)
	rows = [("", score, "fail" if score is None else "",
		os.path.relpath(path, root)) for path in files
		for score in popcorn_blocks(end_of(path))]
	if not any(score is not None for _, score, _, _ in rows):
		return None
	return {"loop": "popcorn", "score": "mean_ns", "higher": False,
		"rows": rows, "wrong": [], "files": files}


# Read the loop of a folder: its experiments, and the files that contain them; or None.
def loop_of(root):
	for read in openevolve, kernelbench, popcorn:
		try:
			loop = read(root)
		except (OSError, ValueError): # a file has just been removed or changed
			continue
		if loop:
			return loop
	return None


# Write the loop's table, tab-separated. An experiment is kept if it is the best so far.
def table_of(loop):
	best, lines = {}, ["problem\tstatus\t%s\tdescription" % loop["score"]]
	for kind, score, status, note in loop["rows"][-ROWS:]:
		old = best.get(kind)
		is_kept = score is not None and (old is None or
			(score > old if loop["higher"] else score < old))
		if is_kept:
			best[kind] = score
		cells = kind, status or ("keep" if is_kept else "discard"), \
			"" if score is None else "%.10g" % score, note
		lines.append("\t".join(re.sub(r"\s+", " ", c) for c in cells))
	return ("\n".join(lines) + "\n").encode("utf-8", "replace")
