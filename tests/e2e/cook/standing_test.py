"""Cooks of which nothing has changed: answered from what stands, and never when something has."""
import json, os, shutil, signal, time, unittest

from harness import COPY, E2ETest
from standing_case import DATA, LISTED, RUN, TOOL, StandingCase


class StandingTest(StandingCase):
    def game(self, name="game", files=None):
        files = files or {"a.json": '{"x": 1, "y": {"$ref": "b.json"}}', "b.json": '{"z": [1, 2]}', "c.txt": "text", "sub/d.json": "[]", "notes": "none"}
        game = self.project(files, [DATA, COPY, TOOL], name=name, extra=LISTED)
        self.write(f"{name}/tools/run", RUN, 0o755)
        return game

    def test_nothing_changed_is_answered_without_a_cook(self):
        game = self.game()
        first = self.look(game)
        self.assertFalse(self.stands(first))
        second = self.look(game)
        self.assertTrue(self.stands(second), second)
        self.check_same(first, second)
        self.assertEqual(second.summary["snapshot"], first.summary["snapshot"])
        self.assertEqual(second.summary["workers"]["started"], 0)
        # As a cook that looks at all says it.
        shutil.rmtree(self.path("game/.galley/state/standing"))
        third = self.look(game)
        self.assertFalse(self.stands(third))
        for part in ("packages", "results", "snapshot", "roots"):
            self.assertEqual(second.summary[part], third.summary[part])

    def test_the_same_root_is_not_published_again(self):
        game = self.game()
        for _ in range(3):
            self.cook(game)
            shutil.rmtree(self.path("game/.galley/state/standing"))
        listed = json.loads(self.galley("roots", "--project", game, "--json").stdout.splitlines()[0])
        self.assertNotIn("pc#2", self.galley("roots", "--project", game).stdout, listed)

    def test_the_reason_why_more_was_looked_at_is_the_real_one(self):
        game = self.game()
        self.cook(game)
        why = lambda: [line for line in self.cook(game, "--verbose").stderr.splitlines() if "does not stand" in line]
        content = os.path.join(game, "content")
        self.write("game/content/new.txt", "new")
        self.assertEqual(why(), [f"what is known does not stand: {content} holds other files"])
        self.write("game/content/c.txt", "other")
        self.assertEqual(why(), [f"what is known does not stand: {content}/c.txt changed"])
        os.remove(os.path.join(content, "new.txt"))
        self.assertEqual(why(), [f"what is known does not stand: {content} holds other files"])
        self.assertEqual(why(), [])

    def test_another_number_of_roots_to_keep_reaches_the_store(self):
        game = self.game()
        self.cook(game)
        self.write("game/galley.toml", self.read("game/galley.toml") + b"[store]\nkeep_roots = 2\n")
        self.cook(game)
        self.assertIn("pc#2", self.galley("roots", "--project", game).stdout)

    def test_failures_and_warnings_are_told_again(self):
        game = self.game(files={"a.json": '{"x": {"$soft": "gone.json"}}', "b.json": "{ broken", "c.json": '{"$ref": "nowhere.json"}'})
        first = self.look(game, expect=1)
        second = self.look(game, expect=1)
        self.assertTrue(self.stands(second), second)
        self.check_same(first, second)
        self.assertEqual(len(second.failures), 2, second)
        self.write("game/content/b.json", "{}")
        third = self.look(game, expect=1)
        self.assertFalse(self.stands(third))
        self.assertEqual(len(third.failures), 1, third)

    def check_differs(self, game, change, *args, expect=0, env=None):
        self.look(game, expect=None)
        second = self.look(game, expect=None)
        self.assertTrue(self.stands(second), second)
        change()
        self.assertFalse(self.stands(self.look(game, *args, expect=expect, env=env)))

    def test_each_difference_is_looked_at(self):
        game = self.game()
        self.write("game/content/x.run", "run")
        edit = lambda path, text: (lambda: self.write("game/" + path, text))
        for name, change in {
            "an edit": edit("content/b.json", "[3]"),
            "a new package": edit("content/e.json", "{}"),
            "a new file of no rule": edit("content/other", ""),
            "a sidecar": edit("content/c.txt.cook", 'labels = []'),
            "a tool": edit("tools/run", RUN + "\n# other\n"),
            "galley.toml": lambda: self.write("game/galley.toml", self.read("game/galley.toml") + b"# more\n"),
            "an absent file that appears": edit("content/maybe", "here"),
            "a member of a glob": edit("content/y.part", ""),
            "a file of the sandbox": edit(".galley/cooked/pc/Game/c.txt", "mine"),
            "a foreign file in the sandbox": edit(".galley/cooked/pc/mine", ""),
            "a file that goes from the sandbox": lambda: os.remove(self.path("game/.galley/cooked/pc/Game/c.txt")),
            "a generation": lambda: os.remove(self.path("game/.galley/state/generation")),
            "a damaged standing": lambda: self.damage("standing"),
            "a damaged table": lambda: self.damage("sources"),
            "a package that is forgotten": lambda: self.galley("clean", "/Game/a.json", "--project", game),
            "a file that goes": lambda: os.remove(self.path("game/content/other")),
            "a mode": lambda: os.chmod(self.path("game/content/b.json"), 0o600),
        }.items():
            with self.subTest(name):
                self.check_differs(game, change, expect=None)
        self.check_differs(game, lambda: None, env={"WHO": "ann"})
        self.look(game, env={"WHO": "ann"})
        self.assertTrue(self.stands(self.look(game, env={"WHO": "ann", "OTHER": "1"})))
        for option in ("--force", "--retry-failed"):
            self.assertFalse(self.stands(self.look(game, option, env={"WHO": "ann"})), option)
        self.assertTrue(self.stands(self.look(game, env={"WHO": "ann"})))
        self.assertFalse(self.stands(self.look(game, "--package", "/Game/a.json", env={"WHO": "ann"})))
        self.assertTrue(self.stands(self.look(game, "--package", "/Game/a.json", env={"WHO": "ann"})))

    def test_a_variable_that_is_not_listed_reads_as_unset_and_that_is_said(self):
        said = "cooks asked for 1 environment variable that [farm] env of galley.toml does not list, and that reads as unset: WHO"
        game = self.game()
        toml = self.read("game/galley.toml").decode()
        self.write("game/content/x.run", "x")
        self.write("game/galley.toml", toml.replace(LISTED, ""))
        first = self.look(game, env={"WHO": "ann"})
        self.assertIn(said, first.stderr)
        self.assertTrue(self.stands(self.look(game, env={"WHO": "bob"})))  # it decides nothing
        self.write("game/galley.toml", toml)
        self.assertEqual(self.look(game, env={"WHO": "bob"}).cooked, 1)
        self.assertEqual(self.look(game, env={"WHO": "ann"}).cooked, 1)
        self.write("game/galley.toml", toml.replace(LISTED, ""))
        last = self.look(game, env={"WHO": "ann"})
        self.assertEqual((last.cooked, last.roots), (0, first.roots))  # its result is there
        self.assertIn(said, last.stderr)

    def damage(self, what):
        folder = self.path("game/.galley/state/standing")
        for name in os.listdir(folder):
            if name.endswith("." + what):
                with open(os.path.join(folder, name), "r+b") as file:
                    file.seek(20)
                    file.write(b"\0\0\0\0\xff")

    def test_what_is_read_and_is_not_in_the_cook_is_warned_of_by_each_cook(self):
        for is_resident in (False, True):
            with self.subTest(is_resident=is_resident):
                self.check_reads(is_resident, f"game{is_resident:d}")

    def check_reads(self, is_resident, name):
        copied = 'match = "/Game/maybe"\ncooker = "copy"'
        game = self.project({"b.json": "[1]", "c.json": "[2]", "x.run": "x", "maybe": "m"}, [DATA, TOOL, copied], name=name, extra=LISTED + '[cook]\nmaps = ["/Game/b.json", "/Game/x.run"]\n')
        self.write(f"{name}/tools/run", RUN, 0o755)
        env = {"WHO": "ann"}
        warned = lambda cook: sum("reads /Game/maybe, a package that is not in the cook" in w["text"] for w in cook.summary["warnings"])
        if is_resident:
            self.serve(game, env=env)
        self.assertEqual(warned(self.look(game, env=env)), 1)
        stands = self.look(game, env=env)
        self.assertEqual((self.stands(stands), warned(stands)), (True, 1), stands)
        shutil.rmtree(os.path.join(game, ".galley/state/standing"))
        again = self.look(game, env=env)
        self.assertEqual((again.cooked, warned(again)), (0, 1), again)
        # It comes into the cook and leaves it again, by what its reader knows nothing of.
        for text, expected in (('[{"$ref": "maybe"}]', 0), ("[3]", 1), ('[{"$ref": "c.json"}]', 1), ('[{"$ref": "c.json"}, {"$ref": "maybe"}]', 0)):
            self.write(f"{name}/content/b.json", text)
            self.assertEqual(warned(self.look(game, env=env)), expected, text)
        self.write(f"{name}/content/c.json", "[4]")
        self.assertEqual(warned(self.look(game, env=env)), 0)
        # The file is no package any more, and is one again.
        self.write(f"{name}/content/b.json", "[6]")
        self.assertEqual(warned(self.look(game, env=env)), 1)
        toml = self.read(f"{name}/galley.toml").decode()
        self.write(f"{name}/galley.toml", toml.replace('match = "/Game/maybe"', 'match = "/Game/other"'))
        self.assertEqual(warned(self.look(game, env=env)), 0)
        self.write(f"{name}/content/maybe.cook", 'cooker = "copy"\n')
        self.assertEqual(warned(self.look(game, env=env)), 1)
        os.remove(os.path.join(game, "content/maybe.cook"))
        self.assertEqual(warned(self.look(game, env=env)), 0)
        os.remove(os.path.join(game, "content/maybe"))
        self.write(f"{name}/content/b.json", "[5]")
        self.assertEqual(warned(self.look(game, env=env)), 0)

    def test_what_is_only_touched_stands(self):
        game = self.game()
        self.look(game)
        os.utime(self.path("game/content/a.json"))
        self.write("game/content/b.json.new", '{"z": [1, 2]}')
        os.rename(self.path("game/content/b.json.new"), self.path("game/content/b.json"))
        cook = self.look(game)
        self.assertTrue(self.stands(cook), cook)

    def test_a_fresh_checkout_with_the_state_of_another_stands(self):
        game = self.game()
        self.look(game)
        shutil.copytree(game, self.path("copy"), copy_function=shutil.copyfile)
        os.chmod(self.path("copy/tools/run"), 0o755)
        shutil.rmtree(game)
        os.rename(self.path("copy"), game)
        cook = self.look(game)
        self.assertEqual(cook.cooked, 0, cook)
        self.assertTrue(self.stands(cook), cook)

    def test_a_lost_store_is_not_believed(self):
        game = self.game()
        first = self.look(game)
        shutil.rmtree(self.path("game/.galley/store"))
        cook = self.look(game)
        self.assertFalse(self.stands(cook))
        self.assertEqual(cook.roots, first.roots)
        self.assertTrue(self.stands(self.look(game)))

    def test_an_edited_rule_looks_at_what_it_matches(self):
        items = '{"items": [{"position": [0, 0, 0]}, {"position": [9, 9, 9]}]}'
        files = {**{f"{n}.json": f"[{n}]" for n in range(20)}, "sub/x.json": items, "sub/y.json": "[1]", "c.txt": "text", "low.TXT": "[2]"}
        toml = lambda *rules: self.write("game/galley.toml", base + b"\n".join(b"[[rule]]\n" + rule.encode() + b"\n" for rule in rules))
        base = b""
        for resident in (False, True):
            game = self.project(files, [], name="game")
            base = self.read("game/galley.toml")
            toml(DATA, COPY)
            if resident:
                self.serve(game)
            self.look(game)
            sub = 'match = "/Game/sub/**"\nsettings = { cell_size = %d }'
            steps = [  # (rules, packages that are looked at)
                ([DATA, COPY, sub % 0], 2), ([DATA, COPY, sub % 0 + '\ntimeout_s = 3600'], 2), ([DATA, COPY, sub % 4], None), ([DATA, COPY, sub % 4 + " # comment"], 0), ([DATA, sub % 4, COPY], None),
                ([DATA, COPY], None), ([COPY, DATA], None), ([COPY, DATA, 'match = "/Game/sub/y.json"\nplatform.pc = { settings = { cell_size = 2 } }'], 1),
                ([COPY, DATA, 'match = "/Game/low.txt"\nignore_case = true\ncooker = "data"'], 2), ([DATA], None), ([DATA, COPY], None)]
            for number, (rules, looked_at) in enumerate(steps):
                with self.subTest(number, resident=resident):
                    toml(*rules)
                    cook = self.look(game)
                    self.check_same(cook, self.clean(game))
                    rest = [e for e in self.events(cook) if e["event"] == "stands" and e["rest"]]
                    if looked_at is not None:
                        self.assertEqual(cook.summary["packages"]["in_cook"] - rest[0]["packages"], looked_at, cook)
                    self.assertTrue(self.stands(self.look(game)))
            if resident:
                self.galley("serve", "--stop", "--project", game)
            shutil.rmtree(game)

    def clean(self, game):
        other = self.path("clean/game")
        shutil.rmtree(self.path("clean"), ignore_errors=True)
        shutil.copytree(game, other, ignore=shutil.ignore_patterns(".galley", "out"))
        return E2ETest.cook(self, other, "--json", "--standalone")

    def loss_epoch(self, game):
        return json.loads(self.galley("store", "stats", "--project", game, "--json").stdout)["loss_epoch"]

    def test_a_loss_of_what_is_not_in_the_root_leaves_it_standing(self):
        for resident in (False, True):
            name = f"game{resident}"
            game = self.game(name)
            self.write(f"{name}/content/b.json", "[1, 2, 3, 4]")
            self.look(game)
            self.write(f"{name}/content/b.json", "[5]")
            self.write(f"{name}/galley.toml", self.read(f"{name}/galley.toml") + b"[store]\nkeep_roots = 1\n")
            cook = self.look(game)
            before = self.loss_epoch(game)
            self.galley("store", "gc", "--project", game, "--max-size", "0")
            self.assertGreater(self.loss_epoch(game), before)
            if resident:
                self.serve(game)
            for _ in range(2):
                again = self.look(game)
                self.assertTrue(self.stands(again), again)
                self.check_same(cook, again)
            # The cook of a difference after that stands, too, and so does the standing that it leaves.
            self.write(f"{name}/content/b.json", "[6]")
            self.assertEqual(self.look(game).cooked, 1)
            self.assertTrue(self.stands(self.look(game)))

    def test_a_root_of_which_nothing_is_left_is_not_published(self):
        game = self.project({"a.json": "[1]", "b.json": "{ broken"}, [DATA])
        first = self.look(game, expect=1)
        self.assertNotEqual(first.roots, {})
        os.unlink(self.path("game/content/a.json"))
        for _ in range(2):
            cook = self.look(game, expect=1)
            self.assertEqual(cook.roots, {}, cook)
            self.assertIn("nothing was published: its only package failed", cook.summary["warnings"][0]["text"])
        self.assertNotIn("pc#2", self.galley("roots", "--project", game).stdout)

    def test_a_resident_director_answers_so_too(self):
        game = self.game()
        self.serve(game)
        first = self.look(game)
        second = self.look(game)
        self.assertTrue(self.stands(second), second)
        self.check_same(first, second)
        self.write("game/content/b.json", "[4]")
        third = self.look(game)
        self.assertFalse(self.stands(third))
        self.assertNotEqual(third.roots, first.roots)
        self.assertTrue(self.stands(self.look(game)))
        self.galley("serve", "--stop", "--project", game)
        self.assertTrue(self.stands(self.look(game)))

    def test_an_interrupt_ends_a_look(self):
        game = self.game()
        self.look(game)
        process = self.start_cook(game)
        time.sleep(0.004)
        process.send_signal(signal.SIGINT)
        cook = self.finish_cook(game, process)
        self.assertIn(cook.code, (0, 130, -signal.SIGINT), cook)  # (the last: before anything had begun)
        # It left no lock, and nothing of what stands is lost.
        self.assertTrue(self.stands(self.look(game, "--standalone")))

if __name__ == "__main__":
    unittest.main()
