"""Every damage of a file that Galley wrote ends in one cook.

The files are found by listing what cooks, puts, pins and verifies left of a small project, so a new kind of file is in the test. Each *round*
damages one file in one way: a byte flipped, the file truncated, zeroed, deleted, replaced by an older version or by a folder, made unreadable;
while nobody holds the store, or `galley store serve`, or a cook that is at work, or behind a cook that was killed. Then one cook has to end
well with the same roots and sandboxes, and a warning where it made anything again; and the cook after it has nothing to do and nothing to say.

GALLEY_DAMAGE_ROUNDS: so many, spread over all by GALLEY_DAMAGE_SEED (a plain run: 60; `scripts/test --long`: all). GALLEY_DAMAGE_ONLY: of those whose name holds
this text; a failure prints it. GALLEY_DAMAGE_LOG: a file to which failed rounds are appended.
"""
import collections, concurrent.futures, hashlib, os, random, re, shutil, signal, stat, struct, subprocess, threading, time

import harness
from harness import BIN, LIMIT_S, read_file, wait_until

LONG = bool(os.environ.get("GALLEY_LONG"))
ROUNDS = int(os.environ.get("GALLEY_DAMAGE_ROUNDS", "0" if LONG else "60"))  # 0: all
SEED = int(os.environ.get("GALLEY_DAMAGE_SEED", "1"))
ONLY = os.environ.get("GALLEY_DAMAGE_ONLY", "")
LOG = os.environ.get("GALLEY_DAMAGE_LOG", "")
LANES = 2  # rounds at a time
FLIPS = 32  # evenly spaced places
CUTS = {"empty": 0, "half": 1 / 2}
KINDS = [f"flip{place}" for place in range(FLIPS)] + [f"cut-{cut}" for cut in CUTS] + ["zeroed", "deleted", "older", "unreadable", "folder"]
HOLDERS = ("nobody", "serve", "cook", "killed")
EDITED = ("cook", "killed")  # the holders with content that differs from what was cooked
LARGE = (1 << 20) + 5_000  # bytes: a file of its own in the store
# Files of a class beyond this many are like the others.
FILES_OF_A_CLASS_MAX = 4


def ordinary_user():
    """Who cooks: for root nothing is unreadable. Empty: whoever runs the test, also where another user cannot reach the programs."""
    user = {"user": 65534, "group": 65534, "extra_groups": []}
    if os.geteuid() != 0:
        return {}
    try:
        done = subprocess.run([os.path.join(BIN, "galley"), "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **user)
        return user if done.returncode == 0 else {}
    except OSError:
        return {}


USER = ordinary_user()
if os.geteuid() == 0 and not USER:
    print("damage: root cooks, so nothing is made unreadable", flush=True)
    KINDS.remove("unreadable")
# Files of which each read is checked: damage of their bytes is told by the very cook, and before it by `galley doctor`.
SEALED = ("state/cookers.json", "state/digests", "state/project", "state/project.copy", "state/sandboxes", "state/kept_limits",
          "state/snapshot-#.table", "store/id", "store/epoch", "store/format", "cooked/pc/.galley-sandbox", "cooked/pc/.galley-root",
          "cooked/pc/.galley-root.files", "cooked/deck/.galley-sandbox", "cooked/deck/.galley-root", "cooked/deck/.galley-root.files")
# Files that people look at, and Galley never reads again.
NEVER_READ = re.compile(r"/logs/|/index\.broken-|/quarantine/")
# The first cook of these may end with exit 3; docs/operating.md, "What heals", has the reasons.
NOT_HEALED = {("state/lock", "cook")}
TOML = """[project]
name = "harm"
[warnings]
off = ["rule-matches-nothing"]
[[mount]]
path = "/Game"
dir = "content"
[[platform]]
name = "pc"
texture = "bc"
shader = "spirv-1.5"
[[platform]]
name = "deck"
texture = "bc"
shader = "spirv-1.3"
[[rule]]
match = "/Game/**/*.{json,level}"
cooker = "data"
[[rule]]
match = "/Game/maps/*.level"
settings = { cell_size = 64 }
[[rule]]
match = "/Game/**/*.bin"
cooker = "copy"
[[rule]]
match = "/Game/**/*.held"
cooker = "command"
settings = { argv = ["tools/hold", "{input}", "{output:.out}"], outputs = [".out"] }
[[rule]]
match = "/Game/**/*.eats"
cooker = "command"
memory = "64MiB"
settings = { argv = ["tools/eats", "{input}", "{output:.out}"], outputs = [".out"] }
"""
HOLD = '#!/bin/sh\ngate=${0%/tools/hold}/gate\nif [ -p "$gate" ]; then cat "$gate"; fi\nprintf held > "$2"; cat "$1" >> "$2"\n'
EATS = "#!/usr/bin/python3\nx = []\nwhile True:\n    x.append(bytearray(16 << 20))\n"
NOWHERE = {"GALLEY_STORE_REMOTE": "grpc://127.0.0.1:9", "GALLEY_STORE_REMOTE_MODE": "read-write"}


def class_of(path):
    """What files of one purpose have in common: long hex names and numbers are all one."""
    path = re.sub(r"[0-9a-f]{16,}", "#", path)
    path = re.sub(r"(?<=files/)[0-9a-f]{2}(?=/)", "#", path)
    return re.sub(r"\d+", "#", path)


def files_below(folder):
    """Relative paths of what a round may damage, in an order that is the same each time; sockets and the cooked files are left out."""
    found = []
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(base, name), folder)
            is_cooked = path.startswith("cooked/") and name not in (".galley-sandbox", ".galley-root", ".galley-root.files")
            try:
                if stat.S_ISREG(os.lstat(os.path.join(folder, path)).st_mode) and not is_cooked:
                    found.append(path)
            except FileNotFoundError:
                pass  # whoever holds the store removed it meanwhile
    return found


def told(cook):
    return f"exit {cook.code}, {cook.results}\n{cook.stderr[-1500:]}"


def copy_all(source, target):
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


def copy_live(source, target):
    """Of what somebody is at work in: a file may be removed while it is copied."""
    for _ in range(20):
        if subprocess.run(["cp", "-a", "--reflink=auto", source, target], stderr=subprocess.DEVNULL).returncode == 0:
            return
        shutil.rmtree(target)
    raise AssertionError(f"{source} cannot be copied")


class Round:
    """One file, one way, one holder. Its name is the same in each run of the test."""

    def __init__(self, file_class, number, kind, holder):
        self.file_class, self.number, self.kind, self.holder = file_class, number, kind, holder
        self.name = f"{file_class}[{number}] {kind} {holder}"

    def is_of_sealed(self):
        return self.file_class in SEALED and not self.kind.startswith(("deleted", "older"))

    def apply(self, galley_dir, older_dir):
        """False: it changes nothing."""
        try:
            return self.damage(galley_dir, older_dir)
        except FileNotFoundError:
            return False  # whoever holds the store removed it meanwhile

    def damage(self, galley_dir, older_dir):
        files = [path for path in files_below(galley_dir) if class_of(path) == self.file_class]
        if self.number >= len(files):
            return False  # whoever holds the store removed it
        self.path = files[self.number]
        path = os.path.join(galley_dir, self.path)
        if self.kind == "deleted":
            os.remove(path)
        elif self.kind == "folder":
            os.remove(path)
            os.mkdir(path)
            with open(os.path.join(path, "note.txt"), "w") as file:
                file.write("somebody's")
            os.chmod(path, 0o777)
        elif self.kind == "unreadable":
            os.chmod(path, 0)
        elif self.kind == "older":
            older = os.path.join(older_dir, self.path)
            if not os.path.isfile(older) or read_file(older) == read_file(path):
                return False
            os.remove(path)
            copy_all(older, path)
        else:
            return self.change(path)
        return True

    def change(self, path):
        data = bytearray(read_file(path))
        if not data:
            return False
        mode = os.stat(path).st_mode
        os.chmod(path, 0o644)
        if self.kind.startswith("flip"):
            place = int(self.kind[4:])
            if place >= len(data):
                return False
            at = place * len(data) // FLIPS if len(data) > FLIPS else place
            data[at] ^= 1 << (at % 7)
        elif self.kind == "zeroed":
            data = bytearray(len(data))
        with open(path, "r+b") as file:
            if self.kind.startswith("cut"):
                file.truncate(int(len(data) * CUTS[self.kind[4:]]))
            else:
                file.write(data)
        os.chmod(path, mode)
        return True


class Lane:
    """A project with all that cooks of it left; a round at a time."""

    def __init__(self, test, game):
        self.test, self.game = test, game
        self.galley_dir = self.path(".galley")
        self.store = os.path.join(self.galley_dir, "store")
        self.home = game + ".home"
        os.makedirs(self.home)
        self.prepare()

    def path(self, *names):
        return os.path.join(self.game, *names)

    def write(self, name, data, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        os.chmod(path, mode)

    def environment(self, more=None):
        return {**os.environ, "HOME": self.home, "XDG_RUNTIME_DIR": self.home, **(more or {})}

    def galley(self, *args, env=None, expect=0):
        done = subprocess.run([os.path.join(BIN, "galley"), *args], text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S, cwd=self.game, env=self.environment(env), **USER)
        if expect is not None and done.returncode != expect:
            raise AssertionError(f"galley {' '.join(args)}: exit {done.returncode}\n{done.stderr[-3000:]}")
        return done

    def cook_once(self, *args, env=None):
        summary = self.game + ".summary.json"
        if os.path.exists(summary):
            os.remove(summary)
        done = self.galley("cook", "--project", self.game, "--workers", "1", "--summary", summary, *args, env=env, expect=None)
        return harness.Cook(done, self.test.summary_of(self.game))

    def cook_that_looks(self, one):
        """A cook of which all stands needs little of what may be damaged, and answers as it should; one that knows of nothing that stands
        looks at all."""
        if not one.path.startswith("state/standing/"):
            shutil.rmtree(os.path.join(self.galley_dir, "state/standing"), ignore_errors=True)
        return self.cook_once()

    def cook_well(self, *args, env=None):
        cook = self.cook_once(*args, env=env)
        if cook.code != 0:
            raise AssertionError(f"{cook}")
        return cook

    # ---- what there is to damage

    def prepare(self):
        rng = random.Random(0)
        self.write("galley.toml", TOML)
        self.write("tools/hold", HOLD, 0o755)
        self.write("tools/eats", EATS, 0o755)
        for i in range(12):
            self.write(f"content/data/d{i}.json", f'{{"n": {i}, "to": {{"$ref": "d{(i + 1) % 12}.json"}}}}')
        items = ",".join(f'{{"position": [{x}, 0, {z}], "n": {x + z}}}' for x in range(0, 200, 50) for z in range(0, 200, 50))
        self.write("content/maps/town.level", f'{{"items": [{items}]}}')
        for i in range(3):
            self.write(f"content/bin/large{i}.bin", rng.randbytes(LARGE))
            self.write(f"content/bin/small{i}.bin", rng.randbytes(1000 + i))
        self.write("content/data/a.held", "0")
        if USER:
            for base, _, names in os.walk(self.game):
                for path in [base] + [os.path.join(base, name) for name in names]:
                    os.chown(path, USER["user"], USER["group"])
            os.chown(self.home, USER["user"], USER["group"])
            os.chmod(os.path.dirname(self.game), 0o777)
        self.cook_well()
        copy_all(self.galley_dir, self.path("older"))
        # From here on all that a project and its store may come to have.
        for i in (0, 1):
            self.write(f"content/bin/large{i}.bin", rng.randbytes(LARGE))
        self.write("content/data/d3.json", '{"n": 33}')
        self.write("content/data/x.eats", "x")
        if self.cook_once().code != 1:
            raise AssertionError("nothing outgrew its memory")
        os.remove(self.path("content/data/x.eats"))
        self.galley("clean", "--project", self.game, "/Game/bin/small0.bin")
        self.cook_well(env=NOWHERE)
        self.galley("store", "put", self.path("content"), "--pin", "kept", "--store", self.store)
        self.leave_broken_things()
        self.interrupt_a_verify()
        time.sleep(2.1)  # a file that changed just now is not in the cache of digests
        self.cook_well()
        self.reference = self.cook_well()
        self.trees = {platform: self.test.tree(self.game, platform) for platform in self.reference.roots}
        if "warning" in self.reference.stderr or len(self.trees) != 2:
            raise AssertionError(f"{self.reference}")
        for platform in self.trees:
            self.make_marker_brief(os.path.join(self.galley_dir, "cooked", platform))
        copy_all(self.galley_dir, self.path("pristine"))
        serving = self.serve()
        self.served = files_below(self.galley_dir)  # with what a server has while it lives
        self.end(serving)
        self.prepare_killed()

    def make_marker_brief(self, sandbox):
        """As a cook leaves it that replaced one file of what stands. (With results that were not sent yet, nothing stands here.)"""
        marker, files = os.path.join(sandbox, ".galley-root"), os.path.join(sandbox, ".galley-root.files")
        os.rename(marker, files)
        whole, about = read_file(files), os.stat(files)
        root, seal, rest = whole.split(b"\n", 2)
        paths, stamps = rest.split(b"\0", 1)
        mtime, ctime, inode = struct.unpack("<qqQ", stamps[:24])
        text = (f"/files {seal[2:].decode()} {len(stamps) // 24} {len(whole)} {about.st_mtime_ns} {about.st_ctime_ns} {about.st_ino}\n"
                f"/at {mtime} {ctime} {inode} ").encode() + paths.split(b"\n", 1)[0] + b"\n"
        with open(marker, "wb") as file:
            file.write(root + b"\n// " + hashlib.sha256(root + b"\n" + text).hexdigest().encode() + b"\n" + text)
        os.chmod(marker, 0o644)
        os.chown(marker, about.st_uid, about.st_gid)

    def interrupt_a_verify(self):
        """How far it came lies in the store."""
        verify = subprocess.Popen([os.path.join(BIN, "galley"), "store", "verify", "--store", self.store, "--rate", "50KiB"], env=self.environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **USER)
        wait_until(lambda: os.path.exists(os.path.join(self.store, "store.sock")), "the verify to run")
        verify.send_signal(signal.SIGINT)
        verify.wait(LIMIT_S)

    def leave_broken_things(self):
        """A damaged index that was moved aside, and a large file that was quarantined."""
        table = next(path for path in files_below(self.store) if path.startswith("index/") and path.endswith(".sst"))
        blob = next(path for path in files_below(self.store) if path.startswith("files/"))
        for path in (table, blob):
            path = os.path.join(self.store, path)
            os.chmod(path, 0o644)
            with open(path, "r+b") as file:
                file.write(b"damage")
        self.galley("store", "verify", "--store", self.store, expect=1)
        self.cook_well()

    def edit(self, is_edited):
        """What the held and the killed cook have to do."""
        self.write("content/data/d5.json", '{"n": 55}' if is_edited else '{"n": 5, "to": {"$ref": "d6.json"}}')
        self.write("content/data/a.held", "1" if is_edited else "0")

    def hold_cook(self):
        """A cook that waits with one job, with others committed; and what it waits at."""
        os.mkfifo(self.path("gate"))
        os.chmod(self.path("gate"), 0o666)
        with open(self.game + ".said", "w") as said:
            cook = subprocess.Popen([os.path.join(BIN, "galley"), "cook", "--project", self.game, "--workers", "1", "--summary",
                                     self.game + ".summary.json"], stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=self.environment(), **USER)
        gate = wait_until(lambda: self.open_gate() or cook.poll() is not None, "the cook to wait", LIMIT_S)
        self.expect(cook.poll() is None, "the cook ended before it came to wait")
        return cook, gate

    def let_go(self, gate):
        os.remove(self.path("gate"))
        os.close(gate)

    def prepare_killed(self):
        """The state that a cook leaves that was killed, with its workers, while one job ran and others were committed."""
        self.edit(True)
        cook, gate = self.hold_cook()
        copy_live(self.galley_dir, self.path("cooking"))
        children = [pid for name in ("galley-worker", "sh", "hold") for pid, _ in harness.processes(name, cook.pid)]
        for pid in [cook.pid, *children]:
            harness.kill(pid)
        cook.wait(LIMIT_S)
        self.let_go(gate)
        wait_until(lambda: not any(harness.is_running(pid) for pid in children), "its workers to end")
        copy_all(self.galley_dir, self.path("killed"))
        self.reference_edited = self.cook_well()
        self.trees_edited = {platform: self.test.tree(self.game, platform) for platform in self.reference.roots}

    def open_gate(self):
        try:
            return os.open(self.path("gate"), os.O_WRONLY | os.O_NONBLOCK)  # fails as long as nobody reads there
        except OSError:
            return None

    def all_rounds(self):
        rounds, at_rest = [], set()
        listings = {"nobody": "pristine", "cook": "cooking", "killed": "killed"}
        for holder in HOLDERS:
            counts = collections.Counter()
            for path in self.served if holder == "serve" else files_below(self.path(listings[holder])):
                file_class = class_of(path)
                number = counts[file_class]
                counts[file_class] += 1
                at_rest |= {file_class} if holder == "nobody" else set()
                is_left_out = {"nobody": False, "serve": not path.startswith("store/"), "cook": path.startswith("state/scratch/"),
                               "killed": file_class in at_rest and not path.startswith("state/journal")}[holder]
                if number >= FILES_OF_A_CLASS_MAX or is_left_out:
                    continue
                kinds = [kind for kind in KINDS if not NEVER_READ.search("/" + path) or kind in ("unreadable", "folder", "deleted")]
                rounds += [Round(file_class, number, kind, holder) for kind in kinds]
        return rounds

    # ---- a round

    def expect(self, is_right, what):
        if not is_right:
            raise AssertionError(what)

    def reset(self, holder):
        for base, folders, _ in os.walk(self.galley_dir):
            for folder in folders:
                os.chmod(os.path.join(base, folder), 0o755)
        shutil.rmtree(self.galley_dir)
        copy_all(self.path("killed" if holder == "killed" else "pristine"), self.galley_dir)
        self.edit(holder in EDITED)

    def serve(self):
        process = subprocess.Popen([os.path.join(BIN, "galley"), "store", "serve", "--store", self.store, "--listen", "127.0.0.1:0"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=self.environment(), **USER)
        if "serving" not in process.stdout.readline():
            process.kill()
            raise AssertionError("store serve did not begin")
        return process

    def end(self, serving):
        serving.send_signal(signal.SIGTERM)
        try:
            return serving.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            serving.kill()
            serving.wait()
            raise
        finally:
            serving.stdout.close()

    def run(self, one):
        """Whether the round changed anything."""
        self.reset(one.holder)
        if one.holder == "cook":
            return self.run_under_cook(one)
        serving = self.serve() if one.holder == "serve" else None
        try:
            if not one.apply(self.galley_dir, self.path("older")):
                return False
            doctor = self.ask_doctor() if one.holder == "nobody" else None
            cook = self.cook_that_looks(one)
            self.look(one, cook, "first cook")
            if doctor is not None and one.is_of_sealed():
                self.expect(re.search(rf"^heal .*{re.escape(os.path.basename(one.path))}", doctor, re.M), f"doctor does not tell it:\n{doctor}")
            self.look_clean(one, self.cook_once(), "second cook")
        finally:
            code = self.end(serving) if serving else 0
        if serving:
            self.expect(code == 0, f"store serve: exit {code}")
            self.look(one, self.cook_that_looks(one), "first cook without the owner")
            self.look_clean(one, self.cook_once(), "second cook without the owner")
        return True

    def ask_doctor(self):
        """What it says; it must not change anything."""
        before = self.stamps()
        done = self.galley("doctor", "--project", self.game, expect=None)
        self.expect(self.stamps() == before, "doctor changed something")
        return done.stdout

    def stamps(self):
        found = {}
        for base, folders, names in os.walk(self.galley_dir):
            for name in folders + names:
                s = os.lstat(os.path.join(base, name))
                found[os.path.join(base, name)] = (s.st_ino, s.st_mode, s.st_size, s.st_mtime_ns)
        return found

    def run_under_cook(self, one):
        cook, gate = self.hold_cook()
        try:
            is_damaged = one.apply(self.galley_dir, self.path("older"))
        finally:
            self.let_go(gate)
            code = cook.wait(LIMIT_S)
        with open(self.game + ".said", errors="replace") as said:
            done = subprocess.CompletedProcess([], code, "", said.read())
        if (one.file_class, one.holder) not in NOT_HEALED or code != 3:
            self.look(one, harness.Cook(done, self.test.summary_of(self.game)), "held cook")
        if is_damaged:
            self.look(one, self.cook_that_looks(one), "cook behind it")
            self.look_clean(one, self.cook_once(), "second cook behind it")
        return is_damaged

    def look(self, one, cook, which):
        reference, trees = (self.reference_edited, self.trees_edited) if one.holder in EDITED else (self.reference, self.trees)
        self.expect(cook.code == 0, f"{which}: {told(cook)}")
        self.expect(cook.roots == reference.roots, f"{which}: other roots: {told(cook)}")
        for platform, tree in trees.items():
            self.expect(self.tree(platform) == tree, f"{which}: the sandbox of {platform} is not its tree: {told(cook)}")
        if one.holder in ("serve", "cook"):
            return  # who holds it may find it later, or never need it again
        says = "warning" in cook.stderr
        is_quiet = cook.results["up_to_date"] == self.reference.results["up_to_date"]
        if one.holder == "nobody":
            self.expect(is_quiet or says, f"{which}: work without a word: {told(cook)}")
            self.expect(says or not self.moved_aside(), f"{which}: moved aside without a word: {self.moved_aside()}")
        if one.is_of_sealed():
            self.expect(says and os.path.basename(one.path) in cook.stderr, f"{which}: no warning names it: {told(cook)}")

    def tree(self, platform):
        """Without what was put aside of Galley's own files."""
        return {path: data for path, data in self.test.tree(self.game, platform).items() if ".broken-" not in path}

    def moved_aside(self):
        """What was put aside in this round."""
        found = [os.path.relpath(os.path.join(base, name), self.galley_dir)
                 for base, folders, names in os.walk(self.galley_dir) for name in folders + names if ".broken" in name]
        return [path for path in found if not os.path.lexists(os.path.join(self.path("pristine"), path))]

    def look_clean(self, one, cook, which):
        self.expect(cook.code == 0, f"{which}: {told(cook)}")
        self.expect("warning" not in cook.stderr, f"{which}: it still warns: {told(cook)}")
        reference = self.reference_edited if one.holder in EDITED else self.reference
        self.expect(cook.roots == reference.roots, f"{which}: other roots: {told(cook)}")
        known = cook.results["up_to_date"]
        if one.file_class.startswith("state/journal"):
            known += cook.results["cached"]  # a journal that was begun in the middle of a cook does not know the beginning
        self.expect(known == self.reference.results["up_to_date"], f"{which}: there was still work: {told(cook)}")


class DamageTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        self.use_memory()
        os.chmod(self.dir, 0o777)
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            self.lanes = list(pool.map(lambda number: Lane(self, self.path(f"game{number}")), range(LANES)))
        for lane in self.lanes:
            lane.rounds = {one.name: one for one in lane.all_rounds()}

    def chosen(self):
        rounds = [one for one in self.lanes[0].rounds.values() if ONLY in one.name]
        if not ROUNDS:
            return rounds
        # One of each class of files before a second one of any.
        rng, by_class, chosen = random.Random(SEED), collections.defaultdict(list), []
        for one in rounds:
            by_class[one.file_class, one.holder].append(one)
        queues = [rng.sample(each, len(each)) for each in by_class.values()]
        rng.shuffle(queues)
        while len(chosen) < ROUNDS and queues:
            chosen += [queue.pop() for queue in queues]
            queues = [queue for queue in queues if queue]
        return chosen[:ROUNDS]

    def test_every_damage_of_what_galley_wrote_ends_in_one_cook(self):
        rounds, began, free, lock = self.chosen(), time.monotonic(), list(self.lanes), threading.Lock()
        self.assertTrue(rounds, f"no round's name holds {ONLY!r}")

        def one_round(one):
            with lock:
                lane = free.pop()
            try:
                return one.name in lane.rounds and lane.run(lane.rounds[one.name])
            finally:
                with lock:
                    free.append(lane)

        failed, damaged, done = [], 0, 0
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            futures = {pool.submit(one_round, one): one for one in rounds}
            for future in concurrent.futures.as_completed(futures):
                done += 1
                if done % 200 == 0:
                    print(f"damage: {done} of {len(rounds)} rounds, {len(failed)} failed, {time.monotonic() - began:.0f} s", flush=True)
                if not future.exception():
                    damaged += future.result()
                    continue
                damaged += 1
                failed.append(self.tell(futures[future], future.exception()))
        print(f"damage: {len(rounds)} rounds, {damaged} changed something, {len(failed)} failed, {time.monotonic() - began:.0f} s", flush=True)
        self.assertEqual(failed, [])
        self.assertGreater(damaged, 0, "no round changed anything")

    def tell(self, one, error):
        again = f"GALLEY_DAMAGE_ONLY='{one.name}' GALLEY_BIN_DIR={os.path.abspath(BIN)} PYTHONPATH={os.path.dirname(harness.__file__)} python3 -B {os.path.abspath(__file__)}"
        text = f"{one.name}: {type(error).__name__}: {error}"
        print(f"{text}\nagain: {again}\n", flush=True)
        if LOG:
            with open(LOG, "a") as file:
                file.write(f"{text[:2500]}\n\n")
        return one.name


if __name__ == "__main__":
    harness.unittest.main()
