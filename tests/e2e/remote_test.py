"""A store of other people behind ours: what is cooked on one machine is cached on the next, and a remote that is down, empty, slow or wrong
makes no cook wrong."""
import os, shutil, subprocess, unittest

from harness import E2ETest, wait_until

RULES = ['match = "/Game/**/*.json"\ncooker = "data"\nsettings = { cell_size = 10 }\n',
         'match = "/Game/**/*.txt"\ncooker = "copy"\n',
         'match = "/Game/**/*.slow"\ncooker = "command"\n'
         'settings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n',
         'match = "/Game/**/*.pack"\ncooker = "command"\n'
         'settings = { argv = ["tools/pack", "{cooked:/Game/a.txt}", "{output:.packed}"], outputs = [".packed"], '
         'cooked_inputs = ["/Game/a.txt"] }\n',
         'match = "/Game/**/*.many"\ncooker = "command"\nsettings = { argv = ["tools/many", "{input}", '
         + ", ".join(f'"{{output:.d/{i}}}"' for i in range(80)) + '], outputs = [' + ", ".join(f'".d/{i}"' for i in range(80)) + "] }\n"]


class Server:
    """A FakeReapi that is told what to do."""

    def __init__(self, test):
        self.process = subprocess.Popen([os.path.join(test.bin, "fake_reapi")], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.addCleanup(self.stop)
        self.url = self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def count(self):
        blobs, results = self.tell("count").split()
        return int(blobs), int(results)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class RemoteTest(E2ETest):
    def setUp(self):
        super().setUp()
        self.server = Server(self)

    def game(self, name="game", slow=6):
        files = {"a.txt": "a", "b.txt": "a second text", "folder/b.txt": "a second text", "large.txt": "0123456789" * 300_000,
                 "world.json": '{"items": [{"position": [1, 2, 3]}, {"position": [15, 2, 3]}], "see": {"$ref": "/Game/a.txt"}}',
                 "all.pack": "pack", "of.many": "many"}
        for i in range(slow):
            files[f"{i}.slow"] = f"{i}\n"
        game = self.project(files, RULES, name=name)
        self.write(f"{name}/tools/slow", '#!/bin/sh\nsleep 0.2\ncp "$1" "$2"\n', 0o755)
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
        return self.cook(self.game(name="reference")).roots

    def check_all_cached(self, game, roots, mode="read"):
        cook = self.cook(game, env=self.env(mode))
        self.assertEqual(cook.cooked, 0, cook)
        self.assertGreater(cook.results["cached"], 8, cook)
        self.assertEqual(cook.roots, roots)
        self.assertEqual(self.warnings(cook), "")
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
        # And from there on it is the machine's own.
        self.server.tell("empty")
        self.assertEqual(self.cook(game, env=self.env("read")).results["up_to_date"], again.results["cached"])
        # Another checkout, where one file differs: only that is cooked.
        self.server.tell("empty")
        self.forget(game)
        self.cook(game, env=self.env())
        other = self.game(name="elsewhere/checkout")
        self.write("elsewhere/checkout/content/b.txt", "changed")
        cook = self.cook(other, env=self.env("read"))
        self.assertEqual(cook.cooked, 1, cook)

    def test_a_remote_that_is_read_is_not_written(self):
        game = self.game(slow=0)
        cook = self.cook(game, env=self.env("read"))
        self.assertEqual(self.warnings(cook), "")
        self.assertEqual(self.server.count(), (0, 0))

    def test_a_remote_that_was_emptied_or_lies_makes_nothing_wrong(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.cook(game, env=self.env())
        self.forget(game)
        self.server.tell("corrupt")
        cook = self.cook(game, env=self.env("read"))
        self.assertEqual(cook.roots, roots)
        self.assertIn("had wrong bytes and were not used", self.warnings(cook))
        self.server.tell("well")
        self.server.tell("empty")
        self.forget(game)
        cook = self.cook(game, env=self.env())
        self.assertEqual(cook.roots, roots)
        self.assertEqual(cook.results["cached"], 0, cook)
        self.forget(game)
        self.check_all_cached(game, roots)

    def test_a_remote_that_is_down_at_the_start_is_a_warning(self):
        roots = self.roots_without_remote()
        self.server.tell("kill")
        game = self.game()
        cook = self.cook(game, env=self.env())
        self.assertEqual(cook.roots, roots)
        self.assertIn("results could not be sent to grpc://127.0.0.1", self.warnings(cook))
        self.assertIn("is down, the cook went on without it", self.warnings(cook))

    def test_a_remote_that_dies_in_the_middle_makes_nothing_wrong(self):
        roots = self.roots_without_remote()
        for what in ("kill", "empty", "corrupt"):
            with self.subTest(what):
                self.server.tell("restart")
                self.server.tell("well")
                self.server.tell("empty")
                game = self.game(name=what)
                process = self.start_cook(game, "--workers", 1, env=self.env())
                wait_until(lambda: self.server.count()[1] >= 2 or process.poll() is not None, "results to arrive")
                self.assertIsNone(process.poll())
                self.server.tell(what)
                cook = self.finish_cook(game, process)
                self.assertEqual(cook.code, 0, cook)
                self.assertEqual(cook.roots, roots)
                # What is there now is right for the next one, or not used.
                self.forget(game)
                again = self.cook(game, env=self.env("read"))
                self.assertEqual(again.roots, roots)

    def test_what_is_wrong_with_a_remote_is_said_before_anything_is_cooked(self):
        game = self.game(slow=0)
        cook = self.cook(game, expect=2, env=self.env(url="cas.farm:8980"))
        self.assertIn("expected grpc://host:port", cook.stderr)
        env = {**self.env(), "GALLEY_STORE_CREDENTIAL_FILE": self.path("absent")}
        self.assertIn("absent", self.cook(game, expect=2, env=env).stderr)

    def test_doctor_says_whether_it_answers(self):
        game = self.game(slow=0)
        doctor = self.galley("doctor", "--project", game, env=self.env())
        self.assertRegex(doctor.stdout, r"ok +remote +grpc://127\.0\.0\.1:\d+ answers")
        self.server.tell("kill")
        doctor = self.galley("doctor", "--project", game, env=self.env())
        self.assertRegex(doctor.stdout, r"BAD +remote +grpc://127\.0\.0\.1:\d+: ")


if __name__ == "__main__":
    unittest.main()
