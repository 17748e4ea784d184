"""Warnings have kinds: they are left out, or are errors, as galley.toml, a rule or a sidecar says, and a note is told once."""
import json, struct, unittest, zlib

from harness import E2ETest

RULE = 'match = "/Game/**/*.png"\ncooker = "texture"\nsettings = { quality = "fast" }'
KIND = "texture-block-size"


def grey_png(width, height):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = zlib.compress(height * (b"\0" + width * b"\x55"))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


class WarningsTest(E2ETest):
    def odd(self, extra="", rules=(RULE,)):
        return self.project({f"{name}.png": grey_png(70, 66 + 2 * i) for i, name in enumerate("ab")}, list(rules), extra=extra)

    def edit(self, game, old, new):
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace(old, new))

    def kinds(self, cook):
        return [(one["package"], one["kind"]) for one in cook.summary["warnings"]]

    def test_a_note_is_one_line_and_not_told_again_when_nothing_changed(self):
        game = self.odd()
        first = self.cook(game)
        lines = [line for line in first.stderr.splitlines() if KIND in line]
        self.assertEqual(len(lines), 1, first.stderr)
        self.assertIn("warning: 2 packages have a size that is no multiple of their format's blocks, for example /Game/a.png;", lines[0])
        self.assertTrue(lines[0].endswith(f"[{KIND}]"), lines[0])
        self.assertEqual(self.kinds(first), [("/Game/a.png", KIND), ("/Game/b.png", KIND)])
        self.assertNotIn(KIND, first.summary["warnings"][0]["text"])
        again = self.cook(game)
        self.assertNotIn(KIND, again.stderr)
        self.assertIn("2 notes are as before; --verbose, or the summary, names them", again.stderr)
        self.assertEqual(self.kinds(again), self.kinds(first))
        self.write("game/content/b.png", grey_png(70, 90))
        one = self.cook(game)
        self.assertIn("warning: /Game/b.png: the texture's size is no multiple of its format's blocks: 70 x 90", one.stderr)
        self.assertIn("1 note is as before", one.stderr)
        self.assertEqual(self.cook(game, "--verbose").stderr.count(f"[{KIND}]"), 2)
        events = [json.loads(line) for line in self.cook(game, "--json", "--force").stdout.splitlines()]
        self.assertEqual({one["kind"] for one in events if one["event"] == "warning"}, {KIND})

    def test_off_and_error_are_judged_in_each_cook_and_cook_nothing_again(self):
        game = self.odd()
        first = self.cook(game)
        self.edit(game, "[project]", f'[warnings]\noff = ["{KIND}"]\n[project]')
        off = self.cook(game)
        self.assertEqual((off.cooked, off.summary["warnings"], off.roots), (0, [], first.roots), off)
        self.assertNotIn(KIND, off.stderr)
        self.assertNotIn("as before", off.stderr)
        self.edit(game, "off =", "error =")
        for arguments in ([], [], ["--no-stage"], ["--force"]):  # of results that are there, of a cook that stands, of new results
            cook = self.cook(game, *arguments, expect=1)
            self.assertEqual({one["package"] for one in cook.failures}, {"/Game/a.png", "/Game/b.png"}, cook)
            self.assertIn(f"[{KIND}], which is an error here ([warnings] error)", cook.failures[0]["error"])
            self.assertEqual((cook.summary["warnings"][0]["kind"], cook.roots), ("nothing-published", {}))
        self.edit(game, f'[warnings]\nerror = ["{KIND}"]\n', "")
        last = self.cook(game)
        self.assertEqual((last.cooked, last.roots, len(last.summary["warnings"])), (0, first.roots, 2), last)

    def test_much_growth_is_told_once_with_the_setting_that_shrinks_it(self):
        game = self.project({"big.png": grey_png(2048, 2048)}, [RULE])
        first = self.cook(game)
        self.assertEqual(self.kinds(first), [("", "output-growth")], first.summary["warnings"])
        self.assertRegex(first.stderr, r"warning: the cooked files of pc are \d+ times as large as their sources: .*max_size.*\[output-growth\]\n")
        self.write("game/content/big.png", grey_png(2048, 1024))
        self.assertEqual(self.cook(game).summary["warnings"], [])
        self.assertEqual(self.cook(game).summary["warnings"], [])

    def test_a_rule_and_a_sidecar_lie_over_galley_toml(self):
        game = self.odd(extra=f'[warnings]\noff = ["{KIND}"]', rules=[RULE, f'match = "/Game/b.png"\nwarnings = {{ error = ["{KIND}"] }}'])
        cook = self.cook(game, expect=1)
        self.assertEqual([one["package"] for one in cook.failures], ["/Game/b.png"], cook)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/a.png.ktx2"})
        self.write("game/content/b.png.cook", f'warnings = {{ off = ["{KIND}"] }}')
        mended = self.cook(game)
        self.assertEqual((mended.cooked, mended.summary["warnings"], set(self.tree(game, "pc"))),
                         (0, [], {"Game/a.png.ktx2", "Game/b.png.ktx2"}), mended)
        self.write("game/content/b.png.cook", 'warnings = { off = ["texture-blocksize"] }')
        refused = self.cook(game, expect=2)
        self.assertIn("content/b.png.cook:1: `warnings.off`: unknown kind of warnings `texture-blocksize`; did you mean `texture-block-size`?", refused.stderr)

    def test_a_soft_reference_that_leads_nowhere_may_be_an_error(self):
        rule = 'match = "/Game/**/*.json"\ncooker = "data"'
        game = self.project({"a.json": json.dumps({"$soft": "/Game/no.json"}), "b.json": "{}"}, [rule])
        warned = self.cook(game)
        self.assertEqual(self.kinds(warned), [("/Game/a.json", "missing-soft-reference")])
        self.edit(game, "[project]", '[warnings]\nerror = ["missing-soft-reference"]\n[project]')
        for _ in range(2):
            failed = self.cook(game, expect=1)
            self.assertEqual([one["package"] for one in failed.failures], ["/Game/a.json"])
            self.assertEqual((set(self.tree(game, "pc")), failed.summary["warnings"]), ({"Game/b.json.cbor"}, []))


if __name__ == "__main__":
    unittest.main()
