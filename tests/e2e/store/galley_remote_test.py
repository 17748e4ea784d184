#!/usr/bin/env python3
"""Another Galley's `galley store serve` behind ours: the rows of remote_rows, and what a Galley does about rot."""
import json, os, re, shutil, signal, subprocess, unittest

import harness, remote_rows

SEGMENT_HEADER_BYTES = 64


class GalleyServer:
    def __init__(self, test):
        self.test = test
        self.store = test.path("remote-store")
        self.port = 0
        self.start()
        test.addCleanup(self.stop)
        self.url = f"grpc://127.0.0.1:{self.port}"

    def start(self):
        self.process = subprocess.Popen([os.path.join(self.test.bin, "galley"), "store", "serve", "--store", self.store,
                                         "--listen", f"127.0.0.1:{self.port}"], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"grpc://127\.0\.0\.1:(\d+)", line)
        self.test.assertTrue(found, f"the server said: {line!r}")
        self.port = int(found.group(1))

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(harness.LIMIT_S)
        self.process.stdout.close()

    def stats(self):
        done = self.test.galley("store", "stats", "--store", self.store, "--json")
        self.test.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)

    def blobs(self):
        return self.stats()["blobs"]

    def results(self):
        return self.stats()["results"]

    def kill(self):
        self.stop(signal.SIGKILL)

    def restart(self):
        self.start()

    def empty(self):
        self.kill()
        shutil.rmtree(self.store)
        self.start()

    def corrupt(self):
        """Under a server that lives: something in each record of some length, and in each file."""
        for folder, _, names in os.walk(self.store):
            for name in names:
                path = os.path.join(folder, name)
                if not path.startswith((os.path.join(self.store, "segments/"), os.path.join(self.store, "files/"))):
                    continue
                os.chmod(path, 0o644)
                with open(path, "r+b") as file:
                    data = bytearray(file.read())
                    for at in range(SEGMENT_HEADER_BYTES if name.endswith(".seg") else 0, len(data), 97):
                        data[at] ^= 0x20
                    file.seek(0)
                    file.write(data)

    def well(self):
        pass


class GalleyRemoteTest(remote_rows.RemoteRows, harness.E2ETest):
    def start_server(self):
        return GalleyServer(self)

    def check_rot_was_met(self, cook):
        # Whoever serves it found it first: to us it is absent.
        self.assertGreater(cook.cooked, 0, cook)
        self.assertEqual(self.warnings(cook), "")

    def test_what_verify_took_out_is_sent_again(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.cook(game, env=self.env())
        self.server.corrupt()
        self.assertEqual(self.galley("store", "verify", "--store", self.server.store).returncode, 1)
        self.forget(game)
        self.assertEqual(self.cook(game, env=self.env()).roots, roots)
        self.forget(game)
        self.check_all_cached(game, roots)

    def test_a_remote_that_collects_under_a_cook_keeps_what_it_told(self):
        roots = self.roots_without_remote()
        game = self.game()
        collected = []

        def collect():
            collected.append(self.galley("store", "gc", "--store", self.server.store, "--max-size", "0"))

        cook = self.cook_in_two_parts(game, collect)
        self.assertEqual(collected[0].returncode, 0, collected)
        self.assertIn("store serve", collected[0].stdout)
        self.assertEqual(cook.roots, roots)
        self.assertEqual(self.warnings(cook), "")
        # Blobs that the server said were there stayed, though nothing of the server's own needs them.
        self.forget(game)
        self.check_all_cached(game, roots)


if __name__ == "__main__":
    unittest.main()
