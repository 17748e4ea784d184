"""What the end-to-end tests share: real processes, one temporary folder each. The programs are those of GALLEY_BIN_DIR."""
import json, os, shutil, signal, subprocess, tempfile, threading, time, unittest

BIN = os.environ.get("GALLEY_BIN_DIR", "build/bin")
SOURCE = os.environ.get("GALLEY_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SAMPLE = os.path.join(SOURCE, "tests", "content", "sample")
# A cook that hangs is a failed test, not a hung run. No cook is near it on a slow or busy machine.
LIMIT_S = 600 if "build-asan" in BIN or "build-tsan" in BIN else 240
# Workers whom nobody takes end by themselves only after 20 s: what ends sooner was ended.
BY_THEMSELVES_S = 15


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


class Cook:
    """What one `galley cook` came to."""

    def __init__(self, process, summary):
        self.code = process.returncode
        self.stdout, self.stderr = process.stdout, process.stderr
        self.summary = summary or {}

    @property
    def results(self):
        return self.summary.get("results", {})

    @property
    def cooked(self):
        return self.results.get("cooked")

    @property
    def roots(self):
        return self.summary.get("roots", {})

    @property
    def failures(self):
        return self.summary.get("failures", [])

    def errors_of(self, package):
        return [f["error"] for f in self.failures if f["package"] == package]

    def __repr__(self):
        return f"exit {self.code}\n{json.dumps(self.summary, indent=1)[:6000]}\n{self.stderr[-6000:]}"


class E2ETest(unittest.TestCase):
    started = 0  # cooks in the background

    maxDiff = None
    bin = BIN

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="galley-e2e-")
        self.addCleanup(lambda: shutil.rmtree(self.dir, ignore_errors=True))

    def use_memory(self):
        """Moves to a folder that costs no syncs, where there is one."""
        if os.access("/dev/shm", os.W_OK):
            shutil.rmtree(self.dir)
            self.dir = tempfile.mkdtemp(prefix="galley-e2e-", dir="/dev/shm")

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, path, data, mode=None):
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def sample(self, name="game"):
        target = self.path(name)
        shutil.copytree(SAMPLE, target, symlinks=True, ignore=shutil.ignore_patterns(".galley"))
        return target

    def project(self, files, rules, name="game", platforms=None, extra=""):
        """A small project: files below content/, [[rule]] texts."""
        toml = f'[project]\nname = "{name}"\n{extra}\n[[mount]]\npath = "/Game"\ndir = "content"\n'
        for platform in platforms or ['name = "pc"\ntexture = "bc"\nshader = "spirv-1.5"']:
            toml += f"[[platform]]\n{platform}\n"
        for rule in rules:
            toml += f"[[rule]]\n{rule}\n"
        self.write(f"{name}/galley.toml", toml)
        os.makedirs(self.path(name, "content"), exist_ok=True)
        for path, data in files.items():
            self.write(f"{name}/content/{path}", data)
        return self.path(name)

    def galley(self, *args, cwd=None, env=None, timeout=LIMIT_S):
        return subprocess.run([os.path.join(self.bin, "galley"), *map(str, args)], cwd=cwd or self.dir, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=timeout,
                              env={**os.environ, **(env or {})})

    def start_cook(self, project, *args, env=None):
        """A cook in the background, with a summary of its own: several may run at once."""
        self.started += 1
        summary = f"{project}.{self.started}.summary.json"
        process = subprocess.Popen([os.path.join(self.bin, "galley"), "cook", "--project", project, "--summary", summary, *map(str, args)],
                                   cwd=self.dir, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        process.summary = summary
        return process

    def finish_cook(self, project, process):
        stdout, stderr = process.communicate(timeout=LIMIT_S)
        done = subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
        return Cook(done, self.read_summary(process.summary))

    def wait_for_line(self, process, text):
        """The next line of its stderr that has this text. A process that does not say it is killed when the patience ends."""
        patience = threading.Timer(LIMIT_S, process.kill)
        patience.start()
        said = ""
        try:
            for line in process.stderr:
                if text in line:
                    return line
                said += line
        finally:
            patience.cancel()
        self.fail(f"it did not say: {text}\n{said}")

    def summary_of(self, project):
        return self.read_summary(project + ".summary.json")

    def read_summary(self, path):
        try:
            with open(path) as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def cook(self, project, *args, expect=0, env=None):
        if os.path.exists(project + ".summary.json"):
            os.remove(project + ".summary.json")
        process = self.galley("cook", "--project", project, "--summary", project + ".summary.json", *args, env=env)
        cook = Cook(process, self.summary_of(project))
        if expect is not None:
            self.assertEqual(cook.code, expect, cook)
        return cook

    def forget_what_stands(self, project):
        """The next cook looks at all, though nothing has changed."""
        shutil.rmtree(os.path.join(project, ".galley", "state", "standing"), ignore_errors=True)

    def cooked_packages(self, cook_json_stdout):
        """Packages of `--json` output that a cooker ran for."""
        packages = set()
        for line in cook_json_stdout.splitlines():
            event = json.loads(line)
            if event.get("event") == "done" and event["source"] == "cooked":
                packages.add(event["package"])
        return packages

    def tree(self, project, platform):
        """The sandbox as {path: bytes}, without what says whose it is and what it holds."""
        base = os.path.join(project, ".galley", "cooked", platform)
        found = {}
        for folder, _, names in os.walk(base):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), base)
                if path in (".galley-root", ".galley-root.files", ".galley-sandbox"):
                    continue
                with open(os.path.join(folder, name), "rb") as file:
                    found[path] = file.read()
        return found


# Rules: each package takes a second; each is copied.
SLOW = 'match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "sleep 1; cp $0 $1", "{input}", ' \
       '"{output:.out}"], outputs = [".out"] }'
COPY = 'match = "/Game/**/*.txt"\ncooker = "copy"'


class ResidentTest(E2ETest):
    """Tests of a director that stays."""
    def serve(self, project, *args, env=None):
        done = self.galley("serve", "--detach", "--project", project, *args, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(lambda: self.galley("serve", "--stop", "--project", project))
        return self.status(project)["process"]

    def status(self, project):
        done = self.galley("status", "--json", "--project", project)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def cook(self, project, *args, env=None):
        return self.finish_cook(project, self.start_cook(project, *args, env=env))

    def wait_until(self, what):
        until = time.time() + LIMIT_S
        while not what():
            self.assertLess(time.time(), until, "it takes too long")
            time.sleep(0.02)

    def slow_project(self, count, name="game"):
        return self.project({f"{i}.slow": f"{name} {i}" for i in range(count)}, [SLOW, COPY], name=name)


def processes(name, parent=None):
    """pids of running programs of this name (their 15-letter comm), optionally below `parent`."""
    found = []
    parents = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                text = file.read()
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
        except OSError:
            continue
        parents[int(entry)] = int(text.rsplit(")", 1)[1].split()[1])
        if any(os.path.basename(part.decode(errors="replace")) == name for part in command[:1]):
            found.append((int(entry), [part.decode(errors="replace") for part in command]))
    if parent is None:
        return found
    below = {parent}
    while True:
        more = {pid for pid, its_parent in parents.items() if its_parent in below and pid not in below}
        if not more:
            break
        below |= more
    return [(pid, command) for pid, command in found if pid in below]


def processes_below(directory):
    """{pid: command line} of all that run a program that lies below this folder, or work in it; no zombies."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            places = [os.readlink(f"/proc/{entry}/{link}") for link in ("exe", "cwd")]
            if any(place.startswith(directory + "/") for place in places) and is_running(int(entry)):
                found[int(entry)] = [part.decode(errors="replace") for part in read_file(f"/proc/{entry}/cmdline").split(b"\0")]
        except OSError:
            continue
    return found


def is_running(pid):
    """False for a zombie too."""
    try:
        return read_file(f"/proc/{pid}/stat").decode(errors="replace").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def parent_of(pid):
    """None: it is gone."""
    try:
        return int(read_file(f"/proc/{pid}/stat").decode(errors="replace").rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_in_turn(processes, patience_s):
    """Asks one after the other to end, and makes it end when that takes too long; then it is reaped."""
    for process in processes:
        process.terminate()
        try:
            process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(condition, what, limit_s=90.0):
    """Polls for a condition of other processes; there is nothing to inject a clock into there."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"waited {limit_s} s for {what}")
