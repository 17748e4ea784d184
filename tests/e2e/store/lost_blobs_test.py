"""What the store lost is looked for in the whole, wherever it is met, and made again in the same cook."""
import glob, os, random, shutil, signal, subprocess, unittest

import segments
from harness import BIN, E2ETest, read_file, wait_until

PLATFORMS = [f'name = "{name}"\ntexture = "bc"\nshader = "spirv-1.5"' for name in ("one", "two", "three")]
# A platform's own bytes, so that no two share a blob.
STAMP = ('match = "/Game/**/*.bin"\ncooker = "command"\n'
         'settings = { argv = ["tools/stamp", "{input}", "{output:.out}", "{platform}"], outputs = [".out"] }')
STAMP_TOOL = '#!/bin/sh\n{ cat "$1"; printf %s "$3"; } > "$2"\n'
LARGE = 7  # packages; 21 outputs


class LostTest(E2ETest):
    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        files = {f"large{i}.bin": rng.randbytes((1 << 20) + 100 + i) for i in range(LARGE)}
        files |= {f"small{i}.bin": rng.randbytes(2_000 + i) for i in range(20)}
        self.game = self.project(files, [STAMP, self.extra_rule()], platforms=PLATFORMS,
                                 extra='[warnings]\noff = ["rule-matches-nothing"]')
        self.write("game/tools/stamp", STAMP_TOOL, 0o755)
        self.more()
        self.store = os.path.join(self.game, ".galley", "store")
        self.first = self.cook(self.game)
        self.assertEqual(len(glob.glob(self.store + "/files/*/*")), 3 * LARGE)
        self.trees = self.all_trees()

    def extra_rule(self):
        return 'match = "/Game/**/*.txt"\ncooker = "copy"'

    def more(self):
        pass

    def all_trees(self):
        return {name: self.tree(self.game, name) for name in ("one", "two", "three")}

    def drop_sandboxes(self):
        shutil.rmtree(os.path.join(self.game, ".galley/cooked"), ignore_errors=True)

    def drop_files(self, count):
        """Large blobs of `count` places, of all platforms; the packages that lost something."""
        files = sorted(glob.glob(self.store + "/files/*/*"))
        for path in random.Random(3).sample(files, count):
            os.remove(path)

    def warnings(self, cook):
        return [one["text"] for one in cook.summary["warnings"]]

    def expect_healed(self, blobs=None, again=True):
        """One cook, and the next one has nothing to say."""
        self.drop_sandboxes()
        cook = self.cook(self.game)
        self.assertEqual(cook.roots, self.first.roots, cook)
        self.assertEqual(self.all_trees(), self.trees)
        told = [text for text in self.warnings(cook) if "lost from the store" in text]
        if blobs is not None:
            self.assertEqual(len(told), 1, cook)
            self.assertIn(f": {blobs} blobs of ", told[0])
        others = [text for text in self.warnings(cook) if "lost from the store" not in text and "/index" not in text and "/segments/" not in text]
        self.assertEqual(others, [], cook)
        # Whatever was made again: not without a word.
        self.assertTrue(self.warnings(cook) or cook.cooked == 0, cook)
        if again:
            self.drop_sandboxes()
            clean = self.cook(self.game)
            self.assertEqual((clean.cooked, clean.roots, self.warnings(clean)), (0, self.first.roots, []), clean)
            self.assertEqual(self.all_trees(), self.trees)
        return cook

    def worker_segments(self):
        return [path for path in sorted(glob.glob(self.store + "/segments/*.seg")) if segments.writer_of(read_file(path)) == segments.WORKER]


class LostBlobsTest(LostTest):
    def test_large_files_that_are_deleted_are_made_again_by_one_cook(self):
        self.drop_files(10)
        cook = self.expect_healed(blobs=10)
        self.assertEqual(cook.cooked, 10, cook)

    def test_files_that_are_cut_are_made_again_and_kept_for_a_look(self):
        for path in sorted(glob.glob(self.store + "/files/*/*"))[:5]:
            os.chmod(path, 0o644)
            os.truncate(path, 1000)
        self.expect_healed(blobs=5)
        self.assertEqual(len(glob.glob(self.store + "/quarantine/*")), 5)

    def test_wrong_bytes_of_all_platforms_are_found_by_one_cook(self):
        for path in sorted(glob.glob(self.store + "/files/*/*"))[:12]:
            os.chmod(path, 0o644)
            with open(path, "r+b") as file:
                file.seek(5_000)
                file.write(b"not what was here")
        self.expect_healed(blobs=12)

    def test_a_deleted_segment_is_made_again_by_one_cook_also_after_the_index_was_made_anew(self):
        shutil.rmtree(os.path.join(self.store, "index"))
        self.cook(self.game)
        lost = self.worker_segments()
        self.assertTrue(lost)
        for path in lost:
            os.remove(path)
        self.expect_healed()

    def test_a_segment_that_is_deleted_together_with_the_index_is_made_again_by_one_cook(self):
        shutil.rmtree(os.path.join(self.store, "index"))
        for path in self.worker_segments():
            os.remove(path)
        self.expect_healed()

    def test_a_cut_segment_is_made_again_by_one_cook(self):
        for path in self.worker_segments():
            os.truncate(path, os.path.getsize(path) // 2)
        self.expect_healed()

    def serve(self):
        owner = subprocess.Popen([os.path.join(BIN, "galley"), "store", "serve", "--store", self.store, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
        def end():
            owner.send_signal(signal.SIGTERM)
            owner.communicate(timeout=60)
        self.addCleanup(end)
        wait_until(lambda: self.galley("store", "stats", "--store", self.store).returncode == 0, "the owner")
        self.assertIsNone(owner.poll())
        return owner

    def test_the_owner_of_a_served_store_looks_at_its_disk(self):
        owner = self.serve()
        self.cook(self.game)
        self.drop_files(10)
        for path in self.worker_segments():
            os.remove(path)
        self.expect_healed()
        self.assertIsNone(owner.poll())

    def test_all_segments_of_a_served_store(self):
        """Also the one that the owner is filling: what is appended to it from then on nobody would ever read."""
        self.serve()
        self.cook(self.game, "--force")
        for path in glob.glob(self.store + "/segments/*.seg"):
            os.remove(path)
        self.expect_healed()

    def test_with_force(self):
        self.drop_files(10)
        self.drop_sandboxes()
        cook = self.cook(self.game, "--force")
        self.assertEqual(cook.roots, self.first.roots)
        self.assertEqual(self.all_trees(), self.trees)

    def test_a_tree_that_nobody_cooks_any_more_cannot_be_made_again(self):
        pinned = self.first.roots["one"]
        held = read_file(os.path.join(self.game, ".galley/cooked/one/Game/large0.bin.out"))
        self.assertEqual(self.galley("store", "pin", "shipped", pinned, "--project", self.game).returncode, 0)
        os.remove(os.path.join(self.game, "content", "large0.bin"))
        self.cook(self.game)
        for path in glob.glob(self.store + "/files/*/*"):
            if read_file(path) == held:
                os.remove(path)
        self.drop_sandboxes()
        self.cook(self.game)  # nothing of this is in its roots
        done = self.galley("checkout", pinned, self.path("out"), "--project", self.game)
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("Game/large0.bin.out", done.stderr)


# The one that reads what others made waits for us.
READ_TOOL = """#!/bin/sh
: > {begun}/$(basename "$1").$3
while [ -d {wait} ]; do sleep 0.05; done
{{ cat "$1"; head -c 1000 "$4"; }} > "$2"
"""


class LostUnderACookTest(LostTest):
    def extra_rule(self):
        return ('match = "/Game/**/*.read"\ncooker = "command"\n'
                'settings = { argv = ["tools/read", "{input}", "{output:.out}", "{platform}", "{cooked:/Game/large0.bin:.out}"], outputs = [".out"] }')

    def more(self):
        os.mkdir(self.path("begun"))
        self.write("game/tools/read", READ_TOOL.format(begun=self.path("begun"), wait=self.path("wait")), 0o755)
        self.write("game/content/a.read", "first")

    def change_and_hold(self, *args):
        """A cook whose reader has begun."""
        shutil.rmtree(self.path("begun"))
        os.mkdir(self.path("begun"))
        os.mkdir(self.path("wait"))
        self.write("game/content/a.read", "second")
        self.drop_sandboxes()
        cook = self.start_cook(self.game, "--workers", 1, *args)
        wait_until(lambda: os.listdir(self.path("begun")), "the reader")
        return cook

    def expect_right(self, process):
        os.rmdir(self.path("wait"))
        cook = self.finish_cook(self.game, process)
        self.assertEqual(cook.code, 0, cook)
        self.drop_sandboxes()
        clean = self.cook(self.game)
        self.assertEqual((clean.cooked, clean.roots, self.warnings(clean)), (0, cook.roots, []), clean)
        return cook

    def test_files_that_are_deleted_in_the_middle_of_a_cook(self):
        cook = self.change_and_hold()
        self.drop_files(10)
        cook = self.expect_right(cook)
        self.assertIn("10 blobs of ", self.warnings(cook)[0])

    def test_segments_that_are_deleted_in_the_middle_of_a_cook(self):
        cook = self.change_and_hold()
        for path in glob.glob(self.store + "/segments/*.seg"):
            os.remove(path)
        self.expect_right(cook)

    def test_a_cooked_input_that_is_gone_is_made_again_with_all_else(self):
        """Found by a worker: long before anything is staged."""
        for path in glob.glob(self.store + "/files/*/*"):
            os.remove(path)
        self.write("game/content/a.read", "third")
        self.drop_sandboxes()
        cook = self.cook(self.game)
        self.assertEqual(cook.cooked, 3 * LARGE + 3, cook)
        self.assertIn(f"{3 * LARGE} blobs of {LARGE} packages", self.warnings(cook)[0])
        self.assertEqual(cook.summary["workers"]["jobs_retried"] < 10, True, cook)


if __name__ == "__main__":
    unittest.main()
