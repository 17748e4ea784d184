"""What workers log: kept with quotas, shown by `galley logs` with and without a director; and the trace with a row for each machine."""
import json, os, signal, subprocess, time, unittest

from farm.farm_test import DATA, LISTEN, FarmCase, can_hide
from harness import COPY, read_file, wait_until
from farm.launchers_test import Queue

COMMAND = 'match = "/Game/**/*.txt"\ncooker = "command"\nsettings = { argv = ["tools/tool", "{input}", "{output:.out}"], outputs = [".out"] }\n'
# Prints to where its executor prints, and takes the executor with it.
CRASHES = """#!/bin/sh
if grep -q boom "$1"; then
  printf 'about to \\033[2Jcrash\\n' > /proc/$PPID/fd/2
  kill -SEGV $PPID
  exec sleep 60
fi
cp "$1" "$2"
"""


def can_be_others():
    """Whether a process can have a host name of its own here."""
    return subprocess.run(["unshare", "-rmu", "sh", "-c", "hostname node7"], capture_output=True).returncode == 0


class LogsTest(FarmCase):
    def game(self, files, tool=CRASHES, extra=""):
        """Without walls: the tool prints to where its executor does."""
        game = self.project(files, [COMMAND], extra=extra + '[cook]\nwalls = "off"\n')
        self.write("game/tools/tool", tool, 0o755)
        return game

    def logs(self, game, *args, expect=0):
        done = self.galley("logs", "--project", game, *args)
        self.assertEqual(done.returncode, expect, done)
        return done

    def lines(self, game, *args):
        return [json.loads(line) for line in self.logs(game, *args, "--json").stdout.splitlines()]

    def test_why_a_package_failed_is_told_when_the_cook_is_long_over(self):
        game = self.game({"a.txt": "boom", "b.txt": "fine"})
        cook = self.cook(game, "--workers", "1")
        self.assertEqual(cook.code, 1, cook)
        # For people: what it came to, each attempt with its worker, and what was printed; and nothing that rules a terminal.
        text = self.logs(game, "/Game/a.txt").stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("/Game/a.txt\npc failed in cook 1 at ", text)
        self.assertIn("signal 11", text)
        self.assertEqual(text.count("\nattempt "), 3, text)
        self.assertEqual(text.count("output: about to \\x1b[2Jcrash\n"), 3, text)
        self.assertIn(" on local-1", text)
        self.assertNotIn("/Game/b.txt", text)
        # For programs.
        story = self.lines(game, "/Game/a.txt")[0]
        self.assertEqual([one["state"] for one in story["platforms"]], ["failed"])
        self.assertTrue(any("about to" in line for line in story["platforms"][0]["printed"]), story)
        self.assertEqual(len(story["attempts"]), 3, story)
        for attempt in story["attempts"]:
            self.assertLessEqual(attempt["from"], attempt["to"])
            froms = {line["from"] for line in attempt["lines"]}
            self.assertEqual({"output", "worker", "director"}, froms, attempt)
            self.assertNotIn("exit code 75", str(attempt), "what came after it is no matter")
        # By its file's name, too.
        self.assertEqual(self.lines(game, os.path.join(game, "content/a.txt"))[0], story)
        # A package that is done says so.
        self.assertIn("pc is done in cook 1 at ", self.logs(game, "/Game/b.txt").stdout)

    def test_what_a_program_printed_is_told(self):
        game = self.game({"a.txt": "x"}, "#!/bin/sh\necho there is no licence\nexit 4\n")
        self.assertEqual(self.cook(game).code, 1)
        text = self.logs(game, "/Game/a.txt").stdout
        self.assertIn("exit code 4", text)
        self.assertIn("  it printed:\n    there is no licence\n", text)

    def test_lines_of_all_workers_are_merged_and_chosen(self):
        game = self.game({"a.txt": "boom", "b.txt": "fine"})
        self.assertEqual(self.cook(game, "--workers", "2").code, 1)
        lines = self.lines(game)
        self.assertEqual([line["time"] for line in lines], sorted(line["time"] for line in lines))
        self.assertEqual({line["worker"] for line in lines}, {"local-1", "local-2", "director"})
        self.assertEqual({line["worker"] for line in self.lines(game, "local-2")}, {"local-2"})
        last = self.logs(game, "-n", "2")
        self.assertEqual(len(last.stdout.splitlines()), 2)
        self.assertIn(f"the last 2 of {len(lines)} lines", last.stderr)
        self.assertEqual(self.lines(game, "-n", "0"), lines)
        self.assertEqual(self.lines(game, "--since", "1h"), lines)
        self.assertEqual(self.lines(game, "--since", "2126-01-01"), [])
        self.assertIn("nothing was logged since then", self.logs(game, "--since", "2126-01-01").stderr)
        # They stay; the next cook's come behind them.
        self.cook(game, "--force", "--workers", "2")
        self.assertEqual(self.lines(game, "-n", "0")[:len(lines)], lines)

    def test_an_unknown_name_is_told_with_those_that_are_near(self):
        game = self.game({"alpha.txt": "x"})
        self.assertIn("nothing was logged that is kept", self.logs(game).stderr)
        unknown = self.logs(game, "local-1", expect=2)
        self.assertIn("local-1 is no worker of which anything is kept, and no package (", unknown.stderr)
        self.assertEqual(self.cook(game, "--workers", "1").code, 0)
        self.assertIn("did you mean \"local-1\"?", self.logs(game, "local-l", expect=2).stderr)
        self.assertIn("did you mean /Game/alpha.txt?", self.logs(game, "/Game/alhpa.txt", expect=2).stderr)
        self.assertIn("--since: ", self.logs(game, "--since", "yesterday", expect=2).stderr)

    def test_what_a_far_worker_says_comes_and_can_do_no_harm(self):
        game = self.project({"a.json": '{"x": 1}'}, [DATA])
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml + "\n" + LISTEN)
        cook = self.start_cook(game)
        name = "far.x:1"
        address = self.address_of(game)
        token = os.path.join(game, ".galley/state/farm-token")
        worker = subprocess.Popen([os.path.join(self.bin, "galley"), "worker", "--director", address, "--token-file", token, "--name", name, "--cache",
                                   self.path("cache"), "--slots", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (worker.kill(), worker.wait()))
        self.assertEqual(self.finish_cook(game, cook).code, 0)
        self.assertEqual(os.listdir(os.path.join(game, ".galley/state/logs/workers")), ["far%2ex%3a1.jsonl"])
        lines = self.lines(game)
        self.assertEqual({line["worker"] for line in lines}, {name, "director"})
        self.assertIn("attached machine=", " ".join(line["text"] for line in lines))
        self.assertNotIn("\x1b", self.logs(game).stdout)

    def test_who_follows_sees_what_comes_until_the_director_ends(self):
        game = self.game({"a.txt": "boom"})
        self.serve(game, "--workers", "1")
        reader, writer = os.pipe()
        follow = subprocess.Popen([os.path.join(self.bin, "galley"), "logs", "--follow", "--project", game], stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        self.addCleanup(lambda: (follow.kill(), follow.wait()))
        with os.fdopen(reader) as out:
            self.cook(game)
            for line in out:
                if "about to" in line:
                    break
            else:
                self.fail("nothing of the crash came")
            self.assertEqual(self.galley("serve", "--stop", "--project", game).returncode, 0)
            self.assertEqual(follow.wait(timeout=90), 0)
        follow.stderr.close()
        # Without a director there is nothing to follow: what is kept is shown.
        done = self.logs(game, "-f", "local-1")
        self.assertIn("about to", done.stdout)
        self.assertIn("no director runs here", done.stderr)

    def test_a_cook_without_workers_says_who_is_on_the_way_and_what_is_held(self):
        game = self.project({"a.json": '{"x": 1}'}, [DATA])
        queue = Queue(self, game, holds=True)
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + "\n" + queue.farm())
        cook = self.start_cook(game)
        launch = wait_until(lambda: [name[:-4] for name in os.listdir(queue.spool) if name.endswith(".job")], "a launch")[0]
        self.wait_for_line(cook, "0 workers, 1 queued")
        self.write(f"spool/{launch}.state", "0 held the licence has expired\n")
        self.wait_for_line(cook, "will not start by itself: the licence has expired")
        self.assertIn("will not start by itself: the licence has expired", " ".join(line["text"] for line in self.lines(game, "command-1")))
        os.remove(self.path(f"spool/{launch}.state"))
        queue.holds = False
        done = self.finish_cook(game, cook)
        self.assertEqual(done.code, 0, done)
        warned = [one["text"] for one in done.summary["warnings"] if "held" in one["text"] or "licence" in one["text"]]
        self.assertEqual(len(warned), 1, done.summary["warnings"])

    @unittest.skipUnless(can_hide() and can_be_others(), "this machine has no namespaces for users")
    def test_the_trace_has_a_row_for_each_machine(self):
        game = self.project({f"{i}.json": json.dumps({"x": [i] * 1000}) for i in range(40)}, [DATA])
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + "\n" + LISTEN)
        cook = self.start_cook(game, "--trace", self.path("trace.json"))
        for i in (7, 8):
            self.other_machine(game, f"far-{i}", f"node{i}")
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 40), done)
        events = json.loads(read_file(self.path("trace.json")))["traceEvents"]
        machines = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        spans = [e for e in events if e["ph"] == "X"]
        self.assertLessEqual({"director", "launches"}, set(machines.values()))
        seen = {machines[e["pid"]] for e in spans if e["cat"] in ("load", "save")}
        self.assertTrue(seen and seen <= {"node7", "node8"}, machines)
        for node in seen:
            here = [e for e in spans if machines[e["pid"]] == node]
            name = "far-" + node[4:]
            self.assertLessEqual({rows[e["pid"], e["tid"]] for e in here}, {f"{name} slot 0", f"{name} uploads"})
            self.assertLessEqual({"fetch", "load", "save", "upload"}, {e["cat"] for e in here})
        # By one clock: no job of a worker before it attached, and none after the end.
        attached = {rows[e["pid"], e["tid"]]: e for e in spans if e["name"] == "attached"}
        end = max(e["ts"] + e["dur"] for e in spans)
        for e in spans:
            self.assertGreaterEqual(e["ts"], 0)
            if e["cat"] in ("load", "save"):
                life = attached["far-" + machines[e["pid"]][4:]]
                self.assertGreaterEqual(e["ts"] + 1_000, life["ts"], e)
                self.assertLessEqual(e["ts"], end)

    def other_machine(self, game, name, host):
        token = self.path(f"{name}.token")
        address = self.address_of(game)
        self.write(f"{name}.token", read_file(os.path.join(game, ".galley/state/farm-token")), 0o600)
        worker = subprocess.Popen(["unshare", "-rmu", "sh", "-c", 'hostname "$0" && exec "$@"', host, os.path.join(self.bin, "galley"), "worker", "--director",
                                   address, "--token-file", token, "--name", name, "--slots", "1", "--cache", self.path(f"cache-{name}")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (worker.kill(), worker.wait()))


if __name__ == "__main__":
    unittest.main()
