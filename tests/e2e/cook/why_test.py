"""`galley why` on the sample: why a package is in the cook, why it was cooked or not, where its time went; as text and as JSON."""
import json, os, shutil, unittest

from harness import LIMIT_S, E2ETest, wait_until

WOOD = "/Game/textures/wood_albedo.png"
LIT = "/Engine/shaders/lit.frag"


class WhyTest(E2ETest):
    def why(self, game, package, *args):
        answer = self.galley("why", package, "--project", game, "--json", *args)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def text(self, game, package, *args):
        answer = self.galley("why", package, "--project", game, *args)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def paths(self, why):
        return [" ".join(step["package"].rsplit("/", 1)[1] for step in path) for path in why["instigators"]]

    def edit(self, game, path, old, new):
        path = os.path.join(game, path)
        with open(path) as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w") as file:
            file.write(text.replace(old, new))

    def test_a_texture_used_by_two_meshes_in_two_levels(self):
        game = self.sample()
        shutil.copy(self.path("game/content/meshes/crate.gltf"), self.path("game/content/meshes/barrel.gltf"))
        both = '{"crate": {"$ref": "../meshes/crate.gltf"}, "barrel": {"$ref": "../meshes/barrel.gltf"}}'
        for level in ("docks", "harbour"):
            self.write(f"game/content/maps/{level}.level", both)
        self.cook(game, "--map", "/Game/maps/docks.level", "--map", "/Game/maps/harbour.level")
        expected = [f"wood_albedo.png {mesh}.gltf {level}.level" for mesh in ("barrel", "crate") for level in ("docks", "harbour")]
        why = self.why(game, WOOD)
        self.assertEqual(self.paths(why), expected)
        self.assertEqual([step["category"] for step in why["instigators"][0]], ["HardDependency", "HardDependency", "CookMap"])
        self.assertEqual((why["next"], why["is_cut"]), (None, False))
        # In pages.
        first = self.why(game, WOOD, "--limit", 3)
        self.assertEqual((self.paths(first), first["next"]), (expected[:3], 3))
        self.assertEqual(self.paths(self.why(game, WOOD, "--limit", 3, "--cursor", first["next"])), expected[3:])
        text = self.text(game, WOOD, "--limit", 3)
        self.assertIn(f"""  {WOOD}
    <- a hard reference of /Game/meshes/barrel.gltf
    <- a hard reference of /Game/maps/docks.level
    <- a map of the cook
""", text)
        self.assertIn(f"""  {WOOD} [HardDependency]
    <- /Game/meshes/barrel.gltf [HardDependency]
    <- /Game/maps/docks.level [CookMap]
""", self.text(game, WOOD, "--limit", 3, "--verbose"))
        self.assertIn("there is more: --cursor 3", text)
        # For people: three, and how many there are.
        short = self.text(game, WOOD)
        self.assertEqual(short.count(f"  {WOOD}\n"), 3, short)
        self.assertIn("  and 1 more (--all)\n", short)
        whole = self.text(game, WOOD, "--all")
        self.assertEqual(whole.count(f"  {WOOD}\n"), 4, whole)
        self.assertNotIn("more", whole)
        # By the book the textures are asked for as a folder: the shortest path of all.
        self.cook(game)
        book = self.why(game, WOOD, "--limit", 1000)
        self.assertEqual(book["instigators"][0], [{"package": WOOD, "category": "CommandLineDirectory"}])
        lengths = [len(path) for path in book["instigators"]]
        self.assertEqual(lengths, sorted(lengths))
        self.assertLessEqual(set(expected), set(self.paths(book)))

    def test_a_package_of_a_cook_that_runs(self):
        tool = f"""#!/bin/sh
case "$(cat "$1")" in wait) touch {self.path("begun")}; while [ ! -e {self.path("go")} ]; do sleep 0.05; done;; esac
cp "$1" "$2"
"""
        rules = ['match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n',
                 'match = "/Game/**/*.json"\ncooker = "data"\n']
        for name, deep in (("game", ""), ("deep", "far/" + "d" * 150 + "/")):  # too deep for a socket: it lies elsewhere
            with self.subTest(name):
                for file in ("begun", "go"):
                    if os.path.exists(self.path(file)):
                        os.remove(self.path(file))
                game = self.project({"a.slow": "wait", "b.slow": "b", "all.json": '{"first": {"$ref": "a.slow"}}'}, rules, name=deep + name)
                self.write(f"{deep}{name}/tools/slow", tool, 0o755)
                process = self.start_cook(game, "--workers", 1, "--map", "/Game/all.json")
                self.addCleanup(lambda process=process: (process.kill(), process.communicate()))
                wait_until(lambda: os.path.exists(self.path("begun")) or process.poll() is not None, "the cook to begin")
                why = self.why(game, "/Game/a.slow")
                running = why["running"]
                self.assertEqual((running["is_in_cook"], running["worker"], running["attempts"]), (True, "local-1", 1), running)
                self.assertIn("Save", running["state"])
                self.assertEqual([[(step["package"], step["category"]) for step in path] for path in why["instigators"]],
                                 [[("/Game/a.slow", "HardDependency"), ("/Game/all.json", "CookMap")]])
                self.assertEqual(why["platforms"], {}, "it was in no cook before")
                text = self.text(game, "/Game/a.slow")
                self.assertIn("now: Save", text)
                self.assertIn("; local-1\n", text)
                self.assertIn("; local-1, attempt ", self.text(game, "/Game/a.slow", "--verbose"))
                # One that this cook does not hold, nor any before.
                other = self.galley("why", "/Game/b.slow", "--project", game)
                self.assertEqual(other.returncode, 2)
                self.assertIn("/Game/b.slow was in no cook", other.stderr)
                with open(self.path("go"), "w"):
                    pass
                process.communicate(timeout=LIMIT_S)
                self.assertEqual(process.returncode, 0)
                after = self.why(game, "/Game/a.slow")
                self.assertIsNone(after["running"])
                self.assertEqual(after["platforms"]["pc"]["source"], "cooked")

    def test_a_shader_cooked_again_because_of_an_include_of_an_include(self):
        game = self.sample()
        self.cook(game)
        never_seen = self.why(game, LIT)["platforms"]["windows"]
        self.assertEqual((never_seen["state"], never_seen["first"], never_seen["changed"]), ("cooked", True, []))
        # lit.frag includes lighting.glsl, which includes math.glsl.
        with open(os.path.join(game, "engine/shaders/include/math.glsl"), "a") as file:
            file.write("// edited\n")
        cook = self.cook(game)
        why = self.why(game, LIT)
        one = why["platforms"]["windows"]
        self.assertEqual((one["state"], one["source"], one["cook"], one["first"], one["forced"]), ("cooked", "cooked", why["cook"], False, False))
        self.assertEqual(len(one["changed"]), 1, one)
        change = one["changed"][0]
        self.assertEqual(change["what"], "file(include/math.glsl)")
        self.assertEqual((change["path"], change["file"]), ("/Engine/shaders/include/math.glsl", "engine/shaders/include/math.glsl"))
        size = os.path.getsize(os.path.join(game, "engine/shaders/include/math.glsl"))
        self.assertTrue(change["after"].endswith(f"/{size}"), change)
        self.assertTrue(change["before"].endswith(f"/{size - len('// edited') - 1}"), change)
        # Where its time went, and who did it.
        self.assertRegex(one["worker"], r"^local-\d+$")
        self.assertGreater(one["attempt"], 0)
        self.assertGreaterEqual(one["attempts"], 1)
        self.assertEqual(set(one["seconds"]), {"request", "queue", "wait", "load", "save"})
        self.assertTrue(all(time >= 0 for time in one["seconds"].values()), one)
        self.assertGreater(one["seconds"]["save"], 0)
        self.assertIn(one["slowest"], one["seconds"])
        self.assertEqual(one["published"]["root"], cook.roots["windows"])
        text = self.text(game, LIT, "--platform", "windows")
        self.assertIn("windows: last cooked in cook 2 at ", text)
        self.assertIn("  because file(include/math.glsl) changed: ", text)
        self.assertIn("/Engine/shaders/include/math.glsl (engine/shaders/include/math.glsl)", text)
        self.assertRegex(text, r"by local-\d+(, handed over \d+ times)?\n")
        # (The outputs are as they were, so no other root was published.)
        self.assertIn("  in the roots since windows#1, ", text)
        self.assertRegex(self.text(game, LIT, "--platform", "windows", "--verbose"), r"by local-\d+, attempt \d+")
        self.assertRegex(text, r"made by local-\d+ on \S+ at 2\S+ \(.+\)\n")
        self.assertRegex(text, r"load \d+\.\d+ s, save \d+\.\d+ s; waited ")
        self.assertNotIn("deck", text)

    def test_an_up_to_date_package_says_since_when(self):
        game = self.sample()
        first = self.cook(game)
        with open(os.path.join(game, "engine/shaders/include/math.glsl"), "a") as file:
            file.write("// edited\n")
        self.cook(game)
        why = self.why(game, "/Game/data/strings.json")
        one = why["platforms"]["windows"]
        self.assertEqual((why["cook"], one["state"], one["source"], one["cook"]), (2, "up_to_date", "cooked", 1))
        self.assertEqual((one["published"]["root"], one["published"]["sequence"], one["published"]["is_this"]), (first.roots["windows"], 1, True))
        text = self.text(game, "/Game/data/strings.json")
        self.assertIn("windows: up to date in cook 2: nothing that it looked at had changed since it was cooked in cook 1 at ", text)
        self.assertIn(f"in the roots since windows#1, {first.roots['windows']}", text)
        # Edited, and no cook since: it is told of the last one.
        self.edit(game, "content/data/strings.json", "{", "{ ")
        self.assertIn("windows: up to date in cook 2: ", self.text(game, "/Game/data/strings.json"))
        self.assertEqual(self.why(game, "/Game/data/strings.json")["platforms"]["windows"]["state"], "up_to_date")
        # Forced: cooked without a change.
        self.cook(game, "--force", "/Game/ui/logo.png")
        forced = self.why(game, "/Game/ui/logo.png")["platforms"]["windows"]
        self.assertEqual((forced["state"], forced["forced"], forced["changed"]), ("cooked", True, []))
        self.assertIn("because the cook was forced", self.text(game, "/Game/ui/logo.png"))

    def test_a_setting_that_changed_is_named(self):
        game = self.sample()
        self.cook(game, "/Game/ui/logo.png")
        self.edit(game, "galley.toml", 'quality = "fast"', 'quality = "medium"')
        self.cook(game, "/Game/ui/logo.png")
        self.assertIn("because recipe setting quality changed: \"fast\" -> \"medium\"", self.text(game, "/Game/ui/logo.png"))

    def test_a_quarantined_package_says_that_it_is_to_blame_and_what_it_did(self):
        rule = ('match = "/Game/*.slow"\ncooker = "command"\ntimeout_s = 1\n'
                'settings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }')
        game = self.project({"a.slow": "words"}, [rule])
        self.write("game/tools/slow", "#!/bin/sh\necho it begins\nexec sleep 60\n", 0o755)
        self.cook(game, "--workers", 1, expect=1)
        failure = self.why(game, "/Game/a.slow")["failures"][0]
        self.assertEqual((failure["blame"], failure["own_faults"], failure["infrastructure_faults"]), ("package", 3, 0), failure)
        self.assertRegex(failure["worker"], r"^local-\d+$")
        self.assertGreater(failure["attempt"], 0)
        text = self.text(game, "/Game/a.slow")
        self.assertIn("quarantined for this cook", text)
        self.assertIn("  blamed on the package: it is quarantined for a cook, 3 of its attempts crashed or met a limit; local-", text)
        self.assertIn(f"  its log: galley store cat {failure['log']}\n", text)

    def test_a_failed_package_says_who_judged_it_and_what_its_log_ends_with(self):
        game = self.sample()
        self.cook(game)
        bad = self.path("game/content/textures/moss_albedo.png")
        good = self.read(bad)
        self.write(bad, good[:1000])
        tool = self.read("game/tools/bake_text")
        self.write("game/tools/bake_text", "#!/bin/sh\necho there is no licence\nexit 1\n", 0o755)
        cook = self.cook(game, expect=1)
        verdict = self.why(game, "/Game/textures/moss_albedo.png")
        self.assertEqual({failure["platform"] for failure in verdict["failures"]}, {"windows", "deck", "android"})
        failure = verdict["failures"][0]
        self.assertEqual((failure["blame"], failure["cook"], verdict["cook"]), ("verdict", 2, 2))
        self.assertEqual(failure["error"], cook.errors_of("/Game/textures/moss_albedo.png")[0])
        self.assertRegex(failure["worker"], r"^local-\d+$")
        self.assertEqual(verdict["platforms"]["windows"]["state"], "failed")
        self.assertEqual(verdict["platforms"]["windows"]["changed"][0]["file"], "content/textures/moss_albedo.png")
        text = self.text(game, "/Game/textures/moss_albedo.png")
        self.assertIn("failed in the last cook (windows, ", text)
        self.assertIn("  its cooker's verdict on its inputs; local-", text)
        refused = self.why(game, "/Game/text/credits.txt", "--platform", "windows")["failures"][0]
        self.assertIn("there is no licence", refused["log_tail"])
        self.assertTrue(refused["log"])
        self.assertGreater(refused["attempt"], 0)
        text = self.text(game, "/Game/text/credits.txt", "--platform", "windows")
        self.assertIn(f"  its log: galley store cat {refused['log']}\n", text)
        self.assertIn("    there is no licence\n", text)
        # Another cook that does not touch it leaves the failure known; one that mends it forgets it.
        self.cook(game, "/Game/data/strings.json")
        self.assertIn("failed in cook 2 (windows, ", self.text(game, "/Game/textures/moss_albedo.png"))
        self.write(bad, good)
        self.write("game/tools/bake_text", tool, 0o755)
        self.cook(game)
        for package in ("/Game/textures/moss_albedo.png", "/Game/text/credits.txt"):
            why = self.why(game, package)
            self.assertEqual(why["failures"], [])
            self.assertNotIn("failed", [one["state"] for one in why["platforms"].values()])

    def test_a_package_that_failed_for_a_reference_is_done_when_the_reference_is(self):
        game = self.sample()
        self.write("game/content/maps/pier.level", '{"lamp": {"$ref": "../textures/lamp.png"}}')
        self.cook(game, "/Game/maps/pier.level", expect=1)
        why = self.why(game, "/Game/maps/pier.level")
        self.assertEqual({failure["blame"] for failure in why["failures"]}, {"project"})
        self.assertIn("lamp.png", why["failures"][0]["error"])
        shutil.copy(self.path("game/content/textures/one.png"), self.path("game/content/textures/lamp.png"))
        again = self.cook(game, "/Game/maps/pier.level")
        self.assertEqual(self.why(game, "/Game/maps/pier.level")["failures"], [], again)

    def test_a_generated_package_names_its_generator_and_the_list(self):
        game = self.sample()
        self.cook(game)
        town = "/Game/maps/town.level"
        generator = self.why(game, town)
        self.assertGreater(generator["generates"]["count"], 1)
        name = generator["generates"]["names"][0]
        cell = f"{town}/{name}"
        why = self.why(game, cell)
        self.assertEqual((why["generated_by"]["package"], why["generated_by"]["is_listed"]), (town, True))
        self.assertEqual(why["generated_by"]["list"], generator["generates"])
        categories = {step["category"] for path in why["instigators"] for step in path}
        self.assertTrue(categories & {"GeneratedPackage", "HardDependency"}, why["instigators"])
        text = self.text(game, cell)
        self.assertIn(f"generated by {town}\n", text)
        self.assertIn(f"  {name}\n", text)
        # The source of its generator changed it: the generator's own reason is chained.
        with open(self.path("game/content/maps/town.level")) as file:
            level = json.load(file)
        for item in level["items"]:
            item["edited"] = True
        self.write("game/content/maps/town.level", json.dumps(level))
        self.cook(game)
        change = self.why(game, cell)["platforms"]["windows"]["changed"][0]
        self.assertEqual((change["what"], change["because"]["package"]), ("source", town))
        self.assertEqual(change["because"]["changed"][0]["file"], "content/maps/town.level")
        self.assertIn(f"  {town} was cooked in cook 2\n", self.text(game, cell))
        # Listed no longer.
        level["items"] = []
        self.write("game/content/maps/town.level", json.dumps(level))
        self.cook(game)
        self.assertIs(self.why(game, cell)["generated_by"]["is_listed"], False)
        self.assertIn("which lists it no longer", self.text(game, cell))

    def test_a_cooked_input_is_followed_to_its_own_reason(self):
        rule = ('match = "/Game/**/*.txt"\ncooker = "command"\n'
                'settings = { argv = ["tools/join", "{input}", "{output:.out}"], outputs = [".out"] }')
        game = self.project({"a.txt": "a", "b.txt": "b", "c.txt": "c"}, [rule])
        self.write("game/tools/join", '#!/bin/sh\ncat "$1" "$3" > "$2"\n', 0o755)
        for name, needs in (("a", "b"), ("b", "c")):
            self.write(f"game/content/{name}.txt.cook",
                       f'[settings]\nargv = ["tools/join", "{{input}}", "{{output:.out}}", "{{cooked:/Game/{needs}.txt:.out}}"]\n'
                       f'cooked_inputs = ["/Game/{needs}.txt:.out"]\n')
        self.write("game/content/c.txt.cook", '[settings]\nargv = ["tools/join", "{input}", "{output:.out}", "/dev/null"]\n')
        self.cook(game)
        self.write("game/content/c.txt", "other")
        self.cook(game)
        change = self.why(game, "/Game/a.txt")["platforms"]["pc"]["changed"]
        self.assertEqual([one["what"] for one in change], ["cooked(/Game/b.txt, .out)"])
        of_b = change[0]["because"]
        self.assertEqual((of_b["package"], of_b["changed"][0]["because"]["package"]), ("/Game/b.txt", "/Game/c.txt"))
        self.assertEqual(of_b["changed"][0]["because"]["changed"][0]["file"], "content/c.txt")
        text = self.text(game, "/Game/a.txt")
        self.assertIn("        because source changed: ", text)
        self.assertIn("content/c.txt", text)

    def test_what_was_in_no_cook_is_usage(self):
        game = self.sample()
        before = self.galley("why", LIT, "--project", game)
        self.assertEqual(before.returncode, 2)
        self.assertIn("nothing was cooked yet", before.stderr)
        self.cook(game, "/Game/data/strings.json")
        unknown = self.galley("why", "/Game/no.png", "--project", game)
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("was in no cook of this project yet", unknown.stderr)
        platform = self.galley("why", "/Game/data/strings.json", "--platform", "nope", "--project", game)
        self.assertEqual(platform.returncode, 2)


if __name__ == "__main__":
    unittest.main()
