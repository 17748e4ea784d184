"""Labels and resources: which worker gets which job."""
import json, os, signal, unittest

from farm.farm_test import FarmCase
from harness import kill, wait_until

# It is counted how many of these run at the same time.
COUNTS = """#!/bin/sh
: > {folder}/$(basename "$1")
ls {folder} | wc -l >> {counts}
sleep 0.05
rm {folder}/$(basename "$1")
tr a-z A-Z < "$1" > "$2"
"""
TOML = """[project]
name = "placed"
[[mount]]
path = "/Game"
dir = "content"
[[platform]]
name = "linux"
texture = "bc"
[[rule]]
match = "/Game/**/*.txt"
cooker = "copy"
{rules}
[farm]
prove = 0
{farm}
"""
BY_HAND = 'launcher = "none"\nlisten = "127.0.0.1:0"'


class LabelsTest(FarmCase):
    def placed(self, rules, farm, files=6):
        for i in range(files):
            self.write(f"game/content/plain/{i}.txt", f"plain {i}")
            self.write(f"game/content/win/{i}.txt", f"win {i}")
        self.write("game/galley.toml", TOML.format(rules=rules, farm=farm))
        return self.path("game")

    def maker(self, game, package):
        done = self.galley("records", package, "--json", "--project", game)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)["platforms"]["linux"]["provenance"]["worker"]

    def test_jobs_go_where_their_labels_are_and_no_key_knows(self):
        game = self.placed('[[rule]]\nmatch = "/Game/win/*"\nlabels = ["win"]', BY_HAND)
        cook = self.start_cook(game)
        windows = self.worker(game, "windows", "--label", "win", "--label", "sdk-x", "--resource", "gpu=1")
        self.worker(game, "plain")
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 12), done)
        for i in range(6):
            self.assertEqual(self.maker(game, f"/Game/win/{i}.txt"), "windows")
        windows.send_signal(signal.SIGTERM)
        windows.wait(timeout=60)
        # Other labels and resources make no other results: there is nothing to be cooked.
        self.write("game/galley.toml", TOML.format(rules='[[rule]]\nmatch = "/Game/win/*"\nlabels = ["mac"]\nresources = ["gpu=7"]', farm=BY_HAND))
        again = self.cook(game)
        self.assertEqual((again.code, again.cooked, again.roots), (0, 0, done.roots), again)

    def test_what_nobody_has_fails_by_name_and_is_tried_again(self):
        game = self.placed('[[rule]]\nmatch = "/Game/win/0.txt"\nlabels = ["win"]\nresources = { gpu = 2 }', 'workers = 1\nlabels = ["linux"]\nresources = ["gpu=1"]')
        done = self.cook(game)
        self.assertEqual(done.code, 1, done)
        [failure] = done.failures
        self.assertEqual(failure["package"], "/Game/win/0.txt")
        self.assertIn('Wanted: labels win; resources gpu=2 for the cooker "copy". Offered: 1 worker: labels linux; resources gpu=1 | '
                      "[farm] says of each that it starts: labels linux; resources gpu=1.", failure["error"])
        # It is in no cache; and one that comes with the project's next state finds it to be done.
        toml = self.read("game/galley.toml").decode().replace('labels = ["linux"]\nresources = ["gpu=1"]', 'labels = ["win"]\nresources = ["gpu=2"]')
        self.write("game/galley.toml", toml)
        again = self.cook(game)
        self.assertEqual((again.code, again.cooked), (0, 1), again)

    def test_a_machine_holds_no_more_than_it_has(self):
        """Programs count how many of them run: never more than the machine's workers have together."""
        os.mkdir(self.path("running"))
        self.write("game/tools/count", COUNTS.format(folder=self.path("running"), counts=self.path("counts")), 0o755)
        rule = ('[[rule]]\nmatch = "/Game/win/*.txt"\ncooker = "command"\nresources = ["gpu"]\n'
                'settings = { argv = ["tools/count", "{input}", "{output:.out}"], outputs = [".out"] }')
        game = self.placed(rule, 'workers = 2\nslots = 4\nresources = ["gpu=2"]', files=12)
        done = self.cook(game)
        self.assertEqual((done.code, done.cooked), (0, 24), done)
        counts = [int(line) for line in self.read("counts").decode().split()]
        self.assertEqual(len(counts), 12)
        self.assertLessEqual(max(counts), 2, counts)

    def test_status_and_why_say_what_is_there_and_what_is_missing(self):
        # Its launcher says that its workers have the label, and none of them ever comes.
        game = self.placed('[[rule]]\nmatch = "/Game/win/0.txt"\nlabels = ["win"]',
                           'launcher = "command"\nstart = "echo {ticket_file}"\nlisten = "127.0.0.1:0"\nlabels = ["win"]')
        self.serve(game)
        cook = self.start_cook(game, "--detach")
        cook.wait(timeout=60)
        worker = self.worker(game, "mac", "--label", "mac", "--resource", "gpu=1")

        def status():
            done = self.galley("status", "--project", game)
            return done.stdout if "[mac gpu=1]" in done.stdout else None
        self.assertIn("mac", wait_until(status, "a worker with its labels in the status"))

        def why():
            done = self.galley("why", "/Game/win/0.txt", "--project", game)
            return done.stdout if "wanted: labels win" in done.stdout else None
        said = wait_until(why, "a package that says what it waits for")
        self.assertIn("waits for a worker that is to come", said)
        self.assertIn("offered: 1 worker: labels mac; resources gpu=1 | [farm] says of each that it starts: labels win", said)
        other = self.worker(game, "win", "--label", "win")
        wait_until(lambda: why() is None, "a package that is done")
        for one in (worker, other):
            kill(one.pid)

    def test_a_name_that_is_none_is_refused(self):
        for arguments, said in ((["--label", "a b"], '"a b" is no name'), (["--resource", "gpu"], "expected NAME=N"), (["--resource", "gpu=-1"], "expected NAME=N")):
            done = self.galley("worker", *arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
