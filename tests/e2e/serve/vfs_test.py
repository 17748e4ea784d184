#!/usr/bin/env python3
"""The library for games (common/vfs) against a real director, through the C program of docs/examples.

A seed is printed; GALLEY_SEED=<seed> draws the same orders again. GALLEY_READ_FILE: the command of the program, where it is one of another system that
runs under an emulator (scripts/test --devices).
"""
import os, random, shlex, signal, subprocess, time, unittest

from device_case import quoted
from device_tree_test import Everything, TreeCase
from harness import BIN, COPY

READ_FILE = shlex.split(os.environ.get("GALLEY_READ_FILE", "")) or [os.path.join(BIN, "read_file")]


def start_s():
    """How long the program takes to do nothing: an emulator needs some time to begin."""
    began = time.monotonic()
    subprocess.run(READ_FILE, capture_output=True, timeout=300)
    return time.monotonic() - began


class VfsTest(TreeCase):
    def read(self, url, platform, paths):
        """{path: digest} and what was said: a game that reads these files and ends."""
        done = subprocess.run([*READ_FILE, url, platform, self.path("cache"), *paths], capture_output=True, text=True, timeout=300)
        lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
        return {path: digest for digest, path in lines}, done.stderr

    def url(self, client):
        return f"http://{client.host}"

    def test_the_files_are_those_of_a_cook_by_the_book_and_stay_there_without_a_director(self):
        rng = random.Random(self.seed())
        project = self.sample()
        expected = {path: file[0] for path, file in self.book(project, "deck")["deck"].items()}
        client = self.serve_http(project, "--workers", "2")
        url = self.url(client)
        order = rng.sample(sorted(expected), len(expected))
        half = len(order) // 2
        found, said = self.read(url, "deck", order[:half])
        self.assertEqual(found, {path: expected[path] for path in order[:half]}, said)
        found, said = self.read(url, "deck", order)  # the same game, started again
        self.assertEqual(found, expected, said)
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        found, said = self.read(url, "deck", rng.sample(order, len(order)))
        self.assertEqual(found, expected, said)
        self.assertIn("the cache alone is used", said)
        found, said = self.read(url, "deck", ["Game/none"])
        self.assertEqual(found, {})
        self.assertIn("there is no such file", said)

    def test_a_walk_over_all_folders_finds_every_file_also_what_only_a_cook_tells(self):
        Everything(self, random.Random(self.seed()))
        project = self.path("game")
        expected = {path: file[0] for path, file in self.book(project, "pc")["pc"].items()}
        self.assertTrue(any("/_gen/" in path for path in expected) and any(".d/" in path for path in expected))
        client = self.serve_http(project, "--workers", "2")
        found, said = self.read(self.url(client), "pc", ["/"])
        self.assertEqual(found, expected, said)
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        found, said = self.read(self.url(client), "pc", ["Game/"])
        self.assertEqual(found, {path: digest for path, digest in expected.items() if path.startswith("Game/")}, said)

    def test_a_game_that_is_killed_goes_on_where_it_was(self):
        rng = random.Random(self.seed())
        files = {f"{i}.large": rng.randbytes(3 << 20) for i in range(6)}
        project = self.project(files, [COPY.replace("*.txt", "*.large")])
        client = self.serve_http(project, "--workers", "2")
        paths = [f"Game/{name}" for name in files]
        self.get_ready(client, "/v1/pc/" + quoted(paths[0]))
        start = start_s()
        for _ in range(12):
            game = subprocess.Popen([*READ_FILE, self.url(client), "pc", self.path("cache"), *paths], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(start / 2, start * 2 + 0.06))
            game.send_signal(signal.SIGKILL)
            game.wait()
        found, said = self.read(self.url(client), "pc", paths)
        expected = {path: file[0] for path, file in self.book(project, "pc")["pc"].items()}
        self.assertEqual(found, expected, said)


if __name__ == "__main__":
    unittest.main()
