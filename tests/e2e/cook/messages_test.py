"""What a cook says of what is wrong: once for each kind, with the file, the rule and what to do; the summary has each one."""
import json, os, pty, subprocess, unittest

from harness import LIMIT_S, E2ETest

COPY = 'match = "/Game/**/*.bin"\ncooker = "copy"'
DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
SHADER = 'match = "/Game/**/*.frag"\ncooker = "shader"'
TEXTURE = 'match = "/Game/**/*.png"\ncooker = "texture"'
BOTH = ['name = "pc"\ntexture = "bc"\nshader = "spirv-1.5"', 'name = "phone"\ntexture = "astc"\nshader = "spirv-1.3"']
HTML = "<!DOCTYPE html>\n<html></html>\n"


class MessagesTest(E2ETest):
    def line_of(self, game, text):
        with open(os.path.join(game, "galley.toml")) as file:
            lines = file.read().split("\n")
        return lines.index(text) + 1

    def test_many_equal_failures_are_one_with_the_rule_and_what_to_do(self):
        game = self.project({f"{i}.png": HTML for i in range(25)}, [TEXTURE], platforms=BOTH)
        cook = self.cook(game, expect=1)
        rule = f"galley.toml:{self.line_of(game, TEXTURE.splitlines()[0])}"
        self.assertIn(f"error: 25 packages failed alike (texture by {rule}): png: the file is no png: it begins with `<!DOCTYPE html>`; "
                      "replace or convert it, or for a file of another kind choose the cooker `copy` or `command`\n", cook.stderr)
        self.assertLessEqual(cook.stderr.count("error:"), 2, "the first that came, and all of them: " + cook.stderr)
        self.assertIn("\n  and 5 more (--verbose, or the summary)\n", cook.stderr)
        self.assertEqual(len(cook.failures), 50)
        self.assertEqual({(f["platform"], f["rule"]) for f in cook.failures}, {("pc", rule), ("phone", rule)})
        verbose = self.cook(game, "--verbose", expect=1)
        self.assertGreaterEqual(verbose.stderr.count("it begins with `<!DOCTYPE html>`"), 25, verbose)
        events = [json.loads(line) for line in self.cook(game, "--json", expect=1).stdout.splitlines()]
        self.assertEqual(sum(event["event"] == "failure" for event in events), 50)
        # A sidecar that chose the cooker is named as well.
        self.write("game/content/own.dat", "x")
        self.write("game/content/own.dat.cook", '# by hand\ncooker = "texture"\n')
        own = self.cook(game, "/Game/own.dat", expect=1)
        self.assertEqual({f["rule"] for f in own.failures}, {"/Game/own.dat.cook:2"})
        self.assertIn("error: /Game/own.dat (texture by /Game/own.dat.cook:2): texture: expected a png", own.stderr)

    def test_a_name_that_names_nothing_is_told_with_the_nearest(self):
        game = self.project({"barrel.bin": "x", "L10N/de/barrel.bin": "y"}, [COPY], platforms=['name = "windows"', 'name = "release"'],
                            extra='[map_section.nightly]\nmaps = ["/Game/barrel.bin"]\n')
        self.cook(game)
        self.galley("store", "pin", "gold", "windows@latest", "--project", game)
        root = "galley roots lists them)"
        for args, code, text in (
                (["cook", "--platform", "relaese"], 2, 'no such platform (it has windows, release); did you mean "release"?'),
                (["cook", "--dry-run", "--platform", "relaese"], 2, '; did you mean "release"?'),
                (["why", "/Game/barrel.bin", "--platform", "relaese"], 2, '; did you mean "release"?'),
                (["records", "/Game/barrel.bin", "--platform", "relaese"], 2, '; did you mean "release"?'),
                (["cook", "--map-section", "nigthly"], 2, 'no [map_section.nigthly]; did you mean "nightly"?'),
                (["cook", "--culture", "dee"], 0, '--culture "dee": no file is in a folder L10N/dee; did you mean "de"? [culture-unknown]'),
                (["cook", "--dry-run", "--culture", "dee"], 0, '--culture "dee": no file is in a folder L10N/dee; did you mean "de"?'),
                (["stage", "--check", "--platform", "relaese"], 2, '; did you mean "release"?'),
                (["tree", "relaese@latest"], 2, root + '; did you mean "release"?'),
                (["tree", "relaese#1"], 2, root + '; did you mean "release"?'),
                (["diff", "windows@latest", "windws@last"], 2, root + '; did you mean "windows"?'),
                (["checkout", "windws@1", self.path("out")], 2, root + '; did you mean "windows"?'),
                (["tree", "release"], 2, '"release" names no root; expected '),
                (["tree", "pin:glod"], 2, 'there is no pin "glod" (galley store pins lists them); did you mean "gold"?'),
                (["store", "unpin", "glod"], 1, 'there is no pin "glod" (galley store pins lists them); did you mean "gold"?'),
                (["clean", "/Game/barel.bin"], 2, "/Game/barel.bin was in no cook of this project; did you mean /Game/barrel.bin?"),
                (["impact", "/Game/barel.bin"], 0, "/Game/barel.bin: no package of the last cooks looked at it; did you mean /Game/barrel.bin?")):
            with self.subTest(args):
                done = self.galley(*args, "--project", game)
                self.assertEqual(done.returncode, code, done)
                self.assertIn(text, done.stdout + done.stderr)

    def test_a_file_of_another_cooker_is_named_with_that_cooker(self):
        game = self.project({"a.gltf": b"\x89PNG\r\n\x1a\n and more", "a.json": b"\x89PNG\r\n\x1a\n and more"},
                            ['match = "/Game/*.gltf"\ncooker = "mesh"', DATA])
        cook = self.cook(game, expect=1)
        for package, expected in (("/Game/a.gltf", "glTF or GLB"), ("/Game/a.json", "JSON")):
            error, = cook.errors_of(package)
            self.assertIn(f"the file is no {expected}: it is a PNG image, which the cooker `texture` takes; set that cooker in its rule, or replace the file", error)

    def test_conflicts_are_one_paragraph_with_an_example(self):
        files = {f"{i}.json": "{}" for i in range(30)} | {f"{i}.json.cbor": "x" for i in range(30)}
        game = self.project(files, [DATA, 'match = "/Game/*.cbor"\ncooker = "copy"'])
        cook = self.cook(game, expect=1)
        self.assertEqual(len(cook.failures), 60)
        self.assertEqual(cook.stderr.count("error:"), 1, cook.stderr)
        self.assertRegex(cook.stderr, r"error: 60 packages have outputs at the paths of others; no tree has any of the two. For example\n"
                                      r"  /Game/0.json \(data by galley.toml:\d+\) and\n  /Game/0.json.cbor \(copy by galley.toml:\d+\)\n"
                                      r"  both want Game/0.json.cbor: same path.\n")

    def test_a_shader_error_names_the_files(self):
        game = self.project({"sub/s.frag": '#version 450\nvoid main() { nothing = 1; }\n',
                             "sub/t.frag": '#version 450\n#include "../inc/i.glsl"\nvoid main() {}\n', "inc/i.glsl": "float f() { return no; }\n"}, [SHADER])
        cook = self.cook(game, expect=1)
        self.assertIn("ERROR: content/sub/s.frag:2: 'nothing'", cook.errors_of("/Game/sub/s.frag")[0])
        self.assertIn("ERROR: content/inc/i.glsl:1: 'no'", cook.errors_of("/Game/sub/t.frag")[0])
        self.assertNotIn("source:", cook.stderr)
        why = json.loads(self.galley("why", "/Game/sub/s.frag", "--json", "--project", game).stdout)
        self.assertIn("ERROR: content/sub/s.frag:2:", why["failures"][0]["error"])
        # No place is in the verdict: it is the same for a copy elsewhere, which shows its own.
        self.write("game/content/copy.frag", self.read("game/content/sub/s.frag"))
        again = self.cook(game, "/Game/copy.frag", expect=1)
        self.assertEqual(again.cooked, 0)
        self.assertIn("ERROR: content/copy.frag:2: 'nothing'", again.errors_of("/Game/copy.frag")[0])

    def test_all_missing_references_are_told_at_once(self):
        game = self.project({"a.json": json.dumps([{"$ref": f"{name}.bin"} for name in ("x", "b", "c")]), "b.bin": "b"}, [DATA, COPY])
        error, = self.cook(game, expect=1).errors_of("/Game/a.json")
        self.assertEqual([line.split("'")[1] for line in error.splitlines()[1:]], ["c.bin", "x.bin"], error)
        self.assertTrue(error.startswith("2 references lead nowhere:\n"), error)

    def test_fail_fast_says_how_many_it_did_not_try(self):
        game = self.project({"a.json": "{"} | {f"b{i}.bin": str(i) for i in range(3)}, [DATA, COPY])
        cook = self.cook(game, "--fail-fast", "--workers", 1, expect=1)
        skipped = cook.summary["packages"]["skipped"]
        self.assertIn("stopped at the first failure (--fail-fast)", cook.stderr)
        if skipped:
            self.assertIn(f"{skipped} of the {cook.summary['packages']['in_cook']} packages known by then were not tried", cook.stderr)

    def test_why_of_what_is_no_package_says_so(self):
        game = self.project({"a.bin": "a", "b.bin": "b", "note.txt": "x", "dev/d.bin": "d"}, [COPY], extra="", platforms=None)
        with open(os.path.join(game, "galley.toml"), "a") as file:
            file.write('[cook]\nnever = ["/Game/dev/**"]\n')
        self.cook(game, "/Game/a.bin")
        for package, says in (("/Game/note.txt", "no [[rule]] of galley.toml matches it and there is no sidecar content/note.txt.cook"),
                              ("/Game/b.bin", "no cook asked for it so far; `galley cook /Game/b.bin` cooks it"),
                              ("/Game/dev/d.bin", '"/Game/dev/**" in never of [cook] matches it'),
                              ("/Game/c.bim", "there is no file content/c.bim: it was deleted, renamed, or never there")):
            answer = self.galley("why", package, "--project", game)
            self.assertEqual(answer.returncode, 2, answer)
            self.assertIn(f"{package} was in no cook of this project yet: ", answer.stderr)
            self.assertIn(says, answer.stderr)
        os.remove(self.path("game/content/a.bin"))
        answer = self.galley("why", "/Game/a.bin", "--project", game)
        self.assertEqual(answer.returncode, 0, answer)
        self.assertIn("/Game/a.bin\nno cook takes it any more: there is no file content/a.bin: it was deleted", answer.stdout)
        self.assertIn("  /Game/a.bin\n    <- asked for by name\n", answer.stdout)
        self.assertNotIn("attempt", answer.stdout)
        verbose = self.galley("why", "/Game/a.bin", "--verbose", "--project", game).stdout
        self.assertIn("  /Game/a.bin [CommandLinePackage]\n", verbose)
        self.assertRegex(verbose, r", attempt \d+")

    def on_a_terminal(self, term, *args):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([os.path.join(self.bin, "galley"), *args], stderr=theirs, stdout=theirs, stdin=subprocess.DEVNULL,
                                   env={**os.environ, "TERM": term})
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 65536):
                printed += piece
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=LIMIT_S), 1)
        return printed

    def test_a_dumb_terminal_gets_neither_colour_nor_a_live_line(self):
        game = self.project({"a.json": "{", "b.bin": "b"}, [DATA, COPY])
        self.assertIn(b"\x1b[31merror:\x1b[0m", self.on_a_terminal("xterm", "cook", "--project", game))
        dumb = self.on_a_terminal("dumb", "cook", "--project", game)
        self.assertIn(b"error: /Game/a.json", dumb)
        self.assertNotIn(b"\x1b", dumb)


if __name__ == "__main__":
    unittest.main()
