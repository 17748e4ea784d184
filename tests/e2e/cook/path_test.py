"""`galley path`: from a source to the cooked trees, and back, for each file of a project with one of everything."""
import json, os, random, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "serve"))
from device_tree_test import Everything
from harness import E2ETest


class PathTest(E2ETest):
    def paths(self, project, *args, expect=0, cwd=None):
        done = self.galley("path", "--project", project, *args, "--json", cwd=cwd)
        self.assertEqual(done.returncode, expect, (args, done.stdout, done.stderr))
        return [json.loads(line) for line in done.stdout.splitlines()] if expect == 0 else done.stderr

    def test_each_file_of_a_tree_leads_to_its_source_and_back(self):
        Everything(self, random.Random(os.environ.get("GALLEY_SEED", "7")))
        project = self.path("game")
        self.cook(project)
        rows = [json.loads(line) for line in self.galley("ls", "--project", project, "--json").stdout.splitlines()]
        packages = {row["package"] for row in rows}
        for platform in ("pc", "phone"):
            tree = set(self.tree(project, platform))
            sandbox = os.path.join(project, ".galley/cooked", platform)
            for path in random.Random(1).sample(sorted(tree), 25):
                back = [row for row in self.paths(project, path) if row["platform"] == platform]
                self.assertEqual([(row["path"], row["file"], row["cooked"]) for row in back], [(path, os.path.join(sandbox, path), True)])
                self.assertIn(back[0]["package"], packages)
                self.assertTrue(os.path.isfile(back[0]["source"]), back)
                self.assertEqual(back[0]["size"], os.path.getsize(os.path.join(sandbox, path)))
                self.assertEqual(self.paths(project, os.path.join(sandbox, path)), back, "a file of the sandbox is of its platform")
                there = {row["path"] for row in self.paths(project, back[0]["package"], "--platform", platform)}
                self.assertIn(path, there)
                self.assertLessEqual(there, tree)
                if "/_gen/" not in back[0]["package"] and "/L10N/" not in path:
                    self.assertEqual({row["path"] for row in self.paths(project, back[0]["source"], "--platform", platform)}, there)

    def test_before_a_cook_only_what_is_certain_is_said(self):
        game = self.project({"a.txt": "a", "x/b.json": "{}", "dev/c.txt": "c", "readme.md": "no package"},
                            ['match = "/Game/**/*.txt"\ncooker = "copy"', 'match = "/Game/**/*.json"\ncooker = "data"'],
                            extra='[cook]\nnever = ["/Game/dev/**"]')
        row = self.paths(game, "/Game/x/b.json")[0]
        self.assertEqual((row["path"], row["cooked"], row["size"], row["error"]), ("Game/x/b.json.cbor", False, None, None))
        self.assertEqual(self.paths(game, "Game/x/b.json.cbor")[0]["package"], "/Game/x/b.json")
        self.assertEqual(self.paths(game, "content/x/b.json", cwd=game), [row])
        text = self.galley("path", "--project", game, "/Game/x/b.json").stdout
        self.assertEqual(text, "pc  Game/x/b.json.cbor  (not cooked yet)\n")
        self.cook(game)
        self.assertEqual(self.galley("path", "--project", game, "/Game/x/b.json").stdout, "pc  Game/x/b.json.cbor\n")
        self.assertEqual(self.galley("path", "--project", game, "Game/a.txt").stdout, f"pc  /Game/a.txt  {game}/content/a.txt\n")
        self.assertIn("never", self.paths(game, "/Game/dev/c.txt")[0]["error"])
        self.assertIn("/Game/aa.txt is neither a package's source nor a path of a cooked tree; did you mean /Game/a.txt?",
                      self.paths(game, "/Game/aa.txt", expect=2))
        self.assertIn("is neither", self.paths(game, "/Game/readme.md", expect=2))
        self.assertIn("is neither", self.paths(game, "Game/a.txt.ktx2", expect=2))
        self.assertIn("there is no platform ps9", self.paths(game, "/Game/a.txt", "--platform", "ps9", expect=2))


if __name__ == "__main__":
    unittest.main()
