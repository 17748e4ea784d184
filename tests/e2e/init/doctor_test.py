"""`galley doctor` on what is damaged: it names the thing, says that the next cook puts it right, and changes nothing; then that cook does."""
import glob, json, os, shutil, unittest

import harness
from harness import read_file

LARGE = (1 << 20) + 5_000  # bytes: a file of its own in the store


def flip(path, part=0.5):
    mode = os.stat(path).st_mode
    os.chmod(path, 0o644)
    data = bytearray(read_file(path))
    data[int((len(data) - 1) * part)] ^= 1
    with open(path, "r+b") as file:
        file.write(data)
    os.chmod(path, mode)


def half(path):
    os.truncate(path, os.path.getsize(path) // 2)


# Each damage: the file below .galley, how it is damaged, what doctor says of it.
DAMAGES = {
    "index table": ("store/index/*.sst", flip, "store/index"),
    "index manifest": ("store/index/MANIFEST-*", half, "store/index"),
    "id": ("store/id", flip, "store/id"),
    "epoch": ("store/epoch", flip, "store/epoch"),
    "segment header": ("store/segments/*.seg", lambda path: flip(path, 0), "store/segments/"),
    "segment deleted": ("store/segments/*.seg", os.remove, "store/segments/"),
    "large file deleted": ("store/files/*/*", os.remove, "store/files/"),
    "cookers": ("state/cookers.json", flip, "state/cookers.json"),
    "journal log": ("state/journal/*.log", flip, "state/journal"),
    "journal manifest": ("state/journal/MANIFEST-*", half, "state/journal"),
    "digests": ("state/digests", flip, "state/digests"),
    "project": ("state/project", flip, "state/project"),
    "sandboxes": ("state/sandboxes", flip, "state/sandboxes"),
    "snapshot table": ("state/snapshot-*.table", flip, "state/snapshot-"),
    "owner of a sandbox": ("cooked/pc/.galley-sandbox", flip, ".galley-sandbox"),
    "marker of a sandbox": ("cooked/pc/.galley-root", flip, ".galley-root"),
    "files of a brief marker": ("cooked/pc/.galley-root.files", flip, ".galley-root.files"),
    "files of a brief marker deleted": ("cooked/pc/.galley-root.files", os.remove, ".galley-root.files"),
}


class DoctorTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        files = {"large.bin": os.urandom(LARGE), "a.bin": "a", "b.bin": "b"}
        self.game = self.project(files, ['match = "/Game/**/*.bin"\ncooker = "copy"'])
        self.galley_dir = os.path.join(self.game, ".galley")
        self.cook(self.game)
        self.assertEqual(self.galley("clean", "--project", self.game, "/Game/a.bin").returncode, 0)  # so that the store has an epoch
        self.cook(self.game)
        self.write("game/content/b.bin", "B")
        self.cook(self.game)  # of what all else stands: the marker of the sandbox is brief
        self.reference = self.cook(self.game)
        shutil.copytree(self.galley_dir, self.path("pristine"))

    def reset(self):
        shutil.rmtree(self.galley_dir)
        shutil.copytree(self.path("pristine"), self.galley_dir)

    def doctor(self):
        done = self.galley("doctor", "--project", self.game, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [check["text"] for check in json.loads(done.stdout)["checks"] if check["heals"]]

    def everything(self):
        found = {}
        for folder, _, names in os.walk(self.galley_dir):
            for path in [folder] + [os.path.join(folder, name) for name in names]:
                stat = os.lstat(path)
                found[path] = (stat.st_mtime_ns, stat.st_size, read_file(path) if os.path.isfile(path) else None)
        return found

    def test_nothing_is_said_of_what_is_whole(self):
        self.assertEqual(self.doctor(), [])

    def test_each_damage_is_named_and_left_and_the_next_cook_heals_it(self):
        for name, (pattern, damage, told) in DAMAGES.items():
            with self.subTest(name):
                self.reset()
                files = sorted(glob.glob(os.path.join(self.galley_dir, pattern)))
                damage(max(files, key=os.path.getsize))
                before = self.everything()
                texts = self.doctor()
                self.assertTrue(any(told in text and "the next cook " in text for text in texts), texts)
                self.assertEqual(self.everything(), before)
                self.forget_what_stands(self.game)
                healed = self.cook(self.game)
                self.assertEqual(healed.roots, self.reference.roots)
                # (Nobody asks for a large file whose sandbox is whole.)
                self.assertTrue(name == "large file deleted" or "warning" in healed.stderr, healed)
                again = self.cook(self.game)
                self.assertEqual(again.roots, self.reference.roots)
                self.assertNotIn("warning", again.stderr)
                if name != "large file deleted":
                    self.assertEqual(self.doctor(), [])


if __name__ == "__main__":
    unittest.main()
