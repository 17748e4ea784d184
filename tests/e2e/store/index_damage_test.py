"""Damage of the store's index never needs a person: the command that meets it makes another one, says so once, and ends as it would have."""
import glob, os, random, shutil, signal, subprocess, unittest

from harness import LIMIT_S, E2ETest, read_file, wait_until

PLACES = 16


class IndexDamageTest(E2ETest):
    def setUp(self):
        super().setUp()
        files = {f"many/{number}.bin": f"content of {number}" for number in range(400)}
        files["large.bin"] = random.Random(0).randbytes((1 << 20) + 1000)
        self.game = self.project(files, ['match = "/Game/**"\ncooker = "copy"'])
        self.galley_dir = os.path.join(self.game, ".galley")
        self.store = os.path.join(self.galley_dir, "store")
        self.root = self.cook(self.game, "--workers", 1).roots["pc"]
        shutil.copytree(self.galley_dir, self.path("whole"), symlinks=True)

    def restore(self):
        """As it was after the first cook; but the journal is gone, so that a cook asks the store for all results."""
        shutil.rmtree(self.galley_dir)
        shutil.copytree(self.path("whole"), self.galley_dir, symlinks=True)
        for path in glob.glob(self.galley_dir + "/state/journal*"):
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        self.forget_what_stands(self.game)

    def tables(self):
        return sorted(glob.glob(self.store + "/index/*.sst"))

    def flip(self, path, offset):
        with open(path, "r+b") as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 0x40]))

    def flip_all(self):
        """Each block of each table, but not the ends by which they are opened."""
        for path in self.tables():
            for offset in range(0, os.path.getsize(path) - 2000, 500):
                self.flip(path, offset)

    def warnings(self, stderr):
        return [line for line in stderr.splitlines() if "index" in line and "warning" in line]

    def expect_clean(self):
        again = self.cook(self.game, "--workers", 1)
        self.assertEqual((again.cooked, again.roots["pc"]), (0, self.root), again)
        self.assertEqual(self.warnings(again.stderr), [])

    def test_a_byte_that_is_flipped_anywhere_costs_a_warning(self):
        healed = 0
        for place in range(PLACES):
            with self.subTest(place=place):
                self.restore()
                path = max(self.tables(), key=os.path.getsize)
                self.flip(path, os.path.getsize(path) * place // PLACES)
                cook = self.cook(self.game, "--workers", 1)
                self.assertEqual((cook.cooked, cook.roots["pc"]), (0, self.root), cook)
                warned = self.warnings(cook.stderr)
                self.assertLessEqual(len(warned), 1, cook)
                if warned:
                    healed += 1
                    self.assertRegex(warned[0], r"/store/index: .*; it is index\.broken-1 now, for a look, and was made again from segments and files in \d+\.\d s")
                    self.assertTrue(os.path.isdir(self.store + "/index.broken-1"))
                # Damage that a cook does not read is found by a verify.
                verified = self.galley("store", "verify", "--project", self.game)
                self.assertEqual((verified.returncode, len(self.warnings(verified.stderr))), (0, 0 if warned else 1), verified)
                self.expect_clean()
        self.assertGreater(healed, PLACES // 4)

    def test_every_command_heals_it(self):
        digest = self.root
        for command in (["store", "verify"], ["store", "gc"], ["store", "stats"], ["store", "why", digest], ["store", "cat", digest], ["roots"],
                        ["checkout", self.root, self.path("out")]):
            with self.subTest(command=command):
                self.restore()
                shutil.rmtree(self.path("out"), ignore_errors=True)
                self.flip_all()
                done = self.galley(*command, "--project", self.game)
                self.assertEqual(done.returncode, 0, done)
                self.assertLessEqual(len(self.warnings(done.stderr)), 1, done)
                self.cook(self.game, "--workers", 1)  # may read what the command did not
                self.expect_clean()

    def test_what_is_in_the_place_of_its_files(self):
        def folder(path):
            os.remove(path)
            os.mkdir(path)

        def older(path):
            shutil.copyfile(self.tables()[0] if path != self.tables()[0] else self.tables()[-1], path)

        for name, damage in (("CURRENT", os.remove), ("MANIFEST", lambda path: os.truncate(path, os.path.getsize(path) // 2)),
                             ("MANIFEST", folder), (".sst", os.remove), (".sst", older), (".sst", lambda path: os.truncate(path, 100))):
            with self.subTest(name=name):
                self.restore()
                damage([path for path in sorted(glob.glob(self.store + "/index/*")) if name in os.path.basename(path)][-1])
                cook = self.cook(self.game, "--workers", 1)
                self.assertEqual((cook.cooked, cook.roots["pc"]), (0, self.root), cook)
                self.expect_clean()
        shutil.rmtree(self.store + "/index")
        self.write(os.path.relpath(self.store + "/index", self.dir), "a file")
        self.cook(self.game, "--workers", 1)
        self.expect_clean()

    def test_it_is_damaged_under_a_server_that_lives(self):
        self.restore()
        with open(self.path("server.log"), "wb") as log:
            server = subprocess.Popen([os.path.join(self.bin, "galley"), "store", "serve", "--project", self.game, "--listen", "127.0.0.1:0"],
                                      cwd=self.dir, text=True, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        self.assertIn("serving", server.stdout.readline())
        for command in (["cook", "--workers", 1], ["store", "verify"], ["store", "gc"], ["store", "why", self.root]):
            with self.subTest(command=command):
                before = self.server_healed()
                self.flip_all()
                done = self.galley(*command, "--project", self.game)
                self.assertEqual(done.returncode, 0, done)
                if command[1] in ("verify", "gc"):
                    self.assertEqual(self.server_healed(), before + 1, read_file(self.path("server.log")))
        self.cook(self.game, "--workers", 1)  # may read what the commands did not
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(LIMIT_S), 0)
        self.cook(self.game, "--workers", 1)
        self.expect_clean()

    def server_healed(self):
        return read_file(self.path("server.log")).decode().count("healed: ")

    def test_a_making_that_is_killed_is_begun_again(self):
        killed = 0
        for delay in range(24):
            self.restore()
            for path in self.tables():
                os.truncate(path, 10)
            process = subprocess.Popen([os.path.join(self.bin, "galley"), "store", "stats", "--project", self.game], cwd=self.dir,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            wait_until(lambda: process.poll() is not None or os.path.exists(self.store + "/index.broken-1"), "the making of an index")
            if delay % 2 == 1:
                wait_until(lambda: process.poll() is not None or os.path.exists(self.store + "/index.anew/CURRENT") or
                           os.path.exists(self.store + "/index/CURRENT"), "its files")
            killed += process.poll() is None
            process.kill()
            process.wait()
            cook = self.cook(self.game, "--workers", 1)
            self.assertEqual((cook.cooked, cook.roots["pc"]), (0, self.root), cook)
            self.assertFalse(os.path.exists(self.store + "/index.anew"))
        self.assertGreater(killed, 0)
        self.expect_clean()


if __name__ == "__main__":
    unittest.main()
