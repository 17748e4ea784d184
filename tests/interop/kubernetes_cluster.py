"""A Kubernetes without machines: etcd, and kube-apiserver, kube-controller-manager and kube-scheduler, which are built once with Go (kubernetes/go.mod says
which version). Its nodes are played by stand_in_kubelet.py."""
import contextlib, hashlib, http.client, json, os, re, shutil, socket, ssl, subprocess, sys, tempfile, unittest

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "scripts"))
import debian

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kubernetes")
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
GO_ENV = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/local/go/bin", "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
# Those that make and end pods, and those that see a node that went away.
CONTROLLERS = ["deployment-controller", "garbage-collector-controller", "job-controller", "namespace-controller", "node-lifecycle-controller",
               "persistentvolume-binder-controller", "replicaset-controller", "root-ca-certificate-publisher-controller", "serviceaccount-controller",
               "statefulset-controller", "taint-eviction-controller", "ttl-after-finished-controller"]
# So long a node may be silent, and then its pods may stay on it. (Defaults: 50 s, 300 s.)
NODE_SILENT_S, NODE_GONE_S = 15, 2
AUDITED = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}
BUILD_S = 3600


def version():
    return re.search(r"\tk8s\.io/kubernetes (v[\d.]+)", harness.read_file(f"{SOURCES}/go.mod").decode())[1]


def built_servers():
    """The folder of the programs; they are built if they are not there yet."""
    texts = b"".join(harness.read_file(f"{SOURCES}/{name}") for name in ("go.mod", "go.sum"))
    folder = os.path.join(CACHE, "galley", f"kubernetes-{version()}-{hashlib.sha256(texts).hexdigest()[:12]}")
    if os.path.isdir(folder):
        return folder
    if shutil.which("go", path=GO_ENV["PATH"]) is None:
        raise unittest.SkipTest("go is not installed, and the servers of Kubernetes cannot be built")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    number = version().removeprefix("v").split(".")
    names = {"gitVersion": version(), "gitMajor": number[0], "gitMinor": number[1]}
    flags = "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in names.items())
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as made:
        fetched = subprocess.run(["go", "mod", "download"], cwd=SOURCES, env=GO_ENV, text=True, capture_output=True)
        if fetched.returncode != 0:
            raise unittest.SkipTest(f"the Go modules of Kubernetes cannot be had: {fetched.stderr.strip()[-300:]}")
        # (Unoptimized, Kubernetes' own packages take half of the time to build.)
        subprocess.run(["go", "build", "-trimpath", "-gcflags=k8s.io/...=-N -l", "-ldflags", flags, "-o", os.path.join(made, "bin") + "/", "tool"], cwd=SOURCES, env=GO_ENV, check=True,
                       timeout=BUILD_S)
        os.rename(os.path.join(made, "bin"), folder)
    return folder


def debian_kubectl():
    """That of Debian, which is in the director's image (deploy/container); beside one of another package that may be installed."""
    folder = os.path.join(CACHE, "galley", "kubernetes-client")
    program = os.path.join(folder, "usr/bin/kubectl")
    if not os.path.exists(program):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as made:
            try:
                os.rename(debian.unpack("kubernetes-client", made), folder)
            except debian.NotFetched as error:
                raise unittest.SkipTest(str(error))
    return program


def free_ports(count):
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


class ApiError(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text[:2000]}")
        self.status = status


class Api:
    """The server's REST, as an administrator."""
    def __init__(self, port, authority, token):
        self.port, self.token = port, token
        self.context = ssl.create_default_context(cafile=authority)

    def call(self, method, path, body=None, content_type="application/json"):
        with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {self.token}", "Content-Type": content_type})
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status >= 300:
            raise ApiError(answer.status, text)
        return json.loads(text) if text.startswith("{") else text

    def get(self, path):
        return self.call("GET", path)

    def items(self, path):
        return self.get(path)["items"]

    def post(self, path, body):
        return self.call("POST", path, body)

    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path, **options):
        return self.call("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **options})


class Cluster:
    def __init__(self, servers):
        self.servers = servers
        self.folder = tempfile.mkdtemp(prefix="galley-kubernetes-")
        self.running = []
        self.admin_token = os.urandom(16).hex()
        etcd, peers, self.port, controllers, scheduler = free_ports(5)
        self.authority = self.path("certs/apiserver.crt")  # signed by itself
        self.url = f"https://127.0.0.1:{self.port}"
        try:
            self.start_all(etcd, peers, controllers, scheduler)
        except BaseException:
            self.end()
            raise

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def start(self, program, *arguments):
        log = self.path(os.path.basename(program) + ".log")
        with open(log, "ab") as out:
            process = subprocess.Popen([program, *arguments], cwd=self.folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        self.running.append((process, log))

    def wait_for(self, condition, what):
        def holds():
            for process, log in self.running:
                if process.poll() is not None:
                    raise AssertionError(f"{log} ended:\n" + harness.read_file(log).decode(errors="replace")[-4000:])
            with contextlib.suppress(OSError, ApiError, http.client.HTTPException):
                return condition()
        return harness.wait_until(holds, what, limit_s=harness.LIMIT_S)

    def start_all(self, etcd, peers, controllers, scheduler):
        here = "http://127.0.0.1"
        self.start("etcd", "--data-dir", self.path("etcd"), "--listen-client-urls", f"{here}:{etcd}", "--advertise-client-urls", f"{here}:{etcd}",
                   "--listen-peer-urls", f"{here}:{peers}", "--initial-advertise-peer-urls", f"{here}:{peers}", "--initial-cluster", f"default={here}:{peers}",
                   "--unsafe-no-fsync")
        key = self.path("accounts.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        with open(self.path("tokens.csv"), "w") as file:
            file.write(f"{self.admin_token},admin,admin,system:masters\n")
        with open(self.path("audited.json"), "w") as file:
            json.dump(AUDITED, file)
        self.start(os.path.join(self.servers, "kube-apiserver"), "--etcd-servers", f"{here}:{etcd}", "--bind-address=127.0.0.1", f"--secure-port={self.port}",
                   "--cert-dir", self.path("certs"), "--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer=https://kubernetes.default.svc",
                   "--service-account-key-file", key, "--service-account-signing-key-file", key, "--authorization-mode=RBAC",
                   "--token-auth-file", self.path("tokens.csv"), "--allow-privileged=false",
                   f"--default-not-ready-toleration-seconds={NODE_GONE_S}", f"--default-unreachable-toleration-seconds={NODE_GONE_S}",
                   "--audit-policy-file", self.path("audited.json"), "--audit-log-path", self.path("audit.log"))
        self.api = self.wait_for(lambda: Api(self.port, self.authority, self.admin_token), "kube-apiserver's certificate")
        self.wait_for(lambda: self.api.get("/readyz") == "ok", "kube-apiserver")
        admin = self.config("admin", self.admin_token, "default")
        self.start(os.path.join(self.servers, "kube-controller-manager"), "--kubeconfig", admin, "--controllers", ",".join(CONTROLLERS), "--leader-elect=false", "--node-monitor-period=1s",
                   f"--node-monitor-grace-period={NODE_SILENT_S}s",
                   "--bind-address=127.0.0.1", f"--secure-port={controllers}", "--cert-dir", self.path("controllers"), "--root-ca-file", self.authority,
                   "--authentication-kubeconfig", admin, "--authorization-kubeconfig", admin)
        self.start(os.path.join(self.servers, "kube-scheduler"), "--kubeconfig", admin, "--leader-elect=false", "--bind-address=127.0.0.1",
                   f"--secure-port={scheduler}", "--cert-dir", self.path("scheduler"), "--authentication-kubeconfig", admin, "--authorization-kubeconfig", admin)
        self.wait_for(lambda: self.api.get("/api/v1/namespaces/default/serviceaccounts/default"), "kube-controller-manager")

    def asked_by(self, user):
        """What this user asked the server for: {(verb, API group, resource): status codes}."""
        asked = {}
        with open(self.path("audit.log")) as file:
            for event in map(json.loads, file):
                if event["user"].get("username") == user and "objectRef" in event:
                    which = (event["verb"], event["objectRef"].get("apiGroup", ""), event["objectRef"]["resource"])
                    asked.setdefault(which, set()).add(event["responseStatus"]["code"])
        return asked

    def config(self, name, token, namespace):
        """A kubeconfig with one context, `farm`."""
        path = self.path(f"{name}.kubeconfig")
        with open(path, "w") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "farm",
                       "clusters": [{"name": "farm", "cluster": {"server": self.url, "certificate-authority": self.authority}}],
                       "users": [{"name": name, "user": {"token": token}}],
                       "contexts": [{"name": "farm", "context": {"cluster": "farm", "user": name, "namespace": namespace}}]}, file)
        os.chmod(path, 0o600)
        return path

    def end(self):
        harness.end_in_turn([process for process, _ in reversed(self.running)], patience_s=30)
        shutil.rmtree(self.folder, ignore_errors=True)
