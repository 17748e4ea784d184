"""Stored bytes rot: each is found, none is served, and a cook makes it whole again.

A seed damages one place of a store that a cook wrote: bits flip, a range is overwritten, a file is cut off or gone, two places or two files
are swapped; while nobody holds the store, or `galley store serve`, or a cook. Then everything is read, verified and cooked, in an order
that the seed says, too. What is read is right or refused; what was hit is found (but for places that hold nothing); the cook ends well with
the roots of before, and then the store is whole.

GALLEY_ROT_SEEDS: how many (`scripts/test --long`: 1,000). GALLEY_ROT_FIRST: the first one.
"""
import collections, concurrent.futures, glob, json, os, random, shutil, signal, subprocess, sys, threading, time

import harness, segments
from harness import BIN, LIMIT_S, read_file, wait_until

FIRST = int(os.environ.get("GALLEY_ROT_FIRST", "1"))
SEEDS = int(os.environ.get("GALLEY_ROT_SEEDS", "1000" if os.environ.get("GALLEY_LONG") else "50"))
LANES = 2  # seeds at a time
DRIVER = os.path.join(BIN, "store_driver")
# How often each comes.
TARGETS = {"worker": 28, "owner": 26, "file": 20, "index": 14, "epoch": 6, "verify": 6}
WAYS = {"flip": 40, "overwrite": 15, "cut": 20, "swap": 25}
HOLDERS = {"nobody": 70, "serve": 20, "cook": 10}
ORDERS = {"verify": 40, "read": 35, "cook": 25}  # what comes first
BYTES_MAX = 4096  # of a place
# RocksDB's files that hold nothing, or nothing that is needed to open it. A manifest whose last entry is damaged is taken for one where that entry
# was never written: then more of the log is read again.
IDLE_INDEX_FILES = ("LOG", "OPTIONS", "IDENTITY", "LOCK", "MANIFEST")
FOUND_BY_COOK = ("it is quarantined: cook again", "the index is made again when the store is opened the next time")
LARGE = (1 << 20) + 5_000  # bytes: a file of its own


def pick(rng, weights):
    return rng.choices(list(weights), list(weights.values()))[0]


class Damage:
    """One change of a store's bytes, made in place: whoever has a file open meets it, too."""

    def __init__(self, store, rng, target):
        self.store, self.rng, self.target = store, rng, target
        self.way = pick(rng, WAYS)
        self.path = rng.choice(self.candidates())
        self.told = ""
        self.is_idle = False  # what was hit holds nothing
        self.used_bytes = segments.adopted_ends(store).get(int(os.path.basename(self.path)[:16], 16), 0) if target == "worker" else None
        {"flip": self.flip, "overwrite": self.overwrite, "cut": self.cut, "swap": self.swap}[self.way]()

    def __str__(self):
        return f"{self.target} {os.path.relpath(self.path, self.store)}: {self.way} {self.told}"

    def glob(self, *parts):
        return sorted(path for path in glob.glob(os.path.join(self.store, *parts)) if os.path.getsize(path))

    def candidates(self):
        if self.target in ("worker", "owner"):
            writer = segments.OWNER if self.target == "owner" else segments.WORKER
            return [path for path in self.glob("segments", "*.seg") if segments.writer_of(read_file(path)) == writer]
        return self.glob(*{"file": ("files", "*", "*"), "index": ("index", "*")}.get(self.target, (self.target,)))

    def write(self, path, at, data):
        mode = os.stat(path).st_mode
        os.chmod(path, 0o644)
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(data)
        os.chmod(path, mode)

    def truncate(self, path, size):
        mode = os.stat(path).st_mode
        os.chmod(path, 0o644)
        os.truncate(path, size)
        os.chmod(path, mode)

    def is_segment(self):
        return self.target in ("worker", "owner")

    def place(self, data):
        """A range, of a record as often as not its header or its end."""
        records = list(segments.records_of(data)) if self.is_segment() else []
        if not records:
            at = self.rng.randrange(len(data))
        elif self.rng.random() < 0.05:
            at = self.rng.randrange(segments.HEADER_BYTES)
        else:
            record = self.rng.choice(records)
            payload = record.offset + segments.RECORD_HEADER_BYTES
            begin, end = self.rng.choice([(record.offset, payload), (payload, record.offset + record.size),
                                          (record.offset + record.size - 8, record.offset + record.size)])
            at = self.rng.randrange(begin, end) if begin < end else begin - 1
        return at, min(len(data) - at, self.rng.choice([1, 8, 100, BYTES_MAX]))

    def flip(self):
        data = bytearray(read_file(self.path))
        at, size = self.place(data)
        bits = {self.rng.randrange(8 * at, 8 * (at + size)) for _ in range(self.rng.choice([1, 1, 2, 9]))}
        for bit in bits:
            data[bit // 8] ^= 1 << bit % 8
        self.write(self.path, at, data[at:at + size])
        self.told = f"bits {sorted(bits)} of {len(data)} bytes"
        self.is_idle = self.is_idle_from(min(bits) // 8)

    def overwrite(self):
        data = read_file(self.path)
        at, size = self.place(data)
        by = self.rng.choice([bytes(size), b"\xff" * size, self.rng.randbytes(size)])
        if by == data[at:at + size]:
            return self.flip()
        self.write(self.path, at, by)
        self.told = f"{size} at {at} of {len(data)} bytes"
        self.is_idle = self.is_idle_from(at)

    def cut(self):
        data = read_file(self.path)
        ends = [record.offset + record.size for record in segments.records_of(data)][:-1] if self.is_segment() else []
        size = self.rng.choice([0, self.rng.randrange(len(data)), self.rng.randrange(len(data)), *([self.rng.choice(ends)] * 2 if ends else [])])
        if self.rng.random() < 0.15:
            os.remove(self.path)
            size = None
        else:
            self.truncate(self.path, size)
        self.told = f"to {size} of {len(data)} bytes"
        # An absent epoch is 0, a verify without a cursor begins anew.
        self.is_idle = self.is_idle_from(size or 0) or (self.target in ("epoch", "verify") and size is None)
        if self.target == "owner" and size is not None:
            whole = max((r.offset + segments.RECORD_HEADER_BYTES + len(r.payload) for r in segments.records_of(data)), default=64)
            self.is_idle = size >= whole

    def swap(self):
        data = read_file(self.path)
        if self.is_segment() and not list(segments.records_of(data)):
            return self.flip()
        others = [path for path in self.candidates() + self.glob("segments", "*.seg") + self.glob("files", "*", "*") if path != self.path]
        if self.rng.random() < 0.4 and others:
            other = self.rng.choice(others)
            theirs = read_file(other)
            if theirs == data:
                return self.flip()
            for path, bytes_of_it in (self.path, theirs), (other, data):
                self.truncate(path, 0)
                self.write(path, 0, bytes_of_it)
            self.told = f"with {os.path.relpath(other, self.store)}"
            self.is_idle = all(self.is_idle_index(path) for path in (self.path, other))
            return
        if self.is_segment():
            records = list(segments.records_of(data))
            a, b = self.rng.choice(records), self.rng.choice(records)
            at, to, size = a.offset, b.offset, min(a.size, b.size)
        else:
            size = min(len(data) // 2, BYTES_MAX)
            at, to = self.rng.randrange(len(data) - size + 1), self.rng.randrange(len(data) - size + 1)
        at, to = min(at, to), max(at, to)
        size = min(size, to - at)
        if data[at:at + size] == data[to:to + size]:
            return self.flip()
        self.write(self.path, at, data[to:to + size])
        self.write(self.path, to, data[at:at + size])
        self.told = f"{size} at {at} with those at {to} of {len(data)} bytes"
        self.is_idle = self.is_idle_from(at)

    def is_idle_from(self, at):
        """That nothing that anybody needs lies there or behind."""
        if self.target == "index":
            return self.is_idle_index(self.path)
        return self.used_bytes is not None and at >= self.used_bytes

    def is_idle_index(self, path):
        folder, name = os.path.split(os.path.relpath(path, self.store))
        return folder == "index" and name.startswith(IDLE_INDEX_FILES)


class Lane:
    """A project with a store as a cook left it; a seed at a time."""

    def __init__(self, test, game):
        self.test, self.game = test, game
        self.galley_dir, self.pristine = os.path.join(game, ".galley"), os.path.join(game, "pristine")
        self.store = os.path.join(self.galley_dir, "store")

    def reset(self):
        shutil.rmtree(self.galley_dir)
        if os.path.exists(self.path("gate")):
            os.remove(self.path("gate"))
        subprocess.run(["cp", "-a", "--reflink=auto", self.pristine, self.galley_dir], check=True)
        self.hold_text("0")

    def hold_text(self, text):
        with open(os.path.join(self.game, "content", "data", "held.slow"), "w") as file:
            file.write(text)

    def path(self, name):
        return os.path.join(self.game, name)

    def galley(self, *args):
        return self.test.galley(*args, "--project", self.game)

    def epoch(self):
        try:
            text = read_file(os.path.join(self.store, "epoch")).split(b" ")[0]
            return int(text) if text.isdigit() else None
        except OSError:
            return 0

    def read(self, asked):
        """What is not there or refused; a wrong answer fails."""
        done = subprocess.run([DRIVER, "read", self.store, asked], text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=LIMIT_S)
        lost = done.stdout.splitlines()
        self.expect(done.returncode == 0, f"read: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return lost

    def verify(self):
        """What it found."""
        done = self.galley("store", "verify", "--json")
        self.expect(done.returncode in (0, 1), f"verify: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        self.is_healed = "its header was damaged; it was written again" in done.stderr  # when the store was opened
        report = json.loads(done.stdout.splitlines()[-1])
        # Damage that a reader found before is left to the next cook: until then the roots that lack something are named.
        self.expect((done.returncode == 1) == bool(report["problems"] or report["lost_roots"]), f"verify: exit {done.returncode}: {report}")
        self.is_resumed = report["resumed"] is not None
        return report["problems"]

    def cook(self, process=None):
        """Whether it went well. One that finds the damage itself, where it cannot go back any more, says so: then it is the next that goes well."""
        cook = self.test.cook(self.game, "--workers", 1, expect=None) if process is None else self.test.finish_cook(self.game, process)
        if cook.code == 3 and any(text in cook.stderr for text in FOUND_BY_COOK):
            return False
        self.expect(cook.code == 0 and cook.roots == self.test.roots, f"cook: {cook}\nexpected {self.test.roots}")
        return True

    def expect(self, is_right, what):
        if not is_right:
            raise AssertionError(f"{self.what}\n{what}")

    def run(self, seed):
        rng = random.Random(seed)
        holder, order, target = pick(rng, HOLDERS), pick(rng, ORDERS), pick(rng, TARGETS)
        self.what = f"{holder} holds it, {order} first, {target}"
        self.reset()
        if target != "verify":
            os.remove(os.path.join(self.store, "verify"))
        before = self.epoch()
        serving = self.serve() if holder == "serve" else None
        cooking, gate = self.hold_cook(seed) if holder == "cook" else (None, None)
        try:
            damage = Damage(self.store, rng, target)
            self.what = f"{holder} holds it, {order} first, {damage}"
            if cooking:
                self.let_go(gate)
                self.cook(cooking)
            found = self.look(order, is_cooked=cooking is not None)
            is_found = bool(found) or self.epoch() != before
            if damage.target == "verify":
                is_found = not self.was_resumed
            if damage.target in ("worker", "owner", "file") and order == "verify" and holder == "nobody":
                is_found = bool(self.problems) or self.is_healed_first  # a person is told, too
        finally:
            self.end(serving, cooking)
        self.heal()
        # Who holds the store does not read these again: the next one does.
        is_found = is_found or (damage.target in ("index", "epoch") and self.epoch() != before)
        self.expect(is_found or damage.is_idle, "nothing was found")
        return f"{damage.target} {damage.way}", bool(found)

    def look(self, order, is_cooked):
        """All that is said about it, in the order that the seed wants."""
        found = []
        if order == "cook":
            self.cook()
        if order != "verify":
            found += self.read(self.test.asked_after_cook if is_cooked or order == "cook" else self.test.asked)
        self.problems = self.verify()
        self.was_resumed, self.is_healed_first = self.is_resumed, self.is_healed
        if order == "verify":
            found += self.read(self.test.asked_after_cook if is_cooked else self.test.asked)
        return found + self.problems

    def heal(self):
        # A damaged index is made again by the next who opens the store, and what it did not know is found by the verify after that.
        for _ in range(2):
            self.cook() or self.cook() or self.expect(False, "two cooks, one after the other, found something")
            if not (problems := self.verify()):
                break
        self.expect(not problems, f"still after two cooks: {problems}")
        self.expect(not (lost := self.read(self.test.whole)), f"not healed: {lost}")

    def serve(self):
        process = subprocess.Popen([os.path.join(BIN, "galley"), "store", "serve", "--store", self.store, "--listen", "127.0.0.1:0"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        if "serving" not in process.stdout.readline():
            process.kill()
            raise AssertionError("store serve did not begin")
        return process

    def hold_cook(self, seed):
        """A cook that waits, and what it waits at."""
        os.mkfifo(self.path("gate"))
        self.hold_text(str(seed))
        process = self.test.start_cook(self.game, "--workers", 1)
        gate = wait_until(lambda: self.open_gate() or process.poll() is not None, "the cook to wait", LIMIT_S)
        self.expect(process.poll() is None, "the cook ended before it came to wait")
        return process, gate

    def open_gate(self):
        try:
            return os.open(self.path("gate"), os.O_WRONLY | os.O_NONBLOCK)  # fails as long as nobody reads there
        except OSError:
            return None

    def let_go(self, gate):
        os.remove(self.path("gate"))
        os.close(gate)

    def end(self, serving, cooking):
        if cooking and cooking.poll() is None:
            cooking.kill()
            cooking.communicate()
        if serving:
            serving.send_signal(signal.SIGTERM)
            code = serving.wait(LIMIT_S)
            serving.stdout.close()
            self.expect(code == 0 or sys.exc_info()[0], f"store serve: exit {code}")


class RotTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        self.use_memory()
        game = self.prepare()
        self.lanes = [Lane(self, game)]
        for number in range(1, LANES):
            shutil.copytree(game, self.path(f"game{number}"), symlinks=True)
            self.lanes.append(Lane(self, self.path(f"game{number}")))

    def prepare(self):
        """The sample with three large files, cooked; and a package whose cook waits as long as a pipe `gate` is there and open."""
        game = self.sample()
        rng = random.Random(0)
        for number in range(3):  # of one size: swapped they are wrong only inside
            self.write(f"game/content/data/large{number}.bin", rng.randbytes(LARGE))
        self.write("game/content/data/held.slow", "0")
        self.write("game/tools/hold", '#!/bin/sh\ngate=${0%/tools/hold}/gate\nif [ -p "$gate" ]; then cat "$gate"; fi\necho held > "$2"\n', 0o755)
        with open(os.path.join(game, "galley.toml"), "r+") as file:
            text = file.read()
            rule = ('[[rule]]\nmatch = "/Game/data/*.slow"\ncooker = "command"\n'
                    'settings = { argv = ["tools/hold", "{input}", "{output:.held}"], outputs = [".held"] }\n')
            file.seek(0)
            file.write(text.replace("[cook]", rule + "[cook]"))
        self.roots = self.cook(game).roots
        # The loss epoch is not 0, and the log has more than one cook.
        self.assertEqual(self.galley("clean", "--project", game, "/Game/data/table.bin").returncode, 0)
        self.assertEqual(self.cook(game).roots, self.roots)
        store = os.path.join(game, ".galley", "store")
        asked = segments.asked(store)
        self.asked = self.write("asked", "\n".join(asked))
        # A result that was lost is another one when it was cooked again: it says when.
        self.asked_after_cook = self.write("asked_after_cook", "\n".join(line for line in asked if not line.startswith("result")))
        self.whole = self.write("whole", "\n".join(f"tree {platform} {root}" for platform, root in sorted(self.roots.items())))
        self.interrupt_a_verify(store)
        os.rename(os.path.join(game, ".galley"), os.path.join(game, "pristine"))
        shutil.copytree(os.path.join(game, "pristine"), os.path.join(game, ".galley"), symlinks=True)
        return game

    def interrupt_a_verify(self, store):
        """How far it came lies in the store."""
        verify = subprocess.Popen([os.path.join(BIN, "galley"), "store", "verify", "--store", store, "--rate", "50KiB"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(os.path.join(store, "store.sock")), "the verify to run")
        verify.send_signal(signal.SIGINT)
        self.assertEqual(verify.wait(LIMIT_S), 130)
        self.assertTrue(os.path.exists(os.path.join(store, "verify")))

    def test_what_rots_is_found_and_never_served_and_cooked_again(self):
        kinds, found, lock, began = collections.Counter(), 0, threading.Lock(), time.monotonic()
        free = list(self.lanes)

        def one(seed):
            with lock:
                lane = free.pop()
            try:
                return lane.run(seed)
            except Exception as error:
                again = f"GALLEY_ROT_FIRST={seed} GALLEY_ROT_SEEDS=1 GALLEY_BIN_DIR={os.path.abspath(BIN)} PYTHONPATH={os.path.dirname(harness.__file__)} python3 -B {os.path.abspath(__file__)}"
                raise AssertionError(f"seed {seed}: {error}\nagain: {again}") from error
            finally:
                with lock:
                    free.append(lane)

        failed = []
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            for done in concurrent.futures.as_completed([pool.submit(one, seed) for seed in range(FIRST, FIRST + SEEDS)]):
                if done.exception():
                    failed.append(str(done.exception()))
                    print(failed[-1], flush=True)
                    continue
                kind, is_found = done.result()
                kinds[kind] += 1
                found += is_found
        print(f"rot: {SEEDS} seeds from {FIRST}, {found} found by reading or verifying, {len(failed)} failed, {time.monotonic() - began:.0f} s\n"
              + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())), flush=True)
        self.assertEqual(failed, [])


if __name__ == "__main__":
    harness.unittest.main()
