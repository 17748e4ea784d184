"""Collections beside cooks: what a cook was told of stays, and what it was not told of is made again before its root is published."""
import json, os, unittest

from harness import E2ETest, wait_until

RULES = ['match = "/Game/**/*.txt"\ncooker = "command"\n'
         'settings = { argv = ["tools/log", "{input}", "{output:.out}"], outputs = [".out"] }\n',
         'match = "/Game/**/*.slow"\ncooker = "command"\n'
         'settings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n']


class StoreGcTest(E2ETest):
    def game(self, files=("a.txt", "b.txt", "c.txt"), name="game"):
        game = self.project({file: f"the text of {file}" for file in files}, RULES, name=name)
        self.write(f"{name}/tools/log", f'#!/bin/sh\nprintf "%s\\n" "$(cat "$1")" >> {self.path("cooked")}\ncp "$1" "$2"\n', 0o755)
        self.write(f"{name}/tools/slow", f'#!/bin/sh\ntouch {self.path("begun")}\n'
                   f'while [ ! -e {self.path("go")} ]; do sleep 0.05; done\ncp "$1" "$2"\n', 0o755)
        return game

    def runs(self):
        """What was cooked since this was asked before."""
        try:
            lines = self.read("cooked").decode().split()
        except FileNotFoundError:
            return []
        os.remove(self.path("cooked"))
        return sorted(line for line in lines if line.endswith(".txt"))

    def begin_cook(self, game):
        process = self.start_cook(game)
        wait_until(lambda: os.path.exists(self.path("begun")) or process.poll() is not None, "the cook to be held")
        self.assertIsNone(process.poll())
        return process

    def finish(self, game, process):
        self.write("go", "")
        cook = self.finish_cook(game, process)
        self.assertEqual(cook.code, 0, cook)
        return cook

    def gc(self, game, *args):
        gc = self.galley("store", "gc", "--project", game, "--max-size", "0", "--json", *args)
        self.assertEqual(gc.returncode, 0, gc.stderr)
        return json.loads(gc.stdout)

    def reference(self, files):
        """The root of a cook that nobody disturbs."""
        self.write("go", "")
        cook = self.cook(self.game(files, name="reference"))
        for name in ("go", "cooked", "begun"):
            os.remove(self.path(name))
        return cook

    def test_what_a_collection_drops_under_a_cook_is_made_again_and_only_that(self):
        files = ("a.txt", "b.txt", "c.txt", "held.slow")
        undisturbed = self.reference(files)
        game = self.game()
        # Narrow cooks: b's root is the newest, nothing keeps what a and c were cooked to. Both are up to date all the same.
        self.cook(game, "--package", "/Game/a.txt", "--package", "/Game/c.txt")
        self.cook(game, "--package", "/Game/b.txt")
        self.assertEqual(self.runs(), ["a.txt", "b.txt", "c.txt"])
        self.write("game/content/held.slow", "the text of held.slow")
        process = self.begin_cook(game)
        report = self.gc(game)
        self.assertEqual(report["dropped_results"], 2, report)
        self.assertIn("cook of game", str(report["held_by"]))
        cook = self.finish(game, process)
        self.assertEqual(self.runs(), ["a.txt", "c.txt"])
        self.assertEqual(cook.roots, undisturbed.roots)
        self.assertEqual((cook.results["cooked"], cook.results["up_to_date"]), (3, 1), cook)
        self.assertEqual(self.tree(game, "pc"), self.tree(self.path("reference"), "pc"))
        # It is published and staged: nothing is missing, for the next cook either.
        self.gc(game)
        again = self.cook(game)
        self.assertEqual((again.cooked, again.roots), (0, cook.roots))
        self.assertEqual(self.galley("checkout", "pc@latest", self.path("out"), "--project", game).returncode, 0)

    def test_what_kept_roots_generated_is_not_made_again(self):
        game = self.project({"world.json": '{"items": [{"position": [1, 2, 3]}, {"position": [15, 2, 3]}]}'},
                            ['match = "/Game/**"\ncooker = "data"\nsettings = { cell_size = 10 }'], name="world")
        roots = self.cook(game).roots
        done = self.galley("store", "gc", "--max-size", "0", "--project", game)
        self.assertEqual(done.returncode, 0, done)
        cook = self.cook(game)
        self.assertEqual((cook.cooked, cook.results["cached"], cook.roots), (0, 0, roots), cook)

    def test_a_pinned_tree_stays_until_it_is_unpinned(self):
        game = self.game(("a.txt",))
        with open(os.path.join(game, "galley.toml"), "a", encoding="utf-8") as file:
            file.write("[store]\nkeep_roots = 1\n")
        first = self.cook(game).roots["pc"]
        pin = self.galley("store", "pin", "shipped/1.0", "pc@latest", "--project", game)
        self.assertEqual(pin.returncode, 0, pin.stderr)
        self.assertIn(first, pin.stdout)
        for text in ("second", "third"):
            self.write("game/content/a.txt", text)
            self.cook(game)
        self.gc(game)
        pins = [json.loads(line) for line in self.galley("store", "pins", "--project", game, "--json").stdout.splitlines()]
        self.assertEqual([(one["pin"], one["root"]) for one in pins], [("shipped/1.0", first)])
        self.assertEqual(self.galley("checkout", "pin:shipped/1.0", self.path("out"), "--project", game).returncode, 0)
        self.assertNotIn("shipped", self.galley("roots", "--store", os.path.join(game, ".galley/store")).stdout)
        self.assertIn("kept by pin shipped/1.0", self.galley("store", "why", first, "--project", game).stdout)
        # A pin is no platform.
        store = os.path.join(game, ".galley/store")
        self.assertEqual(self.galley("store", "pin", "pc", first, "--project", game).returncode, 0)
        self.assertNotEqual(self.galley("tree", "pc@last", "--store", store).stdout, self.galley("tree", first, "--store", store).stdout)
        self.assertEqual(self.galley("store", "unpin", "pc", "--project", game).returncode, 0)
        self.assertEqual(self.galley("store", "unpin", "shipped/1.0", "--project", game).returncode, 0)
        self.assertEqual(self.galley("store", "pins", "--project", game).stdout, "")
        self.gc(game)
        gone = self.galley("checkout", first, self.path("out2"), "--project", game)
        self.assertNotEqual(gone.returncode, 0)
        for args, code, text in ((["pin", "a b", "pc@latest"], 2, "letters"), (["pin", "x", "pc@99"], 2, "no such root"),
                                 (["pin", "x", first], 1, "store"), (["unpin", "x"], 1, 'no pin "x"')):
            wrong = self.galley("store", *args, "--project", game)
            self.assertEqual(wrong.returncode, code, wrong)
            self.assertIn(text, wrong.stderr)

    def test_a_cook_keeps_the_store_within_its_size(self):
        game = self.game(("a.txt",))
        first, other = "the first text\n" * 2000, "another text\n" * 2000  # some 30 KB
        self.write("game/content/a.txt", first)
        self.assertNotIn("the store holds", self.cook(game).stderr)
        self.write("game/content/a.txt", other)
        with open(os.path.join(game, "galley.toml"), "a", encoding="utf-8") as file:
            file.write('[store]\nmax_size = "40KiB"\nkeep_roots = 1\n')
        second = self.cook(game)
        self.assertEqual(second.code, 0, second)
        self.assertIn("more than 40.0 KiB", second.stderr)
        self.assertRegex(second.stderr, "dropped 1 result and .* of the store")
        self.runs()
        self.assertEqual(self.cook(game).cooked, 0, "what its newest root needs stays")
        self.write("game/content/a.txt", first)
        self.assertEqual(self.cook(game).cooked, 1, "what was dropped is cooked again")
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)

    def test_what_a_cook_was_told_is_there_stays_until_it_ends(self):
        other = self.game(("a.txt", "b.txt"), name="other")
        self.cook(other, "--package", "/Game/a.txt")
        self.cook(other, "--package", "/Game/b.txt")
        self.assertEqual(self.runs(), ["a.txt", "b.txt"])
        game = self.game(("a.txt", "held.slow"))
        os.environ["GALLEY_STORE_DIR"] = os.path.join(other, ".galley/store")
        self.addCleanup(os.environ.pop, "GALLEY_STORE_DIR")
        process = self.begin_cook(game)  # a is in the cache, and in no root that is kept
        self.assertEqual(self.gc(game)["dropped_results"], 0)
        cook = self.finish(game, process)
        self.assertEqual(self.runs(), [])
        self.assertEqual((cook.results["cached"], cook.cooked), (1, 1), cook)
        # The session ended with it.
        self.cook(other, "--package", "/Game/b.txt")
        self.cook(game, "--package", "/Game/held.slow")
        self.assertEqual(self.gc(game)["held_by"], [])

    def stored(self, game):
        """The store's files against what lives in it."""
        stats = json.loads(self.galley("store", "stats", "--project", game, "--json").stdout)
        segments = os.path.join(game, ".galley/store/segments")
        on_disk = sum(os.path.getsize(os.path.join(segments, name)) for name in os.listdir(segments))
        self.assertEqual(stats["segment_bytes"], on_disk)
        stored = stats["segment_bytes"] + stats["file_bytes"]
        self.assertEqual(stats.get("stored_bytes", stored), stored)
        return stored, stats["blob_bytes"]

    def test_what_many_packages_are_cooked_to_takes_its_room_once(self):
        # 40 sources, 8 outputs of 700 KB; the cooks of --force make all of them again.
        files = {f"{i}.txt": f"{i}" for i in range(40)}
        game = self.project(files, ['match = "/Game/**/*.txt"\ncooker = "command"\n'
                                    'settings = { argv = ["tools/large", "{input}", "{output:.out}"], outputs = [".out"] }\n'])
        self.write("game/tools/large", '#!/bin/sh\nn=$(($(cat "$1") % 8))\nyes "the text $n" | head -c 700000 > "$2"\n', 0o755)
        for args in ((), ("--force",), ("--force",)):
            cook = self.cook(game, *args)
            self.assertEqual(cook.results["failed"], 0, cook)
            stored, live = self.stored(game)
            self.assertGreater(live, 8 * 700000)
            self.assertLess(stored, 1.25 * live, args)
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)
        again = self.cook(game)
        self.assertEqual((again.cooked, again.roots), (0, cook.roots), again)

    def test_a_small_store_does_not_grow_with_each_cook(self):
        # The live bytes are less than a mebibyte, and so are those that each cook leaves.
        game = self.project({f"{i}.txt": f"the text of {i}\n" * 200 for i in range(60)}, RULES)
        self.write("game/tools/log", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        self.cook(game)
        first, _ = self.stored(game)
        self.assertLess(first, 1 << 20)
        for _ in range(2):
            cook = self.cook(game, "--force")
            self.assertLess(self.stored(game)[0], 1.25 * first, cook)
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)
        self.assertEqual(self.cook(game).cooked, 0)

    def test_what_killed_cooks_left_is_given_back_and_the_cook_says_so(self):
        game = self.project({}, ['match = "/Game/**/*.txt"\ncooker = "copy"\n'])
        self.write("game/content/a.txt", os.urandom(900000))
        self.cook(game)
        # A worker's segment of which nothing was ever adopted.
        segments = os.path.join(game, ".galley/store/segments")
        for name in sorted(os.listdir(segments)):
            with open(os.path.join(segments, name), "rb") as file:
                data = file.read()
            if len(data) > 900000:
                break
        dead = os.path.join(segments, f"{1000:016x}.seg")
        with open(dead, "wb") as file:
            file.write(data[:64] + bytes(3 << 20))  # torn
        stored, _ = self.stored(game)
        dry = self.galley("store", "gc", "--dry-run", "--max-size", "1GiB", "--project", game)
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.write("game/content/b.txt", "b")
        cook = self.cook(game)
        self.assertRegex(cook.stderr, r"gave back 3\.\d MiB of the store's segments")
        self.assertFalse(os.path.exists(dead))
        self.assertLess(self.stored(game)[0], stored - (3 << 20) + 100000)
        self.assertNotIn("gave back", self.cook(game).stderr)
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)

    def test_a_dry_run_says_what_the_collection_then_does(self):
        game = self.game()
        for text in ("first", "second", "third"):
            for name in ("a.txt", "b.txt"):
                self.write(f"game/content/{name}", (text + name) * 20000)
            self.cook(game, "--package", "/Game/a.txt", "--package", "/Game/b.txt")
        told = self.gc(game, "--dry-run")
        self.assertGreater(told["dropped_blobs"], 0)
        self.assertGreater(told["freed_bytes"], 0)
        text = self.galley("store", "gc", "--project", game, "--max-size", "0", "--dry-run").stdout
        self.assertEqual(self.gc(game, "--dry-run"), told, "nothing was done")
        stored, _ = self.stored(game)
        done = self.gc(game)
        self.assertEqual({**done, "dry_run": True}, told)
        self.assertRegex(text, "would drop .* blobs .*\nwould remove segments of .*; .* in them would be written again")
        self.assertLess(self.stored(game)[0], stored - told["freed_bytes"] + told["moved_bytes"] + 10000)
        self.assertEqual(self.cook(game, "--package", "/Game/a.txt", "--package", "/Game/b.txt").cooked, 0)

    def test_what_is_damaged_under_a_cook_of_the_same_root_is_made_again(self):
        files = ("a.txt", "b.txt", "held.slow")
        game = self.game(files)
        self.write("go", "")
        first = self.cook(game)
        self.runs()
        for name in ("go", "begun"):
            os.remove(self.path(name))
        # Cooked again to what it was.
        self.write("game/tools/slow", f'#!/bin/sh\n# another\ntouch {self.path("begun")}\n'
                   f'while [ ! -e {self.path("go")} ]; do sleep 0.05; done\ncp "$1" "$2"\n', 0o755)
        process = self.begin_cook(game)
        segments = os.path.join(game, ".galley/store/segments")
        for name in os.listdir(segments):
            with open(os.path.join(segments, name), "rb") as file:
                data = file.read()
            at = data.find(b"the text of a.txt")
            if at >= 0:
                os.chmod(os.path.join(segments, name), 0o600)
                with open(os.path.join(segments, name), "r+b") as file:
                    file.seek(at)
                    file.write(b"THE")
        verify = self.galley("store", "verify", "--project", game)
        self.assertEqual(verify.returncode, 1, verify.stdout + verify.stderr)
        cook = self.finish(game, process)
        self.assertEqual(self.runs(), ["a.txt"])
        self.assertEqual(cook.roots, first.roots)
        self.assertEqual(self.tree(game, "pc")["Game/a.txt.out"], b"the text of a.txt")


if __name__ == "__main__":
    unittest.main()
