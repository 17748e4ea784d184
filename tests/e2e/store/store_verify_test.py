"""What `galley store verify` finds is said, made again with --repair, and gone on with after an interrupt; `galley store why` names what keeps a blob."""
import glob, hashlib, json, os, pty, random, shutil, signal, subprocess, unittest

import segments
from harness import BIN, LIMIT_S, E2ETest, read_file


class StoreVerifyTest(E2ETest):
    def setUp(self):
        super().setUp()
        rng = random.Random(0)
        self.small, self.large = rng.randbytes(20_000), rng.randbytes((1 << 20) + 1000)
        self.game = self.project({"small.bin": self.small, "large.bin": self.large, "other.bin": b"other"},
                                 ['match = "/Game/**"\ncooker = "copy"'])
        self.store = os.path.join(self.game, ".galley", "store")
        self.root = self.cook(self.game, "--workers", 1).roots["pc"]
        self.roots = self.told("roots")

    def told(self, *args, expect=0):
        done = self.galley(*args, "--project", self.game)
        self.assertEqual(done.returncode, expect, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout

    def verify(self, *args, expect=0):
        return json.loads(self.told("store", "verify", "--json", *args, expect=expect).splitlines()[-1])

    def digest(self, data):
        return f"{hashlib.sha256(data).hexdigest()}/{len(data)}"

    def rot(self, data):
        """Flips a byte of these wherever the store holds them."""
        found = 0
        for path in glob.glob(self.store + "/segments/*") + glob.glob(self.store + "/files/*/*"):
            held = bytearray(read_file(path))
            at = held.find(data)
            if at < 0:
                continue
            held[at + len(data) // 2] ^= 1
            os.chmod(path, 0o644)
            with open(path, "wb") as file:
                file.write(held)
            found += 1
        self.assertGreater(found, 0)

    def checked_out(self):
        self.told("checkout", self.root, self.path("out"))
        return {name: self.read("out", "Game", name) for name in sorted(os.listdir(self.path("out", "Game")))}

    def expect_whole(self):
        self.verify()
        self.assertEqual(self.checked_out(), {"large.bin": self.large, "other.bin": b"other", "small.bin": self.small})
        again = self.cook(self.game)
        self.assertEqual((again.cooked, again.roots["pc"]), (0, self.root))

    def test_what_is_lost_is_made_again_and_nothing_is_published(self):
        self.rot(self.small)
        self.rot(self.large)
        report = self.verify("--repair", expect=1)
        blobs = [problem for problem in report["problems"] if problem.startswith("blob ")]  # and where one lay in a segment
        self.assertEqual((len(blobs), report["repaired"], report["lost_roots"]), (2, True, []), report)
        self.assertEqual(self.told("roots"), self.roots)
        self.expect_whole()

    def test_a_lost_folder_is_made_again(self):
        folder = self.galley("store", "cat", self.root, "--project", self.game).stdout.encode(errors="replace")
        self.assertIn(b"Game", folder)
        self.rot(b"small.bin")  # in the folder Game: a result names the suffix only
        report = self.verify("--repair", expect=1)
        self.assertEqual((report["repaired"], report["lost_roots"]), (True, []), report)
        self.expect_whole()

    def test_what_a_verify_found_before_is_repaired_too(self):
        self.rot(self.large)
        self.verify(expect=1)
        report = self.verify("--repair")
        self.assertEqual((report["problems"], report["repaired"]), ([], True))
        self.expect_whole()

    def test_what_cannot_be_made_again_is_said(self):
        self.rot(self.large)
        self.write("game/content/large.bin", self.large + b"changed")
        report = self.verify("--repair", expect=1)
        self.assertEqual((report["repaired"], [(r["root"], r["example"]) for r in report["lost_roots"]]),
                         (False, [(self.root, "Game/large.bin")]), report)

    def test_without_a_project_the_roots_that_lack_something_are_named(self):
        self.rot(self.large)
        done = self.galley("store", "verify", "--repair", "--store", self.store)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(f"lacks 1 file or folder (Game/large.bin): {self.root}", done.stdout)
        self.assertEqual(self.galley("store", "verify", "--store", self.store).returncode, 1)

    def test_roots_that_lack_something_are_named_until_they_are_whole(self):
        pinned = self.write("tree/pinned.bin", random.Random(1).randbytes((1 << 20) + 2000))
        self.told("store", "put", self.path("tree"), "--pin", "keep")
        self.rot(self.large)
        self.assertEqual(self.galley("store", "cat", self.digest(self.large), "--project", self.game).returncode, 3)
        for _ in range(2):  # found by others: it is theirs no more, and told all the same, until it is whole
            lost = self.verify(expect=1)["lost_roots"]
        self.assertEqual([(one["platform"], one["example"]) for one in lost], [("pc", "Game/large.bin")])
        self.cook(self.game)
        self.assertEqual(self.verify()["lost_roots"], [])
        # Nobody makes a pin whole by itself.
        self.rot(read_file(pinned))
        self.verify(expect=1)
        self.assertEqual([one["platform"] for one in self.verify(expect=1)["lost_roots"]], ["keep"])
        self.told("store", "put", self.path("tree"))
        self.assertEqual(self.verify()["lost_roots"], [])

    def test_what_staging_finds_lost_is_made_again_by_the_same_cook(self):
        self.rot(self.large)
        shutil.rmtree(os.path.join(self.game, ".galley/cooked"))
        cook = self.cook(self.game)
        self.assertEqual((cook.cooked, cook.roots["pc"]), (1, self.root), cook)
        self.assertIn("1 blob of 1 package was lost from the store and is made again", cook.summary["warnings"][0]["text"])
        self.expect_whole()

    def test_after_all_segments_are_gone_one_cook_makes_all_again(self):
        shutil.rmtree(os.path.join(self.store, "segments"))
        cook = self.cook(self.game)
        self.assertEqual(cook.roots["pc"], self.root, cook)
        # The index knew places in the old segments; they are not taken for places in the new ones.
        problems = self.verify(expect=1)["problems"]
        self.assertFalse([problem for problem in problems if problem.startswith("blob ") or "no record begins" in problem], problems)
        self.expect_whole()

    def test_it_goes_on_after_an_interrupt(self):
        ours, theirs = pty.openpty()
        verify = subprocess.Popen([os.path.join(BIN, "galley"), "store", "verify", "--store", self.store, "--rate", "1KiB"], stderr=theirs,
                                  stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        while b"verify: blobs" not in shown:
            shown += os.read(ours, 4096)
        verify.send_signal(signal.SIGINT)
        self.assertEqual(verify.wait(timeout=LIMIT_S), 130)
        os.close(ours)
        self.assertIsNotNone(self.verify()["resumed"])
        self.assertIsNone(self.verify()["resumed"])
        wrong = self.galley("store", "verify", "--rate", "fast", "--store", self.store)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("fast", wrong.stderr)

    def test_why_a_blob_is_kept_and_what_became_of_it(self):
        text = self.told("store", "why", self.digest(self.small))
        self.assertIn("kept by pc#1", text)
        self.assertIn("Game/small.bin", text)
        self.assertIn("cooked by local-1", text)
        why = json.loads(self.told("store", "why", self.digest(self.large), "--json"))
        self.assertEqual([(r["platform"], r["path"], r["kept"]) for r in why["roots"]], [("pc", "Game/large.bin", True)])
        self.assertEqual((why["present"], len(why["results"])), (True, 1))
        self.assertIn("nothing says that it ever was", self.told("store", "why", self.digest(b"never"), expect=1))
        self.rot(self.large)
        self.verify(expect=1)
        text = self.told("store", "why", self.digest(self.large), expect=1)
        self.assertIn("its bytes were wrong", text)
        self.assertIn("missed by pc#1", text)
        self.told("store", "why", "x", expect=2)

    def test_why_says_where_it_lies_and_whether_anything_keeps_it(self):
        why = json.loads(self.told("store", "why", self.digest(b"other"), "--json"))
        data = read_file(os.path.join(self.store, "segments", f"{why['segment']:016x}.seg"))
        self.assertIn((why["offset"], b"other"), [(record.offset, record.payload) for record in segments.records_of(data)])
        self.assertIn(f"segment {why['segment']:016x} at offset {why['offset']}, written at 2", self.told("store", "why", self.digest(b"other")))
        self.assertIn(": a file of its own, written at 2", self.told("store", "why", self.digest(self.large)))
        # In a root that is no more kept; by a result all the same; and held for somebody.
        self.write("game/galley.toml", self.read("game", "galley.toml").decode() + "\n[store]\nkeep_roots = 1\n")
        self.write("game/content/small.bin", b"changed")
        self.cook(self.game)
        text = self.told("store", "why", self.digest(self.small))
        self.assertRegex(text, r"in old pc#1 of project \S+: Game/small.bin\n")
        self.assertRegex(text, r"named by result \S+: cooked by local-1 on \S+ \(.+\) at 2\S+; not asked for since\n")
        self.assertRegex(self.told("store", "why", self.root), "in old pc#1 of project .+: it is its root")
        serving = subprocess.Popen([os.path.join(BIN, "galley"), "store", "serve", "--store", self.store, "--listen", "127.0.0.1:0"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(serving.stdout.close)
        self.addCleanup(serving.kill)
        self.assertIn("serving", serving.stdout.readline())
        self.assertIn("held for store serve (process ", self.told("store", "why", self.digest(self.small)))
        serving.send_signal(signal.SIGTERM)
        self.assertEqual(serving.wait(LIMIT_S), 0)
        # A blob of nobody.
        subprocess.run([os.path.join(BIN, "store_driver"), "put", self.store, "orphan"], check=True)
        self.assertIn("nothing: a collection drops it a day after it was written", self.told("store", "why", self.digest(b"orphan")))


if __name__ == "__main__":
    unittest.main()
