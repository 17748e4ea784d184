"""A cooked tree is sent to a machine that has an older one: galley patch and galley apply."""
import hashlib, json, os, random, shutil, signal, subprocess, unittest

from harness import BIN, LIMIT_S, SOURCE, E2ETest, read_file, wait_until

RULE = ['match = "/Game/**"\ncooker = "copy"']


def tree_of(folder):
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            found[os.path.relpath(path, folder)] = (read_file(path), os.stat(path).st_mode & 0o111)
    return found


class PatchTest(E2ETest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(1)
        large = self.random.randbytes(3 << 20)
        self.game = self.project({"large.bin": large, "text.txt": "old " * 1000, "old/moved.bin": self.random.randbytes(5000),
                                  "gone/a.txt": "gone", "same.txt": "same", "folder/x.txt": "x"}, RULE)
        self.cook(self.game)
        content = os.path.join(self.game, "content")
        self.write(os.path.join(content, "large.bin"), large[:1000000] + b"a few bytes" + large[1000000:])
        self.write(os.path.join(content, "text.txt"), "new " * 1000)
        os.makedirs(os.path.join(content, "new"))
        os.rename(os.path.join(content, "old/moved.bin"), os.path.join(content, "new/moved.bin"))
        shutil.rmtree(os.path.join(content, "gone"))
        shutil.rmtree(os.path.join(content, "folder"))
        self.write(os.path.join(content, "folder"), "a file now")
        self.write(os.path.join(content, "added.bin"), self.random.randbytes(2000))
        self.cook(self.game)
        for name, root in (("a", "pc@1"), ("b", "pc@0")):
            self.must("checkout", root, self.path(name), "--project", self.game)
        self.a, self.b = tree_of(self.path("a")), tree_of(self.path("b"))
        self.assertNotEqual(self.a, self.b)

    def must(self, *args, **kw):
        done = self.galley(*args, **kw)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def dir_at_a(self):
        shutil.rmtree(self.path("dir"), ignore_errors=True)
        shutil.copytree(self.path("a"), self.path("dir"))
        return self.path("dir")

    def test_the_new_tree_is_made_from_the_old_without_a_store(self):
        made = json.loads(self.must("patch", "pc@1", "pc@0", "-o", self.path("p"), "--json", "--project", self.game).stdout)
        self.assertEqual(made["bytes"], os.path.getsize(self.path("p")))
        self.assertLess(made["bytes"], 100_000)
        folder = self.dir_at_a()
        shutil.rmtree(self.game)
        applied = json.loads(self.must("apply", self.path("p"), folder, "--json").stdout)
        self.assertEqual((applied["renamed"], applied["resumed"]), (1, False))
        self.assertEqual(tree_of(folder), self.b)
        again = json.loads(self.must("apply", self.path("p"), folder, "--json").stdout)
        self.assertEqual((again["written"], again["renamed"], again["removed"]), (0, 0, 0))

    def interrupt(self, *args, when):
        """The command's stderr: it must end with 130."""
        process = subprocess.Popen([os.path.join(BIN, "galley"), *args], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: when() or process.poll() is not None, "the command to write")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LIMIT_S)
        self.assertEqual((process.returncode, stdout), (130, ""), stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)
        return stderr

    def test_who_interrupts_is_told_what_is_left_and_the_same_command_goes_on(self):
        def files_in(*path):
            return os.path.isdir(self.path(*path)) and os.listdir(self.path(*path))

        store = ["--store", self.path("store")]
        roots = []
        for seed in (1, 2):
            shutil.rmtree(self.path("in"), ignore_errors=True)
            numbers = random.Random(seed)
            for i in range(30):
                self.write(f"in/{i}", numbers.randbytes(8 << 20))
            roots.append(self.must("store", "put", self.path("in"), *store).stdout.strip())
        old, new = roots
        checkout = ["checkout", old, self.path("out"), *store]
        said = self.interrupt(*checkout, when=lambda: len(files_in("out") or []) > 2)
        self.assertIn(f"interrupted: {self.path('out')} holds a part of the tree; the same command lays it out anew", said)
        self.must(*checkout)
        self.assertEqual(len(files_in("out")), 30)
        patch = ["patch", old, new, "-o", self.path("made", "p"), *store]
        os.mkdir(self.path("made"))
        self.assertIn("made/p was not written", self.interrupt(*patch, when=lambda: files_in("made")))
        self.assertEqual(files_in("made"), [])
        self.must(*patch)
        before = tree_of(self.path("out"))
        apply = ["apply", self.path("made", "p"), self.path("out")]
        said = self.interrupt(*apply, when=lambda: files_in("out", ".galley-apply"))
        self.assertIn(f"interrupted: no file of {self.path('out')} was changed; the same command does it", said)
        self.assertEqual({path: file for path, file in tree_of(self.path("out")).items() if not path.startswith(".galley-apply")}, before)
        self.must(*apply)
        self.assertEqual(tree_of(self.path("out")), tree_of(self.path("in")))

    def test_a_linked_checkout_shares_large_files_and_no_small_ones(self):
        plain = json.loads(self.must("checkout", "pc@0", self.path("plain"), "--json", "--project", self.game).stdout)
        linked = json.loads(self.must("checkout", "pc@0", self.path("linked"), "--link", "--json", "--project", self.game).stdout)
        self.assertEqual(tree_of(self.path("linked")), tree_of(self.path("plain")))
        self.assertEqual((plain["linked"], linked["linked"], linked["cloned"]), (0, 1, 0))
        self.assertLess(linked["bytes"], plain["bytes"] - (3 << 20) + 1)
        large = os.stat(self.path("linked", "Game", "large.bin"))
        self.assertEqual((large.st_nlink, large.st_mode & 0o777), (2, 0o444))
        self.assertEqual(os.stat(self.path("linked", "Game", "text.txt")).st_nlink, 1)
        self.must("store", "verify", "--project", self.game)

    def test_a_wrong_patch_or_folder_is_refused_and_nothing_is_touched(self):
        self.must("patch", "pc@1", "pc@0", "-o", self.path("p"), "--project", self.game)
        folder = self.dir_at_a()
        whole = self.read("p")
        for wrong in (whole[:-1], whole[:100], b"", whole[:500] + bytes([whole[500] ^ 4]) + whole[501:]):
            self.write("wrong", wrong)
            refused = self.galley("apply", self.path("wrong"), folder)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn("cannot be used", refused.stderr)
        self.assertEqual(tree_of(folder), self.a)
        self.write("dir/Game/text.txt", "mine")
        mine = tree_of(folder)
        refused = self.galley("apply", self.path("p"), folder)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("text.txt is not as in the tree", refused.stderr)
        self.assertEqual(tree_of(folder), mine)
        self.assertEqual(self.galley("apply", self.path("nothing"), folder).returncode, 2)
        self.assertEqual(self.galley("apply", self.path("p"), self.path("nowhere")).returncode, 2)
        self.assertEqual(self.galley("patch", "pc@1", "pc@77", "-o", self.path("q"), "--project", self.game).returncode, 2)
        self.assertFalse(os.path.exists(self.path("q")))

    def test_killed_at_any_call_it_is_completed_by_the_next_run(self):
        self.must("patch", "pc@1", "pc@0", "-o", self.path("p"), "--project", self.game)
        library = self.path("kill.so")
        source = os.path.join(SOURCE, "tests", "e2e", "kill_at_call.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)

        def run(folder, at):
            return self.galley("apply", self.path("p"), folder, env={"LD_PRELOAD": library, "GALLEY_KILL_AT": str(at), "GALLEY_KILL_COUNT": self.path("count")})

        self.assertEqual(run(self.dir_at_a(), 0).returncode, 0)
        calls = int(self.read("count"))
        self.assertGreater(calls, 30)
        untouched = resumed = 0
        for at in range(1, calls + 1):
            folder = self.dir_at_a()
            killed = run(folder, at)
            self.assertEqual(killed.returncode, -9, f"call {at} of {calls}: {killed.stderr}")
            journal = os.path.exists(os.path.join(folder, ".galley-apply", "journal"))
            left = {path: file for path, file in tree_of(folder).items() if not path.startswith(".galley-apply")}
            if not journal and left != self.b:
                self.assertEqual(left, self.a, f"call {at}")
                untouched += 1
            # Killed again, earlier, and then not.
            run(folder, max(1, at // 2))
            done = json.loads(self.must("apply", self.path("p"), folder, "--json").stdout)
            resumed += done["resumed"]
            self.assertEqual(tree_of(folder), self.b, f"call {at}")
        self.assertGreater(untouched, 10)
        self.assertGreater(resumed, 10)


if __name__ == "__main__":
    unittest.main()
