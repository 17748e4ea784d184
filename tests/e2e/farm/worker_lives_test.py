"""The lives of workers: what kills them is tried at most three times, each time elsewhere, and named; memory is given back between jobs."""
import collections, os, shutil, time, unittest

from harness import BIN, E2ETest, kill, processes_below, read_file, wait_until

RULE = ('match = "/Game/**/*.{kind}"\ncooker = "command"\n{limits}\n'
        'settings = {{ argv = ["tools/{kind}", "{{input}}", "{{output:.out}}"], outputs = [".out"] }}\n')
# Notes which session it ran below (its parent is the executor), and says something that the log must hold.
NOTE = '#!/bin/sh\necho {kind} $(cut -d" " -f4 /proc/$PPID/stat) >> {runs}\necho "the last words of $1"\n'
# kind -> (limits of the rule, what the tool does then, the error, attempts)
POISON = {
    "crash": ("", "kill -SEGV $PPID\nexec sleep 60\n", "crashed its executor (3 attempts", 3),
    "exits": ("", "exit 7\n", "exit code 7", 1),
    "hangs": ("timeout_s = 1", "exec sleep 1000\n", "ran out of time (3 attempts", 3),
    "eats": ('memory = "96MiB"', "x=$(yes | head -c 400000000)\nexec sleep 1000\n", "outgrew its memory limit in 3 attempts, the last one alone", 3),
}
# By SIGKILL: what a machine without memory does, too, but not to the same package again and again.
KILLS = {
    "executor": ("", "kill -9 $PPID\nexec sleep 60\n"),
    "itself": ("", "kill -9 $$\n"),
    "session": ("", 'kill -9 $(cut -d" " -f4 /proc/$PPID/stat)\nexec sleep 60\n'),
}


class WorkerLivesTest(E2ETest):
    def setUp(self):
        super().setUp()
        # Programs of its own, so that its processes can be told from all others.
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        for name in ("galley", "galley-worker"):
            shutil.copy(os.path.join(BIN, name), self.bin)
        self.addCleanup(lambda: [kill(pid) for pid in processes_below(self.dir)])
        self.runs = self.path("runs")

    def game(self, kinds, good=20):
        files = {f"{i}.good": f"{i}" for i in range(good)}
        rules = [RULE.format(kind="good", limits="")]
        for kind in kinds:
            files[f"a.{kind}"] = kind
            rules.append(RULE.format(kind=kind, limits=(POISON | KILLS)[kind][0]))
        game = self.project(files, rules)
        self.write("game/tools/good", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        for kind in kinds:
            self.write(f"game/tools/{kind}", NOTE.format(kind=kind, runs=self.runs) + (POISON | KILLS)[kind][1], 0o755)
        return game

    def sessions_of_runs(self):
        """{kind: the sessions below which it ran, one for each run}"""
        sessions = collections.defaultdict(list)
        for line in read_file(self.runs).decode().splitlines():
            kind, session = line.split()
            sessions[kind].append(session)
        return sessions

    def no_process_is_left(self):
        wait_until(lambda: not processes_below(self.dir), "the end of all processes of the cook")

    def test_culprits_are_named_with_their_last_words_and_the_rest_is_cooked(self):
        game = self.game(POISON)
        cook = self.cook(game, "--workers", 3, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {f"/Game/a.{kind}" for kind in POISON}, cook)
        store = b"".join(read_file(os.path.join(folder, name)) for folder, _, names in os.walk(os.path.join(game, ".galley", "store"))
                         for name in names if os.path.isfile(os.path.join(folder, name)))
        self.assertIn(b"the last words of ", store)
        sessions = self.sessions_of_runs()
        for kind, (_, _, error, attempts) in POISON.items():
            [said] = cook.errors_of(f"/Game/a.{kind}")
            self.assertIn(error, said)
            if attempts == 3:
                self.assertIn("kept for 7 days" if kind == "eats" else "quarantined for this cook", said)
                log = next(f["log"] for f in cook.failures if f["package"] == f"/Game/a.{kind}")
                self.assertTrue(log, "the tail of the executor's log")
            # A job that was taken from one worker for another may have begun there: it may run once more.
            self.assertGreaterEqual(len(set(sessions[kind])), attempts, f"{kind}: each attempt below another worker: {cook}")
        self.assertEqual(cook.cooked, 20, cook)
        self.assertEqual(len(self.tree(game, "pc")), 20)
        self.assertEqual(cook.summary["workers"]["lost"], 0, "a session is not lost with its executor")
        self.no_process_is_left()

    def test_what_takes_its_executor_along_is_named_and_the_rest_is_cooked(self):
        begun = time.monotonic()
        game = self.game(["executor", "itself"], good=6)
        cook = self.cook(game, "--workers", 2, expect=1)
        self.assertLess(time.monotonic() - begun, 60, "and not after a hundred attempts")
        self.assertEqual({f["package"] for f in cook.failures}, {"/Game/a.executor", "/Game/a.itself"}, cook)
        for kind in ("executor", "itself"):
            [said] = cook.errors_of(f"/Game/a.{kind}")
            self.assertRegex(said, r"\(SIGKILL\) \d times .*on the director's machine")
            self.assertIn("may have run out of memory", said)
            self.assertIn("the next cook tries it again", said)
        self.assertEqual(len(self.tree(game, "pc")), 6)
        runs = len(self.sessions_of_runs()["executor"])
        self.assertLess(runs, 12)
        self.write("game/tools/executor", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        self.write("game/tools/itself", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        again = self.cook(game, "--workers", 2)
        self.assertEqual((again.failures, again.cooked), ([], 2), again)
        self.no_process_is_left()

    def test_what_takes_its_session_along_is_named_too(self):
        game = self.game(["session"], good=6)
        cook = self.cook(game, "--workers", 2, expect=1)
        [said] = cook.errors_of("/Game/a.session")
        self.assertIn("its worker was lost", said)
        self.assertEqual(len(self.tree(game, "pc")), 6)
        self.no_process_is_left()

    def test_quarantine_is_for_one_cook(self):
        game = self.game(["crash"])
        self.cook(game, "--workers", 2, expect=1)
        self.write("game/tools/crash", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        again = self.cook(game, "--workers", 2)
        self.assertEqual((again.failures, again.cooked), ([], 1), again)

    def test_an_executor_too_large_for_the_next_job_is_replaced_and_that_is_counted(self):
        # No executor is smaller than half of this, so each job but the first of a worker finds one that must give memory back.
        game = self.project({f"{i}.bin": "x" * i for i in range(1, 9)}, ['match = "/Game/**/*.bin"\ncooker = "copy"\nmemory = "24MiB"\n'])
        cook = self.cook(game, "--workers", 1, expect=None)
        counts = cook.summary["workers"]["collections"]
        self.assertGreater(counts["hard_limit"], 0, cook)
        self.assertEqual(counts["pauses"], 0, cook)
        logs = self.galley("logs", "local-1", "--project", game)
        self.assertIn("memory collection reason=hard_limit", logs.stdout)
        self.no_process_is_left()

    def test_doctor_says_how_much_memory_there_is(self):
        doctor = self.galley("doctor", "--project", self.game([]))
        self.assertRegex(doctor.stdout, r"ok   memory +[1-9]\d* MiB \(.+\), \d+ MiB left \(.+\)")


if __name__ == "__main__":
    unittest.main()
