"""Cooks that are told which files changed: --changed."""
import json, os, random, shutil, subprocess, sys, unittest

from harness import COPY, E2ETest, ResidentTest

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"


class ChangedTest(ResidentTest):
    def game(self, name="game"):
        return self.project({"a.json": '{"$ref": "b.json"}', "b.json": "[1]", "c.txt": "text", "sub/d.json": "{}", "sub/e.json": "[]"}, [DATA, COPY], name=name)

    def look(self, game, *args, stdin=None, expect=0):
        """The cook, and what it printed."""
        summary = game + ".summary.json"
        done = subprocess.run([os.path.join(self.bin, "galley"), "cook", "--project", game, "--summary", summary, "--json", *args], text=True, input=stdin,
                              cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done)
        with open(summary) as file:
            done.summary = json.load(file)
        done.events = [json.loads(line) for line in done.stdout.splitlines()]
        return done

    def listed(self, cook):
        scanned = [e for e in cook.events if e["event"] == "scanned"]
        return scanned[0].get("listed") if scanned else None

    def check_like_a_clean_cook(self, game, cook):
        self.clean = getattr(self, "clean", 0) + 1
        other = self.path(f"clean{self.clean}")
        os.mkdir(other)
        shutil.copytree(os.path.join(game, "content"), os.path.join(other, "content"), symlinks=True, ignore=shutil.ignore_patterns(".git"))
        shutil.copy(os.path.join(game, "galley.toml"), other)
        clean = E2ETest.cook(self, other, expect=None)
        self.assertEqual(cook.summary["roots"], clean.roots, cook)
        self.assertEqual(cook.summary["packages"]["in_cook"], clean.summary["packages"]["in_cook"])
        shutil.rmtree(other)

    def test_only_what_is_listed_is_looked_at(self):
        game = self.game()
        self.assertNotIn("files", self.look(game).summary)
        self.write("game/content/b.json", "[2]")
        cook = self.look(game, "--changed", "-", stdin="game/content/b.json\n")
        self.assertEqual(self.listed(cook), 1)
        self.assertEqual(cook.summary["files"], "listed")
        self.assertEqual(cook.summary["results"]["cooked"], 1)
        self.check_like_a_clean_cook(game, cook)
        # Nothing is listed, and nothing is looked at.
        self.write("game/content/c.txt", "edited in secret")
        nothing = self.look(game, "--changed", "-", stdin="")
        self.assertEqual(self.listed(nothing), 0)
        self.assertEqual(nothing.summary["roots"], cook.summary["roots"])
        self.assertEqual(nothing.summary["workers"]["started"], 0)

    def test_what_a_list_left_out_is_found_by_the_next_scan(self):
        game = self.game()
        self.look(game)
        self.write("game/content/b.json", "[2]")
        self.write("game/content/c.txt", "left out")
        self.look(game, "--changed", "-", stdin="/Game/b.json\n")
        scan = self.look(game)
        self.check_like_a_clean_cook(game, scan)
        self.assertIn("1 file had changed before the last cook", scan.stderr)
        self.assertIn("/Game/c.txt", scan.stderr)
        self.assertNotIn("files", scan.summary)
        again = self.look(game)
        self.assertNotIn("left", again.stderr)

    def edit_and_list(self, game, rng, before_cook):
        """Edits some files, and cooks by a list of some of them. Returns the paths that the list left out."""
        names = ["a.json", "b.json", "c.txt", "sub/d.json", "sub/e.json", "sub/new.json", "more/x.json"]
        content = os.path.join(game, "content")
        before = {n: self.read(os.path.join(content, n)) for n in names if os.path.exists(os.path.join(content, n))}
        for _ in range(rng.randrange(1, 4)):
            name, other = rng.sample(names, 2)
            path = os.path.join(content, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.makedirs(os.path.dirname(os.path.join(content, other)), exist_ok=True)
            kind = rng.random()
            if kind < 0.3 and os.path.exists(path):
                os.remove(path)
            elif kind < 0.5 and os.path.exists(path):
                os.rename(path, os.path.join(content, other))
            else:
                self.write(path, json.dumps([rng.randrange(1 << 30)]))
        now = {n: self.read(os.path.join(content, n)) for n in names if os.path.exists(os.path.join(content, n))}
        changed = [n for n in names if before.get(n) != now.get(n)]
        listed = [n for n in changed if rng.random() < 0.5] if rng.random() < 0.7 else []
        cook = self.look(game, "--changed", "-", stdin="".join(f"/Game/{n}\n" for n in listed), expect=None)
        if not before_cook.summary["roots"]:  # nothing stands: this one looked at all
            self.assertNotIn("files", cook.summary)
            return []
        self.assertEqual(cook.summary.get("files"), "listed", cook.stderr)
        self.listed += 1
        return ["/Game/" + n for n in changed if n not in listed]

    def check_left_out_is_named(self, is_resident):
        game = self.game()
        if is_resident:
            self.serve(game)
        seed = int(os.environ.get("GALLEY_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        self.listed = 0
        for step in range(50 if os.environ.get("GALLEY_LONG") else 8):
            before = self.look(game, expect=None)
            with self.subTest(seed=seed, step=step, is_resident=is_resident):
                left_out = self.edit_and_list(game, rng, before)
                scan = self.look(game, *rng.choice([[], [], ["--force"], ["--platform", "pc"]]), expect=None)
                self.assertNotIn("files", scan.summary)
                self.assertEqual([n for n in left_out if n not in scan.stderr], [], scan.stderr)
                self.assertEqual("list of changed files" in scan.stderr, bool(left_out), scan.stderr)
                if step % 3 == 0 and len(scan.summary["roots"]) > 1:
                    self.check_like_a_clean_cook(game, scan)
                self.assertNotIn("list of changed files", self.look(game, expect=None).stderr)
        self.assertGreater(self.listed, 0)

    def test_whatever_a_list_left_out_is_named(self):
        self.check_left_out_is_named(is_resident=False)

    def test_whatever_a_list_left_out_is_named_by_a_resident_director(self):
        self.check_left_out_is_named(is_resident=True)

    def test_a_list_is_used_also_after_another_cook_of_the_same_files(self):
        game = self.game()
        self.look(game)
        for value, args in enumerate((["--platform", "pc"], ["--never", "/Game/none/*"])):
            with self.subTest(args):
                self.look(game, *args)
                self.look(game)
                self.write("game/content/b.json", f"[{value}, 2]")
                cook = self.look(game, "--changed", "-", stdin="/Game/b.json\n")
                self.assertEqual(cook.summary.get("files"), "listed", cook.stderr)
                self.assertEqual(cook.summary["results"]["cooked"], 1, cook.stderr)
        self.check_like_a_clean_cook(game, cook)

    def test_lists_as_git_and_windows_write_them(self):
        game = self.game()
        name = "caf\u00e9 \"1\".json"
        self.write("game/content/" + name, "[1]")
        self.look(game)
        quoted = '"game/content/caf\\303\\251 \\"1\\".json"\n'
        for value, text in enumerate([quoted, "\ufeff/Game/" + name + "\r\n", "\ufeff" + quoted]):
            with self.subTest(text):
                self.write("game/content/" + name, f"[{value}, 2]")
                self.write("list", text)
                cook = self.look(game, "--changed", self.path("list"))
                self.assertEqual(self.listed(cook), 1, cook.stderr)
                self.assertEqual(cook.summary["results"]["cooked"], 1, cook.stderr)
                self.assertNotIn("list of changed files", self.look(game).stderr)

    def test_files_that_come_and_go_and_folders(self):
        game = self.game()
        self.look(game)
        self.write("game/content/sub/new.json", '{"new": 1}')
        os.remove(self.path("game/content/sub/e.json"))
        self.write("list", "game/content/sub/new.json\0game/content/sub/e.json\0")
        cook = self.look(game, "--changed", self.path("list"))
        self.assertEqual(self.listed(cook), 2)
        self.check_like_a_clean_cook(game, cook)
        self.look(game)
        shutil.copytree(self.path("game/content/sub"), self.path("game/content/more"))
        cook = self.look(game, "--changed", "-", stdin="game/content/more\r\nREADME\n")
        self.assertEqual(self.listed(cook), 1)
        self.check_like_a_clean_cook(game, cook)

    def test_where_a_list_says_too_little_all_is_looked_at(self):
        game = self.game()
        first = self.look(game, "--changed", "-", stdin="")
        self.assertIn("all files are looked at", first.stderr)
        self.assertNotIn("files", first.summary)
        self.check_like_a_clean_cook(game, first)
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml + "# a comment decides nothing\n")
        self.assertEqual(self.look(game, "--changed", "-", stdin="").summary["files"], "listed")
        self.write("game/galley.toml", toml.replace('texture = "bc"', 'texture = "bc"\nof_mine = "1"'))
        self.assertNotIn("files", self.look(game, "--changed", "-", stdin="").summary)
        done = self.galley("cook", "--project", game, "--changed", "nosuch")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--changed nosuch: expected a file with a list of paths", done.stderr)

    def test_a_resident_director_takes_lists(self):
        game = self.game()
        self.serve(game)
        self.look(game)
        for value in range(3):
            self.write("game/content/b.json", f"[{value}, 7]")
            cook = self.look(game, "--changed", "-", stdin="/Game/b.json")
            self.assertEqual(self.listed(cook), 1, cook)
            self.check_like_a_clean_cook(game, cook)

    def test_a_folder_above_a_mount_is_all_of_it(self):
        game = self.game()
        self.look(game)
        self.write("game/content/sub/d.json", "[4]")
        cook = self.look(game, "--changed", "-", stdin="game\n")
        self.assertEqual(self.listed(cook), 1)
        self.check_like_a_clean_cook(game, cook)

    def test_paths_that_all_lie_elsewhere_say_nothing(self):
        game = self.game()
        self.look(game)
        self.write("game/content/b.json", "[6]")
        cook = self.look(game, "--changed", "-", stdin="content/b.json\n")
        self.assertIn("none of the 1 paths lies under a mount", cook.stderr)
        self.assertNotIn("files", cook.summary)
        self.check_like_a_clean_cook(game, cook)

    def test_a_sidecar_that_is_not_listed_has_all_looked_at(self):
        game = self.game()
        self.write("game/content/b.json.cook", "[settings]\n")
        self.look(game)
        self.write("game/content/b.json.cook", "# another\n[settings]\n")
        self.write("game/content/new.json", "{}")
        cook = self.look(game, "--changed", "-", stdin="/Game/new.json\n")
        self.assertIn("a sidecar changed", cook.stderr)
        self.check_like_a_clean_cook(game, cook)
        # And that of a package that is looked at, when no file came or went.
        self.write("game/content/b.json", "[2]")
        self.write("game/content/b.json.cook", "# yet another\n[settings]\n")
        cook = self.look(game, "--changed", "-", stdin="/Game/b.json\n")
        self.assertIn("a sidecar changed", cook.stderr)
        self.check_like_a_clean_cook(game, cook)

    def test_what_a_scan_says_is_not_said_again_of_another_file(self):
        game = self.game()
        odd = os.path.join(game, "content", "odd")
        os.symlink("nowhere", odd)
        cook = self.look(game)
        self.assertEqual(len(cook.summary["warnings"]), 1, cook.summary["warnings"])
        os.remove(odd)
        self.write("game/content/odd", "plain")
        cook = self.look(game, "--changed", "-", stdin="/Game/odd\n")
        self.assertEqual(cook.summary["warnings"], [], cook.stderr)
        os.remove(odd)
        os.symlink("nowhere", odd)
        cook = self.look(game, "--changed", "-", stdin="/Game/odd\n")
        self.assertEqual(len(cook.summary["warnings"]), 1, cook.stderr)

    def test_random_edits_and_whole_lists(self):
        game = self.game()
        self.look(game)
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        with self.subTest(seed=seed):
            for _ in range(20):
                edited = []
                for _ in range(rng.randrange(4)):
                    name = rng.choice(["a.json", "b.json", "c.txt", "sub/d.json", "sub/new.json", "more/x.json"])
                    path = self.path("game/content/" + name)
                    edited.append("/Game/" + name)
                    if rng.random() < 0.2 and os.path.exists(path):
                        os.remove(path)
                    else:
                        self.write("game/content/" + name, json.dumps([rng.randrange(3)]))
                args = {"stdin": "\n".join(edited)} if rng.random() < 0.8 else None
                cook = self.look(game, "--changed", "-", expect=None, **args) if args else self.look(game, expect=None)
                self.check_like_a_clean_cook(game, cook)


if __name__ == "__main__":
    unittest.main()
