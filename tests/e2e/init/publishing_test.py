#!/usr/bin/env python3
"""Which roots are published and which sandboxes follow: nothing empty, nothing twice, no name that the platform cannot have; and `galley stage --check`."""
import json, os, unittest

import harness
from init import look_test

COPY = 'match = "/Game/**/*.txt"\ncooker = "copy"'
DATA = 'match = "/Game/**/*.json"\ncooker = "data"'


class PublishingCase(harness.ResidentTest):
    def cook(self, project, *args, expect=0, env=None):
        return harness.E2ETest.cook(self, project, *args, expect=expect, env=env)

    def roots(self, game):
        done = self.galley("roots", "--project", game, "--json")
        self.assertEqual(done.returncode, 0, done)
        return [(one["platform"], one["sequence"], one["root"]) for one in map(json.loads, done.stdout.splitlines())]

    def replace(self, path, before, after):
        text = self.read(path).decode()
        self.assertIn(before, text)
        self.write(path, text.replace(before, after))


class EmptyRootTest(PublishingCase):
    def setUp(self):
        super().setUp()
        self.game = self.project({"a.json": "{}", "b.json": "{}", "c.txt": "c"}, [DATA, COPY])

    def test_a_narrow_cook_of_which_all_fails_publishes_nothing(self):
        self.cook(self.game)
        before = self.roots(self.game)
        self.write("game/content/a.json", "{")
        for args in ([], ["--force"], ["--retry-failed"]):
            self.assertEqual(self.cook(self.game, "/Game/a.json", *args, expect=1).roots, {})
        self.assertEqual(self.roots(self.game), before)
        # A failed package has no file; the others stay.
        self.assertEqual(set(self.tree(self.game, "pc")), {"Game/b.json.cbor", "Game/c.txt"})

    def test_an_unchanged_narrow_cook_takes_no_number(self):
        self.cook(self.game)
        first = self.cook(self.game, "/Game/a.json", "/Game/c.txt").roots
        before = self.roots(self.game)
        self.assertEqual(len(before), 2)
        for args in ([], ["--force"], ["--retry-failed"]):
            self.assertEqual(self.cook(self.game, "/Game/a.json", "/Game/c.txt", *args).roots, first)
        self.assertEqual(self.roots(self.game), before)

    def test_rules_that_make_no_package_are_wrong_and_take_nothing_away(self):
        self.cook(self.game)
        before, staged = self.roots(self.game), self.tree(self.game, "pc")
        self.replace("game/galley.toml", '"/Game/', '"/Gmae/')
        for how in ("what stands", "nothing stands", "a resident director"):
            with self.subTest(how=how):
                if how == "a resident director":
                    self.serve(self.game)
                cook = self.cook(self.game, expect=2)
                self.assertIn("the project holds no package: no file under its mounts matches a [[rule]] or has a sidecar", cook.stderr)
                self.assertRegex(cook.stderr, r"galley\.toml:\d+: \[\[rule\]\] match: nothing matches \"/Gmae/")
                self.assertEqual(self.roots(self.game), before)
                self.assertEqual(self.tree(self.game, "pc"), staged)
                self.forget_what_stands(self.game)
        self.galley("serve", "--stop", "--project", self.game)
        self.replace("game/galley.toml", '"/Gmae/', '"/Game/')
        self.cook(self.game)
        self.assertEqual(self.roots(self.game), before)
        for name in ("a.json", "b.json", "c.txt"):
            os.remove(self.path("game/content", name))
        self.assertIn("the project holds no package", self.cook(self.game, expect=2).stderr)
        self.assertEqual(self.tree(self.game, "pc"), staged)

    def test_an_empty_root_is_published_by_no_cook(self):
        self.write("game/content/a.json", "{")
        self.cook(self.game, expect=1)
        before, staged = self.roots(self.game), self.tree(self.game, "pc")
        os.remove(self.path("game/content/b.json"))
        self.replace("game/galley.toml", "*.txt", "*.tx")
        for how in ("what stands", "nothing stands", "forced"):
            with self.subTest(how=how):
                cook = self.cook(self.game, *(["--force"] if how == "forced" else []), expect=1)
                self.assertEqual(cook.roots, {})
                self.assertIn("nothing was published: its only package failed; the last good tree stays", cook.stderr)
                self.assertEqual(self.roots(self.game), before)
                self.assertEqual(self.tree(self.game, "pc"), staged)
                self.forget_what_stands(self.game)
        # Nor is one of packages that have no outputs.
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace(DATA, 'match = "/Game/**/*.json"\ncooker = "command"\n'
                   'settings = { argv = ["true", "{input}"], outputs = [] }'))
        for how in ("what stands", "nothing stands"):
            cook = self.cook(self.game, expect=None)
            self.assertEqual(cook.roots, {}, cook)
            self.assertEqual(self.roots(self.game), before)
            self.assertEqual(self.tree(self.game, "pc"), staged)
            self.forget_what_stands(self.game)

    def test_a_cook_that_takes_most_away_because_rules_changed_says_so(self):
        self.cook(self.game)
        self.replace("game/galley.toml", "*.json", "*.jsn")
        cook = self.cook(self.game)
        self.assertEqual(cook.stderr.count("this cook takes away 2 of the 3 files of the last root, 2 of them because rules changed"), 1, cook)
        self.assertNotIn("takes away", self.cook(self.game).stderr)
        # Files that are deleted are no change of rules.
        self.replace("game/galley.toml", "*.jsn", "*.json")
        self.cook(self.game)
        for name in ("a.json", "b.json"):
            os.remove(self.path("game/content", name))
        self.assertNotIn("takes away", self.cook(self.game).stderr)

    def test_so_does_one_for_another_reason_in_galley_toml(self):
        text = self.read("game/galley.toml").decode()
        for what, before, after in (("ignore", "[project]", "[scan]\nignore = [\"**/*.json\"]\n[project]"),
                                    ("never", "[project]", "[cook]\nnever = [\"/Game/*.json\"]\n[project]"),
                                    ("stage_as", 'dir = "content"', 'dir = "content"\nstage_as = "/Other"')):
            with self.subTest(what=what):
                self.write("game/galley.toml", text)
                self.cook(self.game)
                self.replace("game/galley.toml", before, after)
                cook = self.cook(self.game)
                self.assertEqual(cook.stderr.count("of the 3 files of the last root"), 1, cook)
                self.assertEqual([w["kind"] for w in cook.summary["warnings"] if w["kind"] == "root-shrinks"], ["root-shrinks"])
                self.assertNotIn("takes away", self.cook(self.game).stderr)
        # It stops whoever says so.
        self.write("game/galley.toml", text)
        self.cook(self.game)
        self.write("game/galley.toml", '[warnings]\nerror = ["root-shrinks"]\n' + text.replace("*.json", "*.jsn"))
        self.assertIn("[root-shrinks], which is an error here", self.cook(self.game, expect=1).stderr)

    def test_names_that_name_nothing_are_told_by_cook_dry_run_and_doctor(self):
        os.mkdir(self.path("game/empty"))
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + '\n[[rule]]\nmatch = "/Game/*.tx"\ncooker = "copy"\n'
                   '[[rule]]\nmatch = "/Game/**/*.qqq"\ncooker = "copy"\n'
                   '[[mount]]\npath = "/Empty"\ndir = "empty"\n[resources]\ngpu = 1\n[cook]\nnever = ["/Game/nothing.json"]\n')
        kinds = {"rule-matches-nothing", "mount-empty", "resource-unknown", "never-matches-nothing"}
        for how in ("first", "nothing changed", "another"):
            with self.subTest(how=how):
                if how == "another":
                    self.write("game/content/a.json", "[1]")
                told = [w for w in self.cook(self.game).summary["warnings"] if w["kind"] in kinds]
                self.assertEqual({w["kind"] for w in told}, kinds)
                for warning in told:
                    self.assertRegex(warning["text"], r"galley\.toml:\d+: ")
        texts = {w["text"] for w in told}
        self.assertTrue(any(t.endswith("did you mean /Game/c.txt?") for t in texts), texts)
        self.assertTrue(any(t.endswith('nothing matches "/Game/**/*.qqq"') for t in texts), texts)
        dry = json.loads(self.galley("cook", "--dry-run", "--json", "--project", self.game).stdout)
        self.assertEqual({w["text"] for w in dry["warnings"]}, texts)
        doctor = self.galley("doctor", "--project", self.game).stdout
        for text in texts:
            self.assertIn(text, doctor)

    def test_files_that_packages_read_match_no_rule_and_are_not_told(self):
        self.write("game/content/notes.md", "nobody reads it")
        self.write("game/content/s.frag", '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "part.glsl"\nvoid main() {}\n')
        self.write("game/content/part.glsl", "\n")
        self.write("game/content/m.gltf", json.dumps(look_test.MESH | {"images": [], "textures": [], "materials": [{}]}))
        self.write("game/content/tri.bin", look_test.FILES["tri.bin"])
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + '\n[[rule]]\nmatch = "/Game/*.frag"\ncooker = "shader"\n'
                   '[[rule]]\nmatch = "/Game/*.gltf"\ncooker = "mesh"\n')
        self.cook(self.game)
        for how in ("nothing changed", "another"):
            if how == "another":
                self.write("game/content/a.json", "[2]")
                self.write("game/content/new.json", "[2]")
            self.assertIn("1 file matches no rule", self.cook(self.game).stderr, how)
        self.assertEqual(self.galley("ls", "--unmatched", "--project", self.game).stdout.split(), ["/Game/notes.md"])
        self.assertIn("1 file matches no rule", self.galley("doctor", "--project", self.game).stdout)
        dry = json.loads(self.galley("cook", "--dry-run", "--json", "--project", self.game).stdout)
        self.assertEqual(dry["unmatched"], ["/Game/notes.md"])
        # One that is no package any more reads nothing.
        os.remove(self.path("game/content/s.frag"))
        self.assertIn("2 files match no rule", self.cook(self.game).stderr)


class WindowsNamesTest(PublishingCase):
    PLATFORMS = [f'name = "{name}"\ntexture = "bc"\nshader = "spirv-1.5"' for name in ("pc", "linux")]

    def test_names_that_windows_cannot_have_fail_there(self):
        bad = ["aux.txt", "COM1.txt", "con.json", "a:b.txt", "q?.txt", "dot./x.txt", "nul/x.txt"]
        game = self.project({**{name: "{}" for name in bad}, "ok.txt": "ok"}, [DATA, COPY], platforms=self.PLATFORMS)
        self.cook(game)
        # What is cached says nothing of names: the platform does.
        self.replace("game/galley.toml", 'name = "pc"', 'name = "pc"\nos = "windows"')
        for how in ("os is new", "again", "forced"):
            with self.subTest(how=how):
                cook = self.cook(game, *(["--force"] if how == "forced" else []), expect=1)
                self.assertEqual({(f["package"], f["platform"]) for f in cook.failures}, {(f"/Game/{name}", "pc") for name in bad}, cook)
                self.assertEqual(set(self.tree(game, "pc")), {"Game/ok.txt"})
                self.assertEqual(len(self.tree(game, "linux")), 8)
        self.assertEqual(cook.errors_of("/Game/con.json"), [
            "its output Game/con.json.cbor cannot be in a tree: it has the name 'con.json.cbor', that of the device con, whatever follows "
            "a dot, which Windows cannot have (this platform has os = \"windows\"); give it another name"])
        # One that is new, and one that is good again.
        self.write("game/content/prn.txt", "new")
        os.rename(self.path("game/content/aux.txt"), self.path("game/content/auxiliary.txt"))
        cook = self.cook(game, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {f"/Game/{name}" for name in bad[1:] + ["prn.txt"]})
        self.assertEqual(set(self.tree(game, "pc")), {"Game/ok.txt", "Game/auxiliary.txt"})

    def test_the_name_in_the_tree_counts(self):
        game = self.project({"x.txt": "x"}, [COPY], platforms=['name = "pc"\nos = "Windows"\ntexture = "bc"'])
        self.replace("game/galley.toml", 'dir = "content"', 'dir = "content"\nstage_as = "/Game/aux"')
        self.assertIn("the device aux", self.cook(game, expect=1).failures[0]["error"])
        self.assertEqual(self.roots(game), [])


class StageCheckTest(PublishingCase):
    def check(self, game, *args, expect=0):
        done = self.galley("stage", "--check", "--project", game, *args)
        self.assertEqual(done.returncode, expect, done)
        return done.stdout

    def test_a_sandbox_is_compared_with_its_root(self):
        game = self.project({"a.txt": "a", "b.txt": "b", "c.txt": "c"}, [COPY])
        self.cook(game, "--no-stage")
        self.assertIn("nothing was staged there", self.check(game, expect=1))
        self.cook(game)
        self.write("game/.galley/cooked/pc/mine", "mine")
        before = self.tree(game, "pc")
        self.assertIn("3 equal, 0 missing, 0 changed, 1 not put there by Galley", self.check(game))
        os.remove(self.path("game/.galley/cooked/pc/Game/a.txt"))
        self.write("game/.galley/cooked/pc/Game/b.txt", "B")
        said = json.loads(self.check(game, "--json", "--platform", "pc", expect=1))
        self.assertEqual((said["missing"], said["changed"], said["foreign"], said["files_equal"], said["equal"]),
                         (["Game/a.txt"], ["Game/b.txt"], ["mine"], 1, False))
        self.cook(game)
        self.check(game)
        self.assertEqual(self.tree(game, "pc"), before)
        os.rename(self.path("game/.galley/cooked/pc/.galley-root"), self.path("root"))
        self.assertIn("it does not say what it holds", self.check(game, expect=1))
        self.write("game/.galley/cooked/pc/.galley-root.pending", f"root {self.cook(game, '--no-stage').roots['pc']}\nend\n")
        self.assertIn("a stage was interrupted there", self.check(game, expect=1))
        self.cook(game)
        self.assertEqual(self.tree(game, "pc"), before)
        self.assertEqual(self.galley("stage", "--check", "--project", game, "--platform", "ps5").returncode, 2)
        self.assertEqual(self.galley("stage", "--project", game).returncode, 2)


if __name__ == "__main__":
    unittest.main()
