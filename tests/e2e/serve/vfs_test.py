#!/usr/bin/env python3
"""The library for games (common/vfs) against a real director, through the C program of docs/examples.

A seed is printed; GALLEY_SEED=<seed> draws the same orders again. GALLEY_READ_FILE: the command of the program, where it is one of another system that
runs under an emulator (scripts/test --devices).
"""
import os, random, shlex, signal, socket, struct, subprocess, threading, time, unittest

from device_case import quoted
from device_tree_test import Everything, TreeCase
from harness import BIN, COPY

READ_FILE = shlex.split(os.environ.get("GALLEY_READ_FILE", "")) or [os.path.join(BIN, "read_file")]


def start_s():
    """How long the program takes to do nothing: an emulator needs some time to begin."""
    began = time.monotonic()
    subprocess.run(READ_FILE, capture_output=True, timeout=300)
    return time.monotonic() - began


class SlowLink:
    """A proxy in front of a server: answers come late, in small pieces, at some `bytes_s` a second, and connections are reset at drawn places."""

    def __init__(self, rng, port, bytes_s, cut_bytes):
        self.rng, self.port, self.bytes_s, self.cut_bytes, self.cuts = rng, port, bytes_s, cut_bytes, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def close(self):
        self.listener.close()

    def run(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            left = self.rng.randint(*self.cut_bytes)
            threading.Thread(target=self.carry_up, args=(near, far), daemon=True).start()
            threading.Thread(target=self.carry_down, args=(far, near, left, random.Random(self.rng.random())), daemon=True).start()

    def carry_up(self, near, far):
        try:
            while data := near.recv(1 << 16):
                far.sendall(data)
            far.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def carry_down(self, far, near, left, rng):
        try:
            while data := far.recv(rng.randint(1, 3000)):
                time.sleep(len(data) / self.bytes_s + (rng.random() < 0.02) * 0.05)
                near.sendall(data[:left])
                left -= len(data)
                if left <= 0:
                    self.cuts += 1
                    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
            near.shutdown(socket.SHUT_RD)  # the other thread holds the socket as long as it waits
        except OSError:
            pass
        near.close()
        far.close()


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

    def test_a_slow_link_that_is_reset_at_drawn_places_brings_every_byte(self):
        rng = random.Random(self.seed())
        files = {f"{i}.txt": rng.randbytes(rng.randint(0, 6000)) for i in range(30)} | {"large.txt": rng.randbytes(300_000)}
        project = self.project(files, [COPY])
        client = self.serve_http(project, "--workers", "2")
        expected = {path: file[0] for path, file in self.book(project, "pc")["pc"].items()}
        link = SlowLink(rng, int(client.host.rsplit(":", 1)[1]), bytes_s=400_000, cut_bytes=(2_000, 120_000))
        self.addCleanup(link.close)
        found = {}
        for _ in range(20):  # a call gives up after three cuts, and the next one goes on where it was
            order = rng.sample(sorted(expected), len(expected))
            now, said = self.read(link.url, "pc", order)
            self.assertEqual({path: expected[path] for path in now}, now, said)
            found.update(now)
            if len(found) == len(expected):
                break
            time.sleep(0.1)
        self.assertEqual(found, expected, said)
        self.assertGreater(link.cuts, 1)


if __name__ == "__main__":
    unittest.main()
