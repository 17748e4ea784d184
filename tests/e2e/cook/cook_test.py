"""The main story: a project is cooked, nothing is cooked twice, a changed include cooks exactly its shaders."""
import hashlib, json, os, shutil, unittest

from harness import E2ETest, read_file


class CookTest(E2ETest):
    def test_the_sample_is_cooked_once_and_then_up_to_date(self):
        game = self.sample()
        first = self.cook(game)
        self.assertEqual(first.failures, [], first)
        self.assertGreater(first.cooked, 50)
        self.assertEqual(set(first.roots), {"windows", "deck", "android"})
        # windows and deck share a texture family: what is equal for both is cooked once.
        self.assertGreater(first.results["cached"], 20)
        second = self.cook(game)
        self.assertEqual(second.cooked, 0, second)
        self.assertEqual(second.results["cached"], 0, second)
        self.assertEqual(second.roots, first.roots)
        self.assertEqual(second.summary["workers"]["started"], 0)

    def test_the_sandbox_holds_what_the_root_says(self):
        game = self.sample()
        cook = self.cook(game)
        for platform, root in cook.roots.items():
            listing = self.galley("tree", f"{platform}@latest", "--project", game, "--json")
            self.assertEqual(listing.returncode, 0, listing.stderr)
            paths = {json.loads(line)["path"] for line in listing.stdout.splitlines()}
            self.assertEqual(paths, set(self.tree(game, platform)))
            checkout = self.galley("checkout", root, self.path("out-" + platform), "--project", game)
            self.assertEqual(checkout.returncode, 0, checkout.stderr)
            self.assertEqual(read_file(self.path("out-" + platform, "Game/data/strings.json.cbor")),
                             self.tree(game, platform)["Game/data/strings.json.cbor"])
        windows = self.tree(game, "windows")
        self.assertIn("Game/textures/brick_albedo.png.ktx2", windows)
        self.assertIn("Engine/shaders/lit.frag.spv", windows)
        self.assertIn("Engine/shaders/lit.frag.reflect.cbor", windows)
        self.assertIn(b"#version 310 es", self.tree(game, "android")["Engine/shaders/lit.frag.essl"])
        self.assertEqual(windows["Game/text/credits.txt.baked"].decode().splitlines()[0], "THE TOWER")
        self.assertIn(b"4 a.m.", windows["Game/text/credits.txt.baked"])
        # Generated packages: the town is split into cells.
        self.assertTrue([p for p in windows if p.startswith("Game/maps/town.level/_gen/cell_") or "town.level.d" in p or "/_gen/" in p], sorted(windows))
        # An editor-only reference is followed by nobody.
        self.assertFalse([p for p in windows if p.startswith("Game/dev")])

    def test_a_changed_include_cooks_exactly_the_shaders_that_read_it(self):
        game = self.sample()
        first = self.cook(game)
        include = os.path.join(game, "engine/shaders/include/lighting.glsl")
        original = read_file(include).decode()
        with open(include, "a") as file:
            file.write("vec3 twice(vec3 x) { return x * 2.0; }\n")
        edited = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(edited.stdout),
                         {"/Engine/shaders/lit.frag", "/Engine/shaders/lit_fog.frag", "/Engine/shaders/water.frag"})
        why = self.galley("why", "/Engine/shaders/lit.frag", "--project", game)
        self.assertIn("lighting.glsl", why.stdout)
        self.assertIn("changed", why.stdout)
        self.assertIn("of /Game/maps/town.level\n    <- a map of the cook\n", why.stdout)
        with open(include, "w") as file:
            file.write(original)
        reverted = self.cook(game)
        self.assertEqual(reverted.cooked, 0, reverted)
        self.assertEqual(reverted.roots, first.roots)

    def test_a_file_that_shadows_an_include_cooks_exactly_those_affected(self):
        game = self.sample()
        first = self.cook(game)
        # lit_fog.frag and water.frag looked for fog.glsl beside themselves first and did not find it.
        shadow = os.path.join(game, "engine/shaders/fog.glsl")
        with open(shadow, "w") as file:
            file.write("vec3 fog(vec3 color, float depth) { return color; }\n")
        shadowed = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(shadowed.stdout), {"/Engine/shaders/lit_fog.frag", "/Engine/shaders/water.frag"})
        self.assertNotEqual(shadowed.roots, first.roots)
        os.remove(shadow)
        reverted = self.cook(game)
        self.assertEqual(reverted.cooked, 0, reverted)
        self.assertEqual(reverted.roots, first.roots)

    def test_a_file_that_a_command_read_counts_and_another_does_not(self):
        game = self.sample()
        self.cook(game)
        with open(os.path.join(game, "content/text/names.inc"), "a") as file:
            file.write("and friends\n")
        cook = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(cook.stdout), {"/Game/text/credits.txt"})
        self.write("game/content/text/unread.inc", "nobody reads this\n")
        self.assertEqual(self.cook(game).cooked, 0)

    def test_touched_files_are_not_cooked(self):
        game = self.sample()
        first = self.cook(game)
        for folder, _, names in os.walk(game):
            if ".galley" in folder:
                continue
            for name in names:
                os.utime(os.path.join(folder, name))
        touched = self.cook(game)
        self.assertEqual(touched.cooked, 0, touched)
        self.assertEqual(touched.roots, first.roots)

    def test_a_missing_reference_that_appears_mends_its_referencer_without_cooking_it(self):
        game = self.project({"a.level": '{"next": {"$ref": "b.bin"}}'},
                            ['match = "/Game/*.level"\ncooker = "data"', 'match = "/Game/*.bin"\ncooker = "copy"'])
        broken = self.cook(game, expect=1)
        self.assertEqual([f["package"] for f in broken.failures], ["/Game/a.level"])
        self.assertIn("/Game/b.bin", broken.failures[0]["error"])
        self.assertEqual(self.tree(game, "pc"), {})
        self.write("game/content/b.bin", "now it is there")
        mended = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(mended.stdout), {"/Game/b.bin"})
        self.assertEqual(set(self.tree(game, "pc")), {"Game/a.level.cbor", "Game/b.bin"})
        os.remove(self.path("game/content/b.bin"))
        again = self.cook(game, expect=1)
        self.assertEqual(again.cooked, 0)
        self.assertEqual([f["package"] for f in again.failures], ["/Game/a.level"])
        self.assertEqual(set(self.tree(game, "pc")), {"Game/a.level.cbor", "Game/b.bin"}, "the last good tree")

    def test_a_reference_to_a_file_without_rule_says_so(self):
        game = self.project({"a.level": '{"next": {"$ref": "b.xyz"}}', "b.xyz": "x"}, ['match = "/Game/*.level"\ncooker = "data"'])
        self.assertIn("no rule or sidecar", self.cook(game, expect=1).failures[0]["error"])

    def test_a_cycle_of_references_is_fine(self):
        game = self.project({"a.json": '{"$ref": "b.json"}', "b.json": '{"$ref": "a.json"}'}, ['match = "/Game/*.json"\ncooker = "data"'])
        self.assertEqual(self.cook(game).failures, [])

    def test_a_selection_cooks_its_closure_and_leaves_the_rest_of_the_sandbox(self):
        game = self.sample()
        self.cook(game)
        before = self.tree(game, "windows")
        part = self.cook(game, "/Game/materials/brick.material", "--platform", "windows")
        self.assertEqual(part.cooked, 0)
        listing = self.galley("tree", "windows@last", "--project", game)
        self.assertIn("Game/textures/brick_albedo.png.ktx2", listing.stdout)
        self.assertNotIn("wood", listing.stdout)
        self.assertEqual(self.tree(game, "windows"), before)
        difference = self.galley("diff", "windows@latest", "windows@last", "--project", game)
        self.assertEqual(difference.returncode, 1)
        self.assertEqual(self.galley("diff", "windows@latest", "windows@latest", "--project", game).returncode, 0)

    def test_diff_tells_renames_and_sizes(self):
        rule = ['match = "/Game/**"\ncooker = "copy"']
        game = self.project({"a.bin": "aaaa", "old/moved.bin": "moved", "gone.bin": "gone!!", "same.bin": "same"}, rule)
        self.cook(game)
        os.makedirs(self.path(game, "content/new"))
        os.rename(self.path(game, "content/old/moved.bin"), self.path(game, "content/new/moved.bin"))
        os.remove(self.path(game, "content/gone.bin"))
        self.write(os.path.join(game, "content/a.bin"), "a" * 10)
        self.write(os.path.join(game, "content/b.bin"), "bb")
        self.cook(game)
        text = self.galley("diff", "pc@1", "pc@0", "--project", game)
        self.assertEqual(text.returncode, 1)
        self.assertEqual(text.stdout.splitlines(), [
            "changed  Game/a.bin (4 -> 10)", "added    Game/b.bin (- -> 2)", "removed  Game/gone.bin (6 -> -)",
            "renamed  Game/old/moved.bin -> Game/new/moved.bin (5 -> 5)", "1 added, 1 removed, 1 changed, 1 renamed: 15 B -> 17 B"])
        quiet = self.galley("diff", "pc@1", "pc@0", "--quiet", "--project", game)
        self.assertEqual(quiet.stdout.splitlines(), text.stdout.splitlines()[:-1])
        lines = [json.loads(line) for line in self.galley("diff", "pc@1", "pc@0", "--json", "--project", game).stdout.splitlines()]
        digest = lambda data: f"{hashlib.sha256(data).hexdigest()}/{len(data)}"
        self.assertEqual(lines[3], {"kind": "renamed", "path": "Game/new/moved.bin", "from": "Game/old/moved.bin", "before": digest(b"moved"), "after": digest(b"moved"),
                                    "size_before": 5, "size_after": 5, "executable_before": False, "executable_after": False})
        self.assertEqual([set(line) - {"kind", "path"} for line in lines[1:3]],
                         [{"after", "size_after", "executable_after"}, {"before", "size_before", "executable_before"}])
        self.assertEqual(lines[4], {"kind": "total", "added": 1, "removed": 1, "changed": 1, "renamed": 1, "size_before": 15, "size_after": 17})
        same = self.galley("diff", "pc@0", "pc@0", "--project", game)
        self.assertEqual((same.returncode, same.stdout), (0, ""))

    def test_an_option_takes_one_value_and_leaves_the_selection_alone(self):
        game = self.sample()
        part = self.cook(game, "--platform", "windows", "--never", "/Game/maps/**", "/Game/data/table.bin")
        self.assertEqual(set(part.roots), {"windows"})
        self.assertEqual(part.summary["packages"]["in_cook"], 1, part)
        two = self.cook(game, "--platform", "windows", "--platform", "deck", "/Game/data/table.bin")
        self.assertEqual(set(two.roots), {"windows", "deck"})
        self.assertEqual(two.summary["packages"]["in_cook"], 1, two)

    def test_by_the_book_removes_what_is_gone(self):
        game = self.sample()
        self.cook(game)
        self.assertIn("Game/data/table.bin", self.tree(game, "windows"))
        os.remove(os.path.join(game, "content/data/table.bin"))
        self.cook(game)
        self.assertNotIn("Game/data/table.bin", self.tree(game, "windows"))

    def test_generated_packages_come_and_go_with_their_generator(self):
        level = {"items": [{"position": [1, 0, 1]}, {"position": [100, 0, 1]}]}
        game = self.project({"m.level": json.dumps(level)}, ['match = "/Game/*.level"\ncooker = "data"\nsettings = { cell_size = 64 }'])
        self.cook(game)
        self.assertEqual({p for p in self.tree(game, "pc") if "cell" in p},
                         {"Game/m.level/_gen/cell_0_0.level.cbor", "Game/m.level/_gen/cell_1_0.level.cbor"})
        level["items"].pop()
        self.write("game/content/m.level", json.dumps(level))
        self.cook(game)
        self.assertEqual({p for p in self.tree(game, "pc") if "cell" in p}, {"Game/m.level/_gen/cell_0_0.level.cbor"})

    def test_init_makes_a_project_that_cooks(self):
        shutil.copytree(os.path.join(self.sample("from"), "content"), self.path("mine", "content"))
        made = self.galley("init", self.path("mine"))
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.galley("init", self.path("mine")).returncode, 2)
        cook = self.cook(self.path("mine"), "/Game/textures")
        self.assertEqual(cook.failures, [], cook)

    def test_clean_makes_a_package_cook_again(self):
        game = self.sample()
        first = self.cook(game)
        self.assertEqual(self.galley("clean", "/Game/data/table.bin", "--project", game).returncode, 0)
        again = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(again.stdout), {"/Game/data/table.bin"})
        self.assertEqual(again.roots, first.roots)

    def test_trace_and_doctor_and_stats_answer(self):
        game = self.sample()
        self.cook(game, "--trace", self.path("trace.json"))
        events = json.loads(read_file(self.path("trace.json")))["traceEvents"]
        self.assertTrue([e for e in events if e.get("cat") == "load"] and [e for e in events if e.get("cat") == "save"])
        doctor = self.galley("doctor", "--project", game)
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        self.assertIn("store.dir", doctor.stdout)
        stats = json.loads(self.galley("store", "stats", "--project", game, "--json").stdout)
        self.assertGreater(stats["blobs"], 10)
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)

    def test_a_doctor_makes_no_store_and_a_store_alone_lists_every_projects_roots(self):
        game = self.sample()
        doctor = self.galley("doctor", "--project", game)
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        self.assertFalse(os.path.exists(self.path("game/.galley/store")))
        cook = self.cook(game)
        roots = self.galley("roots", "--store", self.path("game/.galley/store"), "--json")
        listed = {json.loads(line)["root"] for line in roots.stdout.splitlines()}
        self.assertEqual(listed, set(cook.roots.values()), roots)

    def test_what_is_not_built_yet_is_said(self):
        for command in (["trust"], ["cook", "--link"]):
            answer = self.galley(*command)
            self.assertEqual(answer.returncode, 2, command)
            self.assertIn("not yet", answer.stderr)

    def test_gc_drops_what_no_kept_tree_needs(self):
        game = self.sample()
        first = self.cook(game)
        kept = self.galley("store", "gc", "--project", game, "--max-size", "0", "--json")
        self.assertEqual(kept.returncode, 0, kept.stderr)
        report = json.loads(kept.stdout)  # what goes is in no tree: what others are made of
        self.assertGreater(report["bytes"], report["dropped_bytes"])
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)
        self.assertEqual(self.cook(game).roots, first.roots)
        wrong = self.galley("store", "gc", "--project", game, "--max-age", "3x")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("3x", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
