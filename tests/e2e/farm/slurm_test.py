"""Workers that a real Slurm brings up, on nodes that share no files with the director. Needs root and Slurm: scripts/test --farm."""
import os, re, shutil, subprocess, sys, time, unittest

from farm.farm_test import FarmCase
from harness import COPY, SOURCE, wait_until
from slurm_cluster import SlurmCluster, is_there



@unittest.skipUnless(is_there(), "needs root, slurmctld, slurmd, slurm-client and munge: scripts/test --farm")
class SlurmTest(FarmCase):
    NODES = 4

    def farm(self, extra="", with_tools=True, slots=2):
        """The sample, and a cluster whose nodes do not see it."""
        game = self.farm_sample(with_tools=with_tools, farm=self.section(extra, slots))
        return game, self.cluster(game)

    def section(self, extra, slots=2):
        return f'[farm]\nlauncher = "slurm"\nprove = 0\nlisten = "127.0.0.1:0"\nslots = {slots}\nworkers = {self.NODES}\n{extra}'

    def cluster(self, game):
        cluster = SlurmCluster(self.path("slurm"), game, self.NODES)
        cluster.environment["HOME"] = self.path("home")  # of the workers, too: their cache is there
        self.addCleanup(cluster.end)
        self.addCleanup(lambda: [print(open(os.path.join("/tmp", name)).read()[-500:]) for name in os.listdir("/tmp")
                                 if name.startswith("galley-worker-") and os.environ.get("GALLEY_SHOW_LOGS")])
        return cluster

    def log_of(self, game):
        path = os.path.join(game, ".galley/state/logs/director.log")
        return self.read(path).decode() if os.path.exists(path) else ""

    def start(self, game, cluster, *args):
        return self.start_cook(game, *args, env=cluster.environment)

    def attached(self, game, count):
        wait_until(lambda: len(set(re.findall(r"worker=(slurm-\d+) attached", self.log_of(game)))) >= count, f"{count} workers of Slurm")

    def check(self, game, cook):
        done = self.finish_cook(game, cook)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.roots, self.local_roots(game), done)
        return done

    def test_the_roots_are_those_of_a_local_cook(self):
        game, cluster = self.farm(f"workers_min = {self.NODES}\n")
        begun = time.time()
        cook = self.start(game, cluster)
        self.attached(game, 2)
        print(f"[2 workers after {time.time() - begun:.1f} s]", end=" ", file=sys.stderr, flush=True)
        self.check(game, cook)
        self.assertEqual(cluster.jobs(), [], "nothing is left in the queue")
        again = self.finish_cook(game, self.start(game, cluster, "--force"))
        self.assertEqual(again.code, 0, again)

    def test_a_node_that_goes_down_is_no_matter(self):
        game, cluster = self.farm(f"workers_min = {self.NODES}\n")
        cook = self.start(game, cluster)
        self.attached(game, 2)
        node = next(node for _, state, node in cluster.jobs() if state == "RUNNING")
        self.assertEqual(cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test"), "")
        self.check(game, cook)

    def test_a_slurmd_that_is_killed_is_no_matter(self):
        game, cluster = self.farm(f"workers_min = {self.NODES}\n")
        cook = self.start(game, cluster)
        self.attached(game, 2)
        cluster.running["n1"].kill()
        self.check(game, cook)

    def test_a_task_that_is_cancelled_or_requeued_is_no_matter(self):
        game, cluster = self.farm(f"workers_min = {self.NODES}\n")
        cook = self.start(game, cluster)
        self.attached(game, 2)
        running = [job for job, state, _ in cluster.jobs() if state == "RUNNING"]
        cluster.run("scancel", running[0])
        cluster.run("scontrol", "requeue", running[1])
        self.check(game, cook)

    def test_a_cache_that_is_deleted_is_no_matter(self):
        game, cluster = self.farm(f"workers_min = {self.NODES}\n")
        cook = self.start(game, cluster)
        self.attached(game, 1)
        cache = self.path("home/.cache/galley/worker")
        self.assertTrue(os.path.isdir(cache))
        shutil.rmtree(cache, ignore_errors=True)
        self.check(game, cook)
        again = self.start(game, cluster, "--force")
        self.attached(game, 1)
        for folder, _, names in os.walk(cache):
            for name in names[::2]:
                os.chmod(os.path.join(folder, name), 0o644)
                with open(os.path.join(folder, name), "r+b") as file:
                    file.write(b"\xff")
        self.check(game, again)

    def test_real_content_with_all_of_that(self):
        game = self.farm_t1(self.section(f"workers_min = {self.NODES}\n", slots=1))
        cluster = self.cluster(game)
        cook = self.start(game, cluster)
        self.attached(game, self.NODES)
        running = [(job, node) for job, state, node in cluster.jobs() if state == "RUNNING"]
        cluster.run("scancel", running[0][0])
        cluster.run("scontrol", "requeue", running[1][0])
        self.assertEqual(cluster.run("scontrol", "update", f"nodename={running[2][1]}", "state=down", "reason=test"), "")
        shutil.rmtree(self.path("home/.cache/galley/worker"), ignore_errors=True)
        self.attached(game, self.NODES + 1)
        cluster.running[running[3][1]].kill()
        self.check_t1(game, self.finish_cook(game, cook))

    def test_a_job_that_waits_in_the_queue_is_no_failure(self):
        game = self.project({"c.txt": "text"}, [COPY], extra='[farm]\nlauncher = "slurm"\nlisten = "127.0.0.1:0"\nworkers = 1\n')
        cluster = self.cluster(game)
        for node in range(1, self.NODES + 1):
            cluster.run("scontrol", "update", f"nodename=n{node}", "state=drain", "reason=test")
        self.serve(game, env=cluster.environment)
        cook = self.start(game, cluster)
        wait_until(lambda: [w["state"] for w in self.status(game)["workers"]] == ["queued"], "a worker that is queued")
        time.sleep(3)
        self.assertIsNone(cook.poll())
        cluster.run("scontrol", "update", "nodename=n[1-4]", "state=resume")
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 1), done)
        wait_until(lambda: [w["machine"] for w in self.status(game)["workers"]] != [""], "the worker's machine")

    def test_one_that_is_told_to_end_is_replaced_at_once(self):
        # As Slurm tells it before the limit of its time.
        game, cluster = self.farm("workers_min = 1\n")
        cook = self.start(game, cluster)
        self.attached(game, 1)
        job = next(job for job, state, _ in cluster.jobs() if state == "RUNNING")
        cluster.run("scancel", "--batch", "--signal=TERM", job)
        wait_until(lambda: "ExitCode=75:0" in cluster.run("scontrol", "show", "job", job), "its end with 75")
        self.assertIn("says goodbye", self.log_of(game))
        done = self.check(game, cook)
        self.assertEqual(done.summary["workers"]["lost"], 0, done)

    def test_a_slurm_that_refuses_is_told_with_what_it_said(self):
        game, cluster = self.farm('arguments = ["--partition=other"]\n')
        done = self.finish_cook(game, self.start(game, cluster))
        self.assertEqual(done.code, 3, done)
        self.assertIn("slurm: exit code 1; it said: ", done.stderr)
        self.assertIn("invalid partition specified: other", done.stderr)

    def test_a_program_that_is_not_on_the_nodes_is_named(self):
        game, cluster = self.farm('program = "/opt/nothing/galley"\n')
        done = self.finish_cook(game, self.start(game, cluster))
        self.assertEqual(done.code, 3, done)
        self.assertIn("no worker would start", done.stderr)
        self.assertRegex(done.stderr, r"Slurm job \d+_\d+ is FAILED on n\d \(NonZeroExitCode\); its output is in /tmp/galley-worker-")

    # ------------------------------------------------------------ the scripts of deploy/slurm

    # (The nodes have two processors, and Slurm knows of no memory.)
    SMALL = ["--cpus-per-task=2", "--mem=0"]

    def sbatch(self, cluster, script, *args, options=()):
        path = os.path.abspath(self.bin) + ":" + os.environ["PATH"]
        done = subprocess.run(["sbatch", "--parsable", *self.SMALL, *options, os.path.join(SOURCE, "deploy/slurm", script), *args], cwd=self.dir, text=True,
                              capture_output=True, env={**os.environ, **cluster.environment, "PATH": path, "GALLEY_CACHE": self.path("cache")})
        return done.returncode, done.stdout.strip(), done.stderr

    def test_a_whole_cook_is_one_job(self):
        game = self.sample()
        os.mkdir(self.path("hidden"))
        cluster = self.cluster(self.path("hidden"))
        code, job, said = self.sbatch(cluster, "nightly.sbatch", game, options=["--wait"])
        self.assertEqual(code, 0, said)
        log = self.read(f"galley-nightly-{job}.log").decode()
        self.assertRegex(log, r"[1-9]\d+ cooked, .* 0 failed results")
        self.assertEqual(self.read_summary(self.path(f"galley-nightly-{job}.json"))["workers"]["started"], 2)
        # The job ends as the cook does.
        self.write("game/content/textures/brick_albedo.png", b"no picture")
        code, job, said = self.sbatch(cluster, "nightly.sbatch", game, options=["--wait"])
        self.assertEqual(code, 1, said)

    def test_workers_by_hand_are_an_array(self):
        certificates = self.certificates()
        game = self.farm_sample(farm=f'[farm]\nlauncher = "none"\nlisten = "127.0.0.1:0"\ntls_ca = "{certificates}/ca.pem"\n'
                                f'tls_cert = "{certificates}/director.pem"\ntls_key = "{certificates}/director.key"\n')
        cluster = self.cluster(game)
        cook = self.start(game, cluster)
        address = self.address_of(game)
        os.mkdir(self.path("farm"))
        for name in ("ca.pem", "worker.pem", "worker.key"):
            shutil.copy(os.path.join(certificates, name), self.path("farm", name))
        shutil.copy(os.path.join(game, ".galley/state/farm-token"), self.path("farm/token"))
        code, job, said = self.sbatch(cluster, "workers.sbatch", address, self.path("farm"), options=["--array=0-1"])
        self.assertEqual(code, 0, said)
        wait_until(lambda: len(set(re.findall(r"worker=(slurm-\d+) attached", self.log_of(game)))) == 2, "two workers")
        self.check(game, cook)
        self.assertEqual([state for _, state, _ in cluster.jobs()], ["RUNNING"] * 2, "they stay")
        cluster.run("scancel", "--batch", "--signal=TERM", f"{job}_0")
        wait_until(lambda: "ExitCode=75:0" in cluster.run("scontrol", "show", "job", f"{job}_0"), "its end with 75")


if __name__ == "__main__":
    unittest.main()
