"""Sessions, executors and the director die in the middle of cooks, again and again; what comes out is what an undisturbed cook makes.

`python3 chaos_test.py --long` (or GALLEY_LONG=1) does ten times as much. A seed is printed; GALLEY_SEED=<seed> draws the same moments again,
though not the same interleaving.
"""
import collections, json, os, random, shutil, signal, subprocess, sys, threading, time, unittest

from harness import BIN, BY_THEMSELVES_S, Cook, E2ETest, kill, parent_of, processes_below, wait_until

if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"
IS_LONG = bool(os.environ.get("GALLEY_LONG"))
CHAOS_S = 200 if IS_LONG else 20
DIRECTOR_KILLS = 500 if IS_LONG else 50
SLOW_PACKAGES = 150
IN_FLIGHT = 32  # slow jobs of two workers: those that run, and those that ended and wait for a commit; more on a slow disk
MOVED = 16  # jobs that a cook runs twice though nobody dies: moved to an idle worker, or backed up, when they had begun; more on a slow machine
KILLS_OF_EACH = CHAOS_S // 0.2 // 4  # at least, however slow the machine is
LIMIT_S = 600 if "build-asan" in BIN or "build-tsan" in BIN else 240  # for a cook that nobody disturbs any more

# Each is a package's own fault, and named so.
POISON = {
    "crash": ("", "#!/bin/sh\nkill -SEGV $PPID\nexec sleep 60\n"),
    "hang": ("timeout_s = 1", "#!/bin/sh\nexec sleep 1000\n"),
    "memory": ('memory = "128MiB"', "#!/usr/bin/python3\nx = []\nwhile True:\n    x.append(bytearray(16 << 20))\n"),
}


class ChaosTest(E2ETest):
    undisturbed = None  # made by the first test that asks

    def setUp(self):
        super().setUp()
        seed = os.environ.get("GALLEY_SEED") or str(random.SystemRandom().randrange(1 << 32))
        self.random = random.Random(seed)
        print(f"GALLEY_SEED={seed}", end=" ", file=sys.stderr, flush=True)
        # Programs of its own, so that its processes can be told from all others.
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        for name in ("galley", "galley-worker"):
            shutil.copy(os.path.join(BIN, name), self.bin)
        self.addCleanup(lambda: [kill(pid) for pid in processes_below(self.dir)])

    def game(self, name, poison=POISON):
        """The sample, slow packages whose tool notes each run, and poison."""
        game = self.sample(name)
        with open(os.path.join(game, "galley.toml")) as file:
            toml = file.read().replace('"/Game/textures"]', '"/Game/textures", "/Game/slow"' + (', "/Game/poison"]' if poison else "]"))
        rule = '[[rule]]\nmatch = "/Game/**/*.{0}"\ncooker = "command"\n{1}\nsettings = {{ argv = ["tools/{0}", "{{input}}", "{{output:.out}}"], outputs = [".out"] }}\n'
        runs = self.path(name + ".runs")
        tools = {"slow": ("", f'#!/bin/sh\nsleep 0.02\ncp "$1" "$2"\ncat "$1" >> {runs}\n'), **poison}
        rules = "".join(rule.format(kind, limits) for kind, (limits, _) in tools.items())
        self.write(f"{name}/galley.toml", toml.replace("[cook]", rules + "[cook]"))
        for kind, (_, tool) in tools.items():
            self.write(f"{name}/tools/{kind}", tool, 0o755)
        for kind in poison:
            self.write(f"{name}/content/poison/a.{kind}", kind)
        for i in range(SLOW_PACKAGES):
            self.write(f"{name}/content/slow/{i}.slow", f"{i}\n")
        return game

    def reference(self):
        """What the cook of this project comes to when nobody disturbs it."""
        if ChaosTest.undisturbed is not None:
            return ChaosTest.undisturbed
        game = self.game("reference")
        cook = self.cook(game, "--workers", 2, expect=1)
        self.assertEqual(sorted({f["package"] for f in cook.failures}), sorted(f"/Game/poison/a.{kind}" for kind in POISON), cook)
        self.assertEqual(len(cook.roots), 3, cook)
        cook.trees = self.trees(game)
        ChaosTest.undisturbed = cook
        return cook

    def trees(self, game):
        return {platform: self.tree(game, platform) for platform in ("windows", "deck", "android")}

    def check_like(self, reference, cook):
        """Ended by itself, with the roots and the culprits of the cook that nobody disturbed."""
        self.assertEqual(cook.code, 1, cook)
        self.assertEqual(cook.roots, reference.roots, cook)
        self.assertEqual({(f["package"], f["platform"]) for f in cook.failures}, {(f["package"], f["platform"]) for f in reference.failures}, cook)
        for failure in cook.failures:
            # Named for what it did, not for what the test did to it: but who hangs alone at the end, and is killed three times in a row, is
            # named for that.
            said = {"crash": "signal 11", "hang": "timeout_s|SIGKILL", "memory": "memory"}[failure["package"].rsplit(".", 1)[1]]
            self.assertRegex(failure["error"], said, cook)

    def check_no_orphan(self):
        wait_until(lambda: not processes_below(self.dir), "all processes to end", BY_THEMSELVES_S)

    def of_role(self, role):
        return sorted(pid for pid, command in processes_below(self.bin).items() if role in command[1:2])

    def victims(self, role):
        """Sessions that have an executor: where five in a row die before they attach, and none is attached, no worker would start."""
        if role == "executor":
            return self.of_role(role)
        at_work = {parent_of(pid) for pid in self.of_role("executor")}
        return [pid for pid in self.of_role(role) if pid in at_work]

    def while_killing(self, seconds, run):
        """`run()` again and again for so long, and until there were kills enough, while every 200 ms a session or an executor, in turn, is
        killed. Returns what the runs gave and how many of each were killed."""
        over = threading.Event()
        killed = collections.Counter()
        end = time.monotonic() + seconds

        def is_going_on():
            return time.monotonic() < end or min(killed["session"], killed["executor"]) < KILLS_OF_EACH

        def kill_in_turn():
            turn = 0
            while is_going_on() and not over.wait(0.2):
                role = ("session", "executor")[turn % 2]
                victims = self.victims(role)
                if victims:
                    kill(self.random.choice(victims))
                    killed[role] += 1
                    turn += 1

        killer = threading.Thread(target=kill_in_turn)
        killer.start()
        results = []
        try:
            while is_going_on():
                results.append(run())
        finally:
            over.set()
            killer.join()
        return results, killed

    def test_sessions_and_executors_killed_every_200_ms(self):
        reference = self.reference()
        game = self.game("game")

        def cook():
            process = self.start_cook(game, "--workers", 2, "--force")
            stdout, stderr = process.communicate(timeout=CHAOS_S + LIMIT_S)
            return Cook(subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr), self.read_summary(process.summary))

        cooks, killed = self.while_killing(CHAOS_S, cook)
        for one in cooks:
            self.check_like(reference, one)
        self.check_no_orphan()
        print(f"{len(cooks)} cooks, killed {dict(killed)}", end=" ", file=sys.stderr, flush=True)

    def test_a_session_and_an_executor_that_stop_for_a_while(self):
        reference = self.reference()
        game = self.game("game")
        process = self.start_cook(game, "--workers", 2, "--force")
        for role in ("session", "executor"):
            stopped = wait_until(lambda: next((pid for pid in self.of_role(role) if self.send(pid, signal.SIGSTOP)), None), role)
            time.sleep(1.5)
            self.send(stopped, signal.SIGCONT)  # its session may have killed it meanwhile
        self.check_like(reference, self.finish_cook(game, process))
        self.check_no_orphan()

    def send(self, pid, what):
        """False: it has ended."""
        try:
            os.kill(pid, what)
            return True
        except ProcessLookupError:
            return False

    def cook_and_kill(self, game, at_result, patience):
        """One cook; killed so long after it said that so many results are done, unless it ended. (None, its events) or (Cook, its events)."""
        errors = open(self.path("errors"), "w+")
        process = subprocess.Popen([os.path.join(self.bin, "galley"), "cook", "--project", game, "--workers", "2", "--json"], cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True)
        killer = threading.Timer(patience, process.kill)
        hung = threading.Timer(LIMIT_S, process.kill)
        hung.start()
        events, results = [], 0
        is_due = at_result == 0
        if is_due:
            killer.start()
        for line in process.stdout:
            if not line.endswith("}\n"):
                break  # its last breath
            events.append(json.loads(line))
            results += events[-1]["event"] == "done"
            if results == at_result and not is_due:
                is_due = True
                killer.start()
        process.wait()
        for timer in (killer, hung):
            timer.cancel()
        process.stdout.close()
        if process.returncode != -signal.SIGKILL:
            self.check_no_orphan()  # else the next cook has them
        with errors:
            errors.seek(0)
            stderr = errors.read()
        if process.returncode == -signal.SIGKILL:
            return None, events
        summary = events[-1] if events and events[-1]["event"] == "summary" else None
        return Cook(subprocess.CompletedProcess(process.args, process.returncode, "", stderr), summary), events

    def moment(self, reference):
        """(after how many results, seconds from then on): while it begins, cooks, publishes, stages or writes down what the next one needs."""
        results = sum(reference.results.get(source, 0) for source in ("cooked", "cached", "up_to_date"))
        return self.random.choice(((0, 0.3), (self.random.randint(1, results), 0.1), (results, 0.6)))

    def kill_the_director(self, poison, kills):
        """Cooks until the director was killed so often, and once more to the end. Each cook that ended by itself is checked, and all is
        begun anew after it."""
        reference = self.reference()
        game = self.game("game", poison)
        done = set()  # (package, platform) that were said to be done: a promise
        killed = killed_since = cooks = redone = 0
        while True:
            at_result, patience = self.moment(reference)
            if killed >= kills:
                at_result = 1 << 30
            cook, events = self.cook_and_kill(game, at_result, patience * self.random.random())
            for event in events:
                if event["event"] == "done":
                    where = (event["package"], event["platform"])
                    self.assertFalse(event["source"] == "cooked" and where in done, f"{where} was said to be done, and was cooked again")
                    done.add(where)
            if cook is None:
                killed += 1
                killed_since += 1
                continue
            self.assertEqual(cook.code, 1 if poison else 0, cook)
            self.assertEqual(cook.roots, reference.roots, cook)
            self.assertEqual([f for f in cook.failures if "poison" not in f["package"]], [], cook)
            trees = self.trees(game)
            differ = [platform for platform in reference.trees if trees[platform] != reference.trees[platform]]
            self.assertEqual(differ, [], f"{[sorted(trees[platform])[:10] for platform in differ]} {cook}")
            if poison:
                self.check_like(reference, cook)
            cooks += 1
            with open(self.path("game.runs")) as file:
                again = len(file.read().split()) - SLOW_PACKAGES
            # Jobs in flight are made again: those that ran, and those whose outputs no commit had named yet.
            self.assertLessEqual(again, killed_since * IN_FLIGHT + MOVED)
            redone += again
            killed_since = 0
            os.remove(self.path("game.runs"))
            shutil.rmtree(os.path.join(game, ".galley"))
            done.clear()
            if killed >= kills:
                break
        print(f"{killed} kills in {cooks} cooks, {redone} jobs done again", end=" ", file=sys.stderr, flush=True)

    def test_the_director_killed_at_any_moment_goes_on_where_it_was(self):
        self.kill_the_director({}, DIRECTOR_KILLS * 2 // 3)

    def test_the_director_killed_among_poisonous_packages_names_them(self):
        self.kill_the_director(POISON, DIRECTOR_KILLS - DIRECTOR_KILLS * 2 // 3)

    @unittest.skipUnless(IS_LONG, "a session may be silent for a minute")
    def test_a_session_that_stops_for_good_is_given_up(self):
        reference = self.reference()
        game = self.game("game")
        process = self.start_cook(game, "--workers", 2, "--force")
        os.kill(wait_until(lambda: self.of_role("session"), "a session")[0], signal.SIGSTOP)
        self.check_like(reference, self.finish_cook(game, process))
        self.check_no_orphan()


if __name__ == "__main__":
    unittest.main()
