"""Two hundred workers that attach again all at once: through a network that is cut and mended, and when their director was killed.

The workers are real sessions in few processes (tests/testing/many_sessions.h) whose jobs sleep. What may be done twice, and no more: what a
worker that is taken for lost had in its hands, which is IN_HAND jobs at most, backups of stragglers, and what a director that was killed had not
committed.
"""
import json, os, signal, socket, subprocess, sys, unittest

from harness import COPY, LIMIT_S, E2ETest, kill, wait_until
from link import Link

WORKERS, PROCESSES, PACKAGES, SLEEP_S = 200, 2, 1_000, 2.0
# Two seconds of work, or two jobs; and those that are given while others end.
IN_HAND = 6
ATTACHED = " attached machine="
FARM = '[farm]\nlauncher = "none"\nlisten = "%s"\nprove = 0\n'


def free_port():
    """Below those that the system gives to whoever connects: nobody takes it while no director listens there."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise unittest.SkipTest("no port is free")


class ManyWorkersTest(E2ETest):
    def files(self, name, extra=""):
        return self.project({f"{i // 100}/{i}.txt": f"package {i}" for i in range(PACKAGES)}, [COPY], name=name, extra=extra)

    def farm_project(self, listen="127.0.0.1:0"):
        return self.files("game", FARM % listen)

    def local_roots(self):
        return self.cook(self.files("local"), "--workers", "2").roots

    def state(self, name):
        return self.path("game/.galley/state", name)

    def address(self):
        """Where the director takes workers, as soon as it does."""
        def address():
            try:
                return self.read("game/.galley/state/farm-address").decode().strip()
            except FileNotFoundError:
                return None
        return wait_until(address, "a director that takes workers")

    def start_workers(self, address):
        for i in range(PROCESSES):
            directory = self.path(f"sessions-{i}")
            os.makedirs(directory)
            log = open(os.path.join(directory, "log"), "w")
            self.addCleanup(log.close)
            process = subprocess.Popen([os.path.join(self.bin, "many_workers"), "--director", address, "--token-file", self.state("farm-token"), "--sessions",
                                        str(WORKERS // PROCESSES), "--name", f"s{i}", "--sleep", str(SLEEP_S), "--directory", directory],
                                       stdout=subprocess.PIPE, stderr=log, text=True)
            self.addCleanup(lambda process=process: (process.kill(), process.wait(), process.stdout.close()))
            yield process

    def end_workers(self, processes):
        """What each session came to."""
        for process in processes:
            process.send_signal(signal.SIGTERM)
        return [one for process in processes for one in json.loads(process.communicate(timeout=LIMIT_S)[0].splitlines()[-1])]

    def told(self, text, since=0):
        return self.read("game/.galley/state/logs/director.log").decode().count(text) - since

    def await_attaches(self, cook, count, since=0):
        """False: the cook ended before."""
        wait_until(lambda: self.told(ATTACHED, since) >= count or cook.poll() is not None, f"{count} workers that attach", limit_s=LIMIT_S)
        return cook.poll() is None

    def check_work(self, done, workers, lost, uncommitted=0):
        """`workers`: figures of the sessions."""
        jobs = [one["jobs"] for one in workers]
        backups = WORKERS + done.summary["workers"]["jobs_retried"]
        self.assertLessEqual(sum(jobs), PACKAGES + IN_HAND * lost + backups + uncommitted, (lost, done.summary))
        self.assertTrue(all(jobs), f"workers without any job: {jobs.count(0)}")
        self.assertEqual([one["in_hand"] for one in workers if one["in_hand"]], [], "nobody took what they held from them")

    def test_a_network_that_breaks_again_and_again(self):
        game = self.farm_project()
        link = Link(None)
        self.addCleanup(link.end)
        cook = self.start_cook(game)
        link.target = self.address()
        workers = list(self.start_workers(link.address))
        self.assertTrue(self.await_attaches(cook, WORKERS))
        breaks = 0
        # All at once, and again as soon as the first are back: many are cut while they attach.
        while breaks < 5:
            before = self.told(ATTACHED)
            link.reset()
            breaks += 1
            if not self.await_attaches(cook, WORKERS // 4, before):
                break
        # For a while nobody gets through.
        self.await_attaches(cook, WORKERS, before)
        link.refuses = True
        before = self.told(" detached")
        link.reset()
        wait_until(lambda: self.told(" detached", before) >= WORKERS // 2 or cook.poll() is not None, "workers that are away", limit_s=LIMIT_S)
        link.heal()
        done = self.finish_cook(game, cook)
        figures = self.end_workers(workers)
        self.assertEqual((done.code, done.cooked), (0, PACKAGES), done)
        self.assertEqual(done.roots, self.local_roots())
        self.check_work(done, figures, self.told(" is lost: "))
        self.assertGreaterEqual(sum(one["welcomes"] for one in figures), 2 * WORKERS)

    def test_a_director_that_is_killed_and_comes_back_at_its_address(self):
        game = self.farm_project(f"127.0.0.1:{free_port()}")
        cook = self.start_cook(game)
        workers = list(self.start_workers(self.address()))
        self.assertTrue(self.await_attaches(cook, WORKERS))
        kill(cook.pid)
        cook.communicate()
        os.remove(self.state("farm-address"))
        before = self.told(ATTACHED)
        cook = self.start_cook(game)
        self.address()
        self.await_attaches(cook, WORKERS, before)
        done = self.finish_cook(game, cook)
        figures = self.end_workers(workers)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.results["cooked"] + done.results["cached"], PACKAGES, done)
        self.assertEqual(done.roots, self.local_roots())
        # What was in hand, and what was not committed, is done again: never more than all of it.
        self.check_work(done, figures, WORKERS + self.told(" is lost: "), PACKAGES - done.results["cached"])


if __name__ == "__main__":
    unittest.main()
