"""A disk that is full, or may only be read: what is said, what goes on, and that nothing is wrong afterwards. Takes root, to mount a small disk."""
import contextlib, json, os, random, shutil, signal, subprocess

import harness
from harness import BIN, LIMIT_S
from segments import digest_of

DISK_BYTES = 192 << 20
RESERVE_BYTES = 64 << 20  # what a store leaves free
LITTLE_BYTES = 16 << 20   # of the reserve: a store opens with it, and is not written to
LEAST_BYTES = 8 << 20     # without it nothing is opened
LARGE_BYTES = (1 << 20) + 5_000


def mount(*argv):
    return subprocess.run(["mount", *argv], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class FullDiskTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("it takes root to mount a disk")
        self.disk = self.path("disk")
        os.makedirs(self.disk)
        mounted = mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "galley-e2e", self.disk)
        if mounted.returncode != 0:
            self.skipTest(f"no disk can be mounted: {mounted.stdout.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.disk], check=True))
        self.store = os.path.join(self.disk, "store")
        self.rng = random.Random(0)
        self.game = self.project({"small.txt": "small", "large.bin": self.rng.randbytes(LARGE_BYTES)}, ['match = "/Game/**"\ncooker = "copy"'])

    # The disk.

    def free_bytes(self):
        disk = os.statvfs(self.disk)
        return disk.f_bavail * disk.f_frsize

    def fill(self, left_bytes):
        """Somebody else's file takes all but so much."""
        with open(os.path.join(self.disk, "filler"), "ab") as file:
            for _ in range(1000):  # others write, too, and then there is less than there was
                with contextlib.suppress(OSError):
                    os.posix_fallocate(file.fileno(), 0, os.path.getsize(file.name) + self.free_bytes() - left_bytes)
                if self.free_bytes() <= left_bytes:
                    return
        self.fail(f"{self.free_bytes()} bytes are free, expected {left_bytes}")

    def make_room(self):
        os.remove(os.path.join(self.disk, "filler"))

    def remount(self, mode):
        done = mount("-o", f"remount,{mode}", self.disk)
        self.assertEqual(done.returncode, 0, done.stdout)

    # Galley.

    def cook_here(self, expect=0):
        return self.cook(self.game, "--workers", 1, "--store", self.store, expect=expect)

    def told(self, *args, expect=0):
        done = self.galley(*args, "--project", self.game, "--store", self.store, timeout=60)
        self.assertEqual(done.returncode, expect, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def gc(self):
        lines = self.told("store", "gc", "--max-size", "0", "--json").splitlines()
        return json.loads(next(line for line in lines if line.startswith("{")))

    def change(self):
        """What the next cook has to store, and what it comes to (by a store elsewhere)."""
        self.write("game/content/large.bin", self.rng.randbytes(LARGE_BYTES))
        self.write("game/content/small.txt", str(self.rng.random()))
        with_room = self.cook(self.game, "--workers", 1, "--store", self.path("elsewhere"), "--out", self.path("out"))
        return with_room.roots

    def serve(self):
        process = subprocess.Popen([os.path.join(BIN, "galley"), "store", "serve", "--store", self.store, "--listen", "127.0.0.1:0"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn("serving", process.stdout.readline())
        return process

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 0, stderr)

    def expect_full(self, text):
        self.assertIn(self.store, text)
        self.assertRegex(text, r"no space|No space")
        self.assertIn("galley store gc", text)

    def expect_right(self, roots):
        """The store is whole, and holds what the content is."""
        self.assertEqual(self.told("store", "verify").splitlines()[-1].rsplit(": ", 1)[-1], "all whole")
        self.assertTrue(json.loads(self.told("roots", "--json").splitlines()[0])["root"] == roots["pc"])
        out = self.path("checked-out")
        self.told("checkout", roots["pc"], out)
        for name in ("large.bin", "small.txt"):
            self.assertEqual(self.read("checked-out", "Game", name), self.read("game", "content", name))
        subprocess.run(["rm", "-r", out], check=True)

    def read_commands(self, root):
        digest = digest_of(self.read(self.game, "content", "large.bin"))
        return [("roots",), ("tree", root), ("diff", root, root), ("checkout", root, self.path("read-out")), ("store", "stats"),
                ("store", "why", digest), ("store", "cat", root)]

    # The tests.

    def test_a_cook_says_so_and_goes_well_when_there_is_room(self):
        first = self.cook_here().roots
        roots = self.change()
        for left in (LITTLE_BYTES, 0):
            self.fill(left)
            cook = self.cook_here(expect=3)
            self.expect_full(cook.stderr)
            self.assertEqual(cook.roots, {}, cook)
            self.make_room()
            self.assertEqual(json.loads(self.told("roots", "--json").splitlines()[0])["root"], first["pc"])
        self.assertEqual(self.cook_here().roots, roots)
        self.expect_right(roots)

    def test_a_cook_that_fills_the_disk_leaves_the_reserve_and_gc_frees_what_it_left(self):
        self.cook_here()
        files = {f"{i}.bin": self.rng.randbytes(2 * LARGE_BYTES) for i in range(20)}
        for name, data in files.items():
            self.write(f"game/content/{name}", data)
        self.fill(RESERVE_BYTES + LITTLE_BYTES)
        self.expect_full(self.cook_here(expect=3).stderr)
        self.assertGreater(self.free_bytes(), RESERVE_BYTES - LITTLE_BYTES)
        self.gc()
        stats = json.loads(self.told("store", "stats", "--json"))
        self.assertEqual((stats["unadopted_files"], stats["temporary_files"]), (0, 0))
        # Each output that the killed cook finished is in the store, or gone.
        self.assertGreater(self.free_bytes() + stats["stored_bytes"], RESERVE_BYTES + LITTLE_BYTES)
        self.make_room()
        self.assertEqual(self.cook_here().failures, [])

    def test_a_store_is_not_begun_on_a_full_disk(self):
        self.fill(LITTLE_BYTES)
        self.expect_full(self.cook_here(expect=3).stderr)
        self.make_room()
        self.expect_right(self.cook_here().roots)

    def test_the_owner_takes_writes_again_when_there_is_room(self):
        first = self.cook_here().roots
        serving = self.serve()
        small = self.read("game", "content", "small.txt")
        for left in (LITTLE_BYTES, 0):
            roots = self.change()
            self.fill(left)
            self.expect_full(self.cook_here(expect=3).stderr)
            # The owner serves what the store has.
            out = self.path(f"before-{left}")
            self.told("checkout", first["pc"], out)
            self.assertEqual(self.read(out, "Game", "small.txt"), small)
            self.make_room()
            self.assertEqual(self.cook_here().roots, roots)
            self.assertIsNone(serving.poll())
            self.expect_right(roots)
        self.end(serving)
        self.expect_right(roots)

    def test_an_owner_that_ends_on_a_full_disk_leaves_it_right(self):
        self.cook_here()
        serving = self.serve()
        roots = self.change()
        self.cook_here()
        self.fill(0)
        self.end(serving)
        self.make_room()
        self.expect_right(roots)
        self.assertEqual(self.cook_here().cooked, 0)

    def test_who_only_reads_needs_no_room(self):
        root = self.cook_here().roots["pc"]
        self.fill(LITTLE_BYTES)
        for command in self.read_commands(root):
            self.told(*command)
        self.told("store", "verify")

    def test_without_any_room_it_is_said(self):
        root = self.cook_here().roots["pc"]
        self.fill(0)
        for command in self.read_commands(root):
            done = self.galley(*command, "--project", self.game, "--store", self.store, timeout=60)
            if done.returncode != 0:
                self.assertEqual(done.returncode, 3, (command, done))
                self.expect_full(done.stderr)
                self.assertRegex(done.stderr, r"`galley store gc` makes more room, with \d+ bytes free")

    def test_a_disk_that_fills_while_a_cook_runs(self):
        gate = self.path("gate")
        os.mkfifo(gate)
        self.write("game/content/held.slow", "0")
        self.write("game/tools/hold", f'#!/bin/sh\n[ -p {gate} ] && cat {gate}\nhead -c 3000000 /dev/zero > "$2"\n', 0o755)
        toml = self.read("game", "galley.toml").decode()
        self.write("game/galley.toml", toml + '[[rule]]\nmatch = "/Game/*.slow"\ncooker = "command"\n'
                   'settings = { argv = ["tools/hold", "{input}", "{output:.held}"], outputs = [".held"] }\n')
        process = self.start_cook(self.game, "--workers", 1, "--store", self.store)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        held = harness.wait_until(lambda: self.open_pipe(gate), "the cook to wait")
        self.fill(0)
        os.remove(gate)
        os.close(held)
        cook = self.finish_cook(self.game, process)
        self.assertEqual((cook.code, cook.roots), (3, {}), cook)
        self.expect_full(cook.stderr)
        self.make_room()
        roots = self.cook_here().roots
        self.assertEqual(roots, self.cook(self.game, "--store", self.path("elsewhere"), "--out", self.path("out")).roots)
        self.expect_right(roots)

    def open_pipe(self, path):
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # fails as long as nobody reads there
        except OSError:
            return None

    def test_a_project_on_a_full_disk(self):
        shutil.move(self.game, self.disk)
        self.game, self.store = os.path.join(self.disk, "game"), os.path.join(self.disk, "game", ".galley", "store")
        root = self.cook(self.game).roots["pc"]
        for left in (LITTLE_BYTES, 0):
            self.fill(left)
            self.forget_what_stands(self.game)
            self.expect_full(self.cook(self.game, expect=3, env={"TMPDIR": self.dir}).stderr)
            if left:
                for command in self.read_commands(root):
                    self.told(*command)
            self.make_room()
        self.assertEqual(self.cook(self.game).roots["pc"], root)

    def test_gc_makes_the_room_that_a_cook_needs(self):
        # One root is kept; what only the ones before need goes.
        self.write("game/galley.toml", self.read("game", "galley.toml").decode() + "\n[store]\nkeep_roots = 1\n")
        for number in range(56):
            self.write(f"game/content/{number}.bin", self.rng.randbytes(LARGE_BYTES))
        self.cook_here()
        for number in range(56):
            os.remove(self.path("game", "content", f"{number}.bin"))
        self.cook_here()
        roots = self.change()
        self.fill(LITTLE_BYTES)
        self.expect_full(self.cook_here(expect=3).stderr)
        collected = self.gc()
        self.assertGreater(collected["dropped_bytes"], 56 * LARGE_BYTES - 1)
        self.assertGreater(self.free_bytes(), RESERVE_BYTES)
        self.assertEqual(self.cook_here().roots, roots)
        self.expect_right(roots)

    def test_gc_drops_what_it_can_where_there_is_no_room_to_move_the_rest(self):
        self.write("game/galley.toml", self.read("game", "galley.toml").decode() + "\n[store]\nkeep_roots = 1\n")
        self.write("game/content/medium.bin", self.rng.randbytes(900_000))  # in a segment of a worker, which is small and would be left
        self.cook_here()
        roots = self.change()
        self.assertEqual(self.cook_here().roots, roots)
        self.fill(LEAST_BYTES + (256 << 10))
        collected = self.gc()
        self.assertGreater(collected["dropped_bytes"], LARGE_BYTES - 1)
        self.assertGreater(self.free_bytes(), LEAST_BYTES + LARGE_BYTES)
        self.make_room()
        self.expect_right(roots)

    def test_what_waits_in_the_owner_is_in_nobodys_way(self):
        self.cook_here()
        serving = self.serve()
        subprocess.run([os.path.join(BIN, "store_driver"), "put", self.store, "waits"], check=True)
        self.fill(LITTLE_BYTES)
        for command in (("store", "stats"), ("store", "why", digest_of(b"waits")), ("store", "gc", "--max-size", "0")):
            self.told(*command)
        self.make_room()
        self.assertEqual(self.told("store", "cat", digest_of(b"waits")), "waits")
        self.end(serving)

    def test_a_disk_that_may_only_be_read_is_said(self):
        roots = self.cook_here().roots
        self.remount("ro")
        for command in self.read_commands(roots["pc"]) + [("store", "verify"), ("store", "gc", "--max-size", "0")]:
            text = self.told(*command, expect=3)
            self.assertIn(self.store, text)
            self.assertRegex(text, "read-only file system.*remount")
        cook = self.cook_here(expect=3)
        self.assertRegex(cook.stderr, "read-only file system.*remount")
        self.assertIn(self.store, cook.stderr)
        self.remount("rw")
        self.assertEqual(self.cook_here().cooked, 0)
        self.expect_right(roots)


if __name__ == "__main__":
    harness.unittest.main()
