#!/usr/bin/env python3
"""Where output goes: files that a person names and that are devices, FIFOs or links, and a standard output that cannot be written."""
import json, os, stat, subprocess, threading, unittest

import harness
from init.look_test import png

COPY = 'match = "/Game/**"\ncooker = "copy"'


class NamedFileTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        self.game = self.project({"a.txt": "a"}, [COPY])

    def read_fifo(self, name, *command):
        """What a command writes into the FIFO of this name, which is made."""
        os.mkfifo(self.path(name))
        read = []
        reader = threading.Thread(target=lambda: read.append(self.read(name)))
        reader.start()
        done = self.galley(*command)
        self.assertEqual(done.returncode, 0, done)
        reader.join(harness.LIMIT_S)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path(name)).st_mode))
        return read[0]

    def test_devices_fifos_and_links_stay_and_are_written_into(self):
        device = self.path("null")
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3)) if os.geteuid() == 0 else os.symlink("/dev/null", device)
        self.write("old.json", "old")
        os.symlink("old.json", self.path("link"))
        done = self.galley("cook", "--project", self.game, "--summary", "link", "--trace", device)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(json.loads(self.read("old.json"))["exit_code"], 0)
        done = self.galley("cook", "--project", self.game, "--quiet", "--summary", "/dev/stdout")
        self.assertEqual(json.loads(done.stdout)["exit_code"], 0, done)
        self.assertEqual(json.loads(self.read_fifo("fifo", "cook", "--project", self.game, "--summary", "fifo"))["exit_code"], 0)
        self.write("game/content/b.txt", "b")
        self.galley("cook", "--project", self.game)
        patch = ["patch", "--project", self.game, "pc@1", "pc@latest", "-o"]
        self.assertEqual(self.galley(*patch, device).returncode, 0)
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
        self.assertEqual(self.galley(*patch, "file").returncode, 0)
        self.assertEqual(self.read_fifo("patches", *patch, "patches"), self.read("file"))
        refused = self.galley(*patch, self.game)
        self.assertEqual(refused.returncode, 2, refused)
        self.assertIn("is a folder, which cannot be written to: name a file", refused.stderr)

    def test_a_preview_is_written_into_what_is_there(self):
        self.write("r.png", png((200, 30, 20)))
        device = self.path("null")
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3)) if os.geteuid() == 0 else os.symlink("/dev/null", device)
        self.write("old.png", "old")
        os.symlink("old.png", self.path("link.png"))
        for name in (device, "link.png"):
            subprocess.run([os.path.join(self.bin, "galley-worker"), "cook", "r.png", "--cooker", "texture", "--preview", name], cwd=self.dir, check=True,
                           stdout=subprocess.DEVNULL)
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
        self.assertTrue(os.path.islink(self.path("link.png")))
        self.assertEqual(self.read("old.png")[:4], b"\x89PNG")

    def test_the_outputs_of_a_cook_by_hand_follow_links(self):
        os.makedirs(self.path("out"))
        os.symlink("../kept", self.path("out/a.txt"))
        worker = os.path.join(self.bin, "galley-worker")
        subprocess.run([worker, "cook", "game/content/a.txt", "--cooker", "copy", "--out", "out"], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)
        self.assertTrue(os.path.islink(self.path("out/a.txt")))
        self.assertEqual(self.read("kept"), b"a")


class StandardOutputTest(harness.E2ETest):
    def run_with(self, output, program, *args):
        """`output`: what a shell redirects standard output with."""
        return subprocess.run(["/bin/sh", "-c", f'exec "$0" "$@" {output}', os.path.join(self.bin, program), *args], cwd=self.dir, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=harness.LIMIT_S)

    def test_what_cannot_be_printed_is_an_error(self):
        game = self.project({"a.txt": "a"}, [COPY])
        self.assertEqual(self.galley("cook", "--project", game).returncode, 0)
        of_project = ["--project", game]
        for program, *args in (["galley", "completion", "bash"], ["galley", "completion", "fish"], ["galley", "--version"],
                               ["galley", "--help"], ["galley", "--man"], ["galley", "cook", "--help"],
                               ["galley", "ls", *of_project], ["galley", "ls", "--json", *of_project], ["galley", "roots", *of_project],
                               ["galley", "why", "/Game/a.txt", *of_project], ["galley", "cook", "--json", *of_project],
                               ["galley-worker", "describe"], ["galley-worker", "--help"],
                               ["galley-worker", "cook", "game/content/a.txt", "--cooker", "copy", "--out", "out"],
                               ["galley-worker", "cook", "game/content/a.txt", "--cooker", "copy", "--out", "out", "--json"]):
            with self.subTest(program=program, args=args):
                full = self.run_with("> /dev/full", program, *args)
                self.assertEqual(full.returncode, 3, full)
                self.assertIn("standard output could not be written: not all was printed", full.stderr)
                self.assertEqual(self.run_with("| true", program, *args).returncode, 0, "a reader that went away")
        for program, *args in (["galley", "--version"], ["galley", "completion", "zsh"], ["galley", "roots", *of_project],
                               ["galley-worker", "describe"]):
            with self.subTest(program=program, args=args):
                closed = self.run_with(">&-", program, *args)
                self.assertEqual(closed.returncode, 3, closed)
                self.assertIn("standard output", closed.stderr)

    def test_a_cook_whose_output_is_closed_is_a_cook_as_any(self):
        game = self.project({"a.txt": "a"}, [COPY])
        done = self.run_with(">&-", "galley", "cook", "--project", game)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.tree(game, "pc"), {"Game/a.txt": b"a"})


if __name__ == "__main__":
    unittest.main()
