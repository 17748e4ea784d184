#!/usr/bin/env python3
"""bazel-remote, the cache that many studios run, behind Galley's store: the rows of tests/e2e/remote_rows.py. Run by `scripts/test --interop`.

It is built from its Go module, of exactly this version, into build/tools; without Go 1.25, or where no module proxy has it, the tests are
skipped and say so.
"""
import contextlib, http.client, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness, remote_rows

MODULE, VERSION = "github.com/buchgr/bazel-remote/v2", "v2.6.2"
TOOLS = os.path.join(harness.SOURCE, "build", "tools")
GO_ENV = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw -mod=readonly -buildvcs=false",
          "PATH": os.environ["PATH"] + ":/usr/local/go/bin"}


def go(*args, **kw):
    done = subprocess.run(["go", *args], env=GO_ENV, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)
    if done.returncode != 0:
        raise unittest.SkipTest(f"go {args[0]}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def built_bazel_remote():
    """The program; SkipTest says why there is none."""
    program = os.path.join(TOOLS, f"bazel-remote-{VERSION}")
    if os.path.exists(program):
        return program
    if shutil.which("go", path=GO_ENV["PATH"]) is None:
        raise unittest.SkipTest("go is not installed")
    version = tuple(map(int, re.search(r"go(\d+)\.(\d+)", go("env", "GOVERSION")).groups()))
    if version < (1, 25):
        raise unittest.SkipTest(f"Go {version[0]}.{version[1]}: bazel-remote {VERSION} needs 1.25")
    # `go install MODULE@VERSION` would also ask for the list of all versions, which not every proxy gives.
    with tempfile.TemporaryDirectory() as scratch:
        source = json.loads(go("mod", "download", "-json", f"{MODULE}@{VERSION}", cwd=scratch))["Dir"]
        copy = os.path.join(scratch, "bazel-remote")
        shutil.copytree(source, copy)
        os.chmod(copy, 0o755)
        os.makedirs(TOOLS, exist_ok=True)
        go("build", "-o", program + ".new", ".", cwd=copy)
        os.rename(program + ".new", program)
    return program


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class BazelRemote:
    def __init__(self, test, program):
        self.test, self.program = test, program
        self.directory = test.path("bazel-remote")
        self.log = open(test.path("bazel-remote.log"), "ab")
        test.addCleanup(self.log.close)
        self.grpc_port, self.http_port = free_port(), free_port()
        self.restart()
        test.addCleanup(self.kill)
        self.url = f"grpc://127.0.0.1:{self.grpc_port}"

    def restart(self):
        self.process = subprocess.Popen([self.program, "--dir", self.directory, "--max_size", "1",
                                         "--grpc_address", f"127.0.0.1:{self.grpc_port}", "--http_address", f"127.0.0.1:{self.http_port}"],
                                        stdout=self.log, stderr=self.log)
        harness.wait_until(self.answers, "bazel-remote to serve")

    def answers(self):
        self.test.assertIsNone(self.process.poll(), harness.read_file(self.test.path("bazel-remote.log")))
        try:
            with socket.create_connection(("127.0.0.1", self.grpc_port)):
                pass
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.http_port)) as connection:
                connection.request("GET", "/status")
                return connection.getresponse().status == 200
        except OSError:
            return False

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(harness.LIMIT_S)

    def files(self, kind):
        return [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.directory, kind)) for name in names]

    def blobs(self):
        return len(self.files("cas.v2"))

    def results(self):
        return len(self.files("ac.v2"))

    def empty(self):
        """As an administrator does."""
        self.kill()
        shutil.rmtree(self.directory)
        self.restart()

    def empty_below(self):
        """Under a server that lives, and goes on saying that it has everything."""
        for path in self.files("cas.v2"):
            with contextlib.suppress(FileNotFoundError):  # it had another name while it came
                os.remove(path)

    def corrupt(self):
        for path in self.files("cas.v2"):
            with contextlib.suppress(FileNotFoundError), open(path, "r+b") as file:
                data = bytearray(file.read())
                for at in range(len(data) // 2, len(data), 97):
                    data[at] ^= 0x20
                file.seek(0)
                file.write(data)

    def well(self):
        pass


class BazelRemoteTest(remote_rows.RemoteRows, harness.E2ETest):
    @classmethod
    def setUpClass(cls):
        cls.program = built_bazel_remote()

    def start_server(self):
        return BazelRemote(self, self.program)

    def check_rot_was_met(self, cook):
        self.assertGreater(cook.cooked, 0, cook)

    def test_files_removed_below_it_make_nothing_wrong(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.assertEqual(self.cook_in_two_parts(game, self.server.empty_below).roots, roots)
        self.forget(game)
        self.assertEqual(self.cook(game, env=self.env("read")).roots, roots)


if __name__ == "__main__":
    unittest.main()
