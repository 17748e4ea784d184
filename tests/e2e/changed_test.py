"""Cooks that are told which files changed: --changed and --changed-since."""
import json, os, random, shutil, subprocess, unittest

from harness import COPY, E2ETest, ResidentTest

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'


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
        shutil.copytree(os.path.join(game, "content"), os.path.join(other, "content"), ignore=shutil.ignore_patterns(".git"))
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
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + "# edited\n")
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

    def git(self, game, *args):
        done = subprocess.run(["git", "-C", os.path.join(game, "content"), "-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always", *args],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.strip()

    def repository(self):
        game = self.game()
        self.git(game, "init", "-q")
        self.write("game/content/.gitignore", "*.tmp.json\n")
        self.git(game, "add", ".")
        self.git(game, "commit", "-qm", "one")
        return game

    def since(self, game, revision="HEAD", expect=0):
        return self.look(game, "--changed-since", revision, expect=expect)

    def test_git_says_what_changed(self):
        game = self.repository()
        first = self.since(game)
        self.assertIn("kept no commit", first.stderr)
        self.assertNotIn("files", first.summary)
        self.assertEqual(self.listed(self.since(game)), 0)
        steps = [
            lambda: self.write("game/content/b.json", "[2]"),
            lambda: self.git(game, "commit", "-qam", "two"),
            lambda: self.write("game/content/untracked.json", "{}"),
            lambda: self.write("game/content/ignored.tmp.json", "{}"),
            lambda: os.remove(self.path("game/content/ignored.tmp.json")),
            lambda: self.git(game, "mv", "sub/d.json", "moved.json"),
            lambda: self.git(game, "checkout", "-q", "HEAD", "--", "."),
            lambda: self.git(game, "checkout", "-qf", "HEAD~1"),
            lambda: os.remove(self.path("game/content/untracked.json")),
            lambda: self.write("game/content/b.json", "[1]"),
        ]
        for number, step in enumerate(steps):
            with self.subTest(number):
                step()
                cook = self.since(game)
                self.check_like_a_clean_cook(game, cook)
        self.assertEqual(self.look(game).summary["roots"], cook.summary["roots"])

    def test_an_edit_costs_that_edit(self):
        game = self.repository()
        self.since(game)
        self.write("game/content/b.json", "[3]")
        cook = self.since(game, "HEAD~0")
        self.assertEqual((cook.summary["files"], cook.summary["results"]["cooked"]), ("listed", 1))
        self.git(game, "checkout", "-q", "--", ".")
        back = self.since(game)
        self.assertEqual(back.summary["files"], "listed")
        self.check_like_a_clean_cook(game, back)

    def test_a_submodule(self):
        game = self.repository()
        module = self.path("module")
        os.mkdir(module)
        self.write("module/m.json", "[1]")
        run = lambda *args: subprocess.run(["git", "-C", module, "-c", "user.name=x", "-c", "user.email=x@x", *args], check=True, stdout=subprocess.DEVNULL)
        run("init", "-q")
        run("add", ".")
        run("commit", "-qm", "one")
        self.git(game, "submodule", "--quiet", "add", module, "inner")
        self.git(game, "commit", "-qm", "with a module")
        self.check_like_a_clean_cook(game, self.since(game))
        self.write("game/content/inner/m.json", "[2]")
        cook = self.since(game)
        self.assertEqual(cook.summary["files"], "listed")
        self.check_like_a_clean_cook(game, cook)
        self.write("game/content/inner/more.json", "[3]")
        self.check_like_a_clean_cook(game, self.since(game))

    def test_a_wrong_revision_and_no_repository(self):
        game = self.game("plain")
        done = self.galley("cook", "--project", game, "--changed-since", "HEAD")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("is in no git repository", done.stderr)
        game = self.repository()
        done = self.galley("cook", "--project", game, "--changed-since", "nosuch")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("has no such commit", done.stderr)
        for number in range(2):
            self.write("game/content/b.json", f"[{number}, 5]")
            self.git(game, "commit", "-qam", "more")
        shallow = self.path("shallow")
        os.mkdir(shallow)
        subprocess.run(["git", "clone", "-q", "--depth", "1", "file://" + os.path.join(game, "content"), os.path.join(shallow, "content")], check=True)
        shutil.copy(os.path.join(game, "galley.toml"), shallow)
        done = self.galley("cook", "--project", shallow, "--changed-since", "HEAD~1")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("the clone is shallow", done.stderr)

    def test_random_edits_with_git(self):
        game = self.repository()
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        with self.subTest(seed=seed):
            for step in range(14):
                for _ in range(rng.randrange(3)):
                    name = rng.choice(["a.json", "b.json", "c.txt", "sub/d.json", "sub/new.json", "x.tmp.json"])
                    path = self.path("game/content/" + name)
                    if rng.random() < 0.2 and os.path.exists(path):
                        os.remove(path)
                    else:
                        self.write("game/content/" + name, json.dumps([rng.randrange(3)]))
                if rng.random() < 0.3:
                    self.git(game, "add", "-A")
                    self.git(game, "commit", "-q", "--allow-empty", "-m", "more")
                if rng.random() < 0.2:
                    self.git(game, "checkout", "-qf", rng.choice(["HEAD", "HEAD~1"] if step > 6 else ["HEAD"]))
                args = ("--changed-since", "HEAD") if rng.random() < 0.8 else ()
                self.check_like_a_clean_cook(game, self.look(game, *args, expect=None))


if __name__ == "__main__":
    unittest.main()
