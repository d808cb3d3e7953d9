# SPDX-License-Identifier: MIT
# Find the files that decide what the command of a run measures: the scripts it
# runs, the modules they import, the files they read. Nothing is executed; code
# that cannot be followed is listed. Sent to the run's machine before wire.py.
import ast, fnmatch, os, re, shlex

SHELLS = "sh bash dash zsh ksh".split()
BEFORE = """env nice timeout time nohup stdbuf taskset numactl chrt ionice exec
    command sudo setsid uv poetry pipenv conda run ncu nsys profile perf
    stat srun torchrun accelerate launch deepspeed catchsegv xvfb-run ccache
    sccache distcc""".split()
COMPILERS = re.compile(r"(.*-)?(cc|gcc|g\+\+|c\+\+|clang|clang\+\+|nvcc|hipcc"
    r"|icpx|rustc)(-\d+)?$")
QUIET = """echo printf true false : test [ export set unset ulimit mkdir rmdir
    sleep trap wait return exit shift local declare readonly umask date
    which type hash kill pwd nvidia-smi chmod touch""".split()
WRITERS = "rm mv tee".split()
MODULES, FILES = 512, 1024
# Suffixes of sources. A source that is only named does not count as the judge's.
SOURCES = (".py", ".pyx", ".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp",
    ".rs", ".jl", ".ptx", ".s", ".so", ".go", ".java", ".js", ".ts")
# Calls that take a path: index of the argument (-1: the object) and use.
CALLS = {"open": (0, "open"), "read_text": (-1, "read"), "read_bytes": (-1,
    "read"), "loadtxt": (0, "read"), "genfromtxt": (0, "read"), "fromfile":
    (0, "read"), "memmap": (0, "read"), "read_csv": (0, "read"), "read_json":
    (0, "read"), "read_parquet": (0, "read"), "load_file": (0, "read"),
    "CDLL": (0, "read"), "PyDLL": (0, "read"), "dlopen": (0, "read"),
    "LoadLibrary": (0, "read"), "load_library": (0, "read"),
    "run_path": (0, "run"), "spec_from_file_location":
    (1, "import"), "SourceFileLoader": (1, "import"), "import_module":
    (0, "module"), "__import__": (0, "module"), "run_module": (0, "module"),
    "glob": (0, "list"), "iglob": (0, "list"), "rglob": (0, "list"),
    "listdir": (0, "list"), "scandir": (0, "list"), "walk": (0, "list"),
    "iterdir": (-1, "list"), "write_text": (-1, "write"), "write_bytes":
    (-1, "write"), "savetxt": (0, "write"), "savez": (0, "write"), "tofile":
    (0, "write"), "to_csv": (0, "write"), "to_json": (0, "write"),
    "FileHandler": (0, "write"), "unlink": (-1, "write"), "copyfile":
    (1, "write"), "copy": (1, "write"), "run": (0, "shell"), "call":
    (0, "shell"), "check_call": (0, "shell"), "check_output": (0, "shell"),
    "Popen": (0, "shell"), "system": (0, "shell"), "popen": (0, "shell"),
    "execv": (1, "shell"), "execvp": (1, "shell")}
# These names are common: they count only as members of these modules.
OWNERS = {"run": "subprocess", "call": "subprocess", "check_call":
    "subprocess", "check_output": "subprocess", "Popen": "subprocess",
    "system": "os", "popen": "os", "walk": "os", "copy": "shutil"}
LOADERS = "np numpy torch jnp cp cupy joblib".split()
# Objects with values of the command line, whose words are followed anyway.
GIVEN = "args opts options ns parsed argv cfg config".split()
UNKNOWN, ROOT = "\0", "\1"


# Return the last two names of a call: "np" and "load" for np.load.
def names_of(node):
    if isinstance(node, ast.Attribute):
        before = node.value
        while isinstance(before, (ast.Attribute, ast.Call)):
            before = getattr(before, "value", None) or before.func
        return getattr(before, "id", ""), node.attr
    return "", getattr(node, "id", "")


def is_path(text):
    """Can a file have this name, and a line of the answer contain it?"""
    try:
        os.fsencode(text)
    except UnicodeError:
        return False
    return "\n" not in text


def word_of(node):
    value = getattr(node, "value", getattr(node, "s", None))
    return value if isinstance(value, str) and \
        type(node).__name__ in ("Constant", "Str") else None


class Judge:
    # root: the folder whose files are followed; work: the folder in which they run;
    # said: the path of that folder in the run's container, or "".
    def __init__(self, root, work, said=""):
        self.root, self.work = root, work
        self.tops = [top for top in (root, work, said.rstrip("/")) if top]
        self.uses, self.lost, self.modules = {}, [], set()
        self.paths, self.cwd, self.seen = [], "", set()
        self.given, self.outside = {}, set()
        # Folders that sources put before those of Python's library.
        self.before = set()
        # Folders in PATH; files that would change the measurement if they existed.
        self.bins, self.added = [], set()
        self.writes_anywhere = False

    def lose(self, source, what):
        text = "%s: %s" % (source, what) if source else what
        if text not in self.lost and len(self.lost) < 64:
            self.lost.append(text)

    # Return the path below the root, or None for a path outside the root or no path.
    def below(self, text):
        if not is_path(text):
            return None
        if text.startswith(ROOT):
            text = text[1:].lstrip("/")
        elif text[:1] == "/":
            for top in self.tops:
                if (text + "/").startswith(top + "/"):
                    text = text[len(top) + 1:]
                    break
            else:
                return None
        else:
            text = os.path.join(self.cwd, text)
        text = os.path.normpath(text)
        return None if text.startswith("..") else text

    # The same for a script. A script outside the folder is remembered.
    def script_at(self, text):
        path = self.below(text)
        if path is None:
            text = os.path.normpath(os.path.join(self.cwd,
                text.lstrip(ROOT)))
            if not text.startswith(("/usr/", "/bin/", "/sbin/",
                    "/dev/", "/lib", "/etc/")):
                self.outside.add(text)
        return path

    def has(self, path):
        return os.path.isfile(os.path.join(self.root, path))

    def text(self, path):
        try:
            full = os.path.join(self.root, path)
            if os.path.isfile(full):
                with open(full, "rb") as f:
                    return f.read(1 << 20)
        except OSError:
            pass
        return b""

    def use(self, path, kind):
        if path not in self.uses and len(self.uses) >= FILES:
            return False
        kinds = self.uses.setdefault(path, set())
        is_new = kind not in kinds
        kinds.add(kind)
        return is_new

    # Follow a path that a call uses. Unknown parts match any name.
    def touch(self, text, kind, source, what):
        if not text.strip(UNKNOWN + "./") and (UNKNOWN in text or
                kind == "list"):
            if kind != "write":
                self.lose(source, what)
            self.writes_anywhere |= kind == "write"
            return
        path = self.below(text)
        if path is None:
            return
        if kind == "run":
            return self.script(path, source)
        if kind == "list" or UNKNOWN in path or "*" in path:
            if os.path.isdir(os.path.join(self.root, path)):
                path += "/*"
            return self.match(path, "read" if kind == "list" else
                kind, source, what)
        if self.use(path, kind) and kind in ("import", "read") and \
                path.endswith(".py"):
            self.python(path)

    def match(self, pattern, kind, source, what):
        parts = re.split("[%s*]+" % UNKNOWN, pattern)
        if not "".join(parts).strip("./"):
            if kind != "write":
                self.lose(source, what)
            return
        full = re.compile(".*".join(map(re.escape, parts)) + "$", re.S)
        if kind == "write":
            self.use(pattern.replace(UNKNOWN, "*"), kind)
        found = [path for path in self.tree() if full.match(path)]
        for path in found:
            self.use(path, kind)
        if not found and pattern[0] == UNKNOWN and kind != "write":
            self.lose(source, what)

    def tree(self):
        found, stack, seen = [], [("", 0)], set()
        while stack and len(found) < 4 * FILES:
            below, depth = stack.pop()
            try:
                at = os.stat(os.path.join(self.root, below))
                names = sorted(os.listdir(
                    os.path.join(self.root, below)))
            except OSError:
                continue
            if (at.st_dev, at.st_ino) in seen: # a symbolic link leads here
                continue
            seen.add((at.st_dev, at.st_ino))
            for name in names:
                path = below + name
                if name[0] == "." or name == "__pycache__":
                    continue
                if os.path.isdir(os.path.join(self.root, path)):
                    if depth < 5:
                        stack.append((path + "/", depth + 1))
                else:
                    found.append(path)
        return found

    # Follow a module and its packages. False if the workspace has none.
    def module(self, name, kind="import"):
        self.modules.add(name.split(".")[0])
        found = False
        for top in self.paths or [""]:
            path, parts = top, name.split(".")
            for i, part in enumerate(parts):
                path = os.path.normpath(os.path.join(path, part))
                if self.has(path + "/__init__.py"):
                    self.follow(path + "/__init__.py", "import")
                    found = found or i == len(parts) - 1
                elif i == len(parts) - 1:
                    found = self.file_of(path) or found
            if kind == "run" and self.has(path + "/__main__.py"):
                self.follow(path + "/__main__.py", "run")
                found = True
        return found

    def file_of(self, path):
        if self.has(path + ".py"):
            self.follow(path + ".py", "import")
            return True
        above, stem = os.path.split(path)
        try:
            names = os.listdir(os.path.join(self.root, above))
        except OSError:
            return False
        names = [n for n in names if n.startswith(stem + ".") and
            n.endswith((".so", ".pyc"))]
        for name in names:
            self.use(os.path.normpath(os.path.join(above, name)),
                "import")
        return bool(names)

    def follow(self, path, kind):
        if self.use(path, kind):
            self.python(path)

    # Follow a script that is started, by its first line or its name.
    def script(self, path, source):
        if not self.use(path, "run") or not self.has(path):
            return
        head = self.text(path)[:200].split(b"\n")[0]
        if path.endswith(".py") or head[:2] == b"#!" and b"python" in head:
            self.add_path(os.path.dirname(path))
            self.python(path)
        elif path.endswith((".sh", ".bash")) or head[:2] == b"#!" and \
                b"sh" in head:
            self.shell(self.text(path).decode("utf-8", "replace"),
                path)
        elif head[:2] == b"#!":
            self.lose(path, "not followed")

    def add_path(self, path):
        path = os.path.normpath(path or ".")
        path = "" if path == "." else path
        if path not in self.paths:
            self.paths.append(path)

    def python(self, path, text=None):
        if path in self.seen and text is None or \
                len(self.seen) >= MODULES:
            return
        self.seen.add(path)
        try:
            tree = parse_python(text if text is not None else
                self.text(path))
            Source(self, path, tree).read()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.lose(path, "cannot be parsed as Python")

    # Follow shell text, one command with its redirections at a time.
    def shell(self, text, source=""):
        cwd, values, buffer = self.cwd, {}, ""
        here = os.path.dirname(source) or "."
        text = re.sub(r"""\$\(\s*dirname\s+["']?\$(0|\{?BASH_SOURCE"""
            r"""(\[0\]\})?)["']?\s*\)""", ROOT + "/" + here, text)
        text = re.sub(r"\$\(\s*cd\s+[\"']?(%s[^\"'\s&;]*)[\"']?\s*"
            r"(&&|;)\s*pwd( -P)?\s*\)" % ROOT, r"\1", text)
        # python reads a here-document like the text of -c.
        text = re.sub(r"""([^\n]*python[\d.]*) *(?:-(?= ))? *<<-? *(["']?)(\w+)\2"""
            r"""([^\n]*)\n(.*?)\n\s*\3(?=\n|$)""", lambda m: "%s -c %s%s" % (
            m[1], shlex.quote(m[5]), m[4]), text, flags=re.S)
        for line in text.replace("\\\n", " ").split("\n"):
            buffer += line
            if re.match(r"\s*(#|$)", buffer):
                buffer = ""
                continue
            try:
                lexer = shlex.shlex(buffer, posix=True,
                    punctuation_chars=True)
                lexer.whitespace_split = True
                words = list(lexer)
            except ValueError:
                buffer += "\n"
                if len(buffer) < 65536:
                    continue
                words = []
            buffer = ""
            self.line(words, values, source)
        if buffer:
            self.lose(source, "a quote is not closed")
        self.cwd = cwd

    def line(self, words, values, source):
        command, target = [], ""
        for word in words + [";"]:
            if target:
                if target[0] == "<" and target != "<":
                    if "python" in " ".join(command):
                        self.lose(source,
                            "a here-document")
                elif not word.startswith(("&", "/dev/")) and \
                        not word.isdigit():
                    self.touch(self.put(word, values),
                        "read" if target == "<" else
                        "write", source, target)
                target = ""
            elif word and not word.strip("<>&|") and \
                    word.strip("&|"):
                target = word.strip("&|")
            elif word and not word.strip(";&|()"):
                self.start([self.put(w, values) for w in
                    command], values, source)
                command = []
            else:
                command.append(word)

    # Replace variables in a word by their values, unknown ones by UNKNOWN.
    def put(self, word, values):
        def value(match):
            name = match.group(1) or match.group(2)
            known = values.get(name)
            if known is None and name == "PWD":
                known = ROOT + "/" + self.cwd
            return UNKNOWN if known is None else known
        return re.sub(r"\$(?:\{(\w+)[^}]*\}|(\w+|[@*#?]))", value, word)

    def start(self, words, values, source):
        while words:
            name, equals, value = words[0].partition("=")
            if words[0] in ("if", "then", "else", "elif", "do", "!",
                    "while", "until", "{", "}", "done", "fi",
                    "time"):
                words = words[1:]
            elif equals and re.match(r"\w+$", name):
                values[name] = value
                if name == "PYTHONPATH":
                    self.search(value)
                elif name == "PATH":
                    self.bins += [path for path in map(self.below,
                        value.split(":")) if path and
                        UNKNOWN not in path]
                words = words[1:]
            else:
                break
        if not words or words[0] in ("for", "case", "esac", "function"):
            return
        if words[0] == "export":
            return self.start(words[1:], values, source)
        self.program(words, source)

    def search(self, value):
        for part in value.split(":"):
            path = self.below(part or ".") if UNKNOWN not in part \
                else None
            if path is not None:
                self.add_path(path)
                self.before |= {path} - {"."}

    def program(self, words, source):
        name, args = os.path.basename(words[0]), words[1:]
        if "/" not in words[0] and UNKNOWN not in name:
            self.added |= {path + "/" + name for path in self.bins}
        if name in BEFORE:
            while args and (args[0][:1] == "-" or
                    re.match(r"[\d.,:-]+[smhd]?$", args[0]) or
                    args[0] in BEFORE):
                args = args[1:]
            return self.start(args, {}, source) if args else None
        if words[0] == UNKNOWN and args and COMPILERS.match(os.path.basename(args[0])):
            self.start(args, {}, source) # the variable is empty, or ccache
        elif UNKNOWN in words[0]:
            self.lose(source, "a command in a variable")
        elif re.match(r"(python|pypy)[\d.]*$", name):
            self.interpreter(args, source)
            if "/" in words[0]:
                self.known(words[0], "run")
        elif name in SHELLS or name in ("source", "."):
            self.shell_of(args, source)
        elif name == "cd":
            path = self.below(args[0]) if args and \
                UNKNOWN not in args[0] else None
            self.cwd = path if path not in (None, ".") else ""
        elif name in ("pytest", "py.test"):
            self.tests(args, source)
        elif name in ("make", "gmake"):
            self.make(args, source)
        elif COMPILERS.match(name):
            self.compiler(args, source)
        elif name in QUIET:
            return
        elif name in ("cp", "install", "ln", "rsync"):
            for word in args[:-1]:
                self.known(word, "read")
            self.known("".join(args[-1:]), "write")
        elif name in WRITERS:
            for word in args:
                self.known(word, "write")
        else:
            if not self.known(words[0], "run", source) and \
                    "/" not in words[0]:
                self.lose(source, "%s is not followed" % name)
            self.operands(args, source)

    # Follow a word if it names a file of the task.
    def known(self, word, kind, source=""):
        if UNKNOWN in word or not word or word[0] == "-":
            return False
        path = self.script_at(word) if kind == "run" and "/" in word \
            else self.below(word)
        if path is None:
            return False
        if kind == "run" and self.has(path):
            self.script(path, source)
        elif self.has(path) or kind == "write":
            self.use(path, kind)
        elif kind == "run" and "/" in word:
            self.use(path, kind)
        else:
            return False
        return True

    def operands(self, args, source):
        if "--" in args:
            rest = args[args.index("--") + 1:]
            args = args[:args.index("--")]
            if rest:
                self.start(rest, {}, source)
        for i, word in enumerate(args):
            name, equals, value = word.partition("=")
            if name[:2] == "--":
                value = value if equals else "".join(args[i + 1:i + 2])
                self.given[name[2:].replace("-", "_")] = value
            word = value if equals else word
            path = self.below(word) if word and word[0] != "-" and \
                UNKNOWN not in word else None
            if path and path != "." and os.path.isdir(
                    os.path.join(self.root, path)):
                self.match(path + "/*", "named", source, word)
            elif path and (self.has(path) or os.path.isfile(
                    os.path.join(self.work or self.root, path))):
                self.use(path, "named")

    def interpreter(self, args, source):
        i = 0
        while i < len(args):
            word, rest = args[i], args[i + 1:]
            if word[:2] in ("-m", "-c"):
                value = word[2:] or "".join(rest[:1])
                rest = rest[1:] if not word[2:] else rest
                self.add_path(self.cwd)
                self.operands(rest, source)
                if word[1] == "c":
                    return self.python("-c", value)
                if value == "pytest":
                    return self.tests(rest, source)
                scripts = [w for w in rest if w.endswith(".py")]
                if not self.module(value, "run") and scripts:
                    self.known(scripts[0], "run", source)
                return
            if word in ("-X", "-W"):
                i += 1
            elif word == "-":
                return self.lose(source, "python reads its script from stdin")
            elif word[:1] != "-":
                self.operands(rest, source)
                if UNKNOWN in word:
                    return self.lose(source, "a script in a "
                        "variable")
                path = self.script_at(word)
                if path:
                    self.add_path(os.path.dirname(path))
                    self.use(path, "run")
                    self.python(path)
                return
            i += 1

    def shell_of(self, args, source):
        while args and args[0][:1] == "-":
            if "c" in args[0] and args[0][:2] != "--":
                self.operands(args[2:], source)
                return self.shell("".join(args[1:2]), source)
            args = args[1:]
        if not args:
            return
        if UNKNOWN in args[0]:
            return self.lose(source, "a script in a variable")
        path = self.script_at(args[0])
        self.operands(args[1:], source)
        if path and self.use(path, "run"):
            self.shell(self.text(path).decode("utf-8", "replace"),
                path)

    def tests(self, args, source):
        for name in "conftest.py", "pytest.ini", "pyproject.toml", \
                "tox.ini", "setup.cfg":
            self.known(name, "read")
            self.added.add(os.path.normpath(os.path.join(self.cwd, name)))
        named = [w.split("::")[0] for w in args if w[:1] != "-"]
        self.add_path(self.cwd)
        for word in named or ["."]:
            path = self.below(word)
            for own in self.tree() if path is not None else []:
                name = os.path.basename(own)
                if own == path or (path == "." or own.startswith(
                        path + "/")) and re.match(
                        r"(test_.*|.*_test|conftest)\.py$",
                        name):
                    self.add_path(os.path.dirname(own))
                    self.follow(own, "run")

    def make(self, args, source):
        cwd, names = self.cwd, ["GNUmakefile", "makefile", "Makefile"]
        for i, word in enumerate(args):
            value = word[2:] or "".join(args[i + 1:i + 2])
            if word[:2] == "-C":
                self.cwd = self.below(value) or ""
            elif word[:2] == "-f":
                names = [value]
        for name in names:
            path = self.below(name)
            if path and self.has(path) and self.use(path, "run"):
                self.makefile(self.text(path).decode("utf-8",
                    "replace"), path)
                break
        else:
            if not any(self.below(n) in self.uses for n in names):
                self.lose(source, "make without a makefile")
        self.cwd = cwd

    def makefile(self, text, source):
        values = {"CC": "cc", "CXX": "c++", "NVCC": "nvcc", "RM": "rm",
            "MAKE": "make", "PYTHON": "python3"}
        def put(text):
            for _ in range(4):
                text = re.sub(r"\$\((shell|wildcard) [^()]*\)", UNKNOWN, text)
                text = re.sub(r"\$[({](\w+)[)}]", lambda m:
                    values.get(m.group(1), ""), text)
            return re.sub(r"\$[@<^*?%]", UNKNOWN, text)
        for line in text.replace("\\\n", " ").split("\n"):
            given = re.match(r"\s*(\w+)\s*[:+?]?=\s*(.*)", line)
            rule = re.match(r"([^\t#:=][^:=]*):(?!=)([^=]*)$", line)
            if line[:1] == "\t":
                self.shell(put(line[1:].lstrip("@-+")), source)
            elif given:
                values[given.group(1)] = put(given.group(2)).strip()
            elif line.startswith(("include ", "-include ")):
                for word in put(line).split()[1:]:
                    self.known(word, "read")
            elif rule:
                for word in put(rule.group(1)).split():
                    if word[0] != ".":
                        self.build(word.replace("%", "*"))
                for word in put(rule.group(2)).split():
                    self.known(word, "named")

    def compiler(self, args, source):
        out, i = "a.out", 0
        folders = [w[2:] for w in args if w[:2] == "-L" and UNKNOWN not in w]
        for word in args if folders else ():
            for end in ".so", ".a":
                for folder in folders if word[:2] == "-l" and word[2:] else ():
                    self.known("%s/lib%s%s" % (folder or ".", word[2:], end), "named")
        while i < len(args):
            word = args[i]
            if word == "-o":
                i += 1
                out = "".join(args[i:i + 1])
            elif word == "-include":
                i += 1
                self.known("".join(args[i:i + 1]), "read")
            elif word[:1] != "-" and UNKNOWN not in word:
                if self.known(word, "named"):
                    self.use(self.below(word), "compiled")
                    self.includes(self.below(word))
            i += 1
        if out and UNKNOWN not in out:
            self.build(out)

    # Note a file that a compiler or a makefile makes.
    def build(self, word):
        if self.known(word, "write"):
            self.use(self.below(word), "built")

    # Follow the headers of a C source, which count like the source.
    def includes(self, path):
        stack = [path]
        while stack:
            path = stack.pop()
            for name in re.findall(rb'^\s*#\s*include\s*"([^"\n]+)"',
                    self.text(path), re.M):
                own = os.path.normpath(os.path.join(os.path.dirname(path),
                    os.fsdecode(name)))
                if self.has(own) and self.use(own, "included"):
                    stack.append(own)


# Reads one Python source: its imports, and the paths in its calls.
class Source:
    def __init__(self, judge, path, tree):
        self.judge, self.path, self.tree = judge, path, tree
        self.values, self.lists, self.handled = {}, {}, set()
        self.openers, self.params, self.inside = {}, {}, {}

    def read(self):
        for node in ast.walk(self.tree):
            self.note(node)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                self.assign(node)
        for turn in range(3):
            known = len(self.openers)
            for call, function in self.calls():
                self.call(call, function, turn)
            if len(self.openers) == known and turn:
                break
        for node in ast.walk(self.tree):
            text = word_of(node)
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.judge.module(alias.name)
            elif isinstance(node, ast.ImportFrom):
                self.import_from(node)
            elif text and len(text) < 256 and "\n" not in text and \
                    "\0" not in text and text.strip("./"):
                path = self.judge.below(text) if text[0] != "/" \
                    and not text.startswith("..") else None
                if path and self.judge.has(path):
                    self.judge.use(path, "mention")

    def import_from(self, node):
        base = node.module or ""
        if node.level:
            above = os.path.dirname(self.path)
            for _ in range(node.level - 1):
                above = os.path.dirname(above)
            for name in [base] if base else [a.name for a in node.names]:
                path = os.path.join(above, *name.split("."))
                if self.judge.has(path + "/__init__.py"):
                    self.judge.follow(path + "/__init__.py",
                        "import")
                else:
                    self.judge.file_of(os.path.normpath(path))
            return
        self.judge.module(base)
        for alias in node.names:
            if alias.name != "*":
                self.judge.module(base + "." + alias.name)

    # Remember the values of names.
    def note(self, node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [a.arg for a in node.args.args]
            self.params[node.name] = names
            for child in ast.walk(node):
                if isinstance(child, ast.Call):
                    self.inside[child] = node.name
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and \
                isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if isinstance(node.value, (ast.List, ast.Tuple)):
                self.lists[name] = node.value
            text = self.text(node.value)
            old = self.values.get(name, text)
            self.values[name] = text if text == old else None
        elif isinstance(node, ast.Call):
            _, name = names_of(node.func)
            if name == "add_argument" and node.args:
                self.argument(node)
        elif isinstance(node, (ast.For, ast.comprehension)):
            if isinstance(node.iter, (ast.List, ast.Tuple)) or \
                    isinstance(node.iter, ast.Call):
                for target in ast.walk(node.target):
                    self.handled.add(getattr(target, "id", ""))
            elif isinstance(node.iter, ast.Name) and \
                    node.iter.id in self.lists:
                self.handled.add(getattr(node.target, "id", ""))
        elif isinstance(node, ast.withitem) and node.optional_vars:
            self.handled.add(getattr(node.optional_vars, "id", ""))

    def argument(self, node):
        names = [word_of(a) or "" for a in node.args]
        default = [word_of(k.value) for k in node.keywords
            if k.arg == "default"]
        for name in names:
            if name[:2] == "--" and default and default[0]:
                self.judge.given.setdefault(
                    name[2:].replace("-", "_"), default[0])

    def calls(self):
        return [(n, self.inside.get(n)) for n in ast.walk(self.tree)
            if isinstance(n, ast.Call)]

    # The text of an expression, with UNKNOWN parts; None if all is unknown.
    def text(self, node, depth=0):
        if node is None or depth > 12:
            return None
        def part(n):
            return self.text(n, depth + 1)
        word = word_of(node)
        if word is not None:
            return word
        if isinstance(node, ast.Name):
            return ROOT + "/" + self.path if node.id == "__file__" \
                else self.values.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return "".join(part(getattr(v, "value", v)) or UNKNOWN
                if isinstance(v, ast.FormattedValue) else
                part(v) or UNKNOWN for v in node.values)
        if isinstance(node, ast.BinOp):
            a, b = part(node.left), part(node.right)
            if isinstance(node.op, ast.Mod):
                return a and re.sub(r"%[-\d.]*[a-z]", UNKNOWN, a)
            if a is None and b is None:
                return None
            slash = "/" if isinstance(node.op, ast.Div) else ""
            return (a or UNKNOWN) + slash + (b or UNKNOWN)
        if isinstance(node, ast.Attribute):
            before, _ = names_of(node)
            if node.attr == "parent":
                text = part(node.value)
                return text and os.path.dirname(text)
            if node.attr == "executable":
                return "python3"
            return self.judge.given.get(node.attr) \
                if before in GIVEN else None
        if isinstance(node, ast.Subscript) and \
                getattr(node.value, "attr", "") == "parents":
            index = node.slice
            index = getattr(index, "value", getattr(index, "n", 0))
            index = getattr(index, "value", getattr(index, "n",
                index))
            text = part(node.value.value)
            for _ in range(1 + index if isinstance(index, int)
                    and 0 <= index < 9 else 1):
                text = text and os.path.dirname(text)
            return text
        if isinstance(node, ast.Call):
            return self.text_of_call(node, part)
        return None

    def text_of_call(self, node, part):
        _, name = names_of(node.func)
        args = [part(a) for a in node.args]
        own = part(node.func.value) \
            if isinstance(node.func, ast.Attribute) else None
        if name == "join" and own is not None and args and \
                isinstance(node.args[0], (ast.List, ast.Tuple)):
            return own.join(part(e) or UNKNOWN for e in node.args[0].elts)
        if name in ("join", "joinpath"):
            parts = ([own] if name == "joinpath" else []) + args
            if not any(parts):
                return None
            return "/".join(p or UNKNOWN for p in parts)
        if name == "dirname":
            return args[0] and os.path.dirname(args[0]) \
                if args else None
        if name in ("getcwd", "cwd"):
            return "."
        if name in ("resolve", "absolute", "expanduser", "as_posix") and \
                own is not None:
            return own
        if name == "with_name" and own and args:
            return os.path.dirname(own) + "/" + (args[0] or UNKNOWN)
        if name == "with_suffix" and own and args:
            return os.path.splitext(own)[0] + (args[0] or UNKNOWN)
        if name == "files" and args and args[0]: # of importlib.resources
            return args[0].replace(".", "/")
        if name == "format" and own:
            return re.sub(r"\{[^}]*\}", UNKNOWN, own)
        if name in ("getenv", "get"):
            return args[1] if len(args) > 1 else None
        if name in ("Path", "PurePath", "str", "fspath", "abspath",
                "realpath", "normpath", "expanduser", "quote",
                "PosixPath"):
            return args[0] if len(args) == 1 else "." if not args \
                else "/".join(p or UNKNOWN for p in args)
        return None

    # Is the value followed elsewhere, at the place where it was computed?
    def is_followed(self, node):
        for child in ast.walk(node):
            name = getattr(child, "id", "")
            if name in GIVEN or name and name in self.handled or \
                    getattr(child, "attr", "") == "argv":
                return True
        return False

    def call(self, node, function, turn):
        owner, name = names_of(node.func)
        index, kind = self.openers.get(name) or CALLS.get(name, (0, None))
        if name == "load" and owner in LOADERS:
            kind = "read"
        elif name == "save" and owner in LOADERS:
            kind = "write"
        elif name in ("glob", "rglob") and owner != "glob" and \
                isinstance(node.func, ast.Attribute):
            return self.glob(node, turn)
        if owner in ("pkgutil", "resources") and len(node.args) > 1:
            words = [self.text(a) or UNKNOWN for a in node.args[:2]]
            return self.judge.touch(words[0].replace(".", "/") + "/" +
                words[1], "read", self.path, "line %d, %s" %
                (node.lineno, name))
        if name in ("exists", "isfile", "is_file", "lexists"):
            text = self.text((node.args or [getattr(node.func, "value",
                None)])[0])
            path = self.judge.below(text) if text and UNKNOWN not in text \
                else None
            return path and self.judge.use(path, "looked")
        if name in ("insert", "append", "extend") and isinstance(node.func,
                ast.Attribute) and getattr(node.func.value, "attr",
                "") == "path" and node.args:
            put = self.put_folders if name == "extend" else self.put_folder
            return put(node.args[-1], name == "insert", turn)
        if kind is None or name in OWNERS and owner != OWNERS[name] and \
                name not in self.openers:
            return
        if name == "open" and owner not in ("", "io", "gzip", "os",
                "codecs", "lzma", "bz2"):
            index = -1
        if kind == "open":
            kind = self.mode_of(node, index)
        value = node.func.value if index == -1 and isinstance(node.func,
            ast.Attribute) else None
        if index >= 0 and len(node.args) > index:
            value = node.args[index]
        if value is None:
            return
        names = self.params.get(function, [])
        if isinstance(value, ast.Name) and value.id in names:
            self.openers.setdefault(function,
                (names.index(value.id), kind))
            return
        what = "line %d, %s" % (node.lineno, name)
        if kind == "shell":
            return self.run(value, node, what) if turn == 0 \
                else None
        text = self.text(value)
        if text is None:
            if kind == "write":
                self.judge.writes_anywhere = True
            elif not self.is_followed(value) and turn:
                self.judge.lose(self.path, what)
        elif kind == "module":
            if not text.strip("."):
                return
            if UNKNOWN in text:
                self.judge.lose(self.path, what)
            else:
                self.judge.module(text)
        else:
            self.judge.touch(text, kind, self.path, what)

    def mode_of(self, node, index):
        modes = node.args[index + 1:index + 2] + [k.value for k in
            node.keywords if k.arg == "mode"]
        mode = word_of(modes[0]) if modes else "r"
        if mode is None:
            return "read"
        return "write" if set(mode) & set("wax") else "read"

    def glob(self, node, turn):
        own = self.text(node.func.value)
        pattern = self.text(node.args[0]) if node.args else None
        if own is None and pattern is None:
            if turn and not self.is_followed(node.func.value):
                self.judge.lose(self.path, "line %d, glob" %
                    node.lineno)
            return
        self.judge.touch((own or UNKNOWN) + "/" + (pattern or UNKNOWN),
            "list", self.path, "line %d, glob" % node.lineno)

    # Follow the folders that an assignment puts into sys.path.
    def assign(self, node):
        for target in getattr(node, "targets", None) or [node.target]:
            part = target.value if isinstance(target, ast.Subscript) else target
            if names_of(part) != ("sys", "path"):
                continue
            if part is not target and not isinstance(target.slice, ast.Slice):
                self.put_folder(node.value, True, 1)
            else:
                self.put_folders(node.value, isinstance(node, ast.Assign), 1)

    # is_first: are the folders of this list searched before those of Python's library?
    def put_folders(self, value, is_first, turn):
        value = self.lists.get(getattr(value, "id", ""), value)
        if isinstance(value, ast.BinOp):
            self.put_folders(value.left, is_first, turn)
            self.put_folders(value.right, False, turn)
        for part in getattr(value, "elts", []):
            if isinstance(part, ast.Starred):
                is_first = False
            else:
                self.put_folder(part, is_first, turn)

    def put_folder(self, value, is_first, turn):
        text = self.text(value)
        if text is None or UNKNOWN in text:
            if turn:
                self.judge.lose(self.path, "line %d, sys.path" %
                    value.lineno)
            return
        path = self.judge.below(text)
        if path is not None:
            self.judge.add_path(path)
        if is_first and path not in (None, "."):
            self.judge.before.add(path)

    def run(self, value, node, what):
        if isinstance(value, ast.Name) and value.id in self.lists:
            value = self.lists[value.id]
        if isinstance(value, ast.BinOp) and isinstance(value.left,
                ast.List):
            value = value.left
        cwd = self.judge.cwd
        for keyword in node.keywords:
            text = self.text(keyword.value) if keyword.arg == "cwd" \
                else None
            if text and UNKNOWN not in text:
                self.judge.cwd = self.judge.below(text) or cwd
                if self.judge.cwd == ".":
                    self.judge.cwd = ""
        if isinstance(value, (ast.List, ast.Tuple)):
            words = [self.text(e) or UNKNOWN for e in value.elts]
            if words:
                self.judge.start(words, {}, self.path)
        else:
            text = self.text(value)
            if text:
                self.judge.shell(text, self.path)
            elif not self.is_followed(value):
                self.judge.lose(self.path, what)
        self.judge.cwd = cwd


# closure_of() adds the modules of the standard library that modules import.
LIBRARY = os.path.dirname(os.__file__)
imported = {}


def imports_of(name):
    if name not in imported:
        path, found = os.path.join(LIBRARY, name), set()
        files = [path + ".py"]
        if os.path.isdir(path) and name not in ("test", "site-packages",
                "dist-packages"):
            files = [os.path.join(path, n) for n in os.listdir(path)
                if n.endswith(".py")]
        for full in files if re.match(r"\w+$", name) else []:
            try:
                with open(full, "rb") as f:
                    text = f.read(1 << 20)
            except OSError:
                continue
            for more in re.findall(rb"^\s*(?:from|import)\s+(\w+)",
                    text, re.M):
                found.add(more.decode("ascii", "replace"))
        imported[name] = found
    return imported[name]


def closure_of(names):
    found, stack = set(), list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += imports_of(name)
    return found


# editable_of() returns the files that task.md names after "edit" and similar verbs, the
# first file after each weaker verb, and the files that it forbids to edit.
EDIT = r"(edit|modify|change|rewrite|touch|replace)"
WEAK = r"(implement|write|optimi[sz]e|improve|put|place|provide|create|tune)"
MAY = r"\b(may|can|should|must|shall|allowed to|free to|only|please)\s+" \
    r"(only\s+|freely\s+|also\s+)?"
FIRST = r"^\W*(\d+\W+)?(only\s+)?"
ANY = re.compile(r"\b(any|every|all)\b.{0,30}\bfiles?\b|\b(any|every)thing\b", re.I)
ALLOW = re.compile(MAY + EDIT + r"\b|" + FIRST + EDIT + r"\b|\b(may|can|should|"
    r"to) be (edited|modified|changed|rewritten)\b|\beditable\b", re.I)
HINT = re.compile(MAY + WEAK + r"\b|" + FIRST + WEAK + r"\b", re.I)
DENY = re.compile(r"\b(not|never|cannot|no|without)\b|n't\b|\bread-only\b|"
    r"\bforbidden\b|\boff limits\b", re.I)
STOP = re.compile(r"\b(run|running|use|using|with|via|so|until|before|after|"
    r"that|which|from|against|than|when|if)\b", re.I)
PATH = re.compile(r"`([\w./*-]+)`|(?<![\w`/])([\w*-]+(?:/[\w.*-]+)*"
    r"(?:\.[A-Za-z]\w{0,4}|/))(?![\w`])")


def editable_of(text):
    lists, verb = {"edit": set(), "hint": set(), "deny": set()}, None
    for line in text.split("\n")[:2000]:
        if re.match(r"\s*(```|#|$)", line):
            verb = verb if not line.strip() else None
            continue
        is_item = re.match(r"\s*([-*+]|\d+[.)])\s", line)
        for clause in re.split(r"(?<=[.;:])\s+|,?\s+but\s+|\b(?=(?:except|"
                r"other than|apart from)\b)", line[:2000]):
            allow, hint = ALLOW.search(clause), HINT.search(clause)
            if re.match(r"(except|other than|apart from)\b", clause):
                verb = {"deny": "edit"}.get(verb, "deny")
            elif DENY.search(clause) and re.search(r"\b" + EDIT,
                    clause, re.I):
                verb = "deny"
            elif allow or hint:
                verb = "edit" if allow else "hint"
                if ANY.search(clause):
                    lists["hint"].add(ANY)
                stop = STOP.search(clause, (allow or hint).end())
                clause = clause[:stop.start()] if stop else clause
            elif not is_item:
                verb = None
            names = [a or b for a, b in PATH.findall(clause)]
            for name in names[:1 if verb == "hint" else None]:
                if verb:
                    lists[verb].add(name[2:] if name[:2] ==
                        "./" else name)
    return lists["edit"] - lists["deny"], lists["hint"] - lists["deny"], \
        lists["deny"]


# Does one of these patterns name the file?
def is_among(path, patterns):
    return any(fnmatch.fnmatch(path, p) or fnmatch.fnmatch(
        os.path.basename(path), p) or p[-1:] == "/" and
        path.startswith(p) for p in patterns if p is not ANY)


# Is one of the judge's words a whole part of the file's name?
def is_word(path, words):
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", os.path.basename(path))
    return any(part in words for part in re.split(r"[^a-z]+", name.lower()))


PRODUCT = re.compile(
    r"(^|[^a-z])(results?|outputs?|logs?|history|reports?|cache|"
    r"traces?|profiles?)([^a-z]|$)|\.(log|out|err|tmp|o|a|d)$")


# Find the owner of a file: "judge", "candidate", "product" (the judge writes it), "named"
# (an operand), "unclear" (the judge uses it, but it may be the candidate's), "other".
def part_of(judge, path, task, words):
    kinds = set(judge.uses.get(path, ()))
    for pattern, more in judge.uses.items():
        if "*" in pattern and fnmatch.fnmatch(path, pattern):
            kinds |= more
    allowed, hinted, denied = task
    has_word, has_list = is_word(path, words), bool(allowed or hinted - {ANY})
    if is_among(path, allowed) or is_among(path, hinted) and \
            not has_word and "run" not in kinds:
        return "candidate"
    if "write" in kinds:
        return "unclear" if kinds & {"import", "read"} else "product"
    if "run" in kinds:
        return "judge" if judge.has(path) else "unclear"
    if kinds == {"looked"}: # the judge only tests whether it exists
        return "other" if PRODUCT.search(path.lower()) else "unclear"
    if kinds and has_word or path in denied:
        return "judge"
    if has_word and judge.lost:
        is_product = PRODUCT.search(path.lower()) or \
            judge.writes_anywhere and not path.endswith(SOURCES)
        return "unclear" if is_product or ANY in hinted else "judge"
    if kinds & {"import", "read", "included"}:
        return "judge" if has_list else "unclear"
    if "named" in kinds:
        return "judge" if has_list and not path.endswith(SOURCES) \
            else "named"
    return "unclear" if kinds else "other"
