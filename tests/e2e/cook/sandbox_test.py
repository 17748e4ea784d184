#!/usr/bin/env python3
"""Sandboxes beside what people have: folders that Galley did not make, files of other people in them, long names, copied projects."""
import fcntl, json, os, shutil, signal, subprocess, time, unittest

import harness

COPY = 'match = "/Game/**"\ncooker = "copy"'


def tree_of(folder):
    """{path: bytes} of all files and links, of Galley's own too."""
    found = {}
    for at, folders, names in os.walk(folder):
        for name in names + [one for one in folders if os.path.islink(os.path.join(at, one))]:
            path = os.path.join(at, name)
            found[os.path.relpath(path, folder)] = os.readlink(path) if os.path.islink(path) else harness.read_file(path)
    return found


def cooked(folder):
    return {path: data for path, data in tree_of(folder).items() if not path.startswith(".galley-")}


class ForeignFolderTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        self.game = self.project({"a.txt": "a", "b.txt": "b"}, [COPY])

    def assert_refused(self, *args):
        cook = self.cook(self.game, *args, expect=2)
        self.assertIsNone(self.summary_of(self.game))
        self.assertNotIn("scanned", cook.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.game, ".galley/store")), "nothing was begun")
        return cook.stderr

    def test_a_folder_with_somebodys_files_is_refused_and_untouched_until_it_is_adopted(self):
        self.write("out/pc/notes.txt", "mine")
        self.write("out/pc/.git/HEAD", "ref: refs/heads/main")
        self.write("out/pc/Game/a.txt", "mine")
        before = tree_of(self.path("out"))
        said = self.assert_refused("--out", self.path("out"))
        for part in (self.path("out/pc"), ".git, Game, notes.txt", "--adopt", "--out"):
            self.assertIn(part, said)
        self.assertEqual(tree_of(self.path("out")), before)
        # Also through a link, of the folder or of one above it.
        os.makedirs(self.path("linked"))
        os.symlink(self.path("out/pc"), self.path("linked/pc"))
        self.assert_refused("--out", self.path("linked"))
        os.symlink(self.path("out"), self.path("way"))
        self.assert_refused("--out", self.path("way"))
        self.assert_refused("--out", self.path("out"), "--exact")
        self.assertEqual(tree_of(self.path("out")), before)
        # Adopted: all of it stays. What is in the place of a cooked file is in the way until it is moved.
        blocked = self.cook(self.game, "--out", self.path("out"), "--adopt", expect=3)
        self.assertIn(f"{self.path('out/pc/Game/a.txt')} was not put there by Galley, and Game/a.txt of /Game/a.txt needs its place", blocked.stderr)
        self.cook(self.game, "--out", self.path("out"), expect=3)
        self.assertEqual(cooked(self.path("out/pc"))["Game/a.txt"], b"mine")
        os.rename(self.path("out/pc/Game/a.txt"), self.path("mine"))
        adopted = self.cook(self.game, "--out", self.path("out"))
        kept = {"notes.txt": b"mine", ".git/HEAD": b"ref: refs/heads/main"}
        self.assertEqual(cooked(self.path("out/pc")), {"Game/a.txt": b"a", "Game/b.txt": b"b", **kept})
        os.remove(os.path.join(self.game, "content/b.txt"))
        again = self.cook(self.game, "--out", self.path("out"))
        for cook in (adopted, again):
            self.assertEqual([(w["platform"], w["text"]) for w in cook.summary["warnings"]],
                             [("pc", f"2 files in {self.path('out/pc')} were not put there by Galley and stay: .git/HEAD, notes.txt (--exact removes them)")])
        self.assertEqual(cooked(self.path("out/pc")), {"Game/a.txt": b"a", **kept})
        # A repository is never removed.
        refused = self.cook(self.game, "--out", self.path("out"), "--exact", expect=2)
        self.assertIn(self.path("out/pc/.git"), refused.stderr)
        self.assertEqual(cooked(self.path("out/pc")), {"Game/a.txt": b"a", **kept})
        shutil.rmtree(self.path("out/pc/.git"))
        exact = self.cook(self.game, "--out", self.path("out"), "--exact")
        self.assertEqual(exact.summary["warnings"], [])
        self.assertEqual(cooked(self.path("out/pc")), {"Game/a.txt": b"a"})
        self.assertIn("without a selection", self.cook(self.game, "/Game/a.txt", "--exact", expect=2).stderr)

    def test_a_cook_that_is_refused_makes_no_folder(self):
        self.cook(self.game, "/Game/nosuch.txt", "--out", self.path("new/deep"), expect=2)
        self.assertFalse(os.path.exists(self.path("new")))
        os.makedirs(self.path("out"))
        os.symlink(self.path("nowhere"), self.path("out/pc"))
        said = self.cook(self.game, "--out", self.path("out"), expect=2).stderr
        self.assertIn(f"{self.path('out/pc')} is a link to {self.path('nowhere')}, which is not there", said)
        os.symlink(self.path("nowhere"), self.path("way"))
        said = self.cook(self.game, "--out", self.path("way"), expect=2).stderr
        self.assertIn(f"{self.path('way')} is a link to {self.path('nowhere')}, which is not there", said)
        self.write("file", "mine")
        self.assertIn(f"{self.path('file/pc')} cannot be a folder", self.cook(self.game, "--out", self.path("file"), expect=2).stderr)

    def test_a_bare_repository_is_not_removed_with_exact(self):
        self.cook(self.game)
        sandbox = os.path.join(self.game, ".galley/cooked/pc")
        subprocess.run(["git", "init", "-q", "--bare", os.path.join(sandbox, "backup")], check=True)
        before = tree_of(sandbox)
        self.assertIn(f"{sandbox}/backup, which is of a version control system", self.cook(self.game, "--exact", expect=2).stderr)
        self.assertEqual(tree_of(sandbox), before)

    def test_a_sandbox_among_the_content_is_not_cooked(self):
        self.cook(self.game, "--out", os.path.join(self.game, "content/out"))
        first = self.cook(self.game)
        self.assertEqual(self.tree(self.game, "pc"), {"Game/a.txt": b"a", "Game/b.txt": b"b"})
        self.assertIn(f"1 folder under the mounts is a sandbox of cooked files and is not cooked: {self.game}/content/out/pc;", first.summary["warnings"][0]["text"])

    def test_one_stage_at_a_time(self):
        os.makedirs(self.path("out/pc"))
        folder = os.open(self.path("out/pc"), os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        process = self.start_cook(self.game, "--out", self.path("out"))
        self.addCleanup(process.kill)
        line = self.wait_for_line(process, "waiting for another")
        self.assertIn(f"waiting for another process that stages to {self.path('out/pc')}", line)
        self.assertEqual(os.listdir(self.path("out/pc")), [])
        os.close(folder)
        cook = self.finish_cook(self.game, process)
        self.assertEqual(cook.code, 0, cook)
        self.assertEqual(cooked(self.path("out/pc")), {"Game/a.txt": b"a", "Game/b.txt": b"b"})

    def test_ctrl_c_ends_a_cook_that_waits_for_the_stage_of_another(self):
        game = self.project({"a.txt": "a"}, [COPY], name="two", platforms=['name = "pc"', 'name = "phone"'])
        os.makedirs(self.path("out/pc"))
        folder = os.open(self.path("out/pc"), os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        process = self.start_cook(game, "--quiet", "--out", self.path("out"))
        self.addCleanup(process.kill)
        line = self.wait_for_line(process, "waiting for another")
        self.assertRegex(line, rf"out/pc( \(process {os.getpid()}\))?$")
        process.send_signal(signal.SIGINT)
        cook = self.finish_cook(game, process)
        self.assertEqual((cook.code, cook.summary["exit_code"]), (130, 130), cook)
        self.assertIn("pc, phone are published and were not staged: `galley cook` stages what is left", cook.stderr)
        self.assertFalse(os.path.exists(self.path("out/phone")), "it stopped")
        os.close(folder)
        self.cook(game, "--out", self.path("out"))
        self.assertEqual((cooked(self.path("out/pc")), cooked(self.path("out/phone"))), ({"Game/a.txt": b"a"}, {"Game/a.txt": b"a"}))

    def test_ctrl_c_ends_a_cook_that_lays_a_large_tree_out(self):
        game = self.project({f"{i % 50}/{i}.txt": str(i) for i in range(2000)}, [COPY], name="large")
        self.cook(game, "--no-stage")
        process = self.start_cook(game, "--quiet", "--out", self.path("out"))
        self.addCleanup(process.kill)
        # Its ledger says that files are being written: it is held there until the signal waits for it.
        limit = time.monotonic() + 60
        while not os.path.exists(self.path("out/pc/.galley-root.pending")) and process.poll() is None:
            self.assertLess(time.monotonic(), limit)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        process.send_signal(signal.SIGCONT)
        cook = self.finish_cook(game, process)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual((cook.code, cook.summary["exit_code"]), (130, 130), cook)
        self.assertIn("staging was interrupted; pc is published and was not staged: `galley cook` stages what is left", cook.stderr)
        laid = len(cooked(self.path("out/pc")))
        self.assertLess(laid, 2000)
        next_cook = self.cook(game, "--out", self.path("out"))
        self.assertIn(f"staged pc: {2000 - laid} written", next_cook.stderr)
        self.assertEqual(cooked(self.path("out/pc")), {f"Game/{i % 50}/{i}.txt": str(i).encode() for i in range(2000)})

    def test_what_is_in_the_way_fails_the_stage_and_the_next_cook_completes_it(self):
        self.cook(self.game)
        self.write("game/content/deep/c.txt", "c")
        mine = self.write("game/.galley/cooked/pc/Game/deep", "mine")
        blocked = self.cook(self.game, expect=3)
        self.assertIn(f"{mine} was not put there by Galley, and Game/deep/c.txt of /Game/deep/c.txt needs its place", blocked.stderr)
        self.assertIn("its root is published", blocked.stderr)
        self.assertEqual(self.tree(self.game, "pc"), {"Game/a.txt": b"a", "Game/b.txt": b"b", "Game/deep": b"mine"})
        os.rename(mine, self.path("mine"))
        self.cook(self.game)
        self.assertEqual(self.tree(self.game, "pc"), {"Game/a.txt": b"a", "Game/b.txt": b"b", "Game/deep/c.txt": b"c"})

    def test_another_projects_sandbox_is_refused(self):
        other = self.project({"x.txt": "x"}, [COPY], name="other")
        self.cook(other, "--out", self.path("out"))
        before = tree_of(self.path("out"))
        said = self.assert_refused("--out", self.path("out"))
        self.assertIn(f"the sandbox of another project, other in {other}", said)
        self.assertEqual(tree_of(self.path("out")), before)
        # Its own it is still, when its state was deleted.
        shutil.rmtree(os.path.join(other, ".galley"))
        self.cook(other, "--out", self.path("out"))
        self.cook(self.game, "--out", self.path("out"), "--adopt")
        self.assertEqual(cooked(self.path("out/pc")), {"Game/a.txt": b"a", "Game/b.txt": b"b"})


class InterruptedStageTest(harness.E2ETest):
    def test_killed_at_any_call_the_sandbox_is_still_ours_and_other_files_stay(self):
        library = self.path("kill.so")
        source = os.path.join(harness.SOURCE, "tests", "e2e", "kill_at_call.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        game = self.project({"a.txt": "a", "b.txt": "b"}, [COPY])
        self.cook(game, "--no-stage")
        cook = ["cook", "--project", game, "--workers", "1", "--out"]

        def run(out, at):
            return self.galley(*cook, out, env={"LD_PRELOAD": library, "GALLEY_KILL_AT": str(at), "GALLEY_KILL_COUNT": self.path("count")})

        self.assertEqual(run(self.path("counted"), 0).returncode, 0)
        calls = int(self.read("count"))
        begun = blocked = 0
        # Staging is near the end, before what stands is written down: each call from before its first to its last.
        for at in range(max(1, calls - 40), calls + 1):
            out = self.path(f"out{at}")
            killed = run(out, at)
            if killed.returncode == 0:
                continue  # how many calls there are before depends on the scan
            self.assertEqual(killed.returncode, -9, f"call {at} of {calls}: {killed.stderr}")
            left = tree_of(os.path.join(out, "pc")) if os.path.isdir(os.path.join(out, "pc")) else {}
            if ".galley-sandbox" in left:
                begun += 1
                self.write(f"out{at}/pc/Game/mine.txt", "mine")
            elif left:
                self.assertTrue(all(name.startswith((".galley-new", ".galley-root.pending")) for name in left), left)
            if ".galley-sandbox" in left and "Game/b.txt" not in left and blocked == 0:
                # Somebody was first at a path that was only planned.
                blocked += 1
                mine = self.write(f"out{at}/pc/Game/b.txt", "mine")
                refused = self.galley(*cook, out)
                self.assertEqual(refused.returncode, 3, refused)
                self.assertIn(f"{mine} was not put there by Galley", refused.stderr)
                self.assertEqual(harness.read_file(mine), b"mine")
                os.remove(mine)
            self.assertEqual(self.galley(*cook, out).returncode, 0, f"call {at} of {calls}")
            expected = {"Game/a.txt": b"a", "Game/b.txt": b"b"}
            if ".galley-sandbox" in left:
                expected["Game/mine.txt"] = b"mine"
            self.assertEqual(cooked(os.path.join(out, "pc")), expected, f"call {at} of {calls}")
        self.assertGreater(begun, 3)
        self.assertEqual(blocked, 1)


class LongNameTest(harness.E2ETest):
    def test_an_output_with_a_name_too_long_is_its_packages_failure_and_the_rest_is_staged(self):
        long = "n" * 246 + ".json"
        files = {f"{i}.json": f'{{"i": {i}}}' for i in range(5)}
        game = self.project({**files, long: "{}"}, ['match = "/Game/**/*.json"\ncooker = "data"'],
                            platforms=['name = "pc"\ntexture = "bc"\nshader = "spirv-1.5"', 'name = "phone"\ntexture = "astc"\nshader = "essl-310"'])
        cook = self.cook(game, expect=1)
        self.assertEqual({(f["package"], f["platform"], f["stage"]) for f in cook.failures},
                         {("/Game/" + long, "pc", "commit"), ("/Game/" + long, "phone", "commit")})
        self.assertIn("it has a name of 256 bytes, file systems take at most 255", cook.failures[0]["error"])
        for platform in ("pc", "phone"):
            self.assertEqual(sorted(self.tree(game, platform)), [f"Game/{i}.json.cbor" for i in range(5)])
        self.assertEqual(len(self.galley("tree", "pc@latest", "--project", game).stdout.splitlines()), 5)
        os.remove(os.path.join(game, "content", long))
        self.assertEqual(self.cook(game).roots, cook.roots)

    def test_a_path_too_long_only_in_this_machines_output_names_the_package_and_the_next_cook_stages(self):
        deep = "/".join(["d" * 250] * 8)
        game = self.project({"a.txt": "a", f"{deep}/b.txt": "b"}, [COPY])
        out = self.path(*["o" * 250] * 9)
        os.makedirs(out)
        cook = self.cook(game, "--out", out, expect=3)
        self.assertIn(f"of /Game/{deep}/b.txt: it would have a path of", cook.stderr)
        self.assertIn("its root is published", cook.stderr)
        self.assertEqual(self.cook(game).roots, cook.roots)


class CopiedProjectTest(harness.E2ETest):
    def setUp(self):
        super().setUp()
        self.game = self.project({"a.txt": "a", "b.txt": "b"}, [COPY])
        self.cook(self.game)

    def copy(self, name):
        shutil.copytree(self.game, self.path(name), symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        return self.path(name)

    def roots(self, project):
        lines = self.galley("roots", "--json", "--project", project).stdout.splitlines()
        roots = [json.loads(line) for line in lines]
        return {root["project_id"] for root in roots}, [root["sequence"] for root in roots]

    def test_a_copy_has_a_history_of_its_own(self):
        copy = self.copy("copy")
        self.write("copy/content/a.txt", "A")
        os.remove(os.path.join(copy, "content/b.txt"))
        cook = self.cook(copy)
        self.assertIn(f"a copy of the one in {self.game}", cook.stderr)
        self.assertEqual(cook.cooked, 1)
        self.assertEqual(self.tree(copy, "pc"), {"Game/a.txt": b"A"}, "the copied sandbox is the copy's")
        self.assertEqual(self.tree(self.game, "pc"), {"Game/a.txt": b"a", "Game/b.txt": b"b"})
        ids, sequences = self.roots(copy)
        self.assertEqual(sequences, [1])
        own, _ = self.roots(self.game)
        self.assertEqual(len(own | ids), 2)
        # From now on each is at home.
        for project, expected in ((self.game, own), (copy, ids)):
            self.assertNotIn("a copy of", self.cook(project, "--force").stderr)
            self.assertEqual(self.roots(project)[0], expected)

    def test_a_copy_does_not_stage_where_the_original_does(self):
        for project in (self.game, ):
            self.write("game/galley.toml", self.read("game/galley.toml") + f'[output]\ndir = "{self.path("shared")}"\n'.encode())
            self.cook(project)
        copy = self.copy("copy")
        refused = self.cook(copy, expect=2)
        self.assertIn(f"the sandbox of another project, game in {self.game}", refused.stderr)
        self.cook(self.game)

    def test_a_project_without_a_name_takes_its_output_along(self):
        self.write("game/galley.toml", self.read("game/galley.toml").replace(b'name = "game"\n', b""))
        self.cook(self.game, "--out", self.path("game/out"))
        # As jobs of a CI system have it: another folder for each, and no state.
        shutil.rmtree(self.path("game/.galley"))
        os.rename(self.game, self.path("job-124"))
        os.remove(self.path("job-124/content/b.txt"))
        self.cook(self.path("job-124"), "--out", self.path("job-124/out"))
        self.assertEqual(cooked(self.path("job-124/out/pc")), {"Game/a.txt": b"a"})

    def test_what_was_moved_or_restored_keeps_its_id(self):
        ids, _ = self.roots(self.game)
        moved = self.path("moved")
        os.rename(self.game, moved)
        os.makedirs(self.game)
        cook = self.cook(moved)
        self.assertNotIn("a copy of", cook.stderr)
        self.assertEqual(cook.results["up_to_date"], 2)
        self.assertEqual(self.roots(moved)[0], ids)
        # From a backup, in the place of what was lost; and its journal is lost, too: the id is kept twice.
        shutil.copytree(moved, self.path("backup"), ignore=shutil.ignore_patterns("*.sock"))
        shutil.rmtree(moved)
        os.rename(self.path("backup"), moved)
        shutil.rmtree(os.path.join(moved, ".galley/state/journal"))
        self.cook(moved)
        self.assertEqual(self.roots(moved)[0], ids)
        # A link to it is the same folder.
        os.symlink(moved, self.path("link"))
        self.assertNotIn("a copy of", self.cook(self.path("link")).stderr)
        self.assertEqual(self.roots(moved)[0], ids)


if __name__ == "__main__":
    unittest.main()
