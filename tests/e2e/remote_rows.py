"""What holds for any store of other people behind ours, whoever serves it: rows for the tests of each server (remote_test, galley_remote_test,
tests/interop/bazel_remote_test).

A test class is (RemoteRows, E2ETest) with `start_server()`, which answers something that has

    url                 grpc://127.0.0.1:<port>, the same all its life
    blobs(), results()  how many it has; free of what its own caches believe
    kill(), restart()   at once, and on the same port with what it had
    empty()             it has nothing any more
    corrupt(), well()   what it has has wrong bytes; from now on it is right again (with what is left)
"""
import json, os, shutil

from harness import wait_until

RULES = ['match = "/Game/**/*.json"\ncooker = "data"\nsettings = { cell_size = 10 }\n',
         'match = "/Game/**/*.txt"\ncooker = "copy"\n',
         'match = "/Game/**/*.slow"\ncooker = "command"\n'
         'settings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n',
         'match = "/Game/**/*.after"\ncooker = "command"\n'
         'settings = { argv = ["tools/pack", "{cooked:/Game/gate.slow:.out}", "{output:.packed}"], outputs = [".packed"], '
         'cooked_inputs = ["/Game/gate.slow:.out"] }\n',
         'match = "/Game/**/*.pack"\ncooker = "command"\n'
         'settings = { argv = ["tools/pack", "{cooked:/Game/a.txt}", "{output:.packed}"], outputs = [".packed"], '
         'cooked_inputs = ["/Game/a.txt"] }\n',
         'match = "/Game/**/*.many"\ncooker = "command"\nsettings = { argv = ["tools/many", "{input}", '
         + ", ".join(f'"{{output:.d/{i}}}"' for i in range(80)) + '], outputs = [' + ", ".join(f'".d/{i}"' for i in range(80)) + "] }\n"]
PACKAGES = 14  # of game(), without those that world.json generates


class RemoteRows:
    reference_roots = None  # the same for all tests

    def setUp(self):
        super().setUp()
        self.server = self.start_server()

    def game(self, name="game"):
        files = {"a.txt": "a", "b.txt": "a second text", "folder/b.txt": "a second text", "large.txt": "0123456789" * 300_000,
                 "world.json": '{"items": [{"position": [1, 2, 3]}, {"position": [15, 2, 3]}], "see": {"$ref": "/Game/a.txt"}}',
                 "all.pack": "pack", "of.many": "many", "gate.slow": "gate\n"}
        for i in range(3):
            files[f"{i}.slow"] = f"{i}\n"
            files[f"{i}.after"] = f"{i}\n"
        game = self.project(files, RULES, name=name)
        self.write(f"{name}/tools/slow", f"""#!/bin/sh
case "$(cat "$1")" in gate) while [ -e {self.path("gate")} ]; do sleep 0.02; done;; esac
cp "$1" "$2"
""", 0o755)
        self.write(f"{name}/tools/pack", '#!/bin/sh\ncat "$1" "$1" > "$2"\n', 0o755)
        self.write(f"{name}/tools/many", '#!/bin/sh\nin=$1\nshift\ni=0\nfor out; do echo $i | cat - "$in" > "$out"; i=$((i+1)); done\n', 0o755)
        return game

    def env(self, mode="read-write", url=None):
        return {"GALLEY_STORE_REMOTE": url or self.server.url, "GALLEY_STORE_REMOTE_MODE": mode}

    def forget(self, game):
        shutil.rmtree(os.path.join(game, ".galley"))

    def warnings(self, cook):
        return " | ".join(w["text"] for w in cook.summary["warnings"])

    def roots_without_remote(self):
        if RemoteRows.reference_roots is None:
            RemoteRows.reference_roots = self.cook(self.game(name="reference")).roots
        return RemoteRows.reference_roots

    def check_all_cached(self, game, roots, mode="read"):
        cook = self.cook(game, env=self.env(mode))
        self.assertEqual(cook.cooked, 0, cook)
        self.assertGreaterEqual(cook.results["cached"], PACKAGES, cook)
        self.assertEqual(cook.roots, roots)
        self.assertEqual(self.warnings(cook), "")
        return cook

    def cook_in_two_parts(self, game, between):
        """Half of the results have been sent when `between` is called; the rest is cooked and looked up only then."""
        self.write("gate", "")
        process = self.start_cook(game, "--workers", 2, env=self.env())
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        before = self.server.results()
        wait_until(lambda: self.server.results() >= before + 4 or process.poll() is not None, "results to arrive")
        self.assertIsNone(process.poll())
        between()
        os.remove(self.path("gate"))
        cook = self.finish_cook(game, process)
        self.assertEqual(cook.code, 0, cook)
        return cook

    def test_what_was_cooked_on_one_machine_is_cached_on_the_next(self):
        roots = self.roots_without_remote()
        game = self.game()
        first = self.cook(game, env=self.env())
        self.assertEqual(first.roots, roots)
        self.assertEqual(self.warnings(first), "")
        self.assertEqual(first.summary["bytes"]["fetched"], 0)
        cooked_tree = self.tree(game, "pc")
        self.forget(game)
        again = self.check_all_cached(game, roots)
        self.assertGreater(again.summary["bytes"]["fetched"], 3_000_000)
        self.assertEqual(self.tree(game, "pc"), cooked_tree)
        # Who made it is known here, and where it came from.
        records = json.loads(self.galley("records", "/Game/a.txt", "--project", game, "--json").stdout)
        made = records["platforms"]["pc"]["provenance"]
        self.assertEqual((made["received_from"], made["worker"][:6]), (self.server.url, "local-"))
        self.assertTrue(made["machine"] and made["identity"] and made["started"] > "2020", made)
        why = self.galley("why", "/Game/a.txt", "--project", game)
        self.assertRegex(why.stdout, rf"made by local-\d+ on \S+ at 2\S+ \(.+\), received from {self.server.url}\n")
        why = json.loads(self.galley("why", "/Game/a.txt", "--project", game, "--json").stdout)
        self.assertEqual(why["platforms"]["pc"]["provenance"], made)
        # And from there on it is the machine's own.
        self.server.empty()
        self.assertEqual(self.cook(game, env=self.env("read")).results["up_to_date"], again.results["cached"])
        # Another checkout, where one file differs: only that is cooked.
        self.server.empty()
        self.forget(game)
        self.cook(game, env=self.env())
        other = self.game(name="elsewhere/checkout")
        self.write("elsewhere/checkout/content/b.txt", "changed")
        cook = self.cook(other, env=self.env("read"))
        self.assertEqual(cook.cooked, 1, cook)

    def test_what_is_in_dispute_on_one_machine_is_found_by_no_other(self):
        rule = 'match = "/Game/**/*.any"\ncooker = "command"\nsettings = { argv = ["tools/any", "{output:.out}"], outputs = [".out"] }\n'
        games = [self.project({"a.any": "a", "b.txt": "b"}, [rule, RULES[1]], name=name) for name in ("here", "there")]
        for name in ("here", "there"):
            self.write(f"{name}/tools/any", '#!/bin/sh\ncat /proc/sys/kernel/random/uuid > "$1"\n', 0o755)
        first = self.cook(games[0], env=self.env())
        found = self.cook(games[1], env=self.env("read"))
        self.assertEqual((found.cooked, found.roots), (0, first.roots), found)
        cook = self.cook(games[0], "--force", env=self.env(), expect=1)
        self.assertIn("neither is used", cook.summary["failures"][0]["error"])
        self.assertNotIn("could not be sent", self.warnings(cook))
        self.forget(games[1])
        found = self.cook(games[1], env=self.env("read"))
        self.assertEqual((found.cooked, found.results["cached"]), (1, 1), found)
        # Nor by this one, once it is cleaned here.
        self.assertEqual(self.galley("clean", "--project", games[0], "/Game/a.any").returncode, 0)
        again = self.cook(games[0], env=self.env("read"))
        self.assertEqual(again.cooked, 1, again)
        self.assertNotIn(again.roots, (first.roots, found.roots))

    def test_a_server_that_was_started_again_has_what_it_took(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.cook(game, env=self.env())
        self.server.kill()
        self.server.restart()
        self.forget(game)
        self.check_all_cached(game, roots)

    def test_a_remote_that_is_read_is_not_written(self):
        game = self.game()
        cook = self.cook(game, env=self.env("read"))
        self.assertEqual(self.warnings(cook), "")
        self.assertEqual((self.server.blobs(), self.server.results()), (0, 0))

    def test_a_remote_that_was_emptied_is_filled_again(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.cook(game, env=self.env())
        self.forget(game)
        self.server.empty()
        cook = self.cook(game, env=self.env())
        self.assertEqual(cook.roots, roots)
        self.assertLessEqual(cook.results["cached"], 1, f"one of b.txt and folder/b.txt, which are equal work: {cook}")
        self.forget(game)
        self.check_all_cached(game, roots)

    def test_a_remote_that_is_down_at_the_start_is_a_warning(self):
        roots = self.roots_without_remote()
        self.server.kill()
        cook = self.cook(self.game(), env=self.env())
        self.assertEqual(cook.roots, roots)
        self.assertIn("results could not be sent to grpc://127.0.0.1", self.warnings(cook))
        self.assertRegex(self.warnings(cook), r"is down since \d\d:\d\d, the cook went on without it")

    def test_what_could_not_be_sent_is_sent_by_the_next_cook(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.server.kill()
        for _ in range(2):  # it is not forgotten by a cook that cannot send it either
            cook = self.cook(game, env=self.env())
            self.assertIn("the next cook sends them", self.warnings(cook))
        self.server.restart()
        cook = self.cook(game, env=self.env())
        self.assertEqual((cook.cooked, self.warnings(cook)), (0, ""), cook)
        self.forget(game)
        self.check_all_cached(game, roots)

    def test_a_remote_that_dies_in_the_middle_makes_nothing_wrong(self):
        roots = self.roots_without_remote()
        game = self.game()
        cook = self.cook_in_two_parts(game, self.server.kill)
        self.assertEqual(cook.roots, roots)
        self.assertRegex(self.warnings(cook), r"is down since \d\d:\d\d, the cook went on without it")
        self.server.restart()
        self.forget(game)
        # Blobs that came before are right; for those that did not come, packages are cooked.
        again = self.cook(game, env=self.env("read"))
        self.assertEqual(again.roots, roots)
        self.assertGreater(again.results["cached"], 0, again)
        self.assertGreater(again.cooked, 0, again)

    def test_a_remote_that_is_emptied_in_the_middle_makes_nothing_wrong(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.assertEqual(self.cook_in_two_parts(game, self.server.empty).roots, roots)
        self.forget(game)
        self.assertEqual(self.cook(game, env=self.env("read")).roots, roots)

    def test_a_remote_whose_bytes_rot_in_the_middle_makes_nothing_wrong(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.assertEqual(self.cook_in_two_parts(game, self.server.corrupt).roots, roots)
        self.forget(game)
        cook = self.cook(game, env=self.env("read"))
        self.assertEqual(cook.roots, roots)
        self.check_rot_was_met(cook)
        self.server.well()
        # And it does not stay so: who cooks it again sends it again.
        self.server.empty()
        self.forget(game)
        self.cook(game, env=self.env())
        self.forget(game)
        self.check_all_cached(game, roots)

    def test_doctor_says_whether_it_answers(self):
        game = self.game()
        doctor = self.galley("doctor", "--project", game, env=self.env())
        self.assertRegex(doctor.stdout, r"ok +remote +grpc://127\.0\.0\.1:\d+ answers")
        self.server.kill()
        doctor = self.galley("doctor", "--project", game, env=self.env())
        self.assertRegex(doctor.stdout, r"BAD +remote +grpc://127\.0\.0\.1:\d+: ")
