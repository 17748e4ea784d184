#!/usr/bin/env python3
"""Debian's Bazel (bazel-bootstrap, 4.2.3) builds with `galley store serve` as its cache. Run by `scripts/test --interop`.

What Bazel says at the end of a build is what counts: "200 remote cache hit" and no local action, after `bazel clean --expunge`.
"""
import hashlib, os, re, select, shutil, signal, socket, ssl, subprocess, sys, threading, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness

RULES = 200
TOKEN = "a token of 24 characters"
BUILD = """
[genrule(
    name = "rule%d" % i,
    outs = ["out%d.txt" % i],
    # Every twentieth is larger than what a blob's own segment takes, and does not come in one message.
    cmd = "(echo %d; head -c $$((%d %% 20 == 0 ? 3000000 : 1000 + %d)) /dev/zero) > $@" % (i, i, i),
) for i in range(RULES)]
""".replace("RULES", str(RULES))


class Server:
    """One `galley store serve`, on a port of its own that a successor takes over."""

    def __init__(self, test, store, *args, listen="127.0.0.1:0"):
        self.process = subprocess.Popen([os.path.join(harness.BIN, "galley"), "store", "serve", "--store", store, "--listen", listen, *args],
                                        stdout=subprocess.PIPE, text=True)
        test.addCleanup(self.stop)
        line = self.process.stdout.readline()
        found = re.search(r"(grpcs?)://127\.0\.0\.1:(\d+)", line)
        test.assertTrue(found, f"the server said: {line!r}")
        self.port = int(found.group(2))
        self.url = f"{found.group(1)}://localhost:{self.port}"

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(60)
        self.process.stdout.close()


class Tunnel:
    """TLS for a client that has none: connections to it go on to `port` under this certificate. (Debian's Bazel cannot speak gRPC over TLS:
    "JDK provider does not support ALPN protocol".)"""

    def __init__(self, test, port, ca, certificate=None, key=None):
        self.port = port
        self.context = ssl.create_default_context(cafile=ca)
        self.context.set_alpn_protocols(["h2"])
        if certificate:
            self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        test.addCleanup(self.listener.close)
        self.url = f"grpc://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return  # closed
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        with near:
            try:
                with self.context.wrap_socket(socket.create_connection(("localhost", self.port)), server_hostname="localhost") as far:
                    self.pass_on(near, far)
            except OSError:
                pass  # the other end went away, or would have none of it

    @staticmethod
    def pass_on(near, far):
        """One thread for both ways: a TLS socket is not for two."""
        near.setblocking(False)
        far.setblocking(False)
        to_far, to_near = b"", b""
        while True:
            select.select([near, far], [s for s, waits in ((far, to_far), (near, to_near)) if waits], [], 1)
            for source, size in ((near, len(to_far)), (far, len(to_near))):
                if size > 1 << 20:
                    continue
                try:
                    data = source.recv(1 << 16)
                except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    continue
                if not data:
                    return
                if source is near:
                    to_far += data
                else:
                    to_near += data
            try:
                to_far = to_far[far.send(to_far):] if to_far else to_far
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
            try:
                to_near = to_near[near.send(to_near):] if to_near else to_near
            except BlockingIOError:
                pass


class BazelTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if shutil.which("bazel") is None:
            raise unittest.SkipTest("bazel is not installed: scripts/install-packages bazel-bootstrap")

    def setUp(self):
        self.dir = os.path.realpath(subprocess.check_output(["mktemp", "-d", "-t", "galley-bazel-XXXXXX"], text=True).strip())
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.addCleanup(subprocess.run, ["chmod", "-R", "u+w", self.dir])  # first: Bazel's folders are read-only
        self.workspace = os.path.join(self.dir, "workspace")
        os.mkdir(self.workspace)
        self.write("workspace/WORKSPACE", "")
        self.write("workspace/BUILD", BUILD)
        self.store = os.path.join(self.dir, "store")

    def doCleanups(self):
        subprocess.run(self.bazel_argv("shutdown"), cwd=getattr(self, "workspace", "/"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return super().doCleanups()

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def bazel_argv(self, *args):
        return ["bazel", f"--output_user_root={self.dir}/bazel", "--host_jvm_args=-Xmx512m", "--max_idle_secs=60", *args]

    def bazel(self, *args):
        return subprocess.run(self.bazel_argv(*args), cwd=self.workspace, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)

    def build(self, url, *flags, succeeds=True):
        """What the processes of a build were: {"local": 200, "internal": 1}."""
        built = self.bazel("build", "--color=no", "--curses=no", "--spawn_strategy=local", "--jobs=4", f"--remote_cache={url}", *flags, "//...")
        if not succeeds:
            self.assertNotEqual(built.returncode, 0, built.stdout)
            return built.stdout
        self.assertEqual(built.returncode, 0, built.stdout[-4000:])
        line = re.search(r"^INFO: \d+ process(?:es)?: (.*)\.$", built.stdout, re.M)
        self.assertTrue(line, built.stdout[-4000:])
        self.said = built.stdout
        return {what: int(count) for count, what in re.findall(r"(\d+) ([a-z ]+)", line.group(1))}

    def outputs(self):
        digest = hashlib.sha256()
        for i in range(RULES):
            with open(os.path.join(self.workspace, "bazel-bin", f"out{i}.txt"), "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        return digest.hexdigest()

    def assertAllFromCache(self, url, *flags):
        processes = self.build(url, "--noremote_upload_local_results", *flags)
        self.assertEqual(processes.get("remote cache hit"), RULES, processes)
        self.assertNotIn("local", processes)
        self.assertNotIn("WARNING", self.said)

    def test_a_second_build_runs_nothing(self):
        server = Server(self, self.store)
        self.assertEqual(self.build(server.url).get("local"), RULES)
        self.assertNotIn("WARNING", self.said)
        outputs = self.outputs()
        self.bazel("clean", "--expunge")
        self.assertAllFromCache(server.url)
        self.assertEqual(self.outputs(), outputs)

        # Killed and started again, the store holds what it acknowledged.
        server.stop(signal.SIGKILL)
        server = Server(self, self.store, listen=f"127.0.0.1:{server.port}")
        self.bazel("clean")
        self.assertAllFromCache(server.url)
        self.assertEqual(self.outputs(), outputs)

        # Outputs that are only named are fetched when they are asked for.
        self.bazel("clean")
        self.assertAllFromCache(server.url, "--remote_download_minimal")
        # Each instance has results of its own.
        self.bazel("clean")
        self.assertEqual(self.build(server.url, "--remote_instance_name=team/a").get("local"), RULES)
        self.bazel("clean")
        self.assertAllFromCache(server.url, "--remote_instance_name=team/a")

    def test_a_server_that_dies_during_a_build_costs_nothing_but_time(self):
        server = [Server(self, self.store)]
        listen = f"127.0.0.1:{server[0].port}"
        ending = threading.Event()

        def kill_again_and_again():
            while not ending.wait(2):
                server[0].stop(signal.SIGKILL)
                server[0] = Server(self, self.store, listen=listen)

        killer = threading.Thread(target=kill_again_and_again)
        url = server[0].url
        # Bazel's own start is not what is looked at.
        self.assertEqual(self.bazel("build", "--nobuild", f"--remote_cache={url}", "//...").returncode, 0)
        killer.start()
        try:
            self.build(url, "--remote_retries=10")
        finally:
            ending.set()
            killer.join()
        outputs = self.outputs()
        self.bazel("clean")
        processes = self.build(url)
        self.assertGreater(processes.get("remote cache hit", 0), 0, processes)
        self.assertEqual(self.outputs(), outputs)

    def test_a_token_says_who_may_write(self):
        token_hash = hashlib.sha256(TOKEN.encode()).hexdigest()
        reader_hash = hashlib.sha256(b"reads").hexdigest()
        identities = self.write("identities.toml", f"""
[[identity]]
name = "ci"
token_sha256 = "{token_hash}"
role = "writer"
write_results = true
[[identity]]
name = "dev"
token_sha256 = "{reader_hash}"
role = "reader"
""", mode=0o600)
        server = Server(self, self.store, "--identities", identities)
        self.assertIn("UNAUTHENTICATED", self.build(server.url, succeeds=False))
        self.assertIn("UNAUTHENTICATED", self.build(server.url, "--remote_header=authorization=Bearer wrong", succeeds=False))
        self.assertEqual(self.build(server.url, f"--remote_header=authorization=Bearer {TOKEN}").get("local"), RULES)
        self.bazel("clean")
        self.assertAllFromCache(server.url, "--remote_header=authorization=Bearer reads")

    def test_a_certificate_says_who_may_write(self):
        def openssl(*args):
            subprocess.run(["openssl", *args], cwd=self.dir, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
        for name, extension in (("server", "subjectAltName=DNS:localhost,IP:127.0.0.1"), ("ci", "subjectAltName=URI:spiffe://farm/ci")):
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
            self.write(f"{name}.ext", extension)
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext",
                    "-out", f"{name}.pem")
        identities = self.write("identities.toml", '[[identity]]\nname = "ci"\ncertificate = "spiffe://farm/ci"\nrole = "writer"\nwrite_results = true\n',
                                mode=0o600)
        server = Server(self, self.store, "--identities", identities, "--tls-cert", f"{self.dir}/server.pem", "--tls-key", f"{self.dir}/server.key",
                        "--tls-ca", f"{self.dir}/ca.pem")
        nobody, ci = Tunnel(self, server.port, f"{self.dir}/ca.pem"), Tunnel(self, server.port, f"{self.dir}/ca.pem", f"{self.dir}/ci.pem", f"{self.dir}/ci.key")
        self.assertIn("UNAVAILABLE", self.build(nobody.url, "--remote_retries=1", succeeds=False))  # no certificate of its own
        self.assertEqual(self.build(ci.url).get("local"), RULES)
        self.bazel("clean")
        self.assertAllFromCache(ci.url)


if __name__ == "__main__":
    unittest.main()
