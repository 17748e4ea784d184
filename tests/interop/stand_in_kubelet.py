"""What a kubelet does, as far as these tests need it, and without containers: a pod that the scheduler gave to one of its nodes becomes a process of this machine
that is process 1 of a namespace of its own, sees the pod's volumes at their places, and of this machine's files all but one folder. The pod's state, and that the
node lives, is told to the API server.

Not done: images, users, limits, seccomp, networks, probes, several containers."""
import base64, contextlib, os, re, signal, subprocess, tempfile, threading, time, traceback

from kubernetes_cluster import ApiError

# $1: a folder to be the root; $2: what is hidden; then pairs SOURCE TARGET up to --; then the command. (/run is the pod's: the token of its account lies there.)
ENTER = r"""
set -e
root=$1 hidden=$2; shift 2
mount -t tmpfs none "$root"
for one in /*; do
  if [ -L "$one" ]; then cp -P "$one" "$root$one"
  elif [ "$one" = /proc ] || [ "$one" = /run ]; then mkdir "$root$one"
  elif [ -d "$one" ]; then mkdir "$root$one"; mount --rbind "$one" "$root$one"
  fi
done
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then chroot "$root" mkdir -p "$2"; fi
  chroot "$root" mount --bind "$1" "$2"
  shift 2
done
shift
mount -t tmpfs none "$root$hidden"
exec chroot "$root" "$@"
"""
HEARTBEAT_S = 1
LAST_WORDS = 2048  # bytes of its log, of a container that failed: kubelet's FallbackToLogsOnError


def can_run_pods():
    mounts = f"mount -t tmpfs none {tempfile.gettempdir()} && mount -t proc proc /proc"
    return subprocess.run(["unshare", "-rmpf", "sh", "-c", mounts], capture_output=True).returncode == 0


class Running:
    def __init__(self, process, log):
        self.process = process
        self.log = log
        self.told_to_end = None  # since when
        self.restarts = 0

    def first(self):
        """Process 1 of the pod; None: it is not there yet, or any more."""
        with contextlib.suppress(OSError, IndexError):
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                return int(file.read().split()[0])

    def all(self):
        """Each process of the pod."""
        def namespace(pid):
            with contextlib.suppress(OSError):
                return os.readlink(f"/proc/{pid}/ns/pid")
        first = self.first()
        inside = first and namespace(first)
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and inside and namespace(pid) == inside]

    def signal(self, number):
        """False: it is too early, or too late."""
        with contextlib.suppress(ProcessLookupError):
            if first := self.first():
                os.kill(first, number)
                return True
        return False

    def signal_all(self, number):
        for pid in self.all():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """Whatever becomes of its first process (`--kill-child`), all others end with it."""
        self.process.kill()


class Kubelet:
    """`images`: image -> its entry point. Others cannot be pulled."""
    def __init__(self, api, name, folder, images, environment, hosts=(), hidden="/mnt", nodes=2, cpus=8):
        self.api, self.folder, self.images, self.environment, self.hidden = api, folder, images, environment, hidden
        os.makedirs(folder)
        self.hosts = os.path.join(folder, "hosts")
        with open(self.hosts, "w") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {name}\n" for name in hosts))
        self.nodes = [f"{name}-{i}" for i in range(nodes)]
        self.silent = set()  # nodes that went away
        self.running = {}  # uid -> Running
        self.pods_seen = {}  # name -> its last state
        self.told = {}  # uid -> what was last told of it
        self.failures = []
        self.is_over = threading.Event()
        capacity = {"cpu": str(cpus), "memory": "64Gi", "pods": "110", "ephemeral-storage": "500Gi"}
        for node in self.nodes:
            api.post("/api/v1/nodes", {"metadata": {"name": node, "labels": {"kubernetes.io/os": "linux"}}})
            api.post(self.LEASES, {"metadata": {"name": node}, "spec": self.lease(node)})
            api.patch(f"/api/v1/nodes/{node}/status", {"status": {"capacity": capacity, "allocatable": capacity, "conditions": [
                {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": self.now(), "lastTransitionTime": self.now()}]}})
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self.look, self.beat)]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        for running in self.running.values():
            running.kill()
            running.process.wait()
        for node in self.nodes:
            for path in (f"/api/v1/nodes/{node}", f"{self.LEASES}/{node}"):
                with contextlib.suppress(ApiError):
                    self.api.delete(path)

    # ------------------------------------------------------------ a node that goes away

    def node_of(self, uid):
        return next(pod["spec"]["nodeName"] for pod in self.pods_seen.values() if pod["metadata"]["uid"] == uid)

    def stop_node(self, node):
        """As a machine that hangs, or whose cable is out: nothing ends, nothing is said."""
        self.silent.add(node)
        self.signal_all(node, signal.SIGSTOP)

    def resume_node(self, node):
        self.signal_all(node, signal.SIGCONT)
        self.silent.remove(node)

    def signal_all(self, node, number):
        for uid, running in list(self.running.items()):
            if self.node_of(uid) == node:
                running.signal_all(number)

    # ------------------------------------------------------------ its work

    LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

    @staticmethod
    def lease(node):
        return {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())}

    @staticmethod
    def now():
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    @staticmethod
    def path_of(pod):
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def beat(self):
        while not self.is_over.wait(HEARTBEAT_S):
            with self.noted():
                for node in set(self.nodes) - self.silent:
                    self.api.patch(f"{self.LEASES}/{node}", {"spec": self.lease(node)})

    def look(self):
        while not self.is_over.wait(0.05):
            with self.noted():
                for pod in self.api.items("/api/v1/pods"):
                    if pod["spec"].get("nodeName") in set(self.nodes) - self.silent:
                        self.look_at(pod)

    @contextlib.contextmanager
    def noted(self):
        try:
            yield
        except (OSError, ApiError) as error:
            # (What is gone, or was changed meanwhile, is looked at again.)
            if not isinstance(error, ApiError) or error.status not in (404, 409):
                self.failures.append(traceback.format_exc())

    def look_at(self, pod):
        uid = pod["metadata"]["uid"]
        self.pods_seen[pod["metadata"]["name"]] = pod
        running = self.running.get(uid)
        if "deletionTimestamp" in pod["metadata"]:
            return self.end_pod(pod, running)
        if pod["status"].get("phase") in ("Succeeded", "Failed"):
            return None
        if running is None:
            return self.start(pod)
        code = running.process.poll()
        if code is None:
            return None
        if pod["spec"]["restartPolicy"] == "Always":
            restarts = running.restarts + 1
            self.start(pod)
            self.running[uid].restarts = restarts
            return self.tell(pod, "Running", {"running": {"startedAt": self.now()}}, restarts)
        return self.tell(pod, "Succeeded" if code == 0 else "Failed", self.terminated(pod, code))

    def end_pod(self, pod, running):
        """SIGTERM, SIGKILL after the grace, and then it is deleted."""
        if running is not None and running.process.poll() is None:
            if running.told_to_end is None:
                running.told_to_end = time.monotonic() if running.signal(signal.SIGTERM) else None
            elif time.monotonic() - running.told_to_end > pod["metadata"].get("deletionGracePeriodSeconds", 30):
                running.kill()
            return
        if pod["status"].get("phase") not in ("Succeeded", "Failed"):
            code = running.process.returncode if running is not None else 137
            self.tell(pod, "Succeeded" if code == 0 else "Failed", self.terminated(pod, code))
        self.api.delete(self.path_of(pod), gracePeriodSeconds=0, preconditions={"uid": pod["metadata"]["uid"]})

    def terminated(self, pod, code):
        said = {}
        running = self.running.get(pod["metadata"]["uid"])
        if code != 0 and running is not None and pod["spec"]["containers"][0].get("terminationMessagePolicy") == "FallbackToLogsOnError":
            with open(running.log, "rb") as file:
                said["message"] = file.read()[-LAST_WORDS:].decode(errors="replace")
        return {"terminated": {"exitCode": code if code >= 0 else 128 - code, "finishedAt": self.now(), "reason": "Completed" if code == 0 else "Error", **said}}

    def tell(self, pod, phase, state, restarts=0):
        uid, container = pod["metadata"]["uid"], pod["spec"]["containers"][0]
        word = (phase, repr(sorted(state)), restarts)
        if self.told.get(uid) == word:
            return
        is_ready = "running" in state
        conditions = [one for one in pod["status"].get("conditions", []) if one["type"] not in ("Ready", "ContainersReady")]
        conditions += [{"type": name, "status": str(is_ready), "lastTransitionTime": self.now(), **({} if is_ready else {"reason": "ContainersNotReady"})}
                       for name in ("Ready", "ContainersReady")]
        self.pods_seen[pod["metadata"]["name"]] = self.api.patch(self.path_of(pod) + "/status", {"status": {
            "phase": phase, "conditions": conditions, "podIP": "127.0.0.1", "containerStatuses": [
                {"name": container["name"], "image": container["image"], "imageID": "", "ready": is_ready, "restartCount": restarts, "state": state}]}})
        self.told[uid] = word

    # ------------------------------------------------------------ a pod's process

    def start(self, pod):
        container, = pod["spec"]["containers"]
        entry = self.images.get(container["image"])
        if entry is None:
            return self.tell(pod, "Pending", {"waiting": {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{container["image"]}"'}})
        try:
            mounts = list(self.mounts(pod, container))
        except ApiError as error:
            return self.tell(pod, "Pending", {"waiting": {"reason": "ContainerCreating", "message": str(error)}})
        variables = {one["name"]: self.value(pod, one) for one in container.get("env", [])}
        words = container.get("command", entry) + container.get("args", [])
        words = [re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), word) for word in words]
        root = os.path.join(self.folder, pod["metadata"]["uid"], "root")
        os.makedirs(root, exist_ok=True)
        binds = [path for pair in [(self.hosts, "/etc/hosts"), *mounts] for path in pair]
        path = os.path.join(self.folder, pod["metadata"]["name"] + ".log")
        with open(path, "ab") as log:
            process = subprocess.Popen(["unshare", "-rmpf", "--kill-child", "sh", "-c", ENTER, "sh", root, self.hidden, *binds, "--", *words], cwd="/",
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                       env={**self.environment, **variables, "HOSTNAME": pod["metadata"]["name"]})
        self.running[pod["metadata"]["uid"]] = Running(process, path)
        return self.tell(pod, "Running", {"running": {"startedAt": self.now()}})

    def run_in(self, pod, *words):
        """As `kubectl exec`."""
        inside = ["nsenter", "--target", str(self.running[pod["metadata"]["uid"]].first()), "--user", "--mount", "--pid", "--root", "--wd"]
        return subprocess.run([*inside, *words], env=self.environment, text=True, capture_output=True, stdin=subprocess.DEVNULL)

    @staticmethod
    def value(pod, variable):
        if "value" in variable:
            return variable["value"]
        path = variable["valueFrom"]["fieldRef"]["fieldPath"]
        by_key = re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path)
        if by_key:
            return pod["metadata"].get(by_key[1], {}).get(by_key[2], "")
        value = pod
        for part in path.split("."):
            value = value[part]
        return value

    def mounts(self, pod, container):
        """Pairs of a folder and where it is to be. The files of Secrets are there before the process is."""
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
        for mount in container.get("volumeMounts", []):
            volume = volumes[mount["name"]]
            folder = os.path.join(self.folder, pod["metadata"]["uid"], volume["name"])
            if "secret" in volume:
                os.makedirs(folder, exist_ok=True)
                secret = self.api.get(f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{volume['secret']['secretName']}")
                for name, text in secret.get("data", {}).items():
                    self.put(os.path.join(folder, name), base64.b64decode(text), volume["secret"].get("defaultMode", 0o644))
            elif "emptyDir" in volume:
                os.makedirs(folder, exist_ok=True)
            elif "persistentVolumeClaim" in volume:
                folder = self.claimed(pod, volume["persistentVolumeClaim"]["claimName"])
            else:
                self.fill(pod, volume["projected"]["sources"], folder)
            yield folder, mount["mountPath"]

    @staticmethod
    def put(path, data, mode):
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.chmod(path + ".new", mode)
        os.rename(path + ".new", path)

    def claimed(self, pod, claim):
        """The folder of a volume that is a folder of the machine."""
        namespace = pod["metadata"]["namespace"]
        bound = self.api.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}")["spec"]["volumeName"]
        return self.api.get(f"/api/v1/persistentvolumes/{bound}")["spec"]["hostPath"]["path"]

    def fill(self, pod, sources, folder):
        """The token of the pod's account, with what it takes to use it."""
        os.makedirs(folder, exist_ok=True)
        namespace = pod["metadata"]["namespace"]
        for source in sources:
            if "serviceAccountToken" in source:
                account = f"/api/v1/namespaces/{namespace}/serviceaccounts/{pod['spec']['serviceAccountName']}/token"
                token = self.api.post(account, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
                self.put(os.path.join(folder, source["serviceAccountToken"]["path"]), token.encode(), 0o644)
            elif "configMap" in source:
                data = self.api.get(f"/api/v1/namespaces/{namespace}/configmaps/{source['configMap']['name']}")["data"]
                for item in source["configMap"]["items"]:
                    self.put(os.path.join(folder, item["path"]), data[item["key"]].encode(), 0o644)
            elif "downwardAPI" in source:
                for item in source["downwardAPI"]["items"]:
                    self.put(os.path.join(folder, item["path"]), self.value(pod, {"valueFrom": item}).encode(), 0o644)
