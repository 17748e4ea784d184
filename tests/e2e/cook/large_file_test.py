"""Files that are larger than what a job may hold: they are streamed, or refused with a clear error."""
import hashlib, json, os, signal, subprocess, time, unittest

from harness import E2ETest

SIZE = 200 << 20  # three times what the jobs may hold
RULES = ['match = "/Game/**/*.pak"\ncooker = "copy"\nmemory = "64MiB"\n',
         'match = "/Game/**/*.raw"\ncooker = "command"\nmemory = "64MiB"\n'
         'settings = { argv = ["/bin/cp", "{input}", "{output:.out}"], outputs = [".out"] }\n',
         'match = "/Game/**/*.png"\ncooker = "texture"\nmemory = "64MiB"\n']


class LargeFileTest(E2ETest):
    def sparse(self, path, tail=b"end"):
        path = self.write(path, b"begin")
        os.truncate(path, SIZE)
        with open(path, "ab") as file:
            file.write(tail)
        return self.digest(path)

    @staticmethod
    def digest(path):
        sha = hashlib.sha256()
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                sha.update(piece)
        return sha.hexdigest()

    def staged(self, game, path):
        return self.digest(os.path.join(game, ".galley/cooked/pc/Game", path))

    def test_copy_and_command_stream_what_no_job_could_hold(self):
        game = self.project({}, RULES)
        digests = {"a.pak": self.sparse("game/content/a.pak"), "b.raw.out": self.sparse("game/content/b.raw", b"other")}
        cook = self.cook(game)
        self.assertEqual(cook.cooked, 2, cook)
        for path, digest in digests.items():
            self.assertEqual(self.staged(game, path), digest)
        self.assertEqual(self.cook(game).cooked, 0)
        # It changes: the source's new bytes, not a mixture.
        digests["a.pak"] = self.sparse("game/content/a.pak", b"another end")
        cook = self.cook(game)
        self.assertEqual(cook.cooked, 1)
        self.assertEqual(cook.summary["bytes"]["read"], SIZE + len("another end"), cook)
        self.assertEqual(self.staged(game, "a.pak"), digests["a.pak"])
        verify = self.galley("store", "verify", "--project", game)
        self.assertEqual(verify.returncode, 0, verify)
        # The same as Actions, by hand.
        for package, digest in [("/Game/a.pak", digests["a.pak"]), ("/Game/b.raw", digests["b.raw.out"])]:
            folder = self.path("action of " + os.path.basename(package))
            export = self.galley("records", package, "--export", folder, "--project", game)
            self.assertEqual(export.returncode, 0, export.stderr)
            ran = subprocess.run([os.path.join(self.bin, "galley-worker"), "exec-action", folder], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout)
            self.assertIn(digest, ran.stdout)

    def test_a_cooker_that_holds_its_source_says_that_it_is_too_large(self):
        game = self.project({}, RULES)
        self.sparse("game/content/c.png")
        cook = self.cook(game, expect=1)
        error = json.dumps(cook.failures)
        self.assertIn(f"/Game/c.png has {SIZE + 3} bytes, more than the job's memory limit of {64 << 20}", error)
        self.assertIn("a rule's memory sets the limit", error)

    def test_a_huge_source_holds_up_neither_the_others_nor_an_interrupt(self):
        rules = ['match = "/Game/**/*.pak"\ncooker = "copy"\n', 'match = "/Game/**/*.json"\ncooker = "data"\n']
        game = self.project({"%d.json" % i: "{}" for i in range(10)}, rules)
        for name in ("huge.json", "huge.pak"):  # to hash one takes a minute or more
            os.truncate(self.write(f"game/content/{name}", b"{}"), 200 << 30)
        cook = self.start_cook(game, "--json")
        cooked, failed = set(), ""
        while len(cooked) < 10 or not failed:
            event = json.loads(cook.stdout.readline())
            if event.get("event") == "done":
                cooked.add(event["package"])
            if event.get("event") == "failure":
                failed = event["error"]
        self.assertNotIn("/Game/huge.pak", cooked)
        self.assertIn("/Game/huge.json has 214748364800 bytes; the cooker `data` takes at most 268435456", failed)
        began = time.monotonic()
        cook.send_signal(signal.SIGINT)
        done = self.finish_cook(game, cook)
        self.assertEqual(done.code, 130, done)
        self.assertLess(time.monotonic() - began, 10)  # 2 s on a machine that has time
        # Smaller by the next time: it is cooked.
        self.write("game/content/huge.json", "{}")
        os.remove(os.path.join(game, "content", "huge.pak"))
        cook = self.cook(game)
        self.assertEqual((cook.failures, len(cook.roots)), ([], 1), cook)


if __name__ == "__main__":
    unittest.main()
