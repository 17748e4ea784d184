"""Workers that share no files with the director: bytes go and come by content."""
import os, re, shutil, signal, subprocess, sys, tempfile, time, unittest

from harness import COPY, SOURCE, E2ETest, ResidentTest, kill, read_file, wait_until

sys.path.append(os.path.join(SOURCE, "tests/content"))
import real_content

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
# (Which jobs are proven is drawn anew by each director: prove_test.py.)
LISTEN = '[farm]\nlauncher = "none"\nlisten = "127.0.0.1:0"\nprove = 0\n'
FARM = re.compile(r'\[farm\]\n(?:[^\[\n].*\n)*')
# What programs do there is in far_programs_test.py.
TOOL = re.compile(r'cooker = "command"\nsettings = .*\n')


def can_hide():
    # (Some systems let the namespace pass, and deny the mount.)
    return subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", tempfile.gettempdir()], capture_output=True).returncode == 0


class FarmCase(ResidentTest):
    def farm_sample(self, name="game", with_tools=False, farm=LISTEN):
        game = self.sample(name)
        toml = self.read(name, "galley.toml").decode()
        if not with_tools:
            toml, count = TOOL.subn('cooker = "copy"\n', toml)
            self.assertGreater(count, 0)
        self.write(f"{name}/galley.toml", toml + "\n" + farm)
        return game

    def farm_t1(self, farm):
        """T1, real content from Debian's packages (docs/content.md), for one platform. Its GLBs need npm."""
        content = self.path("game/content")
        for package in real_content.DEBIAN_T1:
            real_content.unpack_debian(package, content)
        if shutil.which("npm"):
            real_content.unpack_glbs(content, real_content.SMALL_GLB_BYTES)
        self.write("game/galley.toml", real_content.project(["pc"]) + "\n" + farm)
        return self.path("game")

    def check_t1(self, game, done):
        """Some of its files cannot be cooked (tests/content/faults.json): the same ones as on this machine."""
        local = self.local_cook(game)
        self.assertEqual((done.code, done.roots, sorted(f["package"] for f in done.failures)),
                         (local.code, local.roots, sorted(f["package"] for f in local.failures)), done)
        self.assertGreater(done.cooked, 1_000)

    def address_of(self, game):
        """Where its director takes workers, as soon as it does."""
        file = os.path.join(game, ".galley/state/farm-address")
        return wait_until(lambda: os.path.exists(file) and read_file(file).decode().strip(), "a director that takes workers")

    def worker(self, game, name, *args, cache="cache", address=None):
        """A worker that cannot see the project, where the machine can do that."""
        address = address or self.address_of(game)
        token = self.path(f"{name}.token")
        shutil.copy(os.path.join(game, ".galley/state/farm-token"), token)
        command = [os.path.join(self.bin, "galley"), "worker", "--director", address, "--token-file", token, "--name", name, "--slots", "1",
                   "--cache", self.path(cache), *args]
        if can_hide():
            command = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', game, *command]
        log = open(self.path(f"{name}.log"), "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(command, cwd=self.dir, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def end(self, worker):
        """Ends it in order; what it fetched: bytes of files and blobs, bytes of tables."""
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=60)
        return self.fetched(worker)

    def fetched(self, worker):
        log = self.read(f"{worker.args[worker.args.index('--name') + 1]}.log").decode()
        return tuple(int(n) for n in re.search(r"fetched_bytes=(\d+) table_bytes=(\d+)", log).groups())

    def local_roots(self, game):
        """Those of a cook by local workers, with nothing that is known."""
        done = self.local_cook(game)
        self.assertEqual(done.code, 0, done)
        return done.roots

    def local_cook(self, game):
        other = self.path("local")
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(game, other, ignore=shutil.ignore_patterns(".galley"), symlinks=True)
        toml = self.read("local/galley.toml").decode()
        self.write("local/galley.toml", FARM.sub("", toml))
        return E2ETest.cook(self, other, "--workers", "2", expect=None)

    def certificates(self, name="certs"):
        done = subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), self.path(name), "127.0.0.1", "localhost"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        return self.path(name)


class FarmTest(FarmCase):
    def farm_cook(self, game, *args, workers=2, cache="cache", during=lambda workers: None):
        cook = self.start_cook(game, *args)
        far = [self.worker(game, f"far-{i}", cache=cache) for i in range(workers)]
        during(far)
        done = self.finish_cook(game, cook)
        return done, [self.end(one) if one.poll() is None else None for one in far]

    def test_the_roots_are_those_of_a_local_cook(self):
        game = self.farm_sample()
        # The digest of a file that changed less than two seconds ago is not kept.
        written = time.time()
        wait_until(lambda: time.time() > written + 2.1, "files of some age")
        cook, fetched = self.farm_cook(game)
        self.assertEqual(cook.code, 0, cook)
        self.assertIn("the cook waits for workers at 127.0.0.1:", cook.stderr)
        self.assertEqual(cook.roots, self.local_roots(game), cook)
        self.assertGreater(cook.cooked, 50, cook)
        self.assertTrue(all(bytes > 0 and tables > 0 for bytes, tables in fetched), fetched)
        self.assertFalse(os.path.exists(os.path.join(game, ".galley/state/farm-address")), "nobody takes workers any more")
        # Another one begins with what the machine has: nothing is fetched but tables.
        again, fetched = self.farm_cook(game, "--force")
        self.assertEqual((again.code, again.roots), (0, cook.roots), again)
        self.assertEqual([bytes for bytes, _ in fetched], [0, 0], again)

    def test_sources_are_read_at_a_shared_path_where_they_are_the_directors(self):
        game = self.farm_sample()
        roots = self.local_roots(game)
        shared = self.path("shared")
        shutil.copytree(game, shared, ignore=shutil.ignore_patterns(".galley"), symlinks=True)
        cook = self.start_cook(game)
        worker = self.worker(game, "far", "--shared-path", shared)
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, roots), done)
        fetched, tables = self.end(worker)
        self.assertLess(fetched, done.summary["bytes"]["read"] / 2)  # cooked inputs, which are no files of the project
        self.assertGreater(tables, 0)
        self.assertIn("not_shared_files=0", self.read("far.log").decode())
        # A copy of yesterday: some files are others, of the same size too, and some are missing.
        files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(shared, "content")) for name in names)
        for i, file in enumerate(files):
            if i % 4 == 0:
                os.remove(file)
            elif i % 4 == 1 and os.path.getsize(file):
                with open(file, "r+b") as changed:
                    first = changed.read(1)[0]
                    changed.seek(0)
                    changed.write(bytes([first ^ 1]))
        cook = self.start_cook(game, "--force")
        worker = self.worker(game, "again", "--shared-path", shared, cache="other-cache")
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, roots), done)
        self.assertGreater(self.end(worker)[0], fetched)
        log = self.read("again.log").decode()
        self.assertEqual(log.count("or is another file there than the director's"), 1, log)
        self.assertGreater(int(re.search(r"not_shared_files=(\d+)", log).group(1)), 5)

    def test_a_cache_that_is_damaged_or_deleted_is_no_matter(self):
        game = self.farm_sample()
        first, _ = self.farm_cook(game)
        files = [os.path.join(folder, name) for folder, _, names in os.walk(self.path("cache/files")) for name in names]
        self.assertGreater(len(files), 50)
        for i, file in enumerate(sorted(files)):
            os.chmod(file, 0o644)
            if i % 3 == 0:
                os.remove(file)
            elif i % 3 == 1:
                with open(file, "r+b") as damaged:
                    damaged.write(b"\xff\xfe")
        again, _ = self.farm_cook(game, "--force")
        self.assertEqual((again.code, again.roots), (0, first.roots), again)

        def delete(_):
            wait_until(lambda: self.read("game/.galley/state/logs/director.log").decode().count("attached machine=") == 6, "workers")
            shutil.rmtree(self.path("cache"), ignore_errors=True)
        third, _ = self.farm_cook(game, "--force", during=delete)
        self.assertEqual((third.code, third.roots), (0, first.roots), third)

    def test_workers_that_are_killed_are_no_matter(self):
        game = self.farm_sample()
        roots = self.local_roots(game)

        def kill_one(workers):
            wait_until(lambda: "attached" in self.read("game/.galley/state/logs/director.log").decode(), "a worker")
            workers[0].kill()
        cook, _ = self.farm_cook(game, during=kill_one)
        self.assertEqual((cook.code, cook.roots), (0, roots), cook)

    def test_local_workers_run_the_programs_and_others_the_rest(self):
        game = self.farm_sample(with_tools=True, farm='[farm]\nworkers = 1\nprove = 0\nlisten = "127.0.0.1:0"\n')
        cook, _ = self.farm_cook(game, "--force")
        self.assertEqual(cook.code, 0, cook)
        self.assertEqual(cook.roots, self.local_roots(game), cook)
        log = self.read("game/.galley/state/logs/director.log").decode()
        self.assertIn("worker=far-0 lacks the cookers command", log)

    def test_they_stay_with_a_director_that_stays(self):
        game = self.project({"a.json": '{"x": 1}', "b.json": "[1]", "c.txt": "text"}, [DATA, COPY], extra=LISTEN)
        self.serve(game)
        cook = self.start_cook(game)
        worker = self.worker(game, "far-1")
        first = self.finish_cook(game, cook)
        self.assertEqual((first.code, first.cooked), (0, 3), first)
        self.assertEqual([w["worker"] for w in self.status(game)["workers"]], ["far-1"])
        self.write("game/content/a.json", '{"x": 2}')
        self.write("game/content/d.txt", "more")
        second = self.cook(game)
        self.assertEqual((second.code, second.cooked), (0, 2), second)
        self.assertEqual(second.roots, self.local_roots(game))
        self.assertEqual(self.read("game/.galley/cooked/pc/Game/d.txt"), b"more")
        worker.kill()
        wait_until(lambda: self.status(game)["workers"] == [], "the worker's end", limit_s=10)

    def test_one_that_is_drained_asks_for_another_in_its_place(self):
        game = self.project({"a.json": '{"x": 1}', "c.txt": "text"}, [DATA, COPY], extra=LISTEN)
        self.serve(game)
        cook = self.start_cook(game)
        workers = [self.worker(game, f"far-{i}") for i in range(2)]
        self.assertEqual(self.finish_cook(game, cook).code, 0)
        wait_until(lambda: len(self.status(game)["workers"]) == 2, "two workers")
        self.assertEqual(self.galley("drain", "far-0", "--project", game).returncode, 0)
        self.assertEqual(workers[0].wait(timeout=60), 75)
        self.assertIsNone(workers[1].poll())
        again = self.worker(game, "far-0")
        wait_until(lambda: len(self.status(game)["workers"]) == 2, "the other one")
        self.assertEqual(self.galley("drain", "--project", game).returncode, 0)
        self.assertEqual([again.wait(timeout=60), workers[1].wait(timeout=60)], [75, 75])

    def test_a_director_that_dies_is_waited_for(self):
        game = self.project({"a.json": '{"x": 1}', "c.txt": "text"}, [DATA, COPY], extra=LISTEN)
        process = self.serve(game)
        address = self.address_of_after_cook(game)
        worker = self.worker(game, "far-1", address=address)
        self.assertEqual(self.cook(game).code, 0)
        kill(process)
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace("127.0.0.1:0", address))
        self.write("game/content/a.json", '{"x": 2}')
        wait_until(lambda: not os.path.exists(f"/proc/{process}"), "the director's end")
        self.serve(game)
        again = self.cook(game)
        self.assertEqual((again.code, again.cooked), (0, 1), again)
        self.assertIsNone(worker.poll())

    def address_of_after_cook(self, game):
        """A resident director takes workers from its first cook on."""
        cook = self.start_cook(game)
        address = self.address_of(game)
        self.assertEqual(self.galley("cancel", "1", "--project", game).returncode, 0)
        self.finish_cook(game, cook)
        return address

    def test_with_tls_both_sides_show_certificates_of_one_authority(self):
        certs, others = self.certificates(), self.certificates("others")
        tls = LISTEN + "".join(f'tls_{what} = "{certs}/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        game = self.project({"a.json": '{"x": 1}', "c.txt": "text"}, [DATA, COPY], extra=tls)
        of = lambda folder: ["--tls-ca", f"{folder}/ca.pem", "--tls-cert", f"{folder}/worker.pem", "--tls-key", f"{folder}/worker.key"]
        cook = self.start_cook(game)
        self.worker(game, "plain")
        self.worker(game, "stranger", *of(others))
        for name, why in (("plain", "speaks TLS, and this worker was given no authority"), ("stranger", "not of an authority that this worker was given")):
            wait_until(lambda: why in self.read(f"{name}.log").decode(), "a worker that is not let in", limit_s=30)
        self.assertNotIn("attached", self.read("game/.galley/state/logs/director.log").decode())
        self.worker(game, "friend", *of(certs))
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 2), done)
        self.assertEqual(done.roots, self.local_roots(game))

    def test_who_may_not_attach_is_told_why(self):
        game = self.farm_sample()
        cook = self.start_cook(game)
        address = self.address_of(game)
        wrong = self.write("wrong", "0" * 64)
        refused = self.galley("worker", "--director", address, "--token-file", wrong, "--cache", self.path("cache"))
        self.assertEqual(refused.returncode, 3, refused)
        self.assertIn("unknown worker or wrong token", refused.stderr)
        cook.send_signal(signal.SIGINT)
        self.assertEqual(self.finish_cook(game, cook).code, 130)
        gone = self.galley("worker", "--project", game)
        self.assertEqual(gone.returncode, 2, gone)
        self.assertIn("takes workers now", gone.stderr)
        for address, said in (("cook.studio:9010", "needs TLS"), ("9010", "expected HOST:PORT")):
            far = self.galley("worker", "--director", address, "--token-file", wrong)
            self.assertEqual(far.returncode, 2, far)
            self.assertIn(said, far.stderr)

    def test_what_cannot_be_is_said_before_the_cook(self):
        for farm, said in (('launcher = "none"', "no worker would ever come"),
                           ('listen = "0.0.0.0:9010"', "others than this machine may reach it")):
            game = self.project({"c.txt": "text"}, [COPY], extra=f"[farm]\n{farm}\n")
            done = self.galley("cook", "--project", game)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
