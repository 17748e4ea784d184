#!/usr/bin/env python3
"""A store of other people behind ours: what is cooked on one machine is cached on the next, and a remote that is down, empty, slow or wrong
makes no cook wrong. Here with a server that lies when it is told to; galley_remote_test and tests/interop have real ones."""
import json, os, subprocess, unittest

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

    def calls(self, method):
        return int(self.tell(f"calls {method}"))

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

    def copies(self, count=120, name="copies"):
        """A project of many small packages, all of which are in the remote."""
        game = self.project({f"{i}.txt": f"text {i}" for i in range(count)}, ['match = "/Game/**/*.txt"\ncooker = "copy"'], name=name)
        self.roots = self.cook(game, env=self.env()).roots
        self.forget(game)
        return game

    def check_verdict(self, cook, text):
        self.assertEqual((cook.roots, cook.results["cached"]), (self.roots, 0), cook)
        self.assertRegex(self.warnings(cook), text)
        self.assertIn("the cook went on without it", self.warnings(cook))

    def test_a_remote_whose_blobs_are_all_wrong_is_given_up(self):
        game = self.copies()
        self.server.tell("rot 1")
        cook = self.cook(game, env=self.env("read"))
        self.check_verdict(cook, r"\d\d of \d\d blobs of the remote store \S+ had wrong bytes")
        self.assertLess(self.server.calls("Read"), 60)

    def test_a_remote_with_few_wrong_blobs_is_used_for_the_others(self):
        game = self.copies(count=400)
        self.server.tell("rot 20")
        cook = self.cook(game, env=self.env("read"))
        self.assertEqual(cook.roots, self.roots)
        self.assertGreater(cook.results["cached"], 300, cook)
        self.assertRegex(self.warnings(cook), r"^\d+ blobs of the remote store \S+ had wrong bytes and were not used$")

    def test_a_remote_whose_reads_hang_is_given_up(self):
        game = self.copies()
        self.server.tell("slow 1000000 1")
        cook = self.cook(game, env=self.env("read"))
        self.check_verdict(cook, "is too slow|is down since")
        self.assertLess(self.server.calls("BatchReadBlobs"), 12, "four at a time, and none of them twice")

    def test_wrong_blobs_are_put_right_by_who_may_write(self):
        for one_in in (1, 10):
            game = self.copies(count=150, name=f"copies{one_in}")
            self.server.tell(f"rot {one_in}")
            self.server.tell("overwrite")
            cook = self.cook(game, env=self.env())
            self.assertEqual(cook.roots, self.roots)
            self.assertGreater(cook.cooked, 0)
            self.assertRegex(self.warnings(cook), r"; \d+ of them were made again, and are right there now$")
            self.forget(game)
            again = self.cook(game, env=self.env("read"))
            self.assertEqual((again.cooked, again.roots, self.warnings(again)), (0, self.roots, ""), again)
            self.server.empty()

    def test_a_server_that_keeps_wrong_blobs_is_said(self):
        game = self.copies()
        self.server.tell("rot 5")
        cook = self.cook(game, env=self.env())
        self.assertEqual(cook.roots, self.roots)
        self.assertRegex(self.warnings(cook), r"\d+ blobs of the remote store \S+ stay wrong: .* remove them there$")

    def test_what_waits_to_be_sent_outlives_a_cook_that_is_killed(self):
        roots = self.roots_without_remote()
        game = self.game()
        self.write("gate", "")
        self.server.tell("hang")
        process = self.start_cook(game, "--workers", 2, env=self.env())
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        # All but those that wait for the gate; and no commit is under way.
        harness.wait_until(lambda: process.poll() is not None or self.durable(game) >= remote_rows.PACKAGES - 4, "results to be made durable")
        counts = [self.durable(game)]
        harness.wait_until(lambda: counts.append(self.durable(game)) or counts[-1:] * 20 == counts[-20:], "the cook to wait for the gate")
        self.assertIsNone(process.poll())
        process.kill()
        process.communicate()
        self.assertEqual(self.server.results(), 0)
        os.remove(self.path("gate"))
        # The next cook finds them here, and sends them all the same.
        self.server.well()
        cook = self.cook(game, env=self.env())
        self.assertEqual((cook.roots, self.warnings(cook)), (roots, ""))
        self.assertGreaterEqual(cook.results["cached"] + cook.results["up_to_date"], 6, cook)
        self.forget(game)
        self.check_all_cached(game, roots)

    def durable(self, game):
        """How many results its own store has."""
        stats = self.galley("store", "stats", "--project", game, "--json")
        return json.loads(stats.stdout)["results"] if stats.returncode == 0 else 0

    def test_a_token_that_is_replaced_in_the_middle_of_a_cook_is_read_again(self):
        roots = self.roots_without_remote()
        game = self.game()
        token = self.write("token", "first", 0o600)
        self.server.tell("token first")
        env = {**self.env(), "GALLEY_STORE_CREDENTIAL_FILE": token}
        self.write("gate", "")
        process = self.start_cook(game, "--workers", 2, env=env)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        harness.wait_until(lambda: self.server.results() >= 4 or process.poll() is not None, "results to arrive")
        self.write("token.new", "second", 0o600)
        os.rename(self.path("token.new"), token)
        self.server.tell("token second")
        os.remove(self.path("gate"))
        cook = self.finish_cook(game, process)
        self.assertEqual((cook.code, cook.roots, self.warnings(cook)), (0, roots, ""), cook)
        # One that is not replaced: what could not be sent is sent by the cook that has the right one.
        self.server.tell("token third")
        self.server.empty()
        self.forget(game)
        cook = self.cook(game, env=env)
        self.assertEqual(cook.roots, roots)
        self.assertIn(f"the server does not accept the token of {token}, which is read again", self.warnings(cook))
        self.assertIn("the next cook sends them", self.warnings(cook))
        self.write("token", "third", 0o600)
        cook = self.cook(game, env=env)
        self.assertEqual((cook.cooked, self.warnings(cook)), (0, ""), cook)
        self.forget(game)
        cook = self.cook(game, env=env)
        self.assertEqual((cook.cooked, cook.roots), (0, roots), cook)

    def test_what_is_wrong_with_a_remote_is_said_before_anything_is_cooked(self):
        game = self.game()
        cook = self.cook(game, expect=2, env=self.env(url="cas.farm:8980"))
        self.assertIn("expected grpc://host:port", cook.stderr)
        env = {**self.env(), "GALLEY_STORE_CREDENTIAL_FILE": self.path("absent")}
        self.assertIn("absent", self.cook(game, expect=2, env=env).stderr)


if __name__ == "__main__":
    unittest.main()
