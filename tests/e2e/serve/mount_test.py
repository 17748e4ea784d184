#!/usr/bin/env python3
"""`galley mount`: a cooked tree as a file system, with real directors, programs that people use on files, and kills.

Mounting needs root and /dev/fuse; where they are not there, the tests say so and are left out. A seed is printed; GALLEY_SEED=<seed> draws the
same orders again.
"""
import contextlib, errno, hashlib, json, mmap, os, random, signal, subprocess, sys, threading, time, unittest

from device_case import LEVEL, digest_of
from device_tree_test import Everything, TreeCase
from harness import COPY, LIMIT_S, wait_until

CAN_MOUNT = os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)
# The cook waits until the test has made the file "go", and notes that it ran.
GATED = 'match = "/Game/**/*.gated"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "echo $0 >> $3/ran; until [ -e $2/go ]; do ' \
        'sleep 0.05; done; cp $0 $1", "{input}", "{output:.out}", "%s", "%s"], outputs = [".out"] }'
READ_S = 1.0  # a read without a director fails within a second; the rest of LATE_S is for a busy machine
LATE_S = 4.0


@unittest.skipUnless(CAN_MOUNT, "mounting needs root and /dev/fuse")
class MountTest(TreeCase):
    def mount(self, *args, at="mnt", expect=0):
        """A running `galley mount`, which has said that it is mounted; or what it said, if it is expected to fail."""
        os.makedirs(self.path(at), exist_ok=True)
        command = [os.path.join(self.bin, "galley"), "mount", *map(str, args), "--json", "--cache", self.path("device-cache")]
        with open(self.path("mount.err"), "w") as errors:
            process = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.addCleanup(self.end, process, self.path(at))
        patience = threading.Timer(LIMIT_S, process.kill)
        patience.start()
        line = process.stdout.readline()
        patience.cancel()
        if expect != 0:
            self.assertEqual(process.wait(LIMIT_S), expect, self.said())
            return self.said()
        self.assertTrue(line, self.said())
        self.assertEqual(json.loads(line)["event"], "mounted", line + self.said())
        return process

    def said(self):
        with open(self.path("mount.err")) as text:
            return text.read()

    def end(self, process, at):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
        process.kill()
        process.wait()
        process.stdout.close()
        subprocess.run(["umount", "-l", at], stderr=subprocess.DEVNULL)

    def is_mounted(self, at="mnt"):
        with open("/proc/self/mountinfo") as mounts:
            return any(line.split()[4] == self.path(at) for line in mounts)

    def read(self, path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            error.add_note(self.said())
            raise

    def digests(self, folder):
        """{path: digest} of all files."""
        return {os.path.relpath(os.path.join(base, name), folder): digest_of(self.read(os.path.join(base, name)))
                for base, _, names in os.walk(folder) for name in names}

    def everything(self):
        Everything(self, random.Random(self.seed()))
        project = self.path("game")
        self.files = self.book(project, "pc")["pc"]
        expected = {path: file[0] for path, file in self.files.items()}
        return project, expected, self.serve_http(project, "--workers", "2")

    def test_programs_see_the_tree_of_a_cook_by_the_book(self):
        project, expected, client = self.everything()
        mounted = self.mount("pc", self.path("mnt"), "--project", project)
        mnt = self.path("mnt")
        # In any order, also what only a cook tells, before anything was listed.
        order = sorted(expected)
        random.Random(self.seed()).shuffle(order)
        for path in order[:20] + [path for path in order if "/_gen/" in path or ".d/" in path][:10]:
            self.assertEqual(digest_of(self.read(os.path.join(mnt, path))), expected[path], path)
        self.assertEqual(self.digests(mnt), expected)
        subprocess.run(["cp", "-r", mnt, self.path("copy")], check=True, timeout=LIMIT_S)
        self.assertEqual(self.digests(self.path("copy")), expected)
        summed = subprocess.run(["sha256sum", *order], cwd=mnt, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        self.assertEqual(len(summed.splitlines()), len(expected))
        found = subprocess.run(["grep", "-rl", "", mnt], capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(found.stderr, "")
        for path in order[:10]:
            with open(os.path.join(mnt, path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                self.assertEqual(f"{size}", expected[path].split("/")[1])
                if size > 0:
                    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
                        self.assertEqual(digest_of(mapped[:]), expected[path])
        with self.assertRaises(OSError) as refused:
            open(os.path.join(mnt, order[0]), "r+b")
        self.assertEqual(refused.exception.errno, errno.EROFS)
        for name in ("none", "Game/none", "Game/none/none", order[0] + "/none"):
            self.assertFalse(os.path.exists(os.path.join(mnt, name)), name)
        self.assertEqual({path: os.access(os.path.join(mnt, path), os.X_OK) for path in order}, {path: self.files[path][1] for path in order})
        mounted.send_signal(signal.SIGINT)
        self.assertEqual(mounted.wait(30), 0, self.said())
        self.assertFalse(self.is_mounted())
        self.assertEqual(os.listdir(mnt), [])

    def test_edits_are_followed_and_open_files_keep_their_bytes(self):
        files = {f"{i}.txt": str(i) * (i * 1000 + 1) for i in range(8)}
        project = self.project({**files, "deep/gone.txt": "gone"}, [COPY])
        self.serve_http(project, "--workers", "2")
        self.mount("pc", self.path("mnt"), "--project", project)
        mnt = self.path("mnt", "Game")
        self.assertEqual(len(self.digests(mnt)), 9)
        held = open(os.path.join(mnt, "3.txt"), "rb")
        self.addCleanup(held.close)
        mapped = mmap.mmap(held.fileno(), 0, prot=mmap.PROT_READ)
        for turn in range(5):
            self.write("game/content/3.txt", f"edited {turn}")
            wait_until(lambda: self.read(os.path.join(mnt, "3.txt")) == f"edited {turn}".encode(), "the edit to be seen", 30)
        self.assertEqual(held.read().decode(), files["3.txt"])
        self.assertEqual(mapped[:].decode(), files["3.txt"])
        self.write("game/content/new/9.txt", "new")
        os.unlink(self.path("game/content/deep/gone.txt"))
        wait_until(lambda: os.path.exists(os.path.join(mnt, "new/9.txt")) and not os.path.exists(os.path.join(mnt, "deep/gone.txt")), "the change", 30)
        self.assertEqual(self.read(os.path.join(mnt, "new/9.txt")), b"new")
        expected = {name: digest_of(text.encode()) for name, text in files.items()}
        expected.update({"3.txt": digest_of(b"edited 4"), "new/9.txt": digest_of(b"new")})
        self.assertEqual(self.digests(mnt), expected)

    def test_ls_cooks_nothing_and_a_slow_cook_holds_up_nobody(self):
        names = [f"{i}.gated" for i in range(24)]
        project = self.project({**{name: name for name in names}, "a.txt": "a", "b.txt": "b"}, [COPY, GATED % (self.path("game"), self.path())])
        self.serve_http(project, "--workers", "2")
        self.addCleanup(lambda: self.write("game/go", ""))  # whatever happens, the cooks end
        self.mount("pc", self.path("mnt"), "--project", project)
        mnt = self.path("mnt", "Game")
        listed = subprocess.run(["/bin/ls", mnt], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout.split()
        self.assertEqual(listed, sorted([name + ".out" for name in names] + ["a.txt", "b.txt"]))
        subprocess.run(["find", mnt, "-type", "f"], stdout=subprocess.DEVNULL, check=True, timeout=LIMIT_S)
        self.assertFalse(os.path.exists(self.path("ran")), "a listing has cooked")
        readers = [subprocess.Popen(["sha256sum", name + ".out"], cwd=mnt, stdout=subprocess.PIPE, text=True) for name in names]
        for reader in readers:
            self.addCleanup(lambda reader=reader: (reader.kill(), reader.communicate()))
        wait_until(lambda: os.path.exists(self.path("ran")), "a cook to begin", 30)
        begun = time.monotonic()
        for name in ("a.txt", "b.txt"):
            self.assertEqual(self.read(os.path.join(mnt, name)), name[:1].encode())
        os.listdir(mnt)
        self.assertLess(time.monotonic() - begun, LATE_S, f"{len(names)} readers wait")
        readers[0].send_signal(signal.SIGKILL)  # whoever no longer waits is let go
        self.assertEqual(readers[0].wait(LATE_S), -signal.SIGKILL)
        self.write("game/go", "")
        for name, reader in list(zip(names, readers))[1:]:
            self.assertEqual(reader.communicate(timeout=LIMIT_S)[0].split()[0], hashlib.sha256(name.encode()).hexdigest())

    def test_a_wait_ends_with_an_error_and_says_why(self):
        project = self.project({"slow.gated": "slow", "bad.json": "{", "a.txt": "a"}, [COPY, 'match = "/Game/**/*.json"\ncooker = "data"',
                                                                                      GATED % (self.path("game"), self.path())])
        self.serve_http(project, "--workers", "2")
        self.addCleanup(lambda: self.write("game/go", ""))
        self.mount("pc", self.path("mnt"), "--project", project, "--wait", "2")
        mnt = self.path("mnt", "Game")
        for name, reason in (("slow.gated.out", "in time"), ("bad.json.cbor", "bad.json")):
            with self.assertRaises(OSError) as failed:
                self.read(os.path.join(mnt, name))
            self.assertEqual(failed.exception.errno, errno.EIO, name)
            self.assertIn(f"path=Game/{name}", self.said())
            self.assertIn(reason, self.said())
        self.assertEqual(self.read(os.path.join(mnt, "a.txt")), b"a")

    def test_without_a_director_reads_fail_soon_and_work_again_with_the_next(self):
        files = {f"{i}.txt": str(i) for i in range(6)}
        project = self.project(files, [COPY.replace("copy", "copy")])
        self.serve_http(project, "--workers", "1")
        self.mount("pc", self.path("mnt"), "--project", project)
        mnt = self.path("mnt", "Game")
        self.assertEqual(self.read(os.path.join(mnt, "0.txt")), b"0")
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        self.assertEqual(self.read(os.path.join(mnt, "0.txt")), b"0", "the kernel has it")
        begun = time.monotonic()
        with self.assertRaises(OSError) as failed:
            self.read(os.path.join(mnt, "5.txt"))
        self.assertEqual(failed.exception.errno, errno.EIO)
        self.assertLess(time.monotonic() - begun, READ_S + LATE_S)
        self.serve_http(project, "--workers", "1")  # at another port

        def is_back():
            with contextlib.suppress(OSError):
                return self.read(os.path.join(mnt, "5.txt")) == b"5"
        wait_until(is_back, "the next director to be used", 60)

    def test_files_of_generated_packages_follow_their_generator(self):
        def level(x):
            return json.dumps({"items": [{"position": [10, 0, 20], "x": x}]})
        project = self.project({"town.level": level(1)}, [LEVEL])
        self.serve_http(project, "--workers", "1")
        self.mount("pc", self.path("mnt"), "--project", project)
        folder = self.path("mnt/Game/town.level/_gen")
        name, = os.listdir(folder)
        before = self.read(os.path.join(folder, name))
        self.assertFalse(os.path.exists(os.path.join(folder, name + ".meta")), "a name that only a cook tells")
        self.write("game/content/town.level", level(2))
        wait_until(lambda: self.read(os.path.join(folder, name)) != before, "the edit to be seen", 30)

    def test_an_edit_while_the_director_is_away_is_seen_with_the_next(self):
        project = self.project({"a.txt": "first", "b.txt": "b"}, [COPY])
        self.serve_http(project, "--workers", "1")
        self.mount("pc", self.path("mnt"), "--project", project)
        self.assertEqual(len(self.digests(self.path("mnt"))), 2)
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        self.write("game/content/a.txt", "second")
        self.serve_http(project, "--workers", "1")
        wait_until(lambda: self.read(self.path("mnt/Game/a.txt")) == b"second", "the edit to be seen", 90)

    def test_saves_and_an_end_while_readers_wait(self):
        project = self.project({"slow.gated": "slow", "a.txt": "0"}, [COPY, GATED % (self.path("game"), self.path())])
        self.serve_http(project, "--workers", "2")
        self.addCleanup(lambda: self.write("game/go", ""))
        mounted = self.mount("pc", self.path("mnt"), "--project", project)
        mnt = self.path("mnt", "Game")

        def reader():
            started = subprocess.Popen(["sha256sum", "slow.gated.out"], cwd=mnt, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda: (started.kill(), started.communicate()))
            return started
        first = reader()
        for save in range(1, 6):  # each save is another version under the reader
            self.write("game/content/a.txt", str(save))
            wait_until(lambda: self.read(os.path.join(mnt, "a.txt")) == str(save).encode(), "the save to be seen", 30)
        self.assertIsNone(first.poll(), "the reader waits still")
        self.write("game/go", "")
        out, err = first.communicate(timeout=LIMIT_S)
        self.assertEqual(out.split()[:1], [hashlib.sha256(b"slow").hexdigest()], err)
        os.unlink(self.path("game/go"))
        self.write("game/content/slow.gated", "slower")
        wait_until(lambda: os.path.exists(os.path.join(mnt, "a.txt")), "the mount", 30)
        second = [reader() for _ in range(8)]
        wait_until(lambda: self.read(self.path("ran")).count(b"\n") > 1, "the next cook to begin", 30)
        for name in range(200):
            self.write(f"game/content/new{name}.txt", "x")
        mounted.send_signal(signal.SIGTERM)
        self.assertEqual(mounted.wait(30), 0, self.said())
        self.assertFalse(self.is_mounted())
        for one in second:
            one.wait(30)  # with the bytes, or with an error

    def test_a_reader_with_signals_waits_on_and_is_not_cooked_for_again(self):
        project = self.project({"slow.gated": "slow"}, [GATED % (self.path("game"), self.path())])
        self.serve_http(project, "--workers", "1")
        self.addCleanup(lambda: self.write("game/go", ""))
        self.mount("pc", self.path("mnt"), "--project", project)
        program = "import signal, sys\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)\n" \
                  "sys.stdout.write(open(sys.argv[1]).read())"
        reader = subprocess.Popen([sys.executable, "-c", program, self.path("mnt/Game/slow.gated.out")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (reader.kill(), reader.communicate()))
        wait_until(lambda: os.path.exists(self.path("ran")), "the cook to begin", 30)
        time.sleep(1)  # fifty signals
        self.assertIsNone(reader.poll())
        self.write("game/go", "")
        self.assertEqual(reader.communicate(timeout=LIMIT_S)[0], "slow")
        self.assertEqual(len(self.read(self.path("ran")).splitlines()), 1)

    def test_a_killed_mount_is_cleaned_up_by_the_next(self):
        project = self.project({"a.txt": "a"}, [COPY])
        self.serve_http(project, "--workers", "1")
        first = self.mount("pc", self.path("mnt"), "--project", project)
        self.assertIn("is the mount point of a `galley mount` that runs", self.mount("pc", self.path("mnt"), "--project", project, expect=2))
        first.kill()
        first.wait()
        with self.assertRaises(OSError) as stale:
            os.listdir(self.path("mnt"))
        self.assertEqual(stale.exception.errno, errno.ENOTCONN)
        self.mount("pc", self.path("mnt"), "--project", project)
        self.assertIn("was taken away", self.said())
        self.assertEqual(self.read(self.path("mnt/Game/a.txt")), b"a")

    def test_a_root_is_pinned(self):
        project = self.project({"a.txt": "first", "b.json": "{}"}, [COPY, 'match = "/Game/**/*.json"\ncooker = "data"'])
        client = self.serve_http(project, "--workers", "1")
        self.assertEqual(self.galley("cook", "--project", project).returncode, 0)
        root = self.galley("roots", "--json", "--project", project).stdout
        root = next(json.loads(line)["root"] for line in root.splitlines() if '"pc"' in line)
        session = self.session(client, platform="pc")["root"]
        self.mount("pc@latest", self.path("mnt"), "--project", project)
        self.mount(session, self.path("seen"), "--url", client.url, at="seen")
        before = self.digests(self.path("mnt"))
        self.assertEqual(before["Game/a.txt"], digest_of(b"first"))
        self.write("game/content/a.txt", "second")
        self.assertEqual(self.galley("cook", "--project", project).returncode, 0)
        self.assertEqual(self.digests(self.path("mnt")), before)
        self.assertEqual(self.read(self.path("seen/Game/a.txt")), b"first")
        again = self.mount(root, self.path("again"), "--url", client.url, at="again")
        self.assertEqual(self.digests(self.path("again")), before)
        again.send_signal(signal.SIGTERM)
        self.assertEqual(again.wait(30), 0)

    def test_wrong_places_and_names_are_refused(self):
        project = self.project({"a.txt": "a"}, [COPY])
        os.makedirs(self.path("game/content/in"))
        self.assertIn("no director serves the devices", self.mount("pc", self.path("mnt"), "--project", project, expect=3))
        client = self.serve_http(project, "--workers", "1")
        self.assertEqual(self.galley("cook", "--project", project).returncode, 0)
        self.write("full/file", "")
        os.makedirs(self.path("game/.galley/cooked/pc/in"), exist_ok=True)
        for at, reason in (("game/content/in", "lies in the project's mount /Game"), ("game/.galley/store/x", "the store"),
                           ("game/.galley/cooked/pc/in", "sandbox"), ("full", "is not empty"), ("full/file", "is no folder")):
            if at != "full/file":
                os.makedirs(self.path(at), exist_ok=True)
            command = [os.path.join(self.bin, "galley"), "mount", "pc", self.path(at), "--project", project]
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual(done.returncode, 2, (at, done.stderr))
            self.assertIn(reason, done.stderr)
        os.makedirs(self.path("mnt"), exist_ok=True)
        for shown, args, reason, code in (("atari", ["--project", project], "is no platform of the project (pc)", 2),
                                          ("atari", ["--url", client.url], "atari", 2),
                                          ("0" * 64 + "/5", ["--url", client.url], "does not have all of the root", 2),
                                          ("pc", ["--url", "http://127.0.0.1:1"], "127.0.0.1", 3)):
            done = subprocess.run([os.path.join(self.bin, "galley"), "mount", shown, self.path("mnt"), *args, "--cache", self.path("c2")],
                                  cwd=self.dir, capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual(done.returncode, code, (shown, args, done.stderr))
            self.assertIn(reason, done.stderr)

    def test_a_scan_passes_over_a_mount(self):
        project = self.project({"a.txt": "a"}, [COPY])
        client = self.serve_http(project, "--workers", "1")
        os.makedirs(self.path("game/content/in"))
        self.mount("pc", self.path("game/content/in"), "--url", client.url, at="game/content/in")
        self.assertIn("Game", os.listdir(self.path("game/content/in")))
        cooked = self.galley("cook", "--project", project)
        self.assertEqual(cooked.returncode, 0, cooked.stderr)
        self.assertEqual(sorted(self.tree(project, "pc")), ["Game/a.txt"])


if __name__ == "__main__":
    unittest.main()
