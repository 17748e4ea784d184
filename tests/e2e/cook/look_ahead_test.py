"""cook --dry-run and impact: what a cook would do, beside what it does."""
import json, os, unittest

from harness import COPY, E2ETest

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
# Reads the cooked output of another package, and a file.
TOOL = 'match = "/Game/**/*.run"\ncooker = "command"\nsettings = { argv = ["tools/run", "{input}", "{output:.out}", "{result}"], outputs = [".out"] }'
RUN = """#!/bin/sh
here=$(dirname "$1")
cat "$1" "$here/common.inc" > "$2" 2>/dev/null
echo "$WHO" >> "$2"
cat > "$3" <<X
{"observations": [{"kind": "env", "name": "WHO"}, {"kind": "file", "path": "$here/common.inc"}]}
X
"""


class LookAheadTest(E2ETest):
    def game(self):
        game = self.project({"a.json": '{"$ref": "b.json"}', "b.json": "[1]", "c.txt": "text", "x.run": "x", "y.run": "y", "common.inc": "1", "other": "0"},
                            [DATA, COPY, TOOL], extra='[farm]\nenv = ["WHO"]\n')
        self.write("game/tools/run", RUN, 0o755)
        return game

    def dry(self, game, *args, expect=0, env=None):
        process = self.galley("cook", "--dry-run", "--json", "--project", game, *args, env=env)
        self.assertEqual(process.returncode, expect, process)
        return json.loads(process.stdout)

    def named(self, dry):
        return {p["package"]: p["why"] for p in dry["packages"]}

    def impact(self, game, *files, expect=0):
        process = self.galley("impact", "--json", "--project", game, *files)
        self.assertEqual(process.returncode, expect, process)
        return json.loads(process.stdout) if expect == 0 else process.stderr

    def state(self, game):
        found = {}
        for folder, _, names in os.walk(os.path.join(game, ".galley")):
            for name in names:
                path = os.path.join(folder, name)
                found[path] = os.stat(path).st_mtime_ns
        return found

    def test_nothing_was_cooked_yet(self):
        game = self.game()
        dry = self.dry(game)
        self.assertEqual(dry["nothing_holds"], "nothing was cooked yet")
        self.assertEqual(dry["to_cook"], 5)
        self.assertEqual(dry["unknown"], 5)
        self.assertFalse(os.path.exists(os.path.join(game, ".galley", "state", "journal")))
        self.assertIn("run `galley cook`", self.impact(game, "/Game/b.json", expect=2))

    def test_it_says_what_the_cook_then_does_and_changes_nothing(self):
        game = self.game()
        self.cook(game)
        self.assertEqual(self.dry(game)["packages"], [])
        self.assertEqual(self.dry(game)["up_to_date"], 5)
        self.write("game/content/common.inc", "2")
        self.write("game/content/b.json", "[2]")
        self.write("game/content/new.json", "{}")
        before = self.state(game)
        dry = self.dry(game)
        self.assertEqual(self.state(game), before)
        self.assertEqual(set(self.named(dry)), {"/Game/b.json", "/Game/x.run", "/Game/y.run", "/Game/new.json"}, dry)
        self.assertEqual(self.named(dry)["/Game/b.json"], "its source")
        self.assertIn("common.inc", self.named(dry)["/Game/x.run"])
        self.assertEqual((dry["to_cook"], dry["unknown"], dry["up_to_date"]), (4, 1, 2))
        self.assertGreater(dry["expected_seconds"], 0)
        self.assertGreater(dry["expected_patch_bytes"], 0)
        cook = self.cook(game)
        self.assertEqual(cook.results["cooked"], 4)
        self.assertEqual(self.dry(game)["packages"], [])

    def test_each_reason_is_told(self):
        game = self.game()
        self.cook(game)
        self.assertIn("env(WHO)", self.named(self.dry(game, env={**os.environ, "WHO": "me"}))["/Game/x.run"])
        self.write("game/tools/run", RUN + "\n", 0o755)
        self.assertIn("tool(", self.named(self.dry(game))["/Game/x.run"])
        self.write("game/tools/run", RUN, 0o755)
        self.write("game/content/b.json.cook", 'cooker = "copy"\n')
        self.assertIn("/Game/b.json", self.named(self.dry(game)))
        os.remove(self.path("game/content/b.json.cook"))
        self.assertEqual(self.dry(game)["packages"], [])
        forced = self.dry(game, "--force")
        self.assertEqual((forced["to_cook"], forced["nothing_holds"]), (5, "--force cooks all"))
        self.assertEqual(set(self.named(self.dry(game, "--force", "/Game/a.json"))), {"/Game/a.json", "/Game/b.json"})
        self.galley("clean", "--project", game, "/Game/c.txt")
        self.assertEqual(set(self.named(self.dry(game))), {"/Game/c.txt"})
        self.write("game/content/b.json", "{ broken")
        self.cook(game, expect=1)
        dry = self.dry(game)
        self.assertEqual([f["package"] for f in dry["failing"]], ["/Game/b.json"], dry)
        self.assertEqual(set(self.named(self.dry(game, "--retry-failed"))), {"/Game/b.json"})

    def test_deletions_and_renames_are_foreseen(self):
        game = self.game()
        self.write("game/content/d.json", '[{"$ref": "c.txt"}, {"$soft": "soft.json"}]')
        self.write("game/content/soft.json", "{}")
        self.cook(game)
        os.remove(self.path("game/content/b.json"))
        os.remove(self.path("game/content/soft.json"))
        os.rename(self.path("game/content/c.txt"), self.path("game/content/renamed.txt"))
        self.write("game/content/stray.json.cook", "")
        dry = self.dry(game)
        self.assertEqual(set(self.named(dry)), {"/Game/renamed.txt"})
        before = set(self.tree(game, "pc"))
        cook = self.cook(game, expect=1)
        self.assertEqual({(f["package"], f["error"]) for f in dry["failing"]}, {(f["package"], f["error"]) for f in cook.failures})
        self.assertEqual({f["package"] for f in dry["failing"]}, {"/Game/a.json", "/Game/d.json"})
        self.assertEqual({f["path"] for f in dry["removed"]}, before - set(self.tree(game, "pc")))
        self.assertEqual({f["platform"] for f in dry["removed"]}, {"pc"})
        self.assertEqual({w["text"] for w in dry["warnings"]}, {w["text"] for w in cook.summary["warnings"]})
        self.assertEqual(dry["unmatched"], ["/Game/other"])  # common.inc was read
        self.assertTrue(dry["is_at_least"])
        text = self.galley("cook", "--dry-run", "--project", game).stdout
        for part in ("/Game/a.json fails: refers to 'b.json' (hard), that is /Game/b.json", "warning: the sidecar /Game/stray.json.cook", "1 file matches no rule",
                     "0 packages to cook", "2 failing"):
            self.assertIn(part, text)
        self.assertNotIn("at least", text)

    def test_another_cooker_of_a_package_is_foreseen(self):
        """It makes other files, and refers to nothing."""
        game = self.game()
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + '[cook]\nmaps = ["/Game/a.json"]\n')
        self.cook(game)
        before = set(self.tree(game, "pc"))
        self.assertEqual(before, {"Game/a.json.cbor", "Game/b.json.cbor"})
        self.write("game/content/a.json.cook", 'cooker = "copy"\n')
        dry = self.dry(game)
        self.assertEqual((list(self.named(dry)), dry["is_at_least"]), (["/Game/a.json"], False))
        self.cook(game)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/a.json"})
        self.assertEqual({f["path"] for f in dry["removed"] if f["platform"] == "pc"}, before)

    def test_what_leaves_the_cook_goes(self):
        game = self.game()
        toml = self.read("game/galley.toml").decode()
        self.cook(game)
        self.write("game/galley.toml", toml + '[cook]\nmaps = ["/Game/b.json"]\n')
        dry = self.dry(game)
        self.assertEqual((dry["packages"], dry["is_at_least"]), ([], False))
        before = set(self.tree(game, "pc"))
        self.cook(game)
        self.assertEqual({f["path"] for f in dry["removed"]}, before - set(self.tree(game, "pc")))
        # A narrower cook takes nothing away, and `--never` is heard.
        self.write("game/galley.toml", toml)
        self.cook(game)
        self.assertEqual(self.dry(game, "/Game/b.json")["removed"], [])
        self.assertEqual([f["package"] for f in self.dry(game, "--never", "/Game/b.json")["failing"]], ["/Game/a.json"])

    def test_a_wrong_selection_is_a_wrong_use(self):
        game = self.game()
        process = self.galley("cook", "--dry-run", "--project", game, "/Game/nosuch")
        self.assertEqual(process.returncode, 2, process)
        self.assertIn("nosuch", process.stderr)

    def test_impact_of_a_file_that_others_look_at(self):
        game = self.game()
        self.cook(game)
        found = self.impact(game, "/Game/common.inc")
        self.assertEqual([p["package"] for p in found["packages"]], ["/Game/x.run", "/Game/y.run"], found)
        for package in found["packages"]:
            self.assertEqual((package["reason"], package["via"], package["platforms"]), ("observed", "/Game/common.inc", 1))
            self.assertEqual(len(package["chain"]), 1)
            self.assertGreater(package["expected_seconds"], 0)
        self.assertEqual(found["unseen"], [])
        source = self.impact(game, "/Game/b.json")["packages"]
        self.assertEqual([(p["package"], p["reason"]) for p in source], [("/Game/b.json", "source")])
        self.assertEqual(self.impact(game, game + "/content/other")["unseen"], ["/Game/other"])
        self.assertIn("is a folder", self.impact(game, "/Game", expect=2))
        self.assertIn("mount", self.impact(game, "/elsewhere/x", expect=2))
        text = self.galley("impact", "--project", game, "/Game/common.inc").stdout
        self.assertIn("/Game/x.run", text)
        self.assertIn("2 packages may be cooked", text)

    def test_impact_takes_tools_the_project_file_sidecars_and_deleted_files(self):
        game = self.game()
        self.write("game/content/a.json.cook", "# nothing\n")
        self.cook(game)
        named = lambda *files: [(p["package"], p["reason"]) for p in self.impact(game, *files)["packages"]]
        runs = [("/Game/x.run", "tool"), ("/Game/y.run", "tool")]
        self.assertEqual(named(game + "/tools/run"), runs)
        self.assertEqual(named("tools/run"), runs)
        self.assertEqual({p for p, _ in named(game + "/galley.toml")}, {"/Game/a.json", "/Game/b.json", "/Game/c.txt", "/Game/x.run", "/Game/y.run"})
        self.assertEqual({r for _, r in named(game + "/galley.toml")}, {"rules"})
        self.assertEqual(named("/Game/a.json.cook"), [("/Game/a.json", "source")])
        os.remove(self.path("game/content/a.json.cook"))
        self.assertEqual(named("/Game/a.json.cook"), [("/Game/a.json", "source")])
        os.remove(self.path("game/content/b.json"))
        self.assertEqual(named("/Game/b.json"), [("/Game/a.json", "refers"), ("/Game/b.json", "source")])
        self.assertEqual(self.impact(game, game + "/content/b.json")["files"], [{"path": "/Game/b.json", "is_there": False, "change": "gone"}])
        self.assertIn("no package was made with such a program", self.impact(game, "/bin/nosuch", expect=2))

    def test_both_run_beside_a_resident_director(self):
        game = self.game()
        self.cook(game)
        self.galley("serve", "--detach", "--project", game)
        try:
            self.write("game/content/b.json", "[3]")
            self.assertEqual(set(self.named(self.dry(game))), {"/Game/b.json"})
            self.assertEqual(len(self.impact(game, "/Game/common.inc")["packages"]), 2)
        finally:
            self.galley("serve", "--stop", "--project", game)


if __name__ == "__main__":
    unittest.main()
