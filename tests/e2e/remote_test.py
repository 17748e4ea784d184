#!/usr/bin/env python3
"""A store of other people behind ours: what is cooked on one machine is cached on the next, and a remote that is down, empty, slow or wrong
makes no cook wrong. Here with a server that lies when it is told to; galley_remote_test and tests/interop have real ones."""
import os, subprocess, unittest

import harness, remote_rows


class FakeServer:
    """A FakeReapi that is told what to do."""

    def __init__(self, test):
        self.process = subprocess.Popen([os.path.join(test.bin, "fake_reapi")], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.addCleanup(self.stop)
        self.url = self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def blobs(self):
        return int(self.tell("count").split()[0])

    def results(self):
        return int(self.tell("count").split()[1])

    def kill(self):
        self.tell("kill")

    def restart(self):
        self.tell("restart")

    def empty(self):
        self.tell("empty")

    def corrupt(self):
        self.tell("corrupt")

    def well(self):
        self.tell("well")

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class RemoteTest(remote_rows.RemoteRows, harness.E2ETest):
    def start_server(self):
        return FakeServer(self)

    def check_rot_was_met(self, cook):
        self.assertIn("had wrong bytes and were not used", self.warnings(cook))

    def test_what_is_wrong_with_a_remote_is_said_before_anything_is_cooked(self):
        game = self.game()
        cook = self.cook(game, expect=2, env=self.env(url="cas.farm:8980"))
        self.assertIn("expected grpc://host:port", cook.stderr)
        env = {**self.env(), "GALLEY_STORE_CREDENTIAL_FILE": self.path("absent")}
        self.assertIn("absent", self.cook(game, expect=2, env=env).stderr)


if __name__ == "__main__":
    unittest.main()
