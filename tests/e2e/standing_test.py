"""Cooks of which nothing has changed: answered from what stands, and never when something has."""
import json, os, random, shutil, signal, subprocess, sys, time, unittest

from harness import COPY, Cook, E2ETest, ResidentTest

if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"
IS_LONG = bool(os.environ.get("GALLEY_LONG"))
SEEDS, STEPS = (50, 300) if IS_LONG else (3, 25)

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
TOOL = 'match = "/Game/**/*.run"\ncooker = "command"\nsettings = { argv = ["tools/run", "{input}", "{output:.out}", "{result}"], outputs = [".out"] }'
# Observes an environment variable, a glob and a file that may be absent.
RUN = """#!/bin/sh
here=$(dirname "$1")
cat "$1" > "$2"
echo "$WHO" >> "$2"
ls "$here" | grep '[.]part$' >> "$2"
cat "$here/maybe" >> "$2" 2>/dev/null
cat > "$3" <<X
{"observations": [{"kind": "env", "name": "WHO"}, {"kind": "glob", "path": "$here", "pattern": "*.part"}, {"kind": "file", "path": "$here/maybe"}]}
X
"""


# Reads the cooked output of another package.
READ = 'match = "/Game/**/*.read"\ncooker = "command"\nsettings = { argv = ["tools/read", "{input}", "{cooked:/Game/i.json:.cbor}", "{output:.out}"], outputs = [".out"] }'
COOKS = ["", '[cook]\nnever = ["/Game/f.json"]\n', '[cook]\nalways = ["/Game/*.json"]\n', '[cook]\nmaps = ["/Game/a.json"]\n',
         '[cook]\nmaps = ["/Game/a.json", "/Game/r.read"]\n', '[cook]\nmaps = ["/Game/b.json", "/Game/x.run"]\n']


class StandingTest(ResidentTest):
    def game(self, name="game", files=None):
        files = files or {"a.json": '{"x": 1, "y": {"$ref": "b.json"}}', "b.json": '{"z": [1, 2]}', "c.txt": "text", "sub/d.json": "[]", "notes": "none"}
        game = self.project(files, [DATA, COPY, TOOL], name=name)
        self.write(f"{name}/tools/run", RUN, 0o755)
        return game

    def events(self, cook):
        return [json.loads(line) for line in cook.stdout.splitlines()]

    def stands(self, cook):
        """Whether the cook was answered from what stands. Then no package is told by itself."""
        events = self.events(cook)
        stands = [e for e in events if e["event"] == "stands" and not e["rest"]]
        if stands:
            self.assertEqual([e for e in events if e["event"] == "done"], [])
            self.assertEqual(cook.results["up_to_date"], stands[0]["results"])
        return bool(stands)

    def look(self, game, *args, expect=0, **kw):
        return E2ETest.cook(self, game, "--json", *args, expect=expect, **kw)

    def check_same(self, one, other):
        """Two cooks that came to the same, whatever was cooked for it."""
        self.assertEqual(one.code, other.code, (one, other))
        self.assertEqual(one.roots, other.roots, (one, other))
        self.assertEqual(self.told(one), self.told(other), (one, other))
        for name in ("in_cook", "failed", "skipped"):
            self.assertEqual(one.summary["packages"][name], other.summary["packages"][name], (name, one, other))

    def told(self, cook):
        def key(entries):
            return sorted(tuple(e.get(k, "").replace("/clean/", "/game/").removesuffix("; the last good tree stays") for k in ("package", "platform", "stage", "error", "text")) for e in entries)
        return key(cook.failures), key(cook.summary["warnings"])

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
            "a sidecar": edit("content/c.txt.cook", 'labels = ["x"]'),
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

    def damage(self, what):
        folder = self.path("game/.galley/state/standing")
        for name in os.listdir(folder):
            if name.endswith("." + what):
                with open(os.path.join(folder, name), "r+b") as file:
                    file.seek(20)
                    file.write(b"\0\0\0\0\xff")

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

    # --- Random edits: each step comes to what a clean cook comes to.

    def clean(self, game):
        """The same project, cooked with nothing that is known of it."""
        other = self.path("clean")
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(game, other, ignore=shutil.ignore_patterns(".galley"), symlinks=True)
        return self.look(other, expect=None, env=self.env)

    def edit(self, rng, game, is_resident):
        content = os.path.join(game, "content")
        names = [f"{n}.json" for n in "abcdefi"] + ["t.txt", "u.txt", "x.run", "r.read", "maybe", "p.part", "q.part", "A.json"]
        some = [n for n in names if os.path.exists(os.path.join(content, n))]
        name = rng.choice(some if some and rng.random() < 0.6 else names)
        path = os.path.join(content, name)
        what = rng.choice(["write"] * 8 + ["touch", "delete", "rename", "swap", "sidecar", "env", "tool", "toml", "sandbox", "state", "same", "narrow", "odd"])

        def text():
            if not name.endswith(".json"):
                return f"{rng.randrange(5)}\n"
            refs = [f'{{"${rng.choice(["ref", "soft", "editor"])}": "{rng.choice(names)}"}}' for _ in range(rng.randrange(3))]
            return "{" if rng.random() < 0.1 else "[" + ", ".join(refs + [str(rng.randrange(5))]) + "]"

        if what == "write":
            with open(path, "w") as file:
                file.write(text())
        elif what == "touch" and some:
            os.utime(os.path.join(content, rng.choice(some)))
        elif what == "delete" and len(some) > 3:
            os.remove(os.path.join(content, rng.choice(some)))
        elif what == "rename" and some:
            os.rename(os.path.join(content, rng.choice(some)), path)
        elif what == "swap" and len(some) > 1:
            one, other = (os.path.join(content, n) for n in rng.sample(some, 2))
            os.rename(one, one + ".tmp")
            os.rename(other, one)
            os.rename(one + ".tmp", other)
        elif what == "sidecar":
            sidecar = path + ".cook"
            if os.path.exists(sidecar):
                os.remove(sidecar)
            else:
                with open(sidecar, "w") as file:
                    file.write(rng.choice(['cooker = "copy"\n', "[settings]\ncell_size = 0\n", "labels = []\n"]))
        elif what == "env":
            self.env = {"WHO": rng.choice(["ann", "bob"])}
        elif what == "tool":
            self.write("game/tools/run", RUN + f"# {rng.randrange(3)}\n", 0o755)
        elif what == "toml":
            toml = self.read("game/galley.toml").decode().split("[cook]")[0]
            self.write("game/galley.toml", toml + rng.choice(COOKS))
        elif what == "sandbox" and os.path.exists(os.path.join(game, ".galley/cooked/pc/.galley-sandbox")):
            cooked = [os.path.join(folder, n) for folder, _, all_names in os.walk(os.path.join(game, ".galley/cooked/pc/Game")) for n in all_names]
            edited = rng.choice(sorted(cooked)) if cooked and rng.random() < 0.7 else self.path("game/.galley/cooked/pc/Game/foreign")
            os.makedirs(os.path.dirname(edited), exist_ok=True)
            rng.choice([lambda: self.write(edited, "mine"), lambda: os.path.exists(edited) and os.remove(edited)])()
        elif what == "state":
            # (The rest is a director's, as long as it runs.)
            shutil.rmtree(os.path.join(game, ".galley/state", "standing" if is_resident else rng.choice(["standing", "journal"])), ignore_errors=True)
        elif what == "odd":
            odd = os.path.join(content, "odd")
            os.remove(odd) if os.path.lexists(odd) else os.symlink("nowhere", odd)
        elif what == "narrow" and some:
            self.galley("cook", "--project", game, "--package", "/Game/" + rng.choice(some), *rng.choice([[], ["--force"]]), env=self.env)
        return what

    def random_edits(self, seed, is_resident):
        rng = random.Random(seed)
        game = self.project({"a.json": '[{"$ref": "b.json"}]', "b.json": '[{"$ref": "c.json"}]', "c.json": "[1]", "i.json": "[1]", "t.txt": "t", "x.run": "x",
                             "r.read": "r"}, [DATA, COPY, TOOL, READ], platforms=['name = "pc"', 'name = "phone"'])
        self.write("game/tools/run", RUN, 0o755)
        self.write("game/tools/read", '#!/bin/sh\ncat "$1" "$2" > "$3"\n', 0o755)
        self.env = {"WHO": "ann"}
        if is_resident:
            self.serve(game, env=self.env)
        stood = 0
        for step in range(STEPS):
            what = [self.edit(rng, game, is_resident) for _ in range(rng.choice([1, 1, 2, 3]))]
            if is_resident:
                self.env = {"WHO": "ann"}
            with self.subTest(seed=seed, step=step, edit=what, is_resident=is_resident):
                clean = self.clean(game)
                cook = self.look(game, expect=None, env=self.env)
                self.compare(game, cook, clean)
                again = self.look(game, expect=None, env=self.env)
                self.compare(game, again, clean)
                stood += self.stands(again)
                self.differed += any(e["event"] == "stands" and e["rest"] for e in self.events(cook))
        if is_resident:
            self.galley("serve", "--stop", "--project", game)
        shutil.rmtree(game)
        return stood

    def compare(self, game, cook, clean):
        self.assertEqual(cook.code, clean.code, (cook, clean))
        if clean.code == 2:
            return
        self.assertEqual(cook.roots, clean.roots, (cook, clean))
        for name in ("in_cook", "failed", "skipped"):
            self.assertEqual(cook.summary["packages"][name], clean.summary["packages"][name], (name, cook, clean))
        self.assertEqual(sum(cook.results.values()), sum(clean.results.values()), (cook, clean))
        self.assertEqual(cook.summary["snapshot"], clean.summary["snapshot"], (cook, clean))
        foreign = "not put there by Galley"
        told = lambda one: (self.told(one)[0], [t for t in self.told(one)[1] if foreign not in t[4] and "was damaged" not in t[4]])
        self.assertEqual(told(cook), told(clean), (cook, clean))
        if cook.roots:
            tree = {p: b for p, b in self.tree(game, "pc").items() if p != "Game/foreign"}
            self.assertEqual(tree, self.tree(self.path("clean"), "pc"), (cook, clean))

    def test_random_edits_come_to_what_a_clean_cook_comes_to(self):
        self.use_memory()
        for is_resident in (False, True):
            stood, self.differed = 0, 0
            for i in range(SEEDS):
                seed = int(os.environ.get("GALLEY_SEED", random.SystemRandom().randrange(1 << 32)))
                print(f"GALLEY_SEED={seed}", end=" ", file=sys.stderr, flush=True)
                stood += self.random_edits(seed, is_resident)
            self.assertGreater(stood, SEEDS * STEPS // 6, "few cooks stood: the test says little")
            self.assertGreater(self.differed, SEEDS * STEPS // 20, "few cooks were of a difference: the test says little")


if __name__ == "__main__":
    unittest.main()
