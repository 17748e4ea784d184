"""[farm] prove: jobs are made again on another machine, and a worker that lies is found. galley store revoke: what one made is taken back.

Machines are worker processes in namespaces with host names of their own. A worker that lies has a program of which a word was changed that
it writes into each texture; it describes its cookers as the others do."""
import json, os, re, signal, struct, subprocess, time, unittest, zlib

from farm.farm_test import FarmCase
from harness import COPY, Cook, wait_until

TEXTURE = 'match = "/Game/**/*.png"\ncooker = "texture"'
WORD, OTHER_WORD = b"KTXwriter", b"KTXwriteR"


def can_name_machines():
    return subprocess.run(["unshare", "-rmu", "hostname", "node-1"], capture_output=True).returncode == 0


def png(shade):
    """A picture of one pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(bytes([0, shade, shade, 255 - shade]))) + chunk(b"IEND", b"")


@unittest.skipUnless(can_name_machines(), "no namespaces of users: machines cannot have names of their own here")
class ProveCase(FarmCase):
    def farm(self, prove, name="game", pictures=8, extra=""):
        files = {f"a{i}.png": png(i) for i in range(pictures)}
        files |= {"c.txt": "text"}
        farm = f'[farm]\nlauncher = "none"\nlisten = "127.0.0.1:0"\nprove = {prove}\n'
        return self.project(files, [TEXTURE, COPY], name=name, extra=farm + extra)

    def liar(self):
        """A folder with programs that lie about textures."""
        folder = self.path("lies")
        if not os.path.exists(folder):
            os.makedirs(folder)
            for name in ("galley", "galley-worker"):
                with open(os.path.join(self.bin, name), "rb") as file:
                    program = file.read()
                if name == "galley-worker":
                    self.assertGreater(program.count(WORD), 0)
                    program = program.replace(WORD, OTHER_WORD)
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(program)
                os.chmod(os.path.join(folder, name), 0o755)
        return folder

    def machine(self, game, name, host, lies=False, address=None, args=(), env=None):
        """A worker on a machine of this name."""
        address = address or self.address_of(game)
        token = self.path(f"{name}.token")
        with open(os.path.join(game, ".galley/state/farm-token")) as file:
            self.write(f"{name}.token", file.read(), mode=0o600)
        program = os.path.join(self.liar() if lies else self.bin, "galley")
        command = ["unshare", "-rmu", "sh", "-c", 'hostname "$0" && exec "$@"', host, program, "worker", "--director",
                   address, "--token-file", token, "--name", name, "--slots", "1", "--cache", self.path(f"cache-{host}"), *args]
        log = open(self.path(f"{name}.log"), "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(command, cwd=self.dir, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def serve_farm(self, game):
        """A resident director that takes workers."""
        self.serve(game)
        cook = self.start_cook(game)
        self.address_of(game)
        self.assertEqual(self.galley("cancel", "1", "--project", game).returncode, 0)
        self.finish_cook(game, cook)

    def attach(self, game, *machines):
        """(name, host, lies) of each. All are there when it returns."""
        processes = {name: self.machine(game, name, host, lies) for name, host, lies in machines}
        wait_until(lambda: {name for name, _, _ in machines} <= {w["worker"] for w in self.status(game)["workers"] if w["state"] == "attached"},
                   "workers")
        return processes

    def warnings(self, cook):
        return "\n".join(w["text"] for w in cook.summary["warnings"])

    def revoke(self, game, *args, expect=0):
        done = self.galley("store", "revoke", "--json", "--project", game, *args)
        self.assertEqual(done.returncode, expect, done)
        return json.loads(done.stdout) if expect == 0 else done

    def pictures_of(self, revoked):
        return sorted(p["package"] for p in revoked["packages"])


class ProveTest(ProveCase):
    def test_a_worker_that_lies_is_found_and_harms_nothing(self):
        game = self.farm(prove=1.0)
        self.serve_farm(game)
        far = self.attach(game, ("far-1", "node1", False), ("far-2", "node2", True), ("far-3", "node3", False))
        cook = self.cook(game)
        self.assertEqual((cook.code, cook.cooked), (0, 9), cook)
        self.assertEqual(cook.roots, self.local_roots(game), cook)
        self.assertEqual(cook.summary["proofs"], {"proven": 9, "not_proven": 0, "failed": 0}, cook)
        said = self.warnings(cook)
        self.assertRegex(said, r"worker far-2 on node2 gets no more jobs: it made something else of /Game/a\d.png for pc than node[13] and node[13]")
        self.assertRegex(said, r"`galley store revoke --worker far-2@node2 --since 20\S+\+00:00`")
        out = [w for w in self.status(game)["workers"] if w["worker"] == "far-2"]
        self.assertEqual([w["state"] for w in out], ["quarantined"])
        self.assertIn("it made something else of", out[0]["note"])
        self.assertIn("quarantined", self.galley("status", "--project", game).stdout)
        far["far-2"].wait(timeout=60)
        self.assertIsNone(far["far-1"].poll())
        # It may come again, and gets nothing.
        again = self.machine(game, "far-2", "node2", lies=True)
        self.assertNotEqual(again.wait(timeout=60), 0)
        self.assertIn("it made something else of", self.read("far-2.log").decode())
        # Nor from the next director, until somebody lets it in again. Others are let in.
        self.galley("serve", "--stop", "--project", game)
        shown = self.galley("readmit", "--project", game)
        self.assertRegex(shown.stdout, r"^far-2@node2  since 20\S+  it made something else of /Game/a\d.png")
        self.serve(game)
        begun = self.start_cook(game, "--force")
        self.address_of(game)
        again = self.machine(game, "far-2", "node2", lies=True)
        self.assertEqual(again.wait(timeout=60), 3)
        self.assertIn("`galley readmit far-2`", self.read("far-2.log").decode())
        self.assertIn("quarantined", self.galley("status", "--project", game).stdout)
        for name, near in (("far-9", "far-2"), ("far-2@nod2", "far-2@node2")):
            unknown = self.galley("readmit", name, "--project", game)
            self.assertEqual(unknown.returncode, 2, unknown)
            self.assertIn(f'no worker "{name}" is quarantined here; `galley readmit` names those that are; did you mean "{near}"?', unknown.stderr)
        self.assertEqual(self.galley("readmit", "far-2", "--project", game).returncode, 0)
        self.attach(game, ("far-2", "node2", False))
        self.assertEqual(self.galley("readmit", "--project", game).stdout, "")
        begun.send_signal(signal.SIGINT)
        self.finish_cook(game, begun)
        # Nothing that it made is anywhere.
        for record in ("a0.png", "a1.png"):
            by = json.loads(self.galley("records", f"/Game/{record}", "--json", "--project", game).stdout)
            self.assertNotIn('"far-2"', json.dumps(by))

    def test_one_machine_proves_nothing_and_says_so_once(self):
        game = self.farm(prove=1.0, pictures=3)
        self.serve_farm(game)
        self.attach(game, ("far-1", "node1", False), ("far-2", "node1", False))
        cook = self.cook(game)
        self.assertEqual((cook.code, cook.cooked), (0, 4), cook)
        self.assertEqual(cook.summary["proofs"], {"proven": 0, "not_proven": 4, "failed": 0}, cook)
        self.assertEqual(self.warnings(cook).count("4 results of workers on other machines were to be made again on another one"), 1, cook)

    def test_the_directors_machine_decides_where_there_is_no_third(self):
        game = self.farm(prove=1.0, pictures=3)
        self.serve_farm(game)
        toml = self.read("game/galley.toml").decode().replace('launcher = "none"', "workers = 1")
        self.write("game/galley.toml", toml)
        self.attach(game, ("far-2", "node2", True))
        cook = self.cook(game)
        self.assertEqual(cook.code, 0, cook)
        self.assertEqual(cook.roots, self.local_roots(game), cook)

    def test_without_a_third_machine_nothing_of_it_is_kept(self):
        game = self.farm(prove=1.0, pictures=1)
        self.serve_farm(game)
        self.attach(game, ("far-1", "node1", False), ("far-2", "node2", True))
        cook = self.cook(game)
        self.assertEqual(cook.code, 1, cook)
        [error] = cook.errors_of("/Game/a0.png")
        self.assertIn("there is no third machine to decide who is right", error)
        self.assertEqual(cook.summary["proofs"], {"proven": 1, "not_proven": 0, "failed": 1}, cook)
        self.attach(game, ("far-3", "node3", False))
        again = self.cook(game)
        self.assertEqual((again.code, again.roots), (0, self.local_roots(game)), again)

    def test_a_share_that_is_none_is_refused(self):
        for text, said in (("2", "must lie in 0..1"), ('"half"', "a number")):
            game = self.farm(prove=text)
            done = self.galley("cook", "--project", game)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)


class RevokeTest(ProveCase):
    def cook_with(self, game, name, host, lies=False, *args):
        cook = self.start_cook(game, *args)
        worker = self.machine(game, name, host, lies)
        done = self.finish_cook(game, cook)
        worker.kill()
        worker.wait()
        return done

    def test_exactly_what_one_made_is_made_again(self):
        game = self.farm(prove=0, pictures=3)
        first = self.cook_with(game, "far-1", "node1")
        self.assertEqual((first.code, first.cooked), (0, 4), first)
        for i in range(4):
            self.write(f"game/content/b{i}.png", png(100 + i))
        lied = self.cook_with(game, "far-2", "node2", True)
        self.assertEqual((lied.code, lied.cooked), (0, 4), lied)
        right = self.local_roots(game)
        self.assertNotEqual(lied.roots, right)
        records = json.loads(self.galley("records", "/Game/b0.png", "--json", "--project", game).stdout)
        self.assertIn('"far-2"', json.dumps(records))
        self.assertIn('"node2"', json.dumps(records))

        pictures = [f"/Game/b{i}.png" for i in range(4)]
        dry = self.revoke(game, "--worker", "far-2@node2", "--dry-run")
        self.assertEqual((len(dry["results"]), self.pictures_of(dry)), (4, pictures), dry)
        self.assertEqual([r["platform"] for r in dry["roots"]], ["pc"], "the first root has none of it")
        self.assertEqual(len(self.revoke(game, "--worker", "node2", "--since", "2100-01-01", "--dry-run")["results"]), 0)
        self.assertEqual(len(self.revoke(game, "--worker", "far-3", "--dry-run")["results"]), 0)
        stands = self.cook(game)
        self.assertEqual((stands.code, stands.cooked), (0, 0), stands)

        gone = self.revoke(game, "--worker", "far-2@node2", "--since", "1d")
        self.assertEqual((gone["results"], gone["packages"]), (dry["results"], dry["packages"]))
        again = self.cook_with(game, "far-1", "node1")
        self.assertEqual((again.code, again.cooked, again.roots), (0, 4, right), again)
        # What it makes from now on counts again.
        self.write("game/content/c.txt", "other text")
        later = self.cook_with(game, "far-2", "node2", True)
        self.assertEqual((later.code, later.cooked), (0, 1), later)
        self.assertEqual(len(self.revoke(game, "--worker", "far-1", "--dry-run")["results"]), 8)

    def test_a_director_that_runs_takes_it_to_heart(self):
        game = self.farm(prove=0, pictures=3)
        self.serve_farm(game)
        far = self.attach(game, ("far-2", "node2", True))
        lied = self.cook(game)
        self.assertEqual((lied.code, lied.cooked), (0, 4), lied)
        far["far-2"].kill()
        self.attach(game, ("far-1", "node1", False))
        slip = self.galley("store", "revoke", "--worker", "far2", "--dry-run", "--project", game)
        self.assertEqual(slip.stdout, 'would take back what far2 made: 0 results; did you mean "far-2"?\n', slip)
        text = self.galley("store", "revoke", "--worker", "far-2", "--project", game)
        self.assertEqual(text.returncode, 0, text)
        self.assertIn("took back what far-2 made: 4 results; in this project 4 packages on 1 platform, which the next cook makes again", text.stdout)
        again = self.cook(game)
        self.assertEqual((again.code, again.cooked, again.roots), (0, 4, self.local_roots(game)), again)

    def test_what_an_upstream_cache_has_of_it_is_named_and_not_read(self):
        server = subprocess.Popen([os.path.join(self.bin, "galley"), "store", "serve", "--store", self.path("shared"), "--listen", "127.0.0.1:0"],
                                  cwd=self.dir, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        port = re.search(r":(\d+)", server.stdout.readline()).group(1)
        remote = f'[store]\nremote = "grpc://127.0.0.1:{port}"\nremote_mode = "read-write"\n'
        game = self.farm(prove=0, pictures=3, extra=remote)
        lied = self.cook_with(game, "far-2", "node2", True)
        self.assertEqual((lied.code, lied.cooked), (0, 4), lied)
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml.replace("read-write", "read"))
        gone = self.revoke(game, "--worker", "far-2")
        self.assertEqual(len(gone["results"]), 4, gone)
        self.assertEqual((gone["upstream"]["url"], len(gone["upstream"]["results"])), (f"grpc://127.0.0.1:{port}", 4), gone)
        again = self.cook_with(game, "far-1", "node1")
        self.assertEqual((again.code, again.cooked, again.results["cached"]), (0, 4, 0), again)
        # Others who share the cache say it to their own stores, or to that of the server.
        there = self.galley("store", "revoke", "--worker", "far-2", "--store", self.path("shared"), "--json")
        self.assertEqual(there.returncode, 0, there)
        self.assertEqual(len({r["key"] for r in json.loads(there.stdout)["results"]}), 4, there.stdout)

    def test_what_is_asked_for_must_make_sense(self):
        game = self.farm(prove=0)
        self.assertIn("--worker", self.galley("store", "revoke", "--project", game).stderr)
        wrong = self.revoke(game, "--worker", "far-2", "--since", "yesterday", expect=2)
        self.assertIn("`yesterday` is no time", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
