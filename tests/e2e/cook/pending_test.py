"""Programs that merely wait leave their slot to others."""
import os, unittest

from harness import E2ETest

RULE = ('match = "/Game/**/*.{kind}"\ncooker = "command"\ntimeout_s = 40\n'
        'settings = {{ argv = ["tools/{kind}", "{{input}}", "{{output:.out}}"], outputs = [".out"] }}\n')
# Where the folder exists, each that begins waits until the next one has begun, the last one for nobody.
WAITS = """#!/bin/sh
if [ -d {folder} ]; then
  : > {folder}/$(basename "$1")
  mine=$(ls {folder} | wc -l)
  while [ $mine -lt {count} ] && [ $(ls {folder} | wc -l) -le $mine ]; do sleep 0.2; done
fi
tr a-z A-Z < "$1" > "$2"
"""
COUNT = 6


class PendingTest(E2ETest):
    def game(self, name):
        files = {f"{i}.waits": f"waits {i}" for i in range(COUNT)} | {f"{i}.quick": f"quick {i}" for i in range(20)}
        game = self.project(files, [RULE.format(kind="waits"), RULE.format(kind="quick")], name=name)
        self.write(f"{name}/tools/waits", WAITS.format(folder=self.path("begun"), count=COUNT), 0o755)
        self.write(f"{name}/tools/quick", '#!/bin/sh\ntr a-z A-Z < "$1" > "$2"\n', 0o755)
        return game

    def test_one_slot_goes_on_while_programs_wait_and_the_root_is_the_same(self):
        ordinary = self.cook(self.game("ordinary"), "--workers", 1)
        os.mkdir(self.path("begun"))
        waiting = self.cook(self.game("waiting"), "--workers", 1)  # with one slot, none of the six would end
        self.assertEqual(waiting.cooked, COUNT + 20, waiting)
        self.assertEqual(len(os.listdir(self.path("begun"))), COUNT)
        self.assertGreaterEqual(waiting.summary["workers"]["jobs_pending"], COUNT - 1, waiting)
        self.assertEqual((waiting.summary["workers"]["executors_lost"], waiting.summary["workers"]["jobs_retried"]), (0, 0), waiting)
        self.assertEqual(waiting.roots, ordinary.roots)


if __name__ == "__main__":
    unittest.main()
