"""Cooks that ask git which files changed: --changed-since."""
import json, os, random, shutil, subprocess, unittest

from cook.changed_test import ChangedTest as Changed

ENV = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def run_git(folder, *args):
    done = subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always", *args],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    if done.returncode != 0:
        raise AssertionError(done)
    return done.stdout.strip()


class ChangedSinceTest(Changed):
    def git(self, game, *args):
        return run_git(os.path.join(game, "content"), *args)

    def repository(self, name="game", attributes=""):
        game = self.game(name)
        self.git(game, "init", "-q")
        self.write(f"{name}/content/.gitignore", "*.tmp.json\n")
        if attributes:
            self.write(f"{name}/content/.gitattributes", attributes)
        self.commit(game)
        return game

    def commit(self, game):
        self.git(game, "add", "-A")
        self.git(game, "commit", "-q", "--allow-empty", "-m", "more")

    def since(self, game, revision="HEAD", expect=0):
        return self.look(game, "--changed-since", revision, expect=expect)

    def check_listed(self, game):
        """A cook by git's list comes to what a clean one comes to."""
        cook = self.since(game, expect=None)
        self.assertEqual(cook.summary.get("files"), "listed", cook.stderr)
        self.check_like_a_clean_cook(game, cook)
        self.since(game)  # after a list with a new file nothing stands
        return cook

    def test_each_change_that_git_knows(self):
        game = self.repository()
        first = self.since(game)
        self.assertNotIn("files", first.summary)
        steps = [
            lambda: None,
            lambda: self.write("game/content/b.json", "[2]"),
            lambda: self.git(game, "commit", "-qam", "two"),
            lambda: self.write("game/content/untracked.json", "{}"),
            lambda: self.write("game/content/ignored.tmp.json", "{}"),
            lambda: os.remove(self.path("game/content/ignored.tmp.json")),
            lambda: self.git(game, "mv", "sub/d.json", "moved.json"),
            lambda: self.commit(game),
            lambda: self.git(game, "rm", "-q", "--cached", "moved.json"),
            lambda: self.git(game, "checkout", "-qf", "HEAD~1"),
            lambda: os.remove(self.path("game/content/sub/e.json")),
            lambda: self.git(game, "checkout", "-qf", "--", "."),
            lambda: self.write("game/content/b.json", "[1]"),
            lambda: (self.write("game/content/new.json", "[9]"), self.git(game, "add", "-N", "new.json")),
            lambda: self.write("game/content/new.json", "[8]"),
            lambda: (self.git(game, "add", "-A"), self.git(game, "stash", "-q")),
            lambda: self.git(game, "stash", "pop", "-q"),
        ]
        for number, step in enumerate(steps):
            with self.subTest(number):
                step()
                cook = self.check_listed(game)
        self.assertEqual(self.look(game).summary["roots"], cook.summary["roots"])

    def test_an_edit_costs_that_edit(self):
        game = self.repository()
        self.look(game)  # each cook that looks at all keeps what git says
        self.write("game/content/b.json", "[3]")
        self.assertEqual(self.since(game, "HEAD~0").summary["results"]["cooked"], 1)
        self.git(game, "checkout", "-q", "--", ".")
        self.check_listed(game)
        # So does one that looked at a difference, or at a list of somebody else.
        self.write("game/content/c.txt", "edited")
        self.look(game)
        self.git(game, "checkout", "-q", "--", ".")
        self.check_listed(game)
        self.write("game/content/c.txt", "edited again")
        self.look(game, "--changed", "-", stdin="/Game/c.txt")
        self.git(game, "checkout", "-q", "--", ".")
        self.check_listed(game)

    def test_all_that_git_does_not_tell_is_looked_at(self):
        attributes = "*.lf.json text\n*.conv.json filter=same\n*.id.json ident\n*.bin.json binary\n"
        game = self.repository(attributes=attributes)
        self.git(game, "config", "filter.same.clean", "echo same")
        hidden = ["assumed.json", "skipped.json", "x.lf.json", "x.conv.json", "x.id.json", "target"]
        for name in hidden:
            self.write(f"game/content/{name}", "[1]\n")
        self.write("game/content/x.bin.json", "[1]")
        os.symlink("target", self.path("game/content/link.json"))
        self.commit(game)
        self.git(game, "update-index", "--assume-unchanged", "assumed.json")
        self.git(game, "update-index", "--skip-worktree", "skipped.json")
        self.since(game)
        for name in hidden:
            with self.subTest(name):
                self.write(f"game/content/{name}", "[1]\r\n")
                # The index has the new stamps, and the commit's object.
                subprocess.run(["git", "-C", os.path.join(game, "content"), "add", "-u"], env=ENV, stderr=subprocess.DEVNULL)
                cook = self.check_listed(game)
                self.assertGreaterEqual(cook.summary["results"]["cooked"] + cook.summary["results"]["cached"], 1)
        # Where it converts, a changed rule makes other files of the same commit.
        self.write("game/content/.gitattributes", attributes.replace("text", "text eol=crlf"))
        cook = self.since(game)
        self.assertIn("git's settings or attributes (.gitattributes) changed", cook.summary["warnings"][0]["text"])
        self.check_like_a_clean_cook(game, cook)

    def test_a_file_that_changed_while_git_was_asked_is_not_taken_for_committed(self):
        game = self.repository()
        # (Of git that is slow to answer: the file is another one then, and the commit's again after the cook.)
        slow = self.path("bin")
        os.mkdir(slow)
        real = shutil.which("git")
        self.write("bin/git", f"#!/bin/sh\n{real} \"$@\"\ncode=$?\ncase \"$*\" in *diff-index*) echo '[7]' > {game}/content/b.json;; esac\nexit $code\n", 0o755)
        path = os.environ["PATH"]
        for is_listed in (False, True):
            with self.subTest(is_listed):
                if is_listed:
                    self.write("game/content/b.json", "[5]")
                    self.check_listed(game)
                    self.git(game, "checkout", "-q", "--", "b.json")
                os.environ["PATH"] = f"{slow}:{path}"
                try:
                    cook = self.since(game)
                finally:
                    os.environ["PATH"] = path
                self.assertEqual("files" in cook.summary, is_listed)
                self.assertEqual(self.read("game/content/b.json"), b"[7]\n")
                self.git(game, "checkout", "-q", "--", "b.json")
                self.check_listed(game)

    def test_a_hook_s_environment_is_not_believed(self):
        game = self.repository()
        self.since(game)
        self.write("game/content/b.json", "[5]")
        os.mkdir(self.path("other"))
        run_git(self.path("other"), "init", "-q")
        os.environ.update(GIT_DIR=self.path("other/.git"), GIT_INDEX_FILE=self.path("other/.git/index"))
        try:
            self.check_listed(game)
        finally:
            del os.environ["GIT_DIR"], os.environ["GIT_INDEX_FILE"]

    def test_what_git_is_told_to_answer_is_not_believed(self):
        game = self.repository()
        self.git(game, "config", "core.ignorecase", "true")
        os.environ["GIT_LITERAL_PATHSPECS"] = "1"
        try:
            self.since(game)
            self.write("game/content/b.json", "[5]")
            self.assertEqual(self.check_listed(game).summary["results"]["cooked"], 1)
            self.look(game)  # (a plain cook asks git, too)
        finally:
            del os.environ["GIT_LITERAL_PATHSPECS"]
        self.write("game/content/b.json", "[6]")
        os.rename(self.path("game/content/sub"), self.path("game/content/Sub"))
        self.check_listed(game)
        # Where no command line helps, git is not asked, and the cook says so.
        self.git(game, "replace", self.git(game, "rev-parse", "HEAD:a.json"), self.git(game, "rev-parse", "HEAD:c.txt"))
        cook = self.since(game)
        self.assertNotIn("files", cook.summary)
        self.assertEqual([one["kind"] for one in cook.summary["warnings"]], ["version-control"], cook.stderr)
        for text in ("--changed-since: all files are looked at: ", "has objects that stand for others"):
            self.assertIn(text, cook.summary["warnings"][0]["text"])
        # It is a warning of that cook, which stands nevertheless; as an error it fails that cook alone.
        stands = self.look(game)
        self.assertEqual([e["rest"] for e in stands.events if e["event"] == "stands"], [False], stands.stdout)
        self.assertEqual(stands.summary["warnings"], [])
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + '[warnings]\nerror = ["version-control"]\n')
        self.look(game)
        self.assertIn("[version-control], which is an error here", self.since(game, expect=1).summary["failures"][0]["error"])
        self.look(game)

    def test_a_fresh_clone_beside_a_kept_state_is_not_read(self):
        game = self.repository()
        self.since(game)
        self.write("game/content/b.json", "[6]")
        self.commit(game)
        # CI: the folder is made anew, with other stamps throughout, and the commit that was pushed.
        clone = self.path("clone")
        run_git(self.dir, "clone", "-q", "file://" + os.path.join(game, "content"), clone)
        shutil.rmtree(os.path.join(game, "content"))
        os.rename(clone, os.path.join(game, "content"))
        cook = self.check_listed(game)
        self.assertEqual(cook.summary["results"]["cooked"], 1)

    def module(self, game):
        module = self.path("module")
        os.mkdir(module)
        self.write("module/m.json", "[1]")
        self.write("module/n.json", "[1]")
        run_git(module, "init", "-q")
        run_git(module, "add", ".")
        run_git(module, "commit", "-qm", "one")
        self.git(game, "submodule", "--quiet", "add", module, "inner")
        self.git(game, "commit", "-qm", "with a module")

    def test_submodules_and_other_repositories_inside(self):
        game = self.repository()
        self.module(game)
        self.since(game)
        inner = os.path.join(game, "content/inner")
        steps = [
            lambda: self.write("game/content/inner/m.json", "[2]"),
            lambda: self.write("game/content/inner/more.json", "[3]"),
            lambda: run_git(inner, "add", "-A"),
            lambda: run_git(inner, "commit", "-qm", "two"),
            lambda: self.git(game, "commit", "-qam", "moved"),
            lambda: run_git(inner, "checkout", "-q", "HEAD~1"),
            lambda: self.git(game, "submodule", "--quiet", "update"),
            lambda: self.git(game, "submodule", "--quiet", "deinit", "-f", "inner"),
        ]
        for number, step in enumerate(steps):
            with self.subTest(number):
                step()
                self.check_listed(game)
        # One that was not there is looked at as a whole, once.
        self.git(game, "submodule", "--quiet", "update", "--init")
        cook = self.since(game)
        self.assertIn("is new", cook.summary["warnings"][0]["text"])
        self.check_like_a_clean_cook(game, cook)
        # A repository that is no submodule: git says nothing of it.
        os.mkdir(os.path.join(game, "content/nested"))
        run_git(os.path.join(game, "content/nested"), "init", "-q")
        for text in ("[1]", "[2]"):
            self.write("game/content/nested/x.json", text)
            self.check_listed(game)
            run_git(os.path.join(game, "content/nested"), "add", "-A")
            run_git(os.path.join(game, "content/nested"), "commit", "-qm", "more")

    def test_mounts_in_and_out_of_repositories(self):
        game = self.repository()
        os.makedirs(self.path("real/deep"))
        self.write("real/deep/z.json", "[1]")
        run_git(self.path("real"), "init", "-q")
        run_git(self.path("real"), "add", ".")
        run_git(self.path("real"), "commit", "-qm", "one")
        os.symlink("../real/deep", self.path("game/linked"))
        os.mkdir(self.path("game/plain"))
        self.write("game/plain/y.json", "[1]")
        toml = self.read("game/galley.toml").replace(b'[[platform]]', b'[[mount]]\npath = "/L"\ndir = "linked"\n[[mount]]\npath = "/P"\ndir = "plain"\n[[rule]]\nmatch = "/[LP]/**"\ncooker = "data"\n[[platform]]', 1)
        self.write("game/galley.toml", toml)
        self.look(game, "--changed-since", "HEAD")
        for name in ("game/content/b.json", "real/deep/z.json", "game/plain/y.json", "game/plain/new.json"):
            with self.subTest(name):
                self.write(name, "[2, 3]")
                cook = self.since(game)
                self.assertEqual(cook.summary["files"], "listed")
                self.assertEqual(cook.summary["roots"], self.look(game, "--force").summary["roots"])
                self.since(game)

    def test_a_resident_director_asks_git_too(self):
        game = self.repository()
        self.serve(game)
        self.since(game)
        for value in range(3):
            self.write("game/content/b.json", f"[{value}, 7]")
            self.assertEqual(self.check_listed(game).summary["results"]["cooked"], 1)
        done = self.galley("cook", "--project", game, "--changed-since", "nosuch")
        self.assertEqual(done.returncode, 2, done)

    def test_wrong_revisions_and_no_repository(self):
        plain = self.game("plain")
        self.look(plain)
        for state in (plain, self.game("new")):
            done = self.galley("cook", "--project", state, "--changed-since", "HEAD")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("--changed-since HEAD: no mount of the project is in a git repository", done.stderr)
        game = self.repository()
        for revision in ("nosuch", "--all", "HEAD:a.json"):
            done = self.galley("cook", "--project", game, f"--changed-since={revision}")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("has no such commit", done.stderr)
        self.assertEqual(self.galley("cook", "--project", game, "--changed-since", "HEAD", "--changed", "-").returncode, 2)
        self.commit(game)
        shallow = self.path("shallow")
        os.mkdir(shallow)
        run_git(self.dir, "clone", "-q", "--depth", "1", "file://" + os.path.join(game, "content"), os.path.join(shallow, "content"))
        shutil.copy(os.path.join(game, "galley.toml"), shallow)
        done = self.galley("cook", "--project", shallow, "--changed-since", "HEAD~1")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("the clone is shallow", done.stderr)

    def test_random_edits(self):
        attributes = "*.txt text\n"
        for resident in (False, True):
            game = self.repository(f"game{resident}", attributes)
            if resident:
                self.serve(game)
            seed = int(os.environ.get("GALLEY_SEED", random.randrange(1 << 32)))
            rng = random.Random(seed)
            with self.subTest(seed=seed, resident=resident):
                self.walk(game, rng)

    def walk(self, game, rng):
        names = ["a.json", "b.json", "c.txt", "sub/d.json", "sub/new.json", "x.tmp.json", "link.json"]
        listed = 0
        first = self.git(game, "rev-parse", "HEAD")
        for _ in range(16):
            for _ in range(rng.randrange(3)):
                name = rng.choice(names)
                path = os.path.join(game, "content", name)
                if os.path.lexists(path) and rng.random() < 0.2:
                    os.remove(path)
                elif name == "link.json" and not os.path.lexists(path):
                    os.symlink("b.json", path)
                else:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w") as file:
                        file.write(json.dumps([rng.randrange(3)]) + rng.choice(["\n", "\r\n"]))
            if rng.random() < 0.3:
                self.commit(game)
            if rng.random() < 0.2:
                self.git(game, "checkout", "-qf", rng.choice(["HEAD", first]))
            args = ("--changed-since", "HEAD") if rng.random() < 0.8 else ()
            cook = self.look(game, *args, expect=None)
            listed += cook.summary.get("files") == "listed"
            self.check_like_a_clean_cook(game, cook)
        self.assertGreater(listed, 3)


for name in dir(Changed):  # those are run where they are
    if name.startswith("test_"):
        setattr(ChangedSinceTest, name, None)
del Changed

if __name__ == "__main__":
    unittest.main()
