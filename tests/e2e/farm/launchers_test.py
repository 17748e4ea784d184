"""Workers that a launcher brings up on other machines: a queue of the test's own plays the farm."""
import json, os, shutil, signal, socket, subprocess, threading, time, unittest

from farm.farm_test import DATA, FarmCase, can_hide
from harness import COPY, SOURCE, wait_until
from link import Link
from slurm_cluster import free_ports

# What a studio's queue has: submit, status, stop. Its jobs are files in a folder, which the Queue below looks at.
QUEUE = """#!/usr/bin/env python3
import json, os, sys
spool, what, args = os.path.dirname(os.path.abspath(__file__)), sys.argv[1], sys.argv[2:]
if what == "submit":
    name, count, ticket, program, slots = args
    with open(f"{spool}/{name}.new", "w") as file:
        json.dump({"count": int(count), "ticket": ticket, "program": program, "slots": slots}, file)
    os.rename(f"{spool}/{name}.new", f"{spool}/{name}.job")
    print("Submitted", name)
elif what == "status":
    if not os.path.exists(f"{spool}/{args[0]}.job"):
        sys.exit(1)
    if os.path.exists(f"{spool}/{args[0]}.state"):
        print(open(f"{spool}/{args[0]}.state").read())
elif what == "stop":
    open(f"{spool}/{args[0]}.stop{args[1] if len(args) > 1 else ''}", "w").close()
"""


class Queue:
    """Starts what is submitted, in mount namespaces in which the project is hidden."""
    def __init__(self, test, game, holds=False):
        self.test, self.game, self.holds = test, game, holds
        self.spool = test.path("spool")
        os.makedirs(self.spool, exist_ok=True)
        self.program = test.write("spool/q", QUEUE, mode=0o755)
        self.workers = {}  # (launch, index) -> process
        self.stopped = []
        self.is_over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        test.addCleanup(self.end)

    def farm(self, extra=""):
        return (f'[farm]\nlauncher = "command"\nprove = 0\nlisten = "127.0.0.1:0"\nstart = "{self.program} submit {{name}} {{count}} {{ticket_file}} {{program}} {{slots}}"\n'
                f'status = "{self.program} status {{name}}"\nstop = "{self.program} stop {{name}} {{index}}"\n{extra}')

    def end(self):
        self.is_over = True
        self.thread.join()
        for worker in self.workers.values():
            worker.kill()
            worker.wait()

    def run(self):
        while not self.is_over:
            time.sleep(0.02)
            for name in os.listdir(self.spool):
                launch, _, kind = name.rpartition(".")
                if kind == "job" and not self.holds and (launch, 0) not in self.workers:
                    self.start(launch)
                elif kind.startswith("stop"):
                    self.stop(launch, kind[4:])
                    os.remove(os.path.join(self.spool, name))

    def start(self, launch):
        with open(os.path.join(self.spool, launch + ".job")) as file:
            job = json.load(file)
        if job["program"].startswith(self.game):  # it goes with the job, as input files of queues do
            job["program"] = shutil.copy(job["program"], self.spool)
        for index in range(job["count"]):
            command = [job["program"], "worker", "--ticket", os.path.join(self.spool, f"{launch}.{index}"), "--index", str(index), "--slots", job["slots"],
                       "--cache", self.test.path("cache")]
            with open(job["ticket"]) as ticket, open(os.path.join(self.spool, f"{launch}.{index}"), "w") as copy:
                copy.write(ticket.read())
            command = self.hidden(index, command)
            with open(self.test.path(f"{launch}-{index}.log"), "w") as log:
                self.workers[launch, index] = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                                               env={**os.environ, "HOME": self.test.path("home")})
        with open(os.path.join(self.spool, launch + ".state"), "w") as state:
            state.writelines(f"{index} running node{index}\n" for index in range(job["count"]))

    def hidden(self, index, command):
        if not can_hide():
            return command
        return ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', self.game, *command]

    def stop(self, launch, index):
        self.stopped.append((launch, index))
        for (of, number), worker in self.workers.items():
            if of == launch and index in ("", str(number)):
                worker.terminate()
        if not index:
            for kind in ("job", "state"):
                path = os.path.join(self.spool, f"{launch}.{kind}")
                if os.path.exists(path):
                    os.remove(path)


class LaunchersTest(FarmCase):
    def log_of(self, game):
        with open(os.path.join(game, ".galley/state/logs/director.log")) as file:
            return file.read()

    def small(self, queue_of, extra="", files=None, **kw):
        game = self.project(files or {"a.json": '{"x": 1}', "b.json": "[1]", "c.txt": "text"}, [DATA, COPY])
        queue = Queue(self, game, **kw)
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml + "\n" + queue.farm(extra))
        return game, queue

    def test_the_roots_are_those_of_a_local_cook(self):
        game = self.farm_sample(with_tools=True, farm="")
        queue = Queue(self, game)
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + queue.farm("workers = 2\nworkers_min = 2\n"))
        cook = self.finish_cook(game, self.start_cook(game))
        self.assertEqual(cook.code, 0, cook)
        self.assertEqual(cook.roots, self.local_roots(game), cook)
        self.assertEqual(len(queue.workers), 2)
        log = self.log_of(game)
        self.assertIn("worker=command-1 attached", log)
        self.assertIn("worker=local-1 attached", log)  # for the programs of the project
        # Nothing is left of it there, nor here.
        wait_until(lambda: queue.stopped, "the launch's end")
        self.assertEqual(os.listdir(os.path.join(game, ".galley/state/launches")), [])

    def test_machines_may_be_given_the_programs(self):
        game, queue = self.small(Queue, 'workers = 1\nprogram = "bundle"\n')
        self.serve(game)
        cook = self.cook(game)
        self.assertEqual((cook.code, cook.cooked), (0, 3), cook)
        worker = queue.workers[next(iter(queue.workers))].pid
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(worker)], capture_output=True, text=True).stdout.split()
        self.assertTrue(children)
        programs = self.path("home/.cache/galley/programs/")
        for pid in [worker, *map(int, children)]:
            with open(f"/proc/{pid}/maps") as file:
                mapped = {line.split(maxsplit=5)[5].strip() for line in file if line.count("/")}
            libraries = {path for path in mapped if ".so" in path}
            self.assertTrue(any(path.endswith("/libc.so.6") for path in libraries), libraries)
            self.assertEqual([path for path in libraries if not path.startswith(programs)], [])
        # Where programs can be watched at all, they are under the loader, too.
        self.assertNotIn("the calls of a program were not seen", self.read(f"{next(iter(queue.workers))[0]}-0.log").decode())
        self.assertEqual(len(os.listdir(programs)), 1)
        bundles = os.path.join(game, ".galley/state/bundle")
        self.assertEqual([name[:7] for name in os.listdir(bundles)], ["galley-"])

    def test_where_machines_cannot_be_given_the_programs_that_is_said(self):
        game = self.project({"a.json": "1"}, [DATA])
        toml = self.read("game/galley.toml").decode()
        for launcher, said in (("slurm", "needs shared_path"), ("kubernetes", 'program = "bundle" is not for launcher = "kubernetes"')):
            self.write("game/galley.toml", f'{toml}\n[farm]\nlauncher = "{launcher}"\nlisten = "127.0.0.1:0"\nprogram = "bundle"\n')
            refused = self.cook(game)
            self.assertEqual(refused.code, 2, refused)
            self.assertIn(said, refused.stderr)

    def tls(self, certs):
        return "".join(f'tls_{what} = "{certs}/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))

    def test_with_tls_each_gets_a_certificate_of_its_own(self):
        certs = self.certificates()
        game, queue = self.small(Queue, self.tls(certs) + "workers = 1\n")
        self.serve(game)
        cook = self.finish_cook(game, self.start_cook(game))
        self.assertEqual((cook.code, cook.cooked), (0, 3), cook)
        self.assertIn("worker=command-1 was given a certificate", self.log_of(game))
        # Whoever has the token of the ticket, but not the certificate, is nobody: with none, with one of the studio, and under another name.
        launch = next(iter(queue.workers))[0]
        ticket = json.loads(self.read(f"spool/{launch}.0"))
        token = self.write("stolen", ticket["token"])
        studio = ["--tls-ca", f"{certs}/ca.pem", "--tls-cert", f"{certs}/worker.pem", "--tls-key", f"{certs}/worker.key"]
        for name, said in (("command-1", "not the one that this worker was given last"), ("other", "unknown worker or wrong token"),
                           ("command-2", "unknown worker or wrong token")):
            refused = self.galley("worker", "--director", ticket["director"], "--token-file", token, "--name", name, "--cache", self.path("cache"), *studio)
            self.assertEqual(refused.returncode, 3, refused)
            self.assertIn(said, refused.stderr)
        # The token is exchanged again: the certificate of before is void, and its worker no longer let in.
        thief = subprocess.Popen([os.path.join(self.bin, "galley"), "worker", "--ticket", self.path(f"spool/{launch}.0"), "--cache", self.path("cache")],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_until(lambda: self.log_of(game).count("worker=command-1 was given a certificate") == 2, "the second certificate")
        # It ends in order, as one that its queue ends. Only after the first has: once a worker has said goodbye, its name is unknown.
        wait_until(lambda: self.log_of(game).count("worker=command-1 attached") == 2, "the worker's return")
        self.assertEqual(queue.workers[launch, 0].wait(timeout=30), 3)
        self.assertIn("not the one that this worker was given last", self.read(f"{launch}-0.log").decode())
        thief.terminate()
        thief.communicate(timeout=30)
        self.assertEqual(thief.returncode, 75)
        wait_until(lambda: "worker=command-1 says goodbye" in self.log_of(game), "the director to know it")

    def test_a_certificate_is_renewed_before_it_ends(self):
        link = Link("")
        self.addCleanup(link.end)
        certs = self.certificates()
        game, queue = self.small(Queue, self.tls(certs) + f'workers = 1\nidle_s = 3600\nadvertise = "{link.address}"\ncertificate_s = 15\n')
        self.serve(game)
        cook = self.start_cook(game)
        link.target = self.address_of(game)
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 3), done)
        # After the second one the first has ended; its stream goes on, and the next one begins with the newest.
        renewed = "worker=command-1 was given another certificate before its own ends"
        wait_until(lambda: self.log_of(game).count(renewed) >= 2, "the second certificate")
        self.assertEqual(self.log_of(game).count("worker=command-1 attached"), 1)
        link.reset()
        wait_until(lambda: self.log_of(game).count("worker=command-1 attached") >= 2, "the worker's return")
        self.write("game/content/a.json", '{"x": 2}')
        again = self.cook(game)
        self.assertEqual((again.code, again.cooked), (0, 1), again)
        self.assertEqual([w.poll() for w in queue.workers.values()], [None])

    def test_a_director_of_another_authority_is_not_believed(self):
        certs, others = self.certificates(), self.certificates("others")
        game, queue = self.small(Queue, self.tls(certs).replace(f"{certs}/ca.pem", f"{others}/ca.pem") + "workers = 1\n")
        cook = self.start_cook(game)
        wait_until(lambda: queue.workers, "a worker")
        worker = next(iter(queue.workers.values()))
        self.assertEqual(worker.wait(timeout=30), 3)
        launch, index = next(iter(queue.workers))
        self.assertIn("not of an authority that this worker was given ([farm] tls_ca)", self.read(f"{launch}-{index}.log").decode())
        cook.send_signal(signal.SIGINT)
        self.finish_cook(game, cook)

    def test_a_certificate_for_another_name_ends_the_cook_soon_and_says_so(self):
        """The worker says why it does not believe the director, ssh brings that, and doctor says it before the cook."""
        certs = self.path("certs")
        subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), certs, "cook.studio"], check=True, capture_output=True)
        self.write("fake/ssh", '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n', 0o755)
        self.write("game/farm.hosts", "node7 slots=1\n")
        farm = f'[farm]\nlauncher = "ssh"\nhosts = "farm.hosts"\nlisten = "127.0.0.1:0"\nadvertise = "127.0.0.1"\nworkers = 1\n{self.tls(certs)}'
        game = self.project({"c.txt": "text"}, [COPY], extra=farm)
        env = {"PATH": f"{self.path('fake')}:{os.environ['PATH']}", "HOME": self.path("home")}
        begun = time.monotonic()
        done = self.cook(game, env=env)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(done.code, 3, done)
        for said in (done.stderr, self.log_of(game)):
            self.assertIn("the director's certificate is for cook.studio, and not for 127.0.0.1", said)
        doctor = self.galley("doctor", "--project", game, "--json", env=env)
        checks = {check["name"]: check for check in json.loads(doctor.stdout)["checks"] if check["name"].startswith("farm")}
        self.assertEqual((doctor.returncode, checks["farm door"]["ok"], checks["farm host"]["ok"]), (1, False, True), checks)
        self.assertIn("is for cook.studio, and not for 127.0.0.1", checks["farm door"]["text"])
        self.assertIn("node7: reached", checks["farm host"]["text"])

    def test_doctor_names_what_a_farm_lacks(self):
        self.write("fake/ssh", "#!/bin/sh\necho 'node7: no route to host' >&2\nexit 255\n", 0o755)
        self.write("game/farm.hosts", "node7 slots=1\n")
        env = {"PATH": self.path("fake")}  # (the machine may have such tools)
        for farm, name, said in (('launcher = "ssh"\nhosts = "farm.hosts"', "farm host", "node7: ssh does not reach it without a password: node7: no route to host"),
                                 ('launcher = "slurm"\nlisten = "127.0.0.1:0"', "farm sbatch", "sbatch is not found"),
                                 (f'launcher = "kubernetes"\nlisten = "127.0.0.1:0"\nstart = "{os.environ["GALLEY_SOURCE_DIR"]}/deploy/kubernetes/worker-job.yaml"', "farm kubectl", "kubectl is not found"),
                                 ('launcher = "kubernetes"\nlisten = "127.0.0.1:0"\nstart = "none.yaml"', "farm", "none.yaml")):
            game = self.project({"c.txt": "text"}, [COPY], extra=f"[farm]\n{farm}\n")
            doctor = self.galley("doctor", "--project", game, "--json", env=env)
            [check] = [check for check in json.loads(doctor.stdout)["checks"] if check["name"] == name]
            self.assertEqual((doctor.returncode, check["ok"]), (1, False), check)
            self.assertIn(said, check["text"])

    def test_doctor_looks_at_who_listens_at_the_farms_address(self):
        port = free_ports(1)
        game = self.project({"c.txt": "text"}, [COPY], extra=f'[farm]\nlauncher = "none"\nlisten = "127.0.0.1:{port}"\n{self.tls(self.certificates())}')

        def door():
            doctor = self.galley("doctor", "--project", game, "--json")
            [check] = [check for check in json.loads(doctor.stdout)["checks"] if check["name"] == "farm door"]
            self.assertTrue(check["text"].startswith("its certificate is for 127.0.0.1"), check)
            return check["ok"], check["text"]
        self.assertEqual(door(), (True, f"its certificate is for 127.0.0.1:{port}; no director listens there now"))
        self.serve(game)
        cook = self.start_cook(game)  # the director listens from the first cook on
        wait_until(lambda: door() == (True, f"its certificate is for 127.0.0.1:{port}; a director listens there, with TLS"), "the director's door")
        self.assertEqual(self.galley("cancel", "1", "--project", game).returncode, 0)
        self.finish_cook(game, cook)
        self.assertEqual(self.galley("serve", "--stop", "--project", game).returncode, 0)
        other = subprocess.Popen(["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (other.kill(), other.wait()))

        def is_there():
            with socket.socket() as caller:
                return caller.connect_ex(("127.0.0.1", port)) == 0
        wait_until(is_there, "somebody else to listen")
        is_ok, text = door()
        self.assertFalse(is_ok, text)
        self.assertIn("; but who listens there now will not do: ", text)

    def test_status_says_what_the_cluster_calls_a_worker(self):
        os.environ.update({"SLURM_JOB_ID": "125", "SLURM_ARRAY_JOB_ID": "123", "SLURM_ARRAY_TASK_ID": "4", "SLURMD_NODENAME": "node7"})
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURMD_NODENAME")])
        game, queue = self.small(Queue, "workers = 1\n")
        self.serve(game)
        self.assertEqual(self.cook(game).code, 0)
        self.assertEqual([w["runs_as"] for w in self.status(game)["workers"]], ["Slurm job 123_4 on node7"])
        self.assertIn("(Slurm job 123_4 on node7)", self.galley("status", "--project", game).stdout)

    def test_one_that_is_killed_is_replaced(self):
        game = self.farm_sample(farm="")
        queue = Queue(self, game)
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + queue.farm("workers = 1\n"))
        cook = self.start_cook(game)
        wait_until(lambda: os.path.exists(os.path.join(game, ".galley/state/logs/director.log")) and "command-1 attached" in self.log_of(game), "a worker")
        next(iter(queue.workers.values())).kill()
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)
        self.assertIn("worker=command-2 attached", self.log_of(game))

    def test_one_that_waits_in_the_queue_is_shown_and_waited_for(self):
        game, queue = self.small(Queue, holds=True)
        self.serve(game)
        cook = self.start_cook(game)
        wait_until(lambda: [w["state"] for w in self.status(game)["workers"]] == ["queued"], "a worker that is queued")
        queue.holds = False
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 3), done)

    def test_those_that_have_nothing_to_do_end(self):
        game, queue = self.small(Queue, "idle_s = 1\n")
        self.serve(game)
        self.assertEqual(self.cook(game).code, 0)
        wait_until(lambda: self.status(game)["workers"] == [], "the worker's end", limit_s=30)
        self.assertEqual([w.wait(timeout=30) for w in queue.workers.values()], [0])
        self.write("game/content/a.json", '{"x": 2}')
        again = self.cook(game)
        self.assertEqual((again.code, again.cooked), (0, 1), again)
        self.assertEqual(len(queue.workers), 2)

    def test_what_a_director_left_that_died_is_ended_by_the_next(self):
        game, queue = self.small(Queue, holds=True)
        cook = self.start_cook(game)
        wait_until(lambda: any(name.endswith(".job") for name in os.listdir(queue.spool)), "a launch")
        cook.kill()
        cook.wait()
        left = [name[:-4] for name in os.listdir(queue.spool) if name.endswith(".job")]
        queue.holds = False
        done = self.cook(game)
        self.assertEqual(done.code, 0, done)
        self.assertIn((left[0], ""), queue.stopped)

    def test_a_launcher_that_fails_is_told_with_what_it_said(self):
        for start, said in (("echo the queue is closed >&2; exit 4; {ticket_file}", "exit code 4; it said: the queue is closed"),
                            ("yes {ticket_file}", "prints more than")):
            game = self.project({"c.txt": "text"}, [COPY], extra=f'[farm]\nlauncher = "command"\nlisten = "127.0.0.1:0"\nstart = "{start}"\n')
            done = self.cook(game)
            self.assertEqual(done.code, 3, done)
            self.assertIn("no worker would start: 5 failures in a row, the last: command: ", done.stderr)
            self.assertIn(said, done.stderr)

    def test_a_worker_that_cannot_reach_its_director_says_so(self):
        game, queue = self.small(Queue, 'advertise = "127.0.0.1:1"\nworkers = 1\n')
        cook = self.start_cook(game)
        begun = time.time()
        wait_until(lambda: queue.workers, "a worker")
        worker = next(iter(queue.workers.values()))
        self.assertEqual(worker.wait(timeout=30), 3)
        self.assertLess(time.time() - begun, 15)
        launch, index = next(iter(queue.workers))
        self.assertIn("no director answers at 127.0.0.1:1", self.read(f"{launch}-{index}.log").decode())
        cook.send_signal(signal.SIGINT)
        self.finish_cook(game, cook)

    def test_what_cannot_be_is_said_before_the_cook(self):
        for farm, said in (('launcher = "slurm"', 'needs listen = "HOST:PORT"'), ('launcher = "ssh"', "needs hosts"),
                           ('launcher = "kubernetes"\nlisten = "127.0.0.1:0"', "needs start"),
                           ('launcher = "command"\nlisten = "127.0.0.1:0"\nstart = "x {ticket_fil}"', "{ticket_fil}: no such placeholder"),
                           ('launcher = "command"\nlisten = "127.0.0.1:0"\nstart = "x"', "no {ticket_file}")):
            game = self.project({"c.txt": "text"}, [COPY], extra=f"[farm]\n{farm}\n")
            done = self.galley("cook", "--project", game)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
