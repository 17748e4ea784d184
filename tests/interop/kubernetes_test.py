#!/usr/bin/env python3
"""Kubernetes brings up workers: the API server, controllers and scheduler are real (kubernetes_cluster.py), the nodes are not (stand_in_kubelet.py). The manifests are those of
deploy/kubernetes, and the director has the rights that account.yaml gives. Run by `scripts/test --interop`, which installs etcd-server.
"""
import json, os, re, shutil, signal, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness
from farm.farm_test import FarmCase
from harness import wait_until
from kubernetes_cluster import Cluster, built_servers, debian_kubectl, free_ports, version
from stand_in_kubelet import Kubelet, can_run_pods

MANIFESTS = os.path.join(harness.SOURCE, "deploy", "kubernetes")
LOG = ".galley/state/logs/director.log"
IMAGE, DIRECTOR_IMAGE = "registry.example/galley:latest", "registry.example/galley-director:latest"
# (What lies below /dev no program is asked about.)
HELD = ('match = "/Game/**/*.held"\ncooker = "command"\n'
        'settings = { argv = ["sh", "-c", "until [ -e GATE ]; do sleep 0.1; done; cp $0 $1", "{input}", "{output:.out}"], outputs = [".out"] }')
# No pod may do more than it says that it has to.
STRICT = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}


class KubernetesTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        if not can_run_pods():
            raise unittest.SkipTest("namespaces of mounts and processes, in which pods run, cannot be made")
        if shutil.which("etcd") is None:
            raise unittest.SkipTest("etcd is not installed (Debian: etcd-server)")
        cls.kubectls = {"debian": debian_kubectl()}
        installed = shutil.which("kubectl")
        if installed:
            cls.kubectls["installed"] = installed
        cls.cluster = Cluster(built_servers())
        cls.addClassCleanup(cls.cluster.end)
        cls.api = cls.cluster.api

    def setUp(self):
        super().setUp()
        self.namespace = re.sub(r"[^a-z0-9]+", "-", os.path.basename(self.dir).lower()).strip("-")
        self.api.post("/api/v1/namespaces", {"metadata": {"name": self.namespace, "labels": STRICT}})
        wait_until(lambda: self.there("serviceaccounts"), "the namespace's account")
        self.admin = self.cluster.config(self.namespace, self.cluster.admin_token, self.namespace)
        self.certs = self.certificates_for("galley-director", "cook.studio")
        self.kubelet = None

    # ------------------------------------------------------------ what the tests are made of

    def certificates_for(self, *names):
        done = subprocess.run([os.path.join(harness.SOURCE, "deploy/dev-certs"), self.path("certs"), *names], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        return self.path("certs")

    def there(self, kind, group="/api/v1"):
        return self.api.items(f"{group}/namespaces/{self.namespace}/{kind}")

    def jobs(self):
        return self.there("jobs", "/apis/batch/v1")

    def launch_secrets(self):
        return [one for one in self.there("secrets") if "galley.launch" in one["metadata"].get("labels", {})]

    def environment(self, config, kubectl="debian"):
        """Of whoever calls this kubectl with this configuration, and has no other."""
        tools = self.path("tools-" + kubectl)
        os.makedirs(tools, exist_ok=True)
        if not os.path.exists(f"{tools}/kubectl"):
            os.symlink(self.kubectls[kubectl], f"{tools}/kubectl")
        return {"PATH": f"{tools}:{os.path.abspath(self.bin)}:{os.environ['PATH']}", "HOME": self.path("home"), "KUBECONFIG": config}

    def kubectl(self, *arguments, config=None, kubectl="debian", stdin=None):
        return subprocess.run(["kubectl", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, input=stdin, cwd=self.dir, timeout=harness.LIMIT_S,
                              env={**os.environ, **self.environment(config or self.admin, kubectl)})

    def must(self, *arguments, **kw):
        done = self.kubectl(*arguments, **kw)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("Warning", done.stdout)
        return done.stdout

    def start_kubelet(self, game, **kw):
        environment = {**os.environ, **self.environment("/nowhere"), "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster.port)}
        environment.pop("KUBECONFIG")
        galley = [os.path.abspath(os.path.join(self.bin, "galley"))]
        self.kubelet = Kubelet(self.api, self.namespace, self.path("kubelet"), {IMAGE: galley, DIRECTOR_IMAGE: galley}, environment, hosts=["galley-director", "cook.studio"],
                               hidden=game, **kw)
        self.addCleanup(self.kubelet.end)
        self.addCleanup(self.clear)

    def clear(self):
        """A test that failed leaves no pods."""
        self.kubectl("delete", "all,secrets", "--all", "--wait=false")
        wait_until(lambda: not self.there("pods"), "the end of all pods")

    def manifest(self, name, **replaced):
        """One of deploy/kubernetes, with what this machine does not have changed."""
        text = harness.read_file(os.path.join(MANIFESTS, name)).decode()
        for old, new in replaced.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.write(name, text)

    def account(self):
        """The configuration of kubectl of a director outside of the cluster: who it is, and what it may do, is account.yaml's."""
        self.must("apply", "-f", os.path.join(MANIFESTS, "account.yaml"))
        if "installed" in self.kubectls:  # Debian's is too old for that
            token = self.must("create", "token", "galley-director", "--duration=24h", kubectl="installed").strip()
        else:
            token = self.api.post(f"/api/v1/namespaces/{self.namespace}/serviceaccounts/galley-director/token", {"spec": {"expirationSeconds": 86400}})["status"]["token"]
        return self.cluster.config(self.namespace + "-director", token, self.namespace)

    def section(self, extra="", start=None, program=None):
        certs = "".join(f'tls_{what} = "{self.certs}/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        start = start or self.manifest("worker-job.yaml", memory=("4Gi", "1Gi"))
        return (f'[farm]\nlauncher = "kubernetes"\nlisten = "127.0.0.1:0"\nadvertise = "cook.studio"\nprove = 0\n{certs}'
                f'program = "{program or os.path.abspath(self.bin) + "/galley"}"\nstart = "{start}"\narguments = ["--context=farm", "--namespace={self.namespace}"]\n{extra}')

    def farm(self, extra="", with_tools=False, **kw):
        """The sample, nodes that do not see it, and what its director's kubectl needs."""
        game = self.farm_sample(with_tools=with_tools, farm=self.section(extra, **kw))
        self.start_kubelet(game)
        return game, self.account()

    def held(self, extra="workers = 2\nworkers_min = 2\n"):
        """As farm(), a project of which each job waits until let_go()."""
        folder = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.gate = os.path.join(folder, "gate")
        game = self.project({f"{i}.held": f"text {i}" for i in range(8)}, [HELD.replace("GATE", self.gate)], extra=self.section(extra + "far_programs = true\n"))
        self.start_kubelet(game)
        return game, self.account()

    def let_go(self):
        with open(self.gate, "w"):
            pass

    def log_of(self, game):
        path = os.path.join(game, LOG)
        return harness.read_file(path).decode() if os.path.exists(path) else ""

    def attached(self, game, count=1):
        return wait_until(lambda: (names := set(re.findall(r"worker=(kubernetes-\d+) attached", self.log_of(game)))) and len(names) >= count and names,
                          f"{count} workers of Kubernetes: {self.log_of(game)[-3000:]}", limit_s=harness.LIMIT_S)

    def finish_held(self, game, cook):
        self.let_go()
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)
        self.check_nothing_is_left()
        return done

    def pods_by_index(self):
        """All that there ever were: {(Job, index): names}."""
        found = {}
        for name, pod in self.kubelet.pods_seen.items():
            labels = pod["metadata"]["labels"]
            found.setdefault((labels["galley.launch"], int(labels["batch.kubernetes.io/job-completion-index"])), []).append(name)
        return found

    def check_nothing_is_left(self):
        self.assertEqual(self.launch_secrets(), [])
        self.assertEqual([one for one in self.jobs() if "deletionTimestamp" not in one["metadata"]], [])
        # (The Job takes its pods with it, as soon as the collector of garbage sees to it.)
        wait_until(lambda: not self.there("pods") and not self.jobs(), "the end of the pods")
        self.assertEqual(self.kubelet.failures, [])

    # ------------------------------------------------------------ the manifests

    def test_a_server_takes_the_manifests(self):
        filled = self.write("worker-job.yaml", re.sub(r"\{(name|count|slots|program|ticket)\}", lambda found: {
            "name": "galley-tower-01234567", "count": "4", "slots": "2", "program": '"/usr/bin/galley"', "ticket": '"dGlja2V0"'}[found[1]],
            harness.read_file(os.path.join(MANIFESTS, "worker-job.yaml")).decode()))
        others = [os.path.join(MANIFESTS, name) for name in sorted(os.listdir(MANIFESTS)) if name != "worker-job.yaml"]
        self.assertEqual(len(others), 4)
        for kubectl in self.kubectls:
            for path in (filled, *others):
                with self.subTest(f"{os.path.basename(path)} by the kubectl of {kubectl}"):
                    # (Warnings are what Pod Security says of pods that may do more than they need.)
                    self.must("apply", "--dry-run=server", "-f", path, kubectl=kubectl)
        # It does find what is wrong.
        for right, mistake in (("completionMode:", "completionsMode:"), ("completions: 4", "completions: -4"), ("restartPolicy: Never", "restartPolicy: Always")):
            self.assertIn(right, harness.read_file(filled).decode())
            wrong = self.write("wrong.yaml", harness.read_file(filled).decode().replace(right, mistake))
            done = self.kubectl("apply", "--dry-run=server", "-f", wrong)
            self.assertNotEqual(done.returncode, 0, done.stdout)
        wrong = self.write("wrong.yaml", harness.read_file(filled).decode().replace("runAsNonRoot: true", "runAsNonRoot: false"))
        done = self.kubectl("apply", "--dry-run=server", "-f", wrong)
        self.assertIn('would violate PodSecurity "restricted:latest": runAsNonRoot != true', done.stdout)
        done = self.must("version", "--output=json")
        self.assertEqual(json.loads(done)["serverVersion"]["gitVersion"], version())

    def test_the_director_has_the_rights_that_it_needs_and_no_others(self):
        game, config = self.held()
        for kubectl in self.kubectls:
            cook = self.start_cook(game, "--force", env=self.environment(config, kubectl))
            self.attached(game, 2)
            self.assertEqual(["annotations" in secret["metadata"] for secret in self.launch_secrets()], [False])  # (`apply` repeats the ticket there)
            # One that hangs: its pod is deleted.
            hangs = self.kubelet.running[self.there("pods")[0]["metadata"]["uid"]]
            hangs.signal_all(signal.SIGSTOP)
            self.attached(game, 3)
            hangs.signal_all(signal.SIGCONT)
            self.finish_held(game, cook)
            os.remove(self.gate)
            os.remove(os.path.join(game, LOG))
        asked = self.cluster.asked_by(f"system:serviceaccount:{self.namespace}:galley-director")
        rules = self.api.get(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.namespace}/roles/galley-director")["rules"]
        self.assertEqual(sorted(asked), sorted((verb, group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]))
        self.assertEqual([(what, codes) for what, codes in asked.items() if 403 in codes], [])
        for may, asked in (("yes", ("create", "jobs.batch")), ("yes", ("delete", "secrets")), ("yes", ("list", "pods")), ("no", ("create", "pods")), ("no", ("list", "nodes")),
                           ("no", ("update", "roles.rbac.authorization.k8s.io")), ("no", ("list", "secrets", "--namespace=kube-system"))):
            done = self.kubectl("auth", "can-i", *asked, config=config)
            self.assertEqual(done.stdout.split()[-1], may, (asked, done.stdout))

    # ------------------------------------------------------------ workers that come with a cook

    def test_the_roots_are_those_of_a_local_cook(self):
        game, config = self.farm("workers = 2\nworkers_min = 2\n", with_tools=True)
        local = self.local_roots(game)
        for kubectl in self.kubectls:
            with self.subTest(f"kubectl of {kubectl}"):
                done = self.finish_cook(game, self.start_cook(game, "--force", env=self.environment(config, kubectl)))
                self.assertEqual((done.code, done.roots), (0, local), done)
                log = self.log_of(game)
                self.assertRegex(log, r"worker=kubernetes-\d+ attached")
                self.assertIn("worker=local-1 attached", log)  # for the programs of the project
                self.check_nothing_is_left()
                self.assertEqual(os.listdir(os.path.join(game, ".galley/state/launches")), [])

    def check_it_is_replaced_once(self, end):
        """Of two workers of one Job, one ends: the director brings up another one, and the Job does not do so, too."""
        game, config = self.held()
        cook = self.start_cook(game, env=self.environment(config))
        self.attached(game, 2)
        job, = self.jobs()
        pod = next(one for one in self.there("pods") if one["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0")
        end(pod)
        self.attached(game, 3)

        def failed():
            return self.api.get(f"/apis/batch/v1/namespaces/{self.namespace}/jobs/{job['metadata']['name']}")["status"].get("failedIndexes")
        self.assertEqual(wait_until(failed, "a Job that knows it", limit_s=harness.LIMIT_S), "0")
        done = self.finish_held(game, cook)
        pods = self.pods_by_index()
        self.assertEqual({index: len(names) for index, names in pods.items()}, {index: 1 for index in pods}, pods)
        self.assertEqual(len(pods), 3)
        self.assertEqual(len(self.attached(game)), 3)
        return done, self.kubelet.pods_seen[pod["metadata"]["name"]]["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]

    def test_a_pod_that_is_killed_is_replaced_once(self):
        done, code = self.check_it_is_replaced_once(lambda pod: self.kubelet.running[pod["metadata"]["uid"]].kill())
        self.assertEqual((done.summary["workers"]["lost"], code), (1, 137), done)

    def test_a_pod_that_is_deleted_drains_and_is_replaced_once(self):
        # (As when its node is drained, or needed for others.)
        done, code = self.check_it_is_replaced_once(lambda pod: self.must("delete", "pod", pod["metadata"]["name"], "--wait=false"))
        self.assertEqual((done.summary["workers"]["lost"], code), (0, 75), done)

    def test_a_node_that_goes_away_is_no_matter(self):
        game, config = self.held()
        cook = self.start_cook(game, env=self.environment(config))
        self.attached(game, 2)
        pods = self.there("pods")
        gone = pods[0]["spec"]["nodeName"]
        lost = sum(pod["spec"]["nodeName"] == gone for pod in pods)
        kept, = set(self.kubelet.nodes) - {gone}
        # Nobody knows yet that it is gone: what comes in place of its workers is sent there, too, and never begins.
        self.must("cordon", kept)
        self.kubelet.stop_node(gone)

        def sent_there():
            later = [pod for pod in self.there("pods") if pod["metadata"]["name"] not in {one["metadata"]["name"] for one in pods}]
            return len(later) == lost and all(pod["status"].get("conditions") for pod in later) and later
        later = wait_until(sent_there, "pods in place of those", limit_s=harness.LIMIT_S)
        self.must("uncordon", kept)
        names = self.attached(game, 2 + lost)
        print(f"[{sum(pod['spec'].get('nodeName') == gone for pod in later)} of {lost} sent to the node that is gone]", end=" ", file=sys.stderr)
        # It is back, with workers that nobody waits for any more.
        self.kubelet.resume_node(gone)
        wait_until(lambda: not [pod for pod in self.there("pods") if pod["spec"].get("nodeName") == gone], "the end of its pods", limit_s=harness.LIMIT_S)
        self.finish_held(game, cook)
        self.assertEqual([name for name in names if self.log_of(game).count(f"worker={name} attached") != 1], [])

    def test_what_a_director_that_died_left_is_ended_by_the_next(self):
        game, config = self.held()
        cook = self.start_cook(game, env=self.environment(config))
        self.attached(game, 2)
        left, = self.jobs()
        cook.kill()
        cook.communicate()
        again = self.start_cook(game, env=self.environment(config))
        others = wait_until(lambda: [job for job in self.jobs() if job["metadata"]["uid"] != left["metadata"]["uid"] and job["status"].get("ready")], "workers of the next one",
                            limit_s=harness.LIMIT_S)
        self.assertEqual(len(others), 1)
        wait_until(lambda: left["metadata"]["uid"] not in [job["metadata"]["uid"] for job in self.jobs()], "the end of what was left", limit_s=harness.LIMIT_S)
        self.assertEqual([secret["metadata"]["name"] for secret in self.launch_secrets()], [others[0]["metadata"]["name"]])
        self.finish_held(game, again)

    def test_what_an_unfit_worker_said_is_told(self):
        program = self.write("other/galley", "#!/bin/sh\necho 'first line'\necho 'this is another build|of galley' >&2\nexit 3\n", mode=0o755)
        game, config = self.farm("workers = 1\n", program=program)
        done = self.finish_cook(game, self.start_cook(game, env=self.environment(config)))
        self.assertEqual(done.code, 3, done)
        self.assertRegex(done.stderr, r"(?s)it ended before it attached: pod galley-\S+-0-\w+ ended with exit code 3.*first line.*this is another build\|of galley")
        self.assertEqual([names for names in self.pods_by_index().values() if len(names) != 1], [])
        self.check_nothing_is_left()
        self.assertEqual(os.listdir(os.path.join(game, ".galley/state/launches")), [])

    def waits_for(self, game, reason):
        def shown():
            return [one for one in self.status(game)["workers"] if one["state"] == "queued" and reason in json.dumps(one)]
        wait_until(shown, f"a worker that waits for {reason}", limit_s=harness.LIMIT_S)
        text = self.galley("status", "--project", game).stdout
        self.assertIn(reason, text)

    def test_what_a_pod_waits_for_is_shown(self):
        for change, reason in ((("galley:latest", "galley:missing"), "ImagePullBackOff"), (('cpu: "{slots}"', 'cpu: "100"'), "Insufficient cpu")):
            with self.subTest(reason):
                start = self.manifest("worker-job.yaml", change=change)
                game, config = self.farm("workers = 1\n", start=start)
                self.serve(game, env=self.environment(config))
                cook = self.start_cook(game)
                self.waits_for(game, reason)
                # Nobody waits for it any more, and nothing is left of it.
                self.assertEqual(self.galley("serve", "--stop", "--project", game).returncode, 0)
                self.assertNotEqual(self.finish_cook(game, cook).code, 0)
                self.check_nothing_is_left()
                self.kubelet.end()
                shutil.rmtree(self.path("kubelet"))
                shutil.rmtree(game)

    def test_a_cook_that_is_interrupted_leaves_nothing(self):
        game, config = self.farm("workers = 2\nworkers_min = 2\n")
        cook = self.start_cook(game, env=self.environment(config))
        self.attached(game)
        cook.terminate()
        self.assertNotEqual(self.finish_cook(game, cook).code, 0)
        self.check_nothing_is_left()

    def test_what_the_server_refuses_is_told(self):
        start = self.manifest("worker-job.yaml", change=("completionMode:", "completionsMode:"))
        game, config = self.farm("workers = 1\n", start=start)
        done = self.finish_cook(game, self.start_cook(game, env=self.environment(config)))
        self.assertEqual(done.code, 3, done)
        self.assertIn("completionsMode", done.stderr)
        self.check_nothing_is_left()

    # ------------------------------------------------------------ a farm that stands

    def standing(self, port):
        """As docs/deploy.md says."""
        secret = ["secret", "generic", "galley-farm", f"--from-file=token={self.path('game/.galley/state/farm-token')}"]
        secret += [f"--from-file={name}={self.certs}/{name}" for name in ("ca.pem", "worker.pem", "worker.key")]
        self.must("create", *secret)
        self.must("apply", "-f", self.manifest("workers.yaml", port=("galley-director:9010", f"galley-director:{port}"), replicas=("replicas: 4", "replicas: 2"),
                                               memory=("8Gi", "1Gi"), cpu=('"4"', '"1"')))

    def test_a_deployment_of_workers_stays(self):
        port, = free_ports(1)
        certs = "".join(f'tls_{what} = "{self.certs}/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        game = self.farm_sample(farm=f'[farm]\nlauncher = "none"\nlisten = "127.0.0.1:{port}"\nprove = 0\n{certs}')
        self.start_kubelet(game)
        local = self.local_roots(game)
        self.serve(game)
        cook = self.start_cook(game)
        wait_until(lambda: os.path.exists(os.path.join(game, ".galley/state/farm-token")), "the farm's token")
        self.standing(port)
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, local), done)

        def names():
            return sorted(one["worker"] for one in self.status(game)["workers"] if one["state"] != "draining")
        pods = wait_until(lambda: (running := sorted(pod["metadata"]["name"] for pod in self.there("pods"))) == names() and running, "a worker of each pod's name")
        self.assertEqual(len(pods), 2)
        # One that is deleted drains, and another one comes under its own name.
        self.must("delete", "pod", pods[0])
        wait_until(lambda: len(names()) == 2 and pods[0] not in names(), "another worker")
        ended = self.kubelet.pods_seen[pods[0]]
        self.assertEqual(ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 75, ended)
        self.must("scale", "deployment/galley-worker", "--replicas=0")
        wait_until(lambda: not names() and not self.there("pods"), "the end of all workers")
        self.assertEqual(self.kubelet.failures, [])

    # ------------------------------------------------------------ a director in the cluster

    def test_a_director_in_the_cluster_brings_up_its_workers(self):
        port, = free_ports(1)
        game = self.farm_sample(farm="")
        local = self.local_roots(game)
        certs = "".join(f'tls_{what} = "/galley/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        self.write("game/worker-job.yaml", harness.read_file(self.manifest("worker-job.yaml", memory=("4Gi", "1Gi"))))
        self.write("game/galley.toml", self.read("game/galley.toml").decode() +
                   f'[farm]\nlauncher = "kubernetes"\nlisten = "127.0.0.1:{port}"\nadvertise = "galley-director"\nprove = 0\n{certs}workers = 1\n'
                   f'program = "{os.path.abspath(self.bin)}/galley"\nstart = "worker-job.yaml"\n')
        # The volume: nobody provides any here.
        volume = self.namespace + "-project"
        self.api.post("/api/v1/persistentvolumes", {"metadata": {"name": volume}, "spec": {
            "capacity": {"storage": "500Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": self.path("volume")},
            "claimRef": {"namespace": self.namespace, "name": "project-galley-director-0"}}})
        self.addCleanup(lambda: self.api.delete(f"/api/v1/persistentvolumes/{volume}"))
        os.makedirs(self.path("volume"))
        self.start_kubelet(game)
        self.must("apply", "-f", os.path.join(MANIFESTS, "account.yaml"))
        self.must("create", "secret", "generic", "galley-director-tls", *(f"--from-file={name}={self.certs}/{name}" for name in ("ca.pem", "director.pem", "director.key")))
        self.must("apply", "-f", self.manifest("director.yaml", port=("9010", str(port))))
        pod = wait_until(lambda: [one for one in self.there("pods") if one["status"].get("phase") == "Running"], "the director's pod", limit_s=harness.LIMIT_S)[0]
        self.assertEqual(pod["metadata"]["name"], "galley-director-0")
        # It waits for the project.
        shutil.copytree(game, self.path("new"), symlinks=True, ignore=shutil.ignore_patterns(".galley"))
        for name in sorted(os.listdir(self.path("new")), key=lambda name: name == "galley.toml"):
            os.rename(self.path("new", name), self.path("volume", name))
        wait_until(lambda: self.kubelet.run_in(pod, "galley", "status", "--project", "/project", "--quiet").returncode == 0, "the director", limit_s=harness.LIMIT_S)
        done = self.kubelet.run_in(pod, "galley", "cook", "--project", "/project", "--summary", "/project/summary.json")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.read_summary(self.path("volume/summary.json"))["roots"], local, done)
        self.assertRegex(self.log_of(self.path("volume")), r"worker=kubernetes-\d+ attached")
        self.must("scale", "statefulset/galley-director", "--replicas=0")
        wait_until(lambda: not self.there("pods"), "the end of director and workers", limit_s=harness.LIMIT_S)
        ended = self.kubelet.pods_seen["galley-director-0"]["status"]["containerStatuses"][0]["state"]
        self.assertEqual(ended["terminated"]["exitCode"], 0, ended)
        self.check_nothing_is_left()


if __name__ == "__main__":
    unittest.main()
