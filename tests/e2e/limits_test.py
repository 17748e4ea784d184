"""What outgrew its memory or its time on this machine is not paid for in each cook."""
import unittest

from harness import E2ETest

RULE = ('match = "/Game/**/*.{kind}"\ncooker = "command"\n{limit}\n'
        'settings = {{ argv = ["tools/{kind}", "{{input}}", "{{output:.out}}"{more}], outputs = [".out"]{settings} }}\n')
EATS = "#!/usr/bin/python3\nopen({runs!r}, 'a').write('run\\n')\nx = []\nwhile True:\n    x.append(bytearray(16 << 20))\n"
# Says what it reads before it does.
TURNS = """#!/bin/sh
echo run >> {runs}
echo "$2: Game/inc.txt" > "$3"
grep -q slow Game/inc.txt && while :; do :; done
cp "$1" "$2"
"""


class LimitsTest(E2ETest):
    def game(self, kind, tool, limit, more="", settings=""):
        rule = RULE.format(kind=kind, limit=limit, more=more, settings=settings)
        game = self.project({f"a.{kind}": "x", "inc.txt": "slow", "b.txt": "y"}, [rule, 'match = "/Game/b.txt"\ncooker = "copy"'])
        self.write(f"game/tools/{kind}", tool.format(runs=self.path("runs")), 0o755)
        return game

    def runs(self):
        return len(self.read("runs").splitlines())

    def error_of(self, game, package, *args):
        cook = self.cook(game, *args, expect=1)
        self.assertEqual([f["package"] for f in cook.failures], [package], cook)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/b.txt"})
        return cook.failures[0]["error"]

    def test_memory_is_outgrown_three_times_and_then_only_when_asked_or_with_another_limit(self):
        game = self.game("eats", EATS, 'memory = "256MiB"')
        first = self.error_of(game, "/Game/a.eats")
        tried = self.runs()  # three times; or more on a machine that is busy, where a slow one gets a backup
        self.assertGreaterEqual(tried, 3)
        self.assertIn("outgrew its memory limit in 3 attempts, the last one alone on its machine", first)
        self.assertIn("kept for 7 days: `galley cook --retry-failed`, or another `memory` in its rule, tries it again", first)
        second = self.error_of(game, "/Game/a.eats")
        self.assertEqual(self.runs(), tried)
        self.assertIn("seen in a cook on 2", second)
        self.assertIn("--retry-failed", second)
        self.error_of(game, "/Game/a.eats", "--retry-failed")
        self.assertGreaterEqual(self.runs(), tried + 3)
        tried = self.runs()
        self.write("game/galley.toml", self.read("game/galley.toml").replace(b"256MiB", b"257MiB"))
        self.error_of(game, "/Game/a.eats")
        self.assertGreaterEqual(self.runs(), tried + 3)
        tried = self.runs()
        self.error_of(game, "/Game/a.eats")
        self.assertEqual(self.runs(), tried)

    def test_time_is_outgrown_until_an_include_changes(self):
        game = self.game("turns", TURNS, "timeout_s = 1", ', "{depfile}"', ', depfile = "a.d"')
        for _ in range(5):  # on a machine that is very busy the job may be seen to wait; then nothing is kept
            first = self.error_of(game, "/Game/a.turns")
            if "the last one alone" in first:
                break
        tried = self.runs()
        self.assertIn("ran out of time in 3 attempts, the last one alone on its machine", first)
        self.error_of(game, "/Game/a.turns")
        self.assertEqual(self.runs(), tried)
        self.write("game/content/inc.txt", "quick")
        self.assertEqual(self.cook(game).failures, [])
        self.assertGreater(self.runs(), tried)

    # What it waits for may be there tomorrow: nothing is kept.
    def test_what_hangs_is_ended_and_tried_in_the_next_cook(self):
        game = self.game("hangs", "#!/bin/sh\necho run >> {runs}\nexec sleep 1000\n", "timeout_s = 1")
        self.assertIn("timeout_s", self.error_of(game, "/Game/a.hangs"))
        self.write("game/tools/hangs", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        self.assertEqual(self.cook(game).failures, [])


if __name__ == "__main__":
    unittest.main()
