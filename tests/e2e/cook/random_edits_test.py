"""Random edits of a project and of all that Galley keeps of it: after each, a cook comes to what a cook comes to that knows nothing, and cooks what it must.

`--long` (or GALLEY_LONG=1) does more. The seeds are printed; GALLEY_SEED=<seed> draws the same edits again.
"""
import itertools, json, os, random, re, shutil, signal, stat, sys, time, unittest

from harness import COPY
from standing_case import DATA, LISTED, RUN, TOOL, StandingCase

if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"
IS_LONG = bool(os.environ.get("GALLEY_LONG"))
# A plain run is one seed of each kind, of some seconds; DryRunTest draws up to five.
SEEDS, STEPS = (50, 300) if IS_LONG else (1, 20)

# Reads the cooked output of another package.
READ = 'match = "/Game/**/*.read"\ncooker = "command"\nsettings = { argv = ["tools/read", "{input}", "{cooked:/Game/i.json:.cbor}", "{output:.out}"], outputs = [".out"] }'
READS = '#!/bin/sh\ncat "$1" "$2" > "$3"\n'
COOKS = ["", '[cook]\nnever = ["/Game/f.json"]\n', '[cook]\nalways = ["/Game/*.json"]\n', '[cook]\nmaps = ["/Game/a.json"]\n',
         '[cook]\nmaps = ["/Game/a.json", "/Game/r.read"]\n', '[cook]\nmaps = ["/Game/b.json", "/Game/x.run"]\n', '[cook]\ncultures = ["de"]\n',
         '[cook]\nmaps = ["/Game/b.json"]\ncultures = ["de"]\n']
PHONE = '[[platform]]\nname = "phone"\n'
MOUNTS = ["", '[[mount]]\npath = "/Game"\ndir = "mod"\npriority = 1\n', '[[mount]]\npath = "/Game"\ndir = "mod"\npriority = -1\n',
          '[[mount]]\npath = "/Mod"\ndir = "mod"\n', '[[mount]]\npath = "/Mod"\ndir = "content/sub"\n']
RULES = ["", '[[rule]]\nmatch = "/Game/[ab].json"\nsettings = { cell_size = 4 }\n', '[[rule]]\nmatch = "/Game/t.txt"\ncooker = "data"\n']
NAMES = [f"{n}.json" for n in "abcdefi"] + ["t.txt", "u.txt", "x.run", "r.read", "maybe", "p.part", "q.part", "A.json", "L10N/de/b.json", "sub/g.json"]
FIRST = {"a.json": '[{"$ref": "b.json"}]', "b.json": '[{"$ref": "c.json"}]', "c.json": "[1]", "i.json": "[1]", "t.txt": "t", "x.run": "x", "r.read": "r"}


class Edits:
    """One project, and what somebody does to it. The steps of a seed are the same each time."""

    def __init__(self, test, seed, is_resident):
        self.test, self.rng, self.is_resident = test, random.Random(seed), is_resident
        self.game = test.project(FIRST, [DATA, COPY, TOOL, READ], platforms=['name = "pc"', 'name = "phone"'])
        test.write("game/tools/run", RUN, 0o755)
        test.write("game/tools/read", READS, 0o755)
        os.makedirs(os.path.join(self.game, "mod", "sub"))
        os.makedirs(os.path.join(self.game, "content", "sub"))
        for name in ("b.json", "t.txt"):
            test.write(f"game/mod/{name}", '["mod"]')
        self.toml = {"base": test.read("game/galley.toml").decode().replace(PHONE, ""), "phone": PHONE, "mount": "", "rule": "", "farm": LISTED, "cook": ""}
        self.content = os.path.join(self.game, "content")
        self.env = {"WHO": "ann"}
        self.write_toml()

    def write_toml(self, **parts):
        self.toml.update(parts)
        self.test.write("game/galley.toml", "".join(self.toml.values()))

    def some(self):
        return [n for n in NAMES if os.path.exists(os.path.join(self.content, n))]

    def pick(self):
        """A name, more often one that is there."""
        some = self.some()
        return self.rng.choice(some if some and self.rng.random() < 0.6 else NAMES)

    def text(self, name):
        rng = self.rng
        if not name.endswith(".json"):
            return f"{rng.randrange(5)}\n"
        refs = [f'{{"${rng.choice(["ref", "soft", "editor"])}": "/Game/{rng.choice(NAMES)}"}}' for _ in range(rng.randrange(3))]
        return "{" if rng.random() < 0.1 else "[" + ", ".join(refs + [str(rng.randrange(5))]) + "]"

    def once(self, kinds):
        what = self.rng.choice(kinds)
        getattr(self, "do_" + what)()
        return what

    def mend(self):
        """What keeps all from being cooked goes, now and then: nothing stands of it."""
        if self.rng.random() < 0.5:
            return
        for folder, _, names in os.walk(self.content):
            for name in names:
                if name.endswith(".cook") or name == "A.json":
                    os.remove(os.path.join(folder, name))
        self.write_toml(cook="", mount="")

    # --- files

    def do_write(self):
        name = self.pick()
        os.makedirs(os.path.dirname(os.path.join(self.content, name)), exist_ok=True)
        with open(os.path.join(self.content, name), "w") as file:
            file.write(self.text(name))

    def do_touch(self):
        if self.some():
            os.utime(os.path.join(self.content, self.rng.choice(self.some())))

    def do_delete(self):
        if len(self.some()) > 3:
            os.remove(os.path.join(self.content, self.rng.choice(self.some())))

    def do_rename(self):
        if self.some():
            to = os.path.join(self.content, self.pick())
            os.makedirs(os.path.dirname(to), exist_ok=True)
            os.rename(os.path.join(self.content, self.rng.choice(self.some())), to)

    def do_swap(self):
        if len(self.some()) > 1:
            one, other = (os.path.join(self.content, n) for n in self.rng.sample(self.some(), 2))
            os.rename(one, one + ".tmp")
            os.rename(other, one)
            os.rename(one + ".tmp", other)

    def do_same(self):
        """By rename, as editors save."""
        if self.some():
            path = os.path.join(self.content, self.rng.choice(self.some()))
            shutil.copy(path, path + ".new")
            os.rename(path + ".new", path)

    def do_spaces(self):
        """Other bytes of which the same is cooked."""
        names = [n for n in self.some() if n.endswith(".json")]
        if names:
            with open(os.path.join(self.content, self.rng.choice(names)), "a") as file:
                file.write(" ")

    def do_number(self):
        """Other bytes that refer to the same."""
        names = [n for n in self.some() if n.endswith(".json") and n != "i.json"]
        if names:
            path = os.path.join(self.content, self.rng.choice(names))
            text = self.test.read(path).decode()
            if text.strip().endswith("]"):
                self.test.write(path, re.sub(r"[0-9]+(?=\s*]\s*$)", lambda _: str(self.rng.randrange(10, 1000)), text))

    def do_sidecar(self):
        sidecar = os.path.join(self.content, self.pick()) + ".cook"
        if os.path.exists(sidecar):
            os.remove(sidecar)
        elif os.path.isdir(os.path.dirname(sidecar)):
            with open(sidecar, "w") as file:
                file.write(self.rng.choice(self.test.sidecars))

    def do_odd(self):
        odd = os.path.join(self.content, "odd")
        os.remove(odd) if os.path.lexists(odd) else os.symlink("nowhere", odd)

    def do_cycle(self):
        for name, to in (("d.json", "e.json"), ("e.json", "d.json")):
            with open(os.path.join(self.content, name), "w") as file:
                file.write(f'[{{"$ref": "/Game/{to}"}}]')

    # --- the project and what it looks at

    def do_env(self):
        if not self.is_resident:
            self.env = {"WHO": self.rng.choice(["ann", "bob"])}

    def do_tool(self):
        self.test.write("game/tools/run", RUN + f"# {self.rng.randrange(3)}\n", 0o755)

    def do_toml(self):
        part = self.rng.choice(["cook", "cook", "mount", "rule", "phone"])
        self.write_toml(**{part: self.rng.choice({"cook": COOKS, "mount": MOUNTS, "rule": RULES, "farm": ["", LISTED], "phone": ["", PHONE]}[part])})

    def do_mod(self):
        name = self.rng.choice(["b.json", "t.txt", "sub/g.json"])
        path = os.path.join(self.game, "mod", name)
        if os.path.exists(path) and self.rng.random() < 0.4:
            return os.remove(path)
        with open(path, "w") as file:
            file.write(self.text(name))

    # --- what Galley keeps

    def do_sandbox(self):
        if not os.path.exists(os.path.join(self.game, ".galley/cooked/pc/.galley-sandbox")):
            return
        cooked = [os.path.join(folder, n) for folder, _, names in os.walk(os.path.join(self.game, ".galley/cooked/pc/Game")) for n in names]
        edited = self.rng.choice(sorted(cooked)) if cooked and self.rng.random() < 0.7 else self.test.path("game/.galley/cooked/pc/Game/foreign")
        os.makedirs(os.path.dirname(edited), exist_ok=True)
        self.rng.choice([lambda: self.test.write(edited, "mine"), lambda: os.path.exists(edited) and os.remove(edited)])()

    def do_state(self):
        # (The rest is a director's, as long as it runs.)
        name = "standing" if self.is_resident else self.rng.choice(["standing", "journal", "digests"])
        path = os.path.join(self.game, ".galley/state", name)
        shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)

    def do_damage(self):
        """A bit of what stands turns."""
        folder = os.path.join(self.game, ".galley/state/standing")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        files = [n for n in names if os.path.isfile(os.path.join(folder, n))]
        if files:
            path = os.path.join(folder, self.rng.choice(files))
            data = bytearray(self.test.read(path))
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
            self.test.write(path + ".new", bytes(data))
            os.rename(path + ".new", path)

    def do_gc(self):
        self.test.galley("store", "gc", "--project", self.game, "--max-size", self.rng.choice(["0", "1G"]))

    def do_restore(self):
        """An older store comes back, with the state of today."""
        if self.is_resident:
            return
        store, kept = os.path.join(self.game, ".galley/store"), self.test.path("kept store")
        if os.path.isdir(kept):
            shutil.rmtree(store, ignore_errors=True)
            os.rename(kept, store)
        elif os.path.isdir(store):
            shutil.copytree(store, kept, symlinks=True, ignore=sockets_of)

    # --- other cooks

    def do_narrow(self):
        args = self.rng.choice([["--package", "/Game/" + self.pick()], ["--never", "/Game/b.json"], ["--force"], ["--platform", "pc"], ["--no-stage"], ["--fail-fast"]])
        self.test.galley("cook", "--project", self.game, *args, env=self.env)

    def do_list(self):
        """A list that leaves out what it likes."""
        names = self.rng.sample(NAMES, self.rng.randrange(len(NAMES)))
        self.test.write("list", "".join(f"/Game/{n}\n" for n in names))
        self.test.galley("cook", "--project", self.game, "--changed", self.test.path("list"), env=self.env)

    def do_kill(self):
        if self.is_resident:
            return
        process = self.test.start_cook(self.game, env=self.env)
        time.sleep(self.rng.random() * 0.12)  # at any time
        process.send_signal(signal.SIGKILL)
        process.communicate()


FILES = ["write"] * 8 + ["touch", "delete", "rename", "swap", "same", "spaces", "sidecar", "cycle"]
ALL = FILES + ["odd", "env", "tool", "toml", "toml", "mod", "sandbox", "state", "damage", "gc", "restore", "narrow", "list", "kill"]


def sockets_of(folder, names):
    """(A store whose owner was killed while it bound one keeps that, too.)"""
    return [name for name in names if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode)]


class RandomEditsTest(StandingCase):
    sidecars = ['cooker = "copy"\n', "[settings]\ncell_size = 0\n", "labels = []\n"]

    def clean(self, edits):
        """The same project, cooked with nothing that is known of it."""
        other = self.path("clean")
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(edits.game, other, ignore=shutil.ignore_patterns(".galley"), symlinks=True)
        return self.look(other, expect=None, env=edits.env)

    def compare(self, edits, cook, clean):
        self.assertEqual(cook.code, clean.code, (cook, clean))
        if clean.code == 2:
            return
        self.assertEqual(cook.roots, clean.roots, (cook, clean))
        for name in ("in_cook", "failed", "skipped"):
            self.assertEqual(cook.summary["packages"][name], clean.summary["packages"][name], (name, cook, clean))
        self.assertEqual(sum(cook.results.values()), sum(clean.results.values()), (cook, clean))
        self.assertEqual(cook.summary["snapshot"], clean.summary["snapshot"], (cook, clean))
        told = lambda one: (self.told(one)[0], [t for t in self.told(one)[1] if not any(text in t[4] for text in self.OF_THE_STATE)])
        self.assertEqual(told(cook), told(clean), (cook, clean))
        for platform in cook.roots:
            tree = {p: b for p, b in self.tree(edits.game, platform).items() if p != "Game/foreign"}
            self.assertEqual(tree, self.tree(self.path("clean"), platform), (cook, clean))

    # What a cook says of what it finds, and not of the project.
    OF_THE_STATE = ["this cook takes away", "not put there by Galley", "was damaged", "damaged", "lost from the store", "every package was looked", "is gone; ", "is another one", "hashed again",
                    "older one", "another store"]

    def seeds(self):
        for _ in range(SEEDS):
            seed = int(os.environ.get("GALLEY_SEED", random.SystemRandom().randrange(1 << 32)))
            print(f"GALLEY_SEED={seed}", end=" ", file=sys.stderr, flush=True)
            yield seed

    def check_seed(self, seed, is_resident):
        edits = Edits(self, seed, is_resident)
        if is_resident:
            self.serve(edits.game, env=edits.env)
        for step in range(STEPS):
            what = [edits.once(ALL) for _ in range(edits.rng.choice([1, 1, 2, 3]))]
            with self.subTest(seed=seed, step=step, edit=what, is_resident=is_resident):
                clean = self.clean(edits)
                cook = self.look(edits.game, expect=None, env=edits.env)
                self.compare(edits, cook, clean)
                again = self.look(edits.game, expect=None, env=edits.env)
                self.compare(edits, again, clean)
                self.stood += self.stands(again)
                self.differed += any(e["event"] == "stands" and e["rest"] for e in self.events(cook))
                if not again.roots:
                    edits.mend()
        if is_resident:
            self.galley("serve", "--stop", "--project", edits.game)
        shutil.rmtree(edits.game)
        shutil.rmtree(self.path("kept store"), ignore_errors=True)

    def check(self, is_resident):
        self.use_memory()
        self.stood = self.differed = 0
        for seed in self.seeds():
            self.check_seed(seed, is_resident)
        self.assertGreater(self.stood, SEEDS * STEPS // 6 if IS_LONG else 0, "few cooks stood: the test says little")
        if IS_LONG:
            self.assertGreater(self.differed, SEEDS * STEPS // 20, "few cooks were of a difference: the test says little")

    def test_cold(self):
        self.check(is_resident=False)

    def test_resident(self):
        self.check(is_resident=True)


class ModelTest(RandomEditsTest):
    """A naive model says what is cooked: what has a key that no cook before had."""
    sidecars = ['cooker = "copy"\n']
    KINDS = FILES + ["env", "tool"]

    def bytes_of(self, path):
        return self.read(path) if os.path.exists(path) else None

    def key_of(self, edits, name):
        """All that decides what is cooked of a package."""
        content = lambda n: self.bytes_of(os.path.join(edits.content, n))
        kind = name.rsplit(".")[-1]
        if content(name + ".cook") is not None and kind != "txt":  # (with the settings of the kind's rule)
            return ("copy", kind, content(name))
        key = (kind, content(name))
        if name.endswith(".run"):
            parts = tuple(n for n in sorted(os.listdir(edits.content)) if n.endswith(".part"))
            return (name, key, self.read("game/tools/run"), edits.env["WHO"], parts, content("maybe"))
        if name.endswith(".read"):
            read = content("i.json")
            try:
                read = json.dumps(json.loads(read), sort_keys=True)
            except ValueError:
                pass
            return (name, key, read, content("i.json.cook"))
        return key

    def check_seed(self, seed, is_resident):
        edits = Edits(self, seed, is_resident)
        if is_resident:
            self.serve(edits.game, env=edits.env)
        known = set()
        for step in range(STEPS):
            what = [edits.once(self.KINDS) for _ in range(edits.rng.choice([0, 1, 1, 2, 3]))] if step else []
            with self.subTest(seed=seed, step=step, edit=what, is_resident=is_resident):
                clean = self.clean(edits)
                cook = self.look(edits.game, expect=None, env=edits.env)
                self.compare(edits, cook, clean)
                if clean.code == 2:
                    continue
                done = {e["package"] for e in self.events(clean) if e["event"] == "done"}
                keys = {package: self.key_of(edits, package.removeprefix("/Game/")) for package in done}
                new = {key for key in keys.values() if key not in known}
                cooked = self.cooked_packages(cook.stdout)
                # (Of packages with the same key one is cooked.)
                self.assertEqual(sorted(map(repr, (keys.get(p) for p in cooked))), sorted(map(repr, new)), (cooked, cook))
                known |= new
                self.stood += self.stands(cook)
                self.differed += any(e["event"] == "stands" and e["rest"] for e in self.events(cook))
        if is_resident:
            self.galley("serve", "--stop", "--project", edits.game)
        shutil.rmtree(edits.game)

    def check(self, is_resident):
        self.use_memory()
        self.stood = self.differed = 0
        for seed in itertools.islice(self.seeds(), max(1, SEEDS // 2)):
            self.check_seed(seed, is_resident)
        if IS_LONG:
            self.assertGreater(self.differed, STEPS // 20, "few cooks were of a difference: the test says little")


class DryRunTest(RandomEditsTest):
    """What `--dry-run` says, and what the cook then does. Packages that no result has named before may differ, and then it says "at least"."""
    KINDS = FILES + ["number"] * 6 + ["delete", "rename", "env", "tool", "toml", "mod", "odd"]
    STEPS = 150 if IS_LONG else 12

    def leads(self, edits):
        """All that decides which packages each leads to."""
        places = [(edits.content, ""), (os.path.join(edits.game, "mod"), "mod ")]
        texts = {}
        for folder, mount in places:
            for at, _, names in os.walk(folder):
                for name in names:
                    path = os.path.join(at, name)
                    text = self.read(path).decode() if os.path.exists(path) else ""
                    is_whole = not name.endswith(".json") or text.strip().endswith("]")
                    texts[os.path.relpath(path, folder), mount] = re.findall(r'"[^"]*"', text) if is_whole else text
        named = {name.removesuffix(".cook") for name, _ in texts}
        settings = [edits.toml["mount"], edits.toml["rule"]]
        return {f"/{mount}/{name}": [settings] + [texts.get((name + end, at)) for end in ("", ".cook") for _, at in places] for name in named for mount in ("Game", "Mod")}

    def removed(self, before, game):
        return {(platform, path) for platform, paths in before.items() for path in paths - set(self.tree(game, platform))}

    def check_step(self, edits):
        before = {p: set(self.tree(edits.game, p)) for p in ("pc", "phone")}
        done = self.galley("cook", "--dry-run", "--json", "--project", edits.game, env=edits.env)
        cook = self.look(edits.game, expect=None, env=edits.env)
        self.assertEqual(done.returncode == 2, cook.code == 2, (done, cook))
        if cook.code == 2:
            return
        dry = json.loads(done.stdout)
        events = self.events(cook)
        what = (dry, cook, events)
        sure = {p["package"] for p in dry["packages"] if p["is_sure"]}
        to_cook = {p["package"] for p in dry["packages"]}
        failed = {(f["package"], f["error"]) for f in cook.failures}
        cooked = {e["package"] for e in events if e["event"] == "done" and e["source"] != "up_to_date"}
        failing = {(f["package"], f["error"]) for f in dry["failing"]}
        of_cooks = [*self.OF_THE_STATE, "nothing was published"]
        warned = {(w["package"], w["text"]) for w in cook.summary["warnings"] if not any(text in w["text"] for text in of_cooks)}
        warnings = {(w["package"], w["text"]) for w in dry["warnings"]}
        removed, gone = {(f["platform"], f["path"]) for f in dry["removed"]}, self.removed(before, edits.game)
        self.assertEqual(len(dry["unmatched"]), [e["unmatched"] for e in events if e["event"] == "scanned"][0], what)
        led, self.led = self.led, self.leads(edits)
        # (It says "at least" of each that may lead elsewhere. Where none does, all is foreseen.)
        is_alike = all(not p["is_new"] and led.get(p["package"]) == self.led.get(p["package"]) for p in dry["packages"])
        if not dry["is_at_least"] or is_alike:
            self.strict += 1
            # (A result may be what it was, and a new one may be a failure.)
            self.assertLessEqual(sure, cooked | {p for p, _ in failed}, what)
            # (What held, but was in no root, is "cached" then: nothing is cooked.)
            self.assertLessEqual({e["package"] for e in events if e["event"] == "done" and e["source"] == "cooked"}, to_cook, what)
            self.assertLessEqual(failing, failed, what)
            self.assertLessEqual({p for p, _ in failed - failing}, to_cook, what)
            # What is not cooked is foreseen wholly, whatever is cooked beside it.
            stands = lambda pairs: {pair for pair in pairs if pair[0] not in to_cook}
            self.assertEqual(stands(failing), stands(failed), what)
            self.assertEqual(stands(warnings), stands(warned), what)
            stays = lambda files: {file for file in files if not ("/" + file[1]).startswith(tuple(to_cook))}
            self.assertEqual(stays(removed), stays(gone), what)
            self.compared += len(to_cook) > 0
            self.assertEqual(dry["up_to_date"] + len(to_cook | {p for p, _ in failing if p}), cook.summary["packages"]["in_cook"], what)

    def check_seed(self, seed, is_resident):
        edits = Edits(self, seed, is_resident)
        if is_resident:
            self.serve(edits.game, env=edits.env)
        self.led = {}
        for step in range(self.STEPS):
            what = [edits.once(self.KINDS) for _ in range(edits.rng.choice([1, 1, 2]))] if step else []
            with self.subTest(seed=seed, step=step, edit=what, is_resident=is_resident):
                self.check_step(edits)
        if is_resident:
            self.galley("serve", "--stop", "--project", edits.game)
        shutil.rmtree(edits.game)

    def check(self, is_resident):
        self.use_memory()
        self.strict = self.compared = 0
        least, most = (10, 10) if IS_LONG else (1, 1 if "GALLEY_SEED" in os.environ else 5)
        for count in range(most):  # A seed may draw edits after each of which the dry run can only say "at least".
            if count < least or self.strict == 0:
                self.check_seed(next(self.seeds()), is_resident)
        if IS_LONG:
            self.assertGreater(self.compared, 0, "nothing was to be cooked, or each time it said \"at least\": the test says little")
        self.assertGreater(self.strict, 0, "each time it said \"at least\": the test says little")


if __name__ == "__main__":
    unittest.main()
