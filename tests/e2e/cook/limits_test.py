"""What outgrew its memory or its time on this machine is not paid for in each cook."""
import unittest

from harness import E2ETest

RULE = ('match = "/Game/**/*.{kind}"\ncooker = "command"\n{limit}\n'
        'settings = {{ argv = ["tools/{kind}", "{{input}}", "{{output:.out}}"{more}], outputs = [".out"] }}\n')
BEGINS = "#!/usr/bin/python3\nimport sys\nopen({runs!r}, 'a').write('run\\n')\n"
EATS = BEGINS + "x = []\nwhile True:\n    x.append(bytearray(16 << 20))\n"
TURNS = BEGINS + "while True:\n    pass\n"
COPIES = BEGINS + "open(sys.argv[2], 'w').write('done')\n"
# Says what it reads before it is ended; whether that is all, nobody knows.
TELLS = "open(sys.argv[3], 'w').write(sys.argv[2] + ': Game/inc.txt')\n"


class LimitsTest(E2ETest):
    def game(self, kind, tool, limit, more=""):
        rule = RULE.format(kind=kind, limit=limit, more=more)
        game = self.project({f"a.{kind}": "x", "inc.txt": "y", "b.txt": "y"}, [rule, 'match = "/Game/b.txt"\ncooker = "copy"'])
        self.put(kind, tool)
        self.write("runs", "")
        # Then each cook has one job: what outgrows its memory behind another job is begun once more by itself.
        self.cook_here(game, "/Game/b.txt")
        return game

    def put(self, kind, tool):
        self.write(f"game/tools/{kind}", tool.format(runs=self.path("runs")), 0o755)

    def runs(self):
        return len(self.read("runs").splitlines())

    # One worker: with two, a job that is moved to the other may have begun already, and is run by both.
    def cook_here(self, game, *args, expect=0):
        return self.cook(game, "--workers", 1, *args, expect=expect)

    def error_of(self, game, package, *args, more_runs):
        """Its error, in a cook in which it is tried so often."""
        before = self.runs()
        cook = self.cook_here(game, *args, expect=1)
        self.assertEqual([f["package"] for f in cook.failures], [package], cook)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/b.txt"})
        self.assertEqual(self.runs() - before, more_runs, cook)
        return cook.failures[0]["error"]

    def test_memory_is_outgrown_three_times_and_then_only_when_asked_or_with_another_limit(self):
        game = self.game("eats", EATS, 'memory = "256MiB"')
        first = self.error_of(game, "/Game/a.eats", more_runs=3)
        self.assertIn("outgrew its memory limit in 3 attempts, the last one alone on its machine", first)
        self.assertIn("kept for 7 days: `galley cook --retry-failed`, or another `memory` in its rule, tries it again", first)
        second = self.error_of(game, "/Game/a.eats", more_runs=0)
        self.assertIn("seen in a cook on 2", second)
        self.assertIn("--retry-failed", second)
        self.error_of(game, "/Game/a.eats", "--retry-failed", more_runs=3)
        self.write("game/galley.toml", self.read("game/galley.toml").replace(b"256MiB", b"257MiB"))
        self.error_of(game, "/Game/a.eats", more_runs=3)
        self.error_of(game, "/Game/a.eats", more_runs=0)

    def test_time_is_outgrown_until_the_program_changes(self):
        game = self.game("turns", TURNS, "timeout_s = 1")
        first = self.error_of(game, "/Game/a.turns", more_runs=3)
        self.assertIn("ran out of time in 3 attempts, the last one alone on its machine", first)
        self.error_of(game, "/Game/a.turns", more_runs=0)
        self.put("turns", COPIES)
        before = self.runs()
        self.assertEqual(self.cook_here(game).failures, [])
        self.assertEqual(self.runs(), before + 1)

    # Its depfile may not be the whole list of what it read.
    def is_not_kept_with_a_depfile(self, kind, tool, limit):
        game = self.game(kind, tool.replace("while", TELLS + "while"), limit, ', "{depfile}"')
        for _ in range(2):
            error = self.error_of(game, f"/Game/a.{kind}", more_runs=3)
            self.assertNotIn("kept", error)

    def test_a_program_with_a_depfile_that_runs_out_of_time_is_tried_in_the_next_cook(self):
        self.is_not_kept_with_a_depfile("turns", TURNS, "timeout_s = 1")

    def test_a_program_with_a_depfile_that_outgrows_its_memory_is_tried_in_the_next_cook(self):
        self.is_not_kept_with_a_depfile("eats", EATS, 'memory = "256MiB"')

    # A program may wait for something that is there tomorrow: nothing is kept.
    def test_what_hangs_is_ended_and_tried_in_the_next_cook(self):
        game = self.game("hangs", BEGINS + "import time\ntime.sleep(1000)\n", "timeout_s = 1")
        for _ in range(2):
            error = self.error_of(game, "/Game/a.hangs", more_runs=3)
            self.assertIn("timeout_s", error)
            self.assertNotIn("kept", error)


if __name__ == "__main__":
    unittest.main()
