"""Directors that follow one another: workers that outlive one, packages that it blamed; a second one is refused, and one that was overtaken
writes nothing."""
import os, signal, subprocess, time, unittest

from harness import BY_THEMSELVES_S, LIMIT_S, Cook, E2ETest, is_running, kill, processes, wait_until

MOVED = 12  # jobs that may run twice all the same; 36 did when the attempts of dead directors were forgotten
RULE = 'match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n'


class ResumeTest(E2ETest):
    def game(self, tool, count, name="game"):
        game = self.project({f"{i:02}.slow": f"{i:02}\n" for i in range(count)}, [RULE], name=name)
        self.write(f"{name}/tools/slow", tool, 0o755)
        return game

    def wait(self, process):
        stdout, stderr = process.communicate(timeout=LIMIT_S)
        return Cook(subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr), self.read_summary(process.summary))

    def lines(self, name):
        try:
            return self.read(name).decode().split()
        except FileNotFoundError:
            return []

    def workers_of(self, game):
        """Sessions, whoever started them, and of each its first executor: another one comes and goes with programs that merely wait."""
        workers = processes("galley-worker")
        sessions = sorted(pid for pid, command in workers if "session" in command and f"unix:{game}/.galley/director.sock" in command)
        executors = {}
        for pid, command in workers:
            if "executor" not in command:
                continue
            try:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            session, began = int(fields[1]), int(fields[19])
            if session in sessions:  # else it is about to become a program
                executors.setdefault(session, []).append((began, pid))
        return sessions, [min(executors[session])[1] for session in sessions if session in executors]

    def let_run(self, runs):
        """So many jobs end; those that follow are held in their middle. None: all end."""
        if runs is None:
            os.remove(self.path("limit"))
            return
        self.write("limit.new", f"{runs}\n")
        os.rename(self.path("limit.new"), self.path("limit"))

    def cook_that_is_killed(self, game, workers, runs):
        """SIGKILL of the director after so many runs, in the middle of jobs; its sessions and their executors."""
        self.let_run(runs)
        log = os.path.join(game, ".galley/state/logs/director.log")
        attached = self.read(log).count(b" attached ") if os.path.exists(log) else 0
        process = self.start_cook(game, "--workers", workers)
        self.addCleanup(process.kill)

        def is_under_way():
            return (len(self.lines("runs")) >= runs and self.read(log).count(b" attached ") >= attached + workers
                    and len(self.workers_of(game)[1]) == workers)

        wait_until(lambda: process.poll() is not None or is_under_way(), "jobs to be done", LIMIT_S)
        self.assertIsNone(process.poll(), "it ended too soon")
        sessions, executors = self.workers_of(game)
        self.addCleanup(lambda: [kill(pid) for pid in sessions + executors if is_running(pid)])
        self.assertEqual(len(sessions), workers)
        process.kill()
        process.communicate()
        return sessions, executors

    def slow_tool(self):
        """Notes each run at its end."""
        runs, limit = self.write("runs", ""), self.path("limit")
        return (f'#!/bin/sh\nsleep 0.2\nwhile [ -e {limit} ] && [ $(wc -l < {runs}) -ge $(cat {limit}) ]; do sleep 0.05; done\n'
                f'cp "$1" "$2"\ncat "$1" >> {runs}\n')

    def check_gone(self, pids):
        wait_until(lambda: not any(is_running(pid) for pid in pids), "all to end", BY_THEMSELVES_S)

    def test_the_next_director_takes_the_workers_of_one_that_was_killed_and_cooks_nothing_twice(self):
        undisturbed = self.cook(self.game('#!/bin/sh\ncp "$1" "$2"\n', 24, name="reference")).roots
        game = self.game(self.slow_tool(), 24)
        first = None
        for runs in (4, 9, 14):
            sessions, executors = self.cook_that_is_killed(game, 2, runs)
            # (An executor is replaced when what it runs is cancelled: an attempt that was not written down before its director died. The
            # first director has nothing to cancel.)
            outlive = sessions if first else sessions + executors
            self.assertTrue(all(is_running(pid) for pid in outlive))
            first = first or sessions
            self.assertEqual(sessions, first, "the same processes go on")
        self.let_run(None)
        cook = self.cook(game, "--workers", 2)
        self.assertEqual(cook.roots, undisturbed)
        self.assertEqual(cook.failures, [])
        self.assertEqual([cook.summary["workers"][what] for what in ("started", "lost", "executors_lost")], [0, 0, 0], cook)
        runs = self.lines("runs")
        self.assertEqual(sorted(set(runs)), [f"{i:02}" for i in range(24)])
        # Three directors were killed with two workers and four programs at work. What one had given just before it was killed may not be
        # written down; and a job that begins just when it is moved to a worker that has nothing to do runs there, too.
        self.assertLessEqual(len(runs), 24 + MOVED, "none was cooked again for its director's death")
        self.check_gone(sessions + executors)
        self.assertEqual(os.listdir(os.path.join(game, ".galley/state/workers")), [])
        self.assertEqual(self.cook(game, "--workers", 1).results["up_to_date"], 24)

    def test_workers_whom_nobody_takes_end_by_themselves(self):
        game = self.game(self.slow_tool(), 24)
        sessions, executors = self.cook_that_is_killed(game, 2, 2)
        self.let_run(None)
        wait_until(lambda: not any(is_running(pid) for pid in sessions + executors), "the workers to end", LIMIT_S)
        for worker in ("local-1", "local-2"):
            self.assertIn(b"session ends: no director for 20 s", self.read(f"game/.galley/state/logs/{worker}.log"), "they waited for one")
        cook = self.cook(game, "--workers", 2)
        self.assertEqual((cook.failures, cook.summary["workers"]["started"]), ([], 2), cook)

    def test_workers_beyond_those_of_the_next_cook_are_ended(self):
        game = self.game(self.slow_tool(), 12)
        sessions, executors = self.cook_that_is_killed(game, 2, 2)
        self.let_run(None)
        cook = self.cook(game, "--workers", 1)
        self.assertEqual((cook.failures, cook.summary["workers"]["started"]), ([], 0), cook)
        self.check_gone(sessions + executors)

    def test_a_cook_for_which_all_stands_ends_the_workers_of_one_that_was_killed(self):
        game = self.game(self.slow_tool(), 4)
        sessions, executors = self.cook_that_is_killed(game, 1, 1)
        os.kill(sessions[0], signal.SIGSTOP)  # it stays where it is, and the next cook does not know of it
        record = os.path.join(game, ".galley/state/workers/local-1")
        os.rename(record, self.path("record"))
        self.let_run(None)
        self.assertEqual(self.cook(game, "--workers", 1).failures, [])
        os.rename(self.path("record"), record)
        self.assertEqual(self.cook(game, "--workers", 1).results["up_to_date"], 4)
        self.check_gone(sessions + executors)
        self.assertFalse(os.path.exists(record))

    def test_a_worker_that_died_after_its_director_is_not_waited_for(self):
        game = self.game(self.slow_tool(), 12)
        sessions, executors = self.cook_that_is_killed(game, 2, 2)
        kill(sessions[0])
        self.let_run(None)
        cook = self.cook(game, "--workers", 2)
        self.assertEqual((cook.failures, cook.summary["workers"]["started"]), ([], 1), cook)
        self.check_gone(sessions + executors)

    def test_what_changed_while_there_was_no_director_is_cooked_as_it_is_now(self):
        game = self.game(self.slow_tool(), 12)
        sessions, executors = self.cook_that_is_killed(game, 2, 2)
        for i in range(12):
            self.write(f"game/content/{i:02}.slow", f"new{i}\n")
        self.let_run(None)
        cook = self.cook(game, "--workers", 2)
        self.assertEqual(cook.failures, [], cook)
        self.assertEqual(set(self.tree(game, "pc").values()), {f"new{i}\n".encode() for i in range(12)})
        self.check_gone(sessions + executors)

    def test_a_table_that_a_cook_left_which_never_began_is_not_written_over(self):
        # (After a power cut it might come back in the place of another of its name.)
        game = self.project({"a.txt": "a"}, ['match = "/**/*.txt"\ncooker = "copy"'])
        state = os.path.join(game, ".galley", "state")
        tables = lambda: sorted(name for name in os.listdir(state) if name.startswith("snapshot-"))
        self.cook(game)
        self.assertEqual(tables(), ["snapshot-1.table"])
        for name in ("snapshot-2.table", "snapshot-9.table.Xy1z2w"):
            self.write(f"game/.galley/state/{name}", "left")
        self.write("game/content/a.txt", "b")
        self.cook(game)
        # (The third has the file that differs, and stands on the first.)
        self.assertEqual(tables(), ["snapshot-1.table", "snapshot-3.table"])

    def test_faults_count_on_after_the_director_died(self):
        # Crashes its executor; holds still before the third fault.
        tool = (f"#!/bin/sh\nif [ $(wc -l < {self.path('faults')}) -eq 2 ]; then\n"
                f"  touch {self.path('held')}\n  while ! [ -e {self.path('go')} ]; do sleep 0.05; done\nfi\n"
                f"echo fault >> {self.path('faults')}\nkill -SEGV $PPID\nexec sleep 60\n")
        self.write("faults", "")
        game = self.game(tool, 1)
        # A file that was written just before the first cook would count as changed since, and a changed package is blamed for nothing.
        source = os.path.join(game, "content/00.slow")
        wait_until(lambda: time.time() - os.stat(source).st_ctime > 2.1, "the source to be older than time stamps are coarse")
        process = self.start_cook(game, "--workers", 1)
        wait_until(lambda: os.path.exists(self.path("held")) or process.poll() is not None, "two faults")
        self.assertIsNone(process.poll(), "it ended too soon")
        process.kill()
        process.communicate()
        self.write("go", "")
        cook = self.cook(game, "--workers", 1, expect=1)
        self.assertIn("3 attempts ended by crashes", cook.failures[0]["error"])
        self.assertLessEqual(len(self.lines("faults")), 4, "one of them may have died with its director before it was written down")
        # That cook ended: the next one blames anew.
        before = len(self.lines("faults"))
        self.cook(game, "--workers", 1, expect=1)
        self.assertEqual(len(self.lines("faults")), before + 3)

    def test_a_second_director_is_refused_and_told_who_has_the_project_even_if_that_one_is_stopped(self):
        game = self.game(f"#!/bin/sh\ntouch {self.path('begun')}\nwhile ! [ -e {self.path('go')} ]; do sleep 0.05; done\ncp \"$1\" \"$2\"\n", 2)
        first = self.start_cook(game, "--workers", 1)
        self.addCleanup(first.kill)
        wait_until(lambda: os.path.exists(self.path("begun")), "the first cook to begin")
        for stop in (False, True):
            if stop:
                first.send_signal(signal.SIGSTOP)
            second = self.galley("cook", "--project", game, "--standalone")
            self.assertEqual(second.returncode, 2, second)
            self.assertIn(f"process {first.pid} has this project", second.stderr)
        self.write("go", "")
        first.send_signal(signal.SIGCONT)
        self.assertEqual(self.wait(first).code, 0)

    def test_a_director_that_was_overtaken_while_it_was_stopped_writes_nothing(self):
        tool = f"#!/bin/sh\ntouch {self.path('begun')}\nwhile [ -e {self.path('held')} ]; do sleep 0.05; done\nsleep 0.2\ncat \"$1\" > \"$2\"\n"
        game = self.game(tool, 30)
        first = self.start_cook(game, "--workers", 1)
        self.addCleanup(lambda: (first.kill(), first.wait()))
        wait_until(lambda: os.path.exists(self.path("begun")), "the first cook to begin")
        first.send_signal(signal.SIGSTOP)
        self.write("held", "")
        # Somebody finds that it hangs, and starts over.
        os.rename(os.path.join(game, ".galley"), self.path("removed"))
        self.write("game/content/00.slow", "new\n")
        socket = os.path.join(game, ".galley/director.sock")
        second = self.start_cook(game, "--workers", 1)
        wait_until(lambda: os.path.exists(socket) or second.poll() is not None, "the second cook to begin")
        first.send_signal(signal.SIGCONT)
        stale = self.wait(first)
        self.assertEqual(stale.code, 3, stale)
        self.assertIn("overtaken", stale.stderr)
        self.assertIsNone(second.poll(), "it ended too soon")
        self.assertTrue(os.path.exists(socket), "the second cook's own")
        os.remove(self.path("held"))
        stdout, stderr = second.communicate(timeout=LIMIT_S)
        self.assertEqual(second.returncode, 0, stderr)
        tree = self.tree(game, "pc")
        self.assertEqual((len(tree), tree["Game/00.slow.out"]), (30, b"new\n"))
        self.assertEqual(self.galley("roots", "--project", game).returncode, 0)


if __name__ == "__main__":
    unittest.main()
