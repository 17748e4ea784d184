"""Sources that are kept: what was cooked from them is made again after they were edited; a resident director keeps the rest while it is idle."""
import glob, hashlib, json, os, random, shutil, subprocess, unittest

from harness import BIN, COPY, E2ETest, ResidentTest

KEEP = "[store]\nkeep_sources = true"
# The output is not the source, so that both are blobs of their own; both are files of the store.
STAMP = ('match = "/Game/**/*.bin"\ncooker = "command"\n'
         'settings = { argv = ["tools/stamp", "{input}", "{output:.out}"], outputs = [".out"] }')
STAMP_TOOL = '#!/bin/sh\n{ cat "$1"; printf stamped; } > "$2"\n'
SIZE = (1 << 20) + 100


class KeptSourcesTest(E2ETest):
    def setUp(self):
        super().setUp()
        self.first = random.Random(1).randbytes(SIZE)
        self.second = random.Random(2).randbytes(SIZE)

    def game(self, extra=KEEP):
        game = self.project({"a.bin": self.first, "inc.txt": "read by nobody else"}, [STAMP, COPY], extra=extra)
        self.write("game/tools/stamp", STAMP_TOOL, 0o755)
        self.store = os.path.join(game, ".galley", "store")
        return game

    def record(self, game, package="/Game/a.bin"):
        done = self.galley("records", package, "--json", "--project", game)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)["platforms"]["pc"]

    def edited(self, extra=KEEP):
        """A project whose package was cooked, edited and cooked again; the record of the first cook."""
        game = self.game(extra)
        self.cook(game)
        old = self.record(game)
        self.write("game/content/a.bin", self.second)
        self.cook(game)
        self.assertNotEqual(self.record(game)["action_key"], old["action_key"])
        return old

    def file_of(self, digest):
        return os.path.join(self.store, "files", digest[:2], digest.replace("/", "-"))

    def delete(self, digest):
        os.remove(self.file_of(digest))

    def remake(self, record, worker=None):
        return subprocess.run([os.path.join(BIN, "remake_record"), self.store, worker or os.path.join(BIN, "galley-worker"), self.path("scratch"),
                               record["action_key"]], capture_output=True, text=True, timeout=240)

    def test_the_outputs_of_an_old_record_are_made_again(self):
        old = self.edited()
        output = old["outputs"][0]["digest"]
        self.assertTrue(os.path.exists(self.file_of(output)))
        self.delete(output)
        done = self.remake(old)
        self.assertEqual((done.returncode, done.stdout), (0, "made\n"), done)
        with open(self.file_of(output), "rb") as file:
            self.assertEqual(file.read(), self.first + b"stamped")
        self.assertEqual(os.listdir(self.path("scratch")), [])
        self.assertEqual(self.remake(old).stdout, "was there\n")
        verified = self.galley("store", "verify", "--store", self.store)
        self.assertEqual(verified.returncode, 0, verified)

    def test_an_input_that_is_gone_is_named(self):
        old = self.edited()
        self.delete(old["outputs"][0]["digest"])
        self.delete(old["source"])
        done = self.remake(old)
        self.assertEqual((done.returncode, done.stdout), (1, f"gone {old['source']} the source\n"), done)
        self.assertFalse(os.path.exists(self.file_of(old["outputs"][0]["digest"])))

    def test_another_identity_of_the_cooker_is_refused(self):
        old = self.edited()
        self.delete(old["outputs"][0]["digest"])
        real = os.path.join(os.path.abspath(BIN), "galley-worker")
        other = self.write("worker", f'#!/bin/sh\nif [ "$1" = describe ]; then {real} describe | sed \'s/"identity": *"/&other-/g\'; exit; fi\n'
                                     f'exec {real} "$@"\n', 0o755)
        done = self.remake(old, worker=other)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout, f"other command {old['identity']} other-{old['identity']}\n")

    def test_an_edited_tool_is_another_input_and_the_old_one_is_kept(self):
        game = self.game()
        self.cook(game)
        old = self.record(game)
        self.write("game/tools/stamp", STAMP_TOOL.replace("stamped", "otherwise"), 0o755)
        self.cook(game)
        self.assertNotEqual(self.record(game)["action_key"], old["action_key"])
        self.delete(old["outputs"][0]["digest"])
        done = self.remake(old)
        self.assertEqual((done.returncode, done.stdout), (0, "made\n"), done)

    def test_an_export_takes_what_was_edited_from_the_store(self):
        game = self.game()
        self.cook(game)
        self.write("game/tools/stamp", STAMP_TOOL.replace("stamped", "otherwise"), 0o755)
        self.write("game/content/a.bin", self.second)
        exported = self.path("exported")
        done = self.galley("records", "/Game/a.bin", "--project", game, "--export", exported)
        self.assertEqual(done.returncode, 0, done)
        run = subprocess.run([os.path.join(BIN, "galley-worker"), "exec-action", exported], capture_output=True, text=True, timeout=240)
        self.assertEqual(run.returncode, 0, run)
        self.assertEqual(self.read("exported/out/output.out"), self.first + b"stamped")

    def test_switched_on_later_the_next_cook_keeps_what_stands(self):
        game = self.game(extra="")
        self.cook(game)
        old = self.record(game)
        self.assertNotEqual(self.galley("store", "cat", old["source"], "--store", self.store).returncode, 0)
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml.replace("[[mount]]", KEEP + "\n[[mount]]", 1))
        cook = self.cook(game)
        self.assertEqual(cook.cooked, 0, cook)
        self.delete(old["outputs"][0]["digest"])
        shutil.rmtree(os.path.join(game, "content"))
        done = self.remake(old)
        self.assertEqual((done.returncode, done.stdout), (0, "made\n"), done)

    def test_off_nothing_is_kept(self):
        old = self.edited(extra="")
        self.delete(old["outputs"][0]["digest"])
        done = self.remake(old)
        self.assertEqual((done.returncode, done.stdout), (1, f"gone {old['action_key']} the Action\n"), done)
        self.assertFalse(os.path.exists(self.file_of(old["source"])))

    def test_a_collection_keeps_inputs_with_their_result(self):
        old = self.edited()
        done = self.galley("store", "gc", "--max-size", "1GiB", "--store", self.store)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(os.path.exists(self.file_of(old["source"])))
        why = self.galley("store", "why", old["source"], "--store", self.store)
        self.assertIn(f"input of result {old['action_key']}", why.stdout)
        small = self.galley("store", "gc", "--max-size", "1B", "--store", self.store)
        self.assertEqual(small.returncode, 0, small)
        self.assertFalse(os.path.exists(self.file_of(old["source"])), small)


class IdleTest(ResidentTest):
    def test_an_idle_director_keeps_the_files_that_nobody_read(self):
        files = {f"{i}.txt": f"text {i}" for i in range(100)}
        files |= {"notes.md": "no package", "large.md": "x" * 3_000_000}
        game = self.project(files, [COPY], extra=KEEP)
        self.serve(game)
        self.cook(game, "/Game/1.txt")

        def kept():
            return self.status(game)["store"]["kept_sources"] or {}
        self.wait_until(lambda: kept().get("files_kept") == 102)
        self.assertEqual(kept()["files"], 102)
        self.assertEqual(kept()["bytes_kept"], kept()["bytes"])
        text = self.galley("status", "--project", game).stdout
        self.assertIn("sources kept: 102 of 102 files (", text)
        digest = hashlib.sha256(b"no package").hexdigest() + "/10"
        cat = self.galley("store", "cat", digest, "--project", game)
        self.assertEqual((cat.returncode, cat.stdout), (0, "no package"), cat)
        self.wait_until(lambda: "sources/" in self.galley("store", "pins", "--project", game).stdout)
        self.write("game/content/notes.md", "edited")
        self.cook(game, "/Game/1.txt")
        edited = hashlib.sha256(b"edited").hexdigest() + "/6"
        self.wait_until(lambda: self.galley("store", "cat", edited, "--project", game).returncode == 0)

    def test_switched_off_the_pin_goes(self):
        game = self.project({"a.txt": "a"}, [COPY], extra=KEEP)
        self.serve(game)
        self.cook(game)
        pins = lambda: self.galley("store", "pins", "--project", game).stdout
        self.wait_until(lambda: "sources/" in pins())
        self.assertEqual(self.galley("serve", "--stop", "--project", game).returncode, 0)
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml.replace("keep_sources = true", "keep_sources = false"))
        self.serve(game)
        self.assertIsNone(self.status(game)["store"]["kept_sources"])
        self.assertNotIn("sources/", pins())


if __name__ == "__main__":
    unittest.main()
