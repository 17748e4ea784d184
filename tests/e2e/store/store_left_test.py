"""What killed cooks leave in a store, and older files that somebody put back: the next command puts it right."""
import json, os, shutil, signal, unittest

from harness import E2ETest, kill, parent_of, processes, wait_until

LARGE_BYTES = 2_000_000
RULE = ('match = "/Game/**"\ncooker = "command"\n'
        'settings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n')


class StoreLeftTest(E2ETest):
    def held_game(self):
        """A project whose one job waits for the file `go`, and makes a large file."""
        game = self.project({"a.txt": "a"}, [RULE])
        self.write("game/tools/slow", f'#!/bin/sh\ntouch {self.path("begun")}\nwhile [ ! -e {self.path("go")} ]; do sleep 0.05; done\n'
                   f'head -c {LARGE_BYTES} /dev/zero | tr "\\0" x > "$2"\n', 0o755)
        return game

    def large_files(self, game):
        folder = os.path.join(game, ".galley/store/files")
        return [name for _, _, names in os.walk(folder) for name in names]

    def ask(self, game, *args):
        done = self.galley(*args, "--project", game, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[0])

    def stats(self, game):
        return self.ask(game, "store", "stats")

    def gc(self, game, *args):
        return self.ask(game, "store", "gc", "--max-size", "1GiB", *args)

    def leave_a_large_file(self, game):
        """The director stands still while its worker writes, and is killed before it hears of it. The worker's pid."""
        process = self.start_cook(game, "--workers", 1)
        wait_until(lambda: os.path.exists(self.path("begun")) or process.poll() is not None, "the job to begin")
        self.assertIsNone(process.poll())
        workers = [pid for pid, _ in processes("galley-worker", process.pid) if parent_of(pid) == process.pid]
        self.assertTrue(workers)
        os.kill(process.pid, signal.SIGSTOP)
        self.write("go", "")
        wait_until(lambda: self.large_files(game), "the large file")
        process.kill()
        process.communicate()
        return workers

    def test_a_killed_cooks_large_file_is_counted_and_goes_at_once(self):
        game = self.held_game()
        workers = self.leave_a_large_file(game)
        for pid in workers:
            kill(pid)
        wait_until(lambda: not any(parent_of(pid) is not None for pid in workers), "the workers to be gone")
        stats = self.stats(game)
        self.assertEqual((stats["files"], stats["unadopted_files"], stats["unadopted_bytes"]), (0, 1, LARGE_BYTES))
        foretold = self.gc(game, "--dry-run")
        self.assertEqual((foretold["left_files"], foretold["left_bytes"]), (1, LARGE_BYTES))
        self.assertEqual(len(self.large_files(game)), 1)
        self.assertEqual(self.gc(game)["left_bytes"], LARGE_BYTES)
        self.assertEqual(self.large_files(game), [])
        self.assertEqual(self.stats(game)["unadopted_files"], 0)
        self.assertEqual(self.cook(game).cooked, 1)

    def test_the_file_of_a_worker_that_lives_stays_for_the_next_cook(self):
        game = self.held_game()
        self.leave_a_large_file(game)
        self.assertEqual(self.gc(game)["left_files"], 0)
        self.assertEqual(len(self.large_files(game)), 1)
        self.cook(game)
        stats = self.stats(game)
        self.assertEqual((stats["files"], stats["unadopted_files"]), (1, 0))

    def test_an_epoch_that_went_back_is_not_believed(self):
        game = self.project({"a.txt": "a", "b.txt": "b"}, ['match = "/Game/**"\ncooker = "copy"'])
        roots = self.cook(game).roots
        store = os.path.join(game, ".galley/store")
        self.assertEqual(self.galley("clean", "/Game/a.txt", "--project", game).returncode, 0)
        shutil.copy(os.path.join(store, "epoch"), self.path("older"))
        self.cook(game)
        self.assertEqual(self.galley("clean", "/Game/b.txt", "--project", game).returncode, 0)
        self.cook(game)  # from here on the journal believes the store as it is
        before = self.stats(game)["loss_epoch"]
        self.assertGreater(before, 1)
        # An older file alone, then with an index that is lost, and with blobs that are.
        shutil.copy(self.path("older"), os.path.join(store, "epoch"))
        cook = self.cook(game)
        self.assertIn("epoch: it was an older file", cook.stderr)
        self.assertEqual(cook.roots, roots)
        self.assertEqual(self.stats(game)["loss_epoch"], before)
        shutil.copy(self.path("older"), os.path.join(store, "epoch"))
        shutil.rmtree(os.path.join(store, "index"))
        cook = self.cook(game)
        self.assertEqual(cook.roots, roots)
        self.assertGreater(self.stats(game)["loss_epoch"], before)
        self.assertEqual(self.galley("store", "verify", "--project", game).returncode, 0)

    def test_a_store_whose_small_files_are_gone_is_the_same_store(self):
        game = self.project({"a.txt": "a"}, ['match = "/Game/**"\ncooker = "copy"'])
        roots = self.cook(game).roots
        store_id = self.stats(game)["store_id"]
        for name in ("format", "id", "lock"):
            os.remove(os.path.join(game, ".galley/store", name))
        cook = self.cook(game)
        self.assertEqual(cook.roots, roots)
        self.assertEqual(cook.results["cooked"], 0, cook)
        for name in ("format", "id"):
            self.assertIn(f".galley/store/{name}: it was gone", cook.stderr)
        self.assertEqual(self.stats(game)["store_id"], store_id)
        self.assertEqual(self.cook(game).stderr.count("warning"), 0)


if __name__ == "__main__":
    unittest.main()
