#!/usr/bin/env python3
"""`galley store serve` as a person starts it: what it says, what it refuses, how it ends. (What it answers on the wire: reapi_server_test and
tests/interop.)"""
import json, os, re, signal, subprocess, unittest

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
        self.assertIn("cannot be listened on", done.stderr)


if __name__ == "__main__":
    unittest.main()
