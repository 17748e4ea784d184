"""A farm of four workers of which one has a full disk, one lies and one is slow: the roots are right, and each bad one is told of once."""
import os, signal, subprocess, threading, unittest

from exposition import read_metrics
from harness import wait_until
from farm.prove_test import ProveCase

DISK_BYTES = 40 << 20


class BadMachinesTest(ProveCase):
    def full_disk(self):
        """A folder on a small disk that is full."""
        if os.geteuid() != 0:
            self.skipTest("it takes root to mount a disk")
        disk = self.path("disk")
        os.makedirs(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "galley-e2e", disk], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no disk can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", disk], check=True))
        with open(os.path.join(disk, "filler"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, DISK_BYTES - (1 << 20))
        return disk

    def slow_down(self, process):
        """It runs a twentieth of the time."""
        over = threading.Event()

        def family(pid):
            try:
                with open(f"/proc/{pid}/task/{pid}/children") as file:
                    children = [int(child) for child in file.read().split()]
            except OSError:
                return []
            return [pid] + [one for child in children for one in family(child)]

        def run():
            while not over.is_set():
                for what, seconds in ((signal.SIGSTOP, 0.19), (signal.SIGCONT, 0.01)):
                    for pid in family(process.pid):
                        try:
                            os.kill(pid, what)
                        except ProcessLookupError:
                            pass
                    over.wait(seconds)
        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(lambda: (over.set(), thread.join()))

    def test_the_roots_are_right_and_each_is_told_of_once(self):
        disk = self.full_disk()
        game = self.farm(prove=1.0, pictures=40, extra='[director]\nmetrics = "127.0.0.1:0"\n')
        self.serve_farm(game)
        far = self.attach(game, ("far-1", "node1", False), ("far-2", "node2", True), ("far-4", "node4", False))
        self.machine(game, "far-3", "node3", env={"TMPDIR": disk})
        wait_until(lambda: any(w["worker"] == "far-3" and w["state"] in ("attached", "held") for w in self.status(game)["workers"]), "the fourth worker")
        self.slow_down(far["far-4"])
        cook = self.cook(game)
        self.assertEqual((cook.code, cook.results["failed"]), (0, 0), cook)
        self.assertEqual(cook.roots, self.local_roots(game), cook)
        said = [w["text"] for w in cook.summary["warnings"]]
        full = [text for text in said if "far-3" in text]
        self.assertEqual(len(full), 1, said)
        self.assertRegex(full[0], r"worker far-3 on node3 is held: 3 jobs in a row failed there for the machine's sake, the last: "
                                  r"no space left on the disk of ")
        self.assertEqual(len([text for text in said if text.startswith("worker far-2 on node2 gets no more jobs")]), 1, said)
        self.assertEqual(len(said), 2, said)
        # It is said on the terminal, and shown as long as it is so.
        self.assertEqual(cook.stderr.count("worker far-3 on node3 is held"), 1, cook.stderr)
        held = [w for w in self.status(game)["workers"] if w["worker"] == "far-3"]
        self.assertEqual([w["state"] for w in held], ["held"])
        self.assertIn("no space left on the disk of", held[0]["note"])
        url = f"http://{self.read('game/.galley/state/metrics-address').decode().strip()}/metrics"
        wait_until(lambda: read_metrics(url).value("galley_workers", state="held") == 1, "the held worker among the metrics")
        self.assertGreaterEqual(read_metrics(url).value("galley_breakers_opened_total"), 1)
        # Where there is room again it is used again.
        os.remove(os.path.join(disk, "filler"))
        cook = self.cook(game, "--force")
        self.assertEqual((cook.code, cook.roots), (0, self.local_roots(game)), cook)
        wait_until(lambda: [w["state"] for w in self.status(game)["workers"] if w["worker"] == "far-3"] == ["attached"], "it to be used again")

    def test_where_no_good_machine_is_left_the_cook_ends_with_3_and_names_them(self):
        """It takes a minute and a half: the machine is tried until then."""
        disk = self.full_disk()
        game = self.farm(prove=0, pictures=8)
        self.serve_farm(game)
        self.machine(game, "far-3", "node3", env={"TMPDIR": disk})
        wait_until(lambda: any(w["worker"] == "far-3" and w["state"] in ("attached", "held") for w in self.status(game)["workers"]), "the worker")
        cook = self.cook(game)
        self.assertEqual((cook.code, cook.roots, [f for f in cook.failures if f["package"]]), (3, {}, []), cook)
        self.assertIn("no machine can work, whatever it is given: node3: no space left on the disk of ", cook.stderr)


if __name__ == "__main__":
    unittest.main()
