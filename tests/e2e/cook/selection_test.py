"""What is selected, and what is left out: a typo costs nobody a file, and nothing is left out in silence."""
import json, os, unittest

from harness import SAMPLE, E2ETest, read_file

COPY = 'match = "/Game/**/*.{bin,level}"\ncooker = "copy"'
TEXTURE = 'match = "/Game/**/*.png"\nignore_case = true\ncooker = "texture"\nsettings = { quality = "fast" }'
GOOD_PNG = read_file(os.path.join(SAMPLE, "content/textures/one.png"))


class SelectionTest(E2ETest):
    def state_of(self, game):
        """What a cook that is refused must leave as it is: the sandbox, the roots, the number of the last cook."""
        roots = self.galley("roots", "--project", game, "--json").stdout
        cook = json.loads(self.galley("why", "--project", game, "/Game/maps/town.level", "--json").stdout)["cook"]
        return self.tree(game, "pc"), roots, cook

    def town(self, extra=""):
        files = {"maps/town.level": "town", "maps/port.level": "port", "props/oak.bin": "oak", "notes.md": "notes"}
        return self.project(files, [COPY], extra=extra)

    def test_a_typo_in_maps_costs_nobody_a_file(self):
        game = self.town('[cook]\nmaps = ["/Game/maps/*.level"]')
        self.assertEqual(set(self.cook(game).roots), {"pc"})
        before = self.state_of(game)
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace("/maps/", "/map/"))
        cook = self.cook(game, "--json", expect=2)
        self.assertIn('galley.toml:4: [cook] maps: nothing matches "/Game/map/*.level"', cook.stderr)
        self.assertIn("the nearest are /Game/maps/port.level and /Game/maps/town.level", cook.stderr)
        events = [json.loads(line) for line in cook.stdout.splitlines()]
        self.assertEqual([e["exit_code"] for e in events if e["event"] == "error"], [2])
        self.assertEqual(cook.summary, {})
        self.assertEqual(self.state_of(game), before)

    def test_what_the_command_line_names_must_be_there(self):
        game = self.town()
        self.cook(game)
        before = self.state_of(game)
        for arguments, text in [
                (["--map", "/Game/map/*.level"], "--map: nothing matches"),
                (["--dir", "/Game/prop"], "--dir: no package is under /Game/prop; did you mean /Game/props?"),
                (["--package", "/Game/props/aok.bin"], "did you mean /Game/props/oak.bin?"),
                (["/Game/maps/*.lvl"], 'nothing matches "/Game/maps/*.lvl"'),
                (["/Game/notes.md"], "no rule or sidecar makes it a package"),
                (["--never", "/Game/**"], "nothing is left to cook")]:
            with self.subTest(arguments):
                cook = self.cook(game, *arguments, expect=2)
                self.assertIn(text, cook.stderr)
        cook = self.cook(game, "/Game/nothing", "--dir", "/Game/nowhere", expect=2)
        self.assertIn("/Game/nothing is no package", cook.stderr)
        self.assertIn("--dir: no package is under /Game/nowhere", cook.stderr)
        self.assertEqual(self.state_of(game), before)
        some = self.cook(game, "/Game/maps/*.level", "--never", "/Game/mops/**")
        self.assertEqual(some.summary["packages"]["in_cook"], 2)
        self.assertIn('--never: nothing matches "/Game/mops/**"', some.summary["warnings"][0]["text"])

    def test_a_generated_package_that_nobody_makes_never_empties_the_latest(self):
        level = json.dumps({"items": [{"position": [5, 0, 5]}]})
        rule = 'match = "/Game/*.level"\ncooker = "data"\nsettings = { cell_size = 10 }'
        game = self.project({"town.level": level}, [rule], extra='[cook]\nmaps = ["/Game/town.level/_gen/cell_0_0.level"]')
        first = self.cook(game)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/town.level/_gen/cell_0_0.level.cbor"})
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace("cell_0_0", "cell_9_9"))
        cook = self.cook(game, expect=1)
        self.assertIn("/Game/town.level does not generate it", cook.failures[0]["error"])
        self.assertEqual(cook.roots, {})
        self.assertEqual(set(self.tree(game, "pc")), {"Game/town.level/_gen/cell_0_0.level.cbor"})
        latest = self.galley("tree", "--project", game, "pc@latest", "--json").stdout
        self.assertEqual(latest, self.galley("tree", "--project", game, first.roots["pc"], "--json").stdout)

    def test_a_cook_in_which_all_fails_leaves_the_last_good_tree(self):
        rule = 'match = "/Game/**/*.json"\ncooker = "data"'
        game = self.project({"a.json": "{}", "b.json": "{}"}, [rule])
        first = self.cook(game)
        before = self.tree(game, "pc")
        for name in ("a.json", "b.json"):
            self.write(f"game/content/{name}", "{")
        cook = self.cook(game, expect=1)
        self.assertEqual(cook.roots, {})
        self.assertIn("nothing was published: all 2 packages failed; the last good tree stays", cook.stderr)
        self.assertEqual(self.tree(game, "pc"), before)
        roots = [json.loads(line) for line in self.galley("roots", "--project", game, "--json").stdout.splitlines()]
        self.assertEqual([root["root"] for root in roots], [first.roots["pc"]])
        # A package that is good again is published; a failed package has no file.
        self.write("game/content/a.json", "[1]")
        self.assertEqual(set(self.cook(game, expect=1).roots), {"pc"})
        self.assertEqual(set(self.tree(game, "pc")), {"Game/a.json.cbor"})

    def test_a_narrow_cook_that_fails_removes_its_own_outputs_only(self):
        rules = ['match = "/Game/*.json"\ncooker = "data"', 'match = "/Game/*.json.meta"\ncooker = "copy"']
        game = self.project({"t.json": "{}", "t.json.meta": "mine", "u.json": "{}"}, rules)
        self.cook(game)
        self.write("game/content/t.json", "{")
        self.cook(game, "/Game/t.json", expect=1)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/t.json.meta", "Game/u.json.cbor"})

    def test_a_deleted_package_keeps_no_output_of_a_failed_one(self):
        game = self.project({"t.json.cbor": "mine"}, ['match = "/Game/*.json"\ncooker = "data"', 'match = "/Game/*.cbor"\ncooker = "copy"'])
        self.cook(game)
        os.remove(os.path.join(game, "content/t.json.cbor"))
        self.write("game/content/t.json", "{}")
        self.cook(game)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/t.json.cbor"})
        self.write("game/content/t.json", "{")
        self.cook(game, "/Game/t.json", expect=1)
        self.assertEqual(self.tree(game, "pc"), {})

    def test_wrong_rules_and_sidecars_are_told_once_and_nothing_is_done(self):
        files = {f"tex/{i}.png": GOOD_PNG for i in range(30)}
        game = self.project({**files, "maps/town.level": "town"}, [COPY, TEXTURE.replace("ignore_case = true\n", "")])
        self.cook(game)
        before = self.state_of(game)
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml.replace('quality = "fast"', 'quality = "fats", mipmap = false')
                   + '\n[[rule]]\nmatch = "/Game/none/*"\ncooker = "textur"\n')
        self.write("game/content/tex/7.png.cook", "# ours\n\n[settings]\nmipmaps = 3\n")
        cook = self.cook(game, expect=2)
        rule = next(i for i, line in enumerate(toml.splitlines(), 1) if "quality" in line)
        last = len(self.read("game/galley.toml").decode().splitlines())
        self.assertEqual(cook.stderr.count(f'galley.toml:{rule}: setting "quality" of cooker "texture" is "fats"'), 1, cook)
        self.assertEqual(cook.stderr.count(f"galley.toml:{rule}: cooker \"texture\" has no setting \"mipmap\"; did you mean \"mipmaps\"?"), 1, cook)
        self.assertEqual(cook.stderr.count(f"galley.toml:{last}: unknown cooker `textur`; did you mean `texture`?"), 1, cook)
        self.assertEqual(cook.stderr.count("content/tex/7.png.cook:4: setting \"mipmaps\" of cooker \"texture\" is 3: expected bool"), 1, cook)
        self.assertEqual(self.galley("ls", "--project", game).returncode, 2)
        doctor = self.galley("doctor", "--project", game)
        self.assertEqual(doctor.returncode, 1)
        self.assertIn("unknown cooker `textur`", doctor.stdout)
        self.write("game/galley.toml", toml)
        os.remove(self.path("game/content/tex/7.png.cook"))
        self.assertEqual(self.state_of(game), before)
        # So is a platform that there is not, in either.
        wrong = toml + '\n[[rule]]\nmatch = "/Game/tex/*"\nplatform.pcc.settings = { quality = "fast" }\n'
        self.write("game/galley.toml", wrong)
        self.assertRegex(self.cook(game, expect=2).stderr, r"galley\.toml:\d+: unknown platform `pcc`; did you mean `pc`\?")
        self.write("game/galley.toml", toml)
        self.write("game/content/tex/7.png.cook", "[platform.pcc]\n")
        self.assertIn("content/tex/7.png.cook:1: unknown platform `pcc`; did you mean `pc`?", self.cook(game, expect=2).stderr)
        os.remove(self.path("game/content/tex/7.png.cook"))
        self.assertEqual(self.state_of(game), before)
        self.assertEqual(self.cook(game).results["up_to_date"], 31)

    def test_what_is_left_out_is_said(self):
        game = self.project({"Rock.PNG": GOOD_PNG, "notes.md": "x", "old/plan.psd": "x", "gone.bin.cook": "", "props/oak.bin": "oak",
                             "bad.png": b"no png"}, [COPY, TEXTURE], extra='[cook]\nnever = ["/Game/props/**"]')
        cook = self.cook(game, expect=1)
        self.assertIn("2 files match no rule (galley ls --unmatched lists them)", cook.stderr)
        self.assertIn("the sidecar /Game/gone.bin.cook has no effect: there is no file /Game/gone.bin", cook.summary["warnings"][0]["text"])
        self.assertIn("Game/Rock.PNG.ktx2", self.tree(game, "pc"))
        unmatched = self.galley("ls", "--project", game, "--unmatched")
        self.assertEqual(unmatched.stdout.split(), ["/Game/notes.md", "/Game/old/plan.psd"], unmatched)
        self.assertIn("1 .md, 1 .psd", unmatched.stderr)
        self.assertEqual(self.galley("ls", "--project", game, "--unmatched", "/Game/old").stdout.split(), ["/Game/old/plan.psd"])
        rows = {row["package"]: row for row in map(json.loads, self.galley("ls", "--project", game, "--json").stdout.splitlines())}
        self.assertEqual({name: row["outcomes"]["pc"] for name, row in rows.items()},
                         {"/Game/Rock.PNG": "cooked", "/Game/bad.png": "failed", "/Game/props/oak.bin": None})
        self.assertEqual((rows["/Game/Rock.PNG"]["cooker"], rows["/Game/props/oak.bin"]["platforms"]), ("texture", []))
        self.assertRegex(rows["/Game/Rock.PNG"]["rule"], r"^galley\.toml:\d+$")
        totals = json.loads(self.galley("ls", "--project", game, "--json", "--totals").stdout.splitlines()[-1])["totals"]
        self.assertEqual(sum(total["packages"] for total in totals), len(rows), totals)
        of_texture, = [total for total in totals if total["cooker"] == "texture"]
        size = os.path.getsize(self.path("game/.galley/cooked/pc/Game/Rock.PNG.ktx2"))
        self.assertEqual((rows["/Game/Rock.PNG"]["bytes"], of_texture["bytes"]), ({"pc": size}, {"pc": size}))
        table = self.galley("ls", "--project", game, "/Game/*.{PNG,png}").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in table], ["PACKAGE", "/Game/Rock.PNG", "/Game/bad.png"])
        nothing = self.galley("ls", "--project", game, "/Game/*.pgn")
        self.assertEqual(nothing.returncode, 2)
        self.assertIn('nothing matches "/Game/*.pgn"; the nearest are', nothing.stderr)

    def test_ls_chooses_by_outcome_and_sorts_by_size(self):
        files = {"a.bin": "a", "b.bin": "b" * 3000, "c.bin": "c" * 200, "bad.png": b"no png", "soft.json": json.dumps({"$soft": "/Game/no.json"})}
        game = self.project(files, [COPY, TEXTURE, 'match = "/Game/**/*.json"\ncooker = "data"'])
        self.cook(game, expect=1)
        for options, packages in (([], ["a.bin", "b.bin", "bad.png", "c.bin", "soft.json"]), (["--failed"], ["bad.png"]),
                                  (["--warned"], []), (["--sort", "size", "/Game/*.bin"], ["b.bin", "c.bin", "a.bin"])):
            with self.subTest(options):
                listed = self.galley("ls", "--project", game, "--json", *options)
                self.assertEqual(listed.returncode, 0, listed)
                self.assertEqual([json.loads(line)["package"] for line in listed.stdout.splitlines()], ["/Game/" + name for name in packages])
                table = self.galley("ls", "--project", game, *options).stdout.splitlines()
                self.assertEqual([line.split()[0] for line in table[1:]], ["/Game/" + name for name in packages])

    def test_ls_knows_what_generators_made(self):
        level = json.dumps({"items": [{"position": [5, 0, 5]}, {"position": [15, 0, 5]}]})
        rule = 'match = "/Game/*.level"\ncooker = "data"\nsettings = { cell_size = 10 }'
        game = self.project({"town.level": level}, [rule])
        self.assertIn("not cooked yet", self.galley("ls", "--project", game).stdout)
        self.cook(game)
        rows = [json.loads(line) for line in self.galley("ls", "--project", game, "--json").stdout.splitlines()]
        self.assertEqual([(row["package"], row["generated_by"], row["outcomes"]["pc"]) for row in rows],
                         [("/Game/town.level", None, "cooked"),
                          ("/Game/town.level/_gen/cell_0_0.level", "/Game/town.level", "cooked"),
                          ("/Game/town.level/_gen/cell_1_0.level", "/Game/town.level", "cooked")])
        self.write("game/content/town.level", json.dumps({"items": [{"position": [5, 0, 5]}]}))
        self.cook(game)
        listed = self.galley("ls", "--project", game).stdout
        self.assertIn("cell_0_0", listed)
        self.assertNotIn("cell_1_0", listed)


if __name__ == "__main__":
    unittest.main()
