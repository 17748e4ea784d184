#!/usr/bin/env python3
"""`galley store serve` as a person starts it: what it says, what it refuses, how it ends. (What it answers on the wire: reapi_server_test and
tests/interop.)"""
import hashlib, json, os, re, shutil, signal, socket, subprocess, unittest, unittest.mock

import harness


class StoreServeTest(harness.E2ETest):
    def serve(self, *args, first_line=r"serving \S+ at grpc://127\.0\.0\.1:[1-9]\d*$"):
        process = subprocess.Popen([os.path.join(self.bin, "galley"), "store", "serve", *args], cwd=self.dir, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stdout.readline().rstrip("\n")
        self.assertRegex(line, first_line)
        return process, line

    def end(self, process, how=signal.SIGTERM):
        process.send_signal(how)
        self.assertEqual(process.wait(harness.LIMIT_S), 0 if how != signal.SIGKILL else -how)

    def refused(self, expected, *args):
        done = self.galley("store", "serve", "--store", self.path("store"), *args)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_it_makes_a_store_says_where_it_listens_and_ends_by_a_signal(self):
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            process, _ = self.serve("--store", "store", "--listen", "127.0.0.1:0")
            self.end(process, how)
        process, line = self.serve("--store", "store", "--listen", "127.0.0.1:0", "--listen", "unix:" + self.path("s"), "--json", first_line=r"^\{")
        event = json.loads(line)
        self.assertEqual(event["event"], "serving")
        self.assertEqual(event["directory"], self.path("store"))
        self.assertEqual(len(event["urls"]), 2)
        self.assertTrue(os.path.exists(self.path("s")))
        self.end(process)

    def test_a_service_says_that_it_is_ready_and_ends_in_order(self):
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(self.path("notify"))
        notify.settimeout(harness.LIMIT_S)
        self.addCleanup(notify.close)
        with unittest.mock.patch.dict(os.environ, {"NOTIFY_SOCKET": self.path("notify")}):
            process, _ = self.serve("--store", "store", "--listen", "127.0.0.1:0")
        self.assertEqual(notify.recv(100), b"READY=1")
        self.end(process)
        self.assertEqual(notify.recv(100), b"STOPPING=1")

    def test_a_cook_goes_on_beside_it(self):
        project = self.sample()
        store = os.path.join(project, ".galley", "store")
        process, _ = self.serve("--project", project, "--listen", "127.0.0.1:0")
        self.assertGreater(self.cook(project, "--workers", "1").cooked, 0)
        self.end(process)
        self.assertEqual(self.galley("store", "verify", "--store", store).returncode, 0)

    def test_what_is_wrong_is_said_before_anything_is_made(self):
        self.refused("it needs TLS", "--listen", "0.0.0.0:0")
        self.refused("expected HOST:PORT", "--listen", "8980")
        self.refused("instance name", "--instance", "a//b")
        identities = self.write("identities.toml", '[[identity]]\nname = "ci"\nrole = "writer"\ncertificate = "ci"\n', mode=0o644)
        self.refused("expected mode 0600", "--identities", identities)
        os.chmod(identities, 0o600)
        self.refused("it needs TLS", "--identities", identities, "--listen", "0.0.0.0:0")
        self.write("identities.toml", '[[identity]]\nname = "ci"\nrole = "owner"\n', mode=0o600)
        self.refused("identities.toml:3", "--identities", identities)
        self.assertFalse(os.path.exists(self.path("store")))
        self.refused("--tls-cert, --tls-key", "--listen", "127.0.0.1:0", "--tls-key", identities)
        self.refused("absent.pem", "--listen", "127.0.0.1:0", "--tls-cert", "absent.pem", "--tls-key", identities)

    def test_an_address_that_is_taken_is_an_error_of_the_machine(self):
        _, line = self.serve("--store", "store", "--listen", "127.0.0.1:0")
        port = re.search(r":(\d+)$", line).group(1)
        done = self.galley("store", "serve", "--store", self.path("other"), "--listen", f"127.0.0.1:{port}")
        self.assertEqual(done.returncode, 3, done)
        self.assertEqual(done.stderr, f"galley: 127.0.0.1:{port} cannot be listened on: Address already in use\n")

    def test_a_second_server_leaves_a_live_socket_alone(self):
        address = "unix:" + self.path("s")
        first, _ = self.serve("--store", "store", "--listen", address, first_line=r"serving \S+ at unix:")
        done = self.galley("store", "serve", "--store", self.path("other"), "--listen", address)
        self.assertEqual(done.returncode, 3, done)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^galley: unix:\S+/s cannot be listened on: another server listens there.*\n$")
        self.assertIn("answers", self.doctor(self.remote_project(address)))
        self.end(first, signal.SIGKILL)
        stale, _ = self.serve("--store", "store", "--listen", address, first_line=r"serving \S+ at unix:")
        self.assertIn("answers", self.doctor(self.remote_project(address)))
        self.end(stale)
        self.assertEqual([name for name in os.listdir(self.dir) if name == "s" or name.startswith(".")], [])

    def certificate(self, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=" + name, "-addext", "subjectAltName=DNS:localhost", "-keyout", self.path(name + ".key"), "-out",
                        self.path(name + ".pem")], check=True, stderr=subprocess.DEVNULL)
        os.chmod(self.path(name + ".key"), 0o600)

    def remote_project(self, url, **keys):
        lines = "".join(f'{key} = "{value}"\n' for key, value in {"remote": url, **keys}.items())
        return self.project({"a.txt": "a"}, ['match = "/**/*.txt"\ncooker = "copy"'], extra="[store]\n" + lines)

    def doctor(self, project):
        return self.galley("doctor", "--project", project).stdout

    def test_a_pair_that_cannot_be_used_is_told_and_the_one_before_stays(self):
        self.certificate("a")
        self.certificate("b")
        pem, key = self.path("a.pem"), self.path("a.key")
        self.refused(f"{self.path('b.key')}: expected the private key of the certificate in {pem}", "--listen", "127.0.0.1:0", "--tls-cert", pem,
                     "--tls-key", self.path("b.key"))
        self.assertFalse(os.path.exists(self.path("store")))
        shutil.copy(pem, self.path("ca.pem"))
        process, line = self.serve("--store", "store", "--listen", "127.0.0.1:0", "--listen", "unix:" + self.path("s"), "--tls-cert", pem, "--tls-key",
                                   key, first_line=r"serving \S+ at grpcs://127\.0\.0\.1:\d+, unix:")
        port = re.search(r":(\d+),", line).group(1)
        project = self.remote_project(f"grpcs://localhost:{port}", tls_ca=self.path("ca.pem"))
        for name in ("empty", "b.key"):
            self.write("empty", "")
            os.replace(shutil.copy(self.path(name), self.path("new")), pem if name == "empty" else key)
            while "stay in force" not in (said := process.stderr.readline()):
                self.assertNotEqual(said, "", "it ended")
            self.assertIn(f"{pem}: expected a certificate (PEM)" if name == "empty" else
                          f"{key}: expected the private key of the certificate in {pem}", said)
            self.assertRegex(self.doctor(project), r"ok +remote +grpcs://localhost:\d+ answers")
            shutil.copy(self.path("ca.pem"), pem)
        # Beside TLS a socket of this machine speaks none.
        self.assertRegex(self.doctor(self.remote_project("unix:" + self.path("s"))), r"ok +remote +unix:\S+ answers")
        self.end(process)

    def test_doctor_says_what_credentials_cannot_do(self):
        def identity(name, role, more=""):
            return (f'[[identity]]\nname = "{name}"\nrole = "{role}"\n{more}token_sha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\n')
        identities = self.write("ids.toml", identity("r", "reader") + identity("w", "writer") + identity("ci", "writer", "write_results = true\n"),
                                mode=0o600)
        _, line = self.serve("--store", "store", "--listen", "127.0.0.1:0", "--identities", identities)
        url = line.rsplit(" ", 1)[1]
        for name, mode, expected in (("r", "read", r"ok +remote +\S+ answers\n"), ("r", "read-write", r"BAD +remote .*has no right to write"),
                                     ("w", "read-write", r"BAD +remote .*only read results"), ("ci", "read-write", r"ok +remote .*can be written")):
            token = self.write("token", name, mode=0o600)
            self.assertRegex(self.doctor(self.remote_project(url, remote_mode=mode, credential_file=token)), expected)
        os.chmod(token, 0o644)
        done = self.galley("doctor", "--project", self.remote_project(url, credential_file=token))
        self.assertRegex(done.stdout, r"ok +remote +\S+ answers\n")
        self.assertRegex(done.stdout, r"BAD +credentials +\S+token can be read by others \(mode 0644\): chmod 600 \S+token\n")
        self.assertEqual(done.returncode, 1)

    def test_a_key_of_another_certificate_is_an_error_of_usage(self):
        self.certificate("a")
        self.certificate("b")
        for keys, expected in (({"tls_cert": self.path("a.pem"), "tls_key": self.path("b.key")}, "b.key: expected the private key of the cert"),
                               ({"tls_ca": self.path("a.key")}, "tls_ca: " + self.path("a.key") + ": expected a certificate (PEM)")):
            cook = self.cook(self.remote_project("grpcs://localhost:1", **keys), expect=2)
            self.assertIn(expected, cook.stderr)


if __name__ == "__main__":
    unittest.main()
