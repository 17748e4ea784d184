"""Two cooks of one snapshot give the same root, whatever the workers, their order, their crashes, the place, the store."""
import os, random, shutil, subprocess, time, unittest

from harness import BIN, SOURCE, E2ETest, is_running, kill, processes, read_file, wait_until


class SameRootTest(E2ETest):
    @classmethod
    def reference(cls, test):
        return test.cook(test.sample("reference")).roots

    def test_one_two_and_four_workers_and_force_and_a_new_store(self):
        roots = self.reference(self)
        game = self.sample()
        for count in (1, 2, 4):
            store = self.path(f"store-{count}")
            cook = self.cook(game, "--workers", count, "--store", store)
            self.assertEqual(cook.roots, roots, f"{count} workers")
            self.assertGreater(cook.cooked, 0)
        forced = self.cook(game, "--force", "--store", self.path("store-4"))
        self.assertEqual(forced.roots, roots)
        self.assertGreater(forced.cooked, 0)

    def test_a_key_of_an_older_galley_changes_no_root_and_no_key(self):
        roots = self.reference(self)
        game = self.sample()
        store = self.path("store")
        cook = self.cook(game, "--workers", 2, "--store", store)
        self.assertEqual(cook.roots, roots)
        self.assertGreater(cook.cooked, 0)
        again = self.cook(game, "--store", store, env={"GALLEY_FARM_PLACEMENT": "cost"})
        self.assertEqual((again.cooked, again.roots), (0, roots), again)

    def test_a_fresh_copy_elsewhere_with_new_times(self):
        roots = self.reference(self)
        game = self.sample("quite/another place")
        for folder, _, names in os.walk(game):
            for name in names:
                os.utime(os.path.join(folder, name), (1_000_000_000, 1_000_000_000))
        self.assertEqual(self.cook(game).roots, roots)

    def test_a_fresh_copy_that_shares_the_store_cooks_nothing_but_commands(self):
        first = self.sample("first")
        self.cook(first, "--store", self.path("store"))
        second = self.cook(self.sample("second"), "--store", self.path("store"))
        self.assertEqual(second.cooked, 0, second)
        self.assertEqual(second.roots, self.reference(self))

    def kill_while_cooking(self, role, kills):
        game = self.sample()
        process = self.start_cook(game, "--workers", 2)
        killed = set()

        def victims():
            return [pid for pid, command in processes("galley-worker", process.pid) if role in command and pid not in killed]

        for _ in range(kills):
            found = wait_until(lambda: victims() or process.poll() is not None, f"a {role} to kill")
            if found is True:
                break
            pid = random.choice(found)
            time.sleep(random.random() * 0.1)
            kill(pid)
            killed.add(pid)
        return self.finish_cook(game, process), killed

    def test_workers_killed_in_the_middle(self):
        roots = self.reference(self)
        cook, killed = self.kill_while_cooking("session", 4)
        self.assertEqual(cook.code, 0, cook)
        self.assertTrue(killed)
        self.assertEqual(cook.roots, roots, cook)

    def test_executors_killed_in_the_middle(self):
        roots = self.reference(self)
        cook, killed = self.kill_while_cooking("executor", 6)
        self.assertEqual(cook.code, 0, cook)
        self.assertTrue(killed)
        self.assertLessEqual(cook.summary["workers"]["executors_lost"], len(killed), "those that had work; an idle one is nobody's loss")
        self.assertEqual(cook.roots, roots, cook)

    def test_the_director_killed_in_the_middle_leaves_a_store_that_the_next_cook_goes_on_with(self):
        roots = self.reference(self)
        game = self.sample()
        process = self.start_cook(game, "--workers", 2)
        wait_until(lambda: processes("galley-worker", process.pid) or process.poll() is not None, "workers")
        time.sleep(0.3)
        workers = [pid for pid, _ in processes("galley-worker", process.pid)]
        process.kill()
        process.communicate()
        wait_until(lambda: not [w for w in workers if is_running(w)], "the workers to die with their director")
        self.assertEqual(self.cook(game).roots, roots)

    @unittest.skipIf("build-asan" in BIN or "build-tsan" in BIN, "a sanitizer's runtime must be the first library")
    def test_an_include_edited_while_results_wait_for_a_slow_disk_leaves_nothing_stale(self):
        library = self.path("slow_sync.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, os.path.join(SOURCE, "tests/e2e/slow_sync.c"), "-ldl"], check=True)
        unedited = self.reference(self)
        for delay in (0.4, 0.8):
            game = self.sample(f"game-{delay}")
            process = self.start_cook(game, "--workers", 2, env={"LD_PRELOAD": library})
            time.sleep(delay)
            include = os.path.join(game, "engine/shaders/include/lighting.glsl")
            text = read_file(include).decode()
            with open(include, "w") as file:
                file.write(text.replace("0.9 * lambert", "0.8 * lambert"))
            self.finish_cook(game, process)
            after = self.cook(game)
            shutil.copytree(game, self.path(f"fresh-{delay}"), ignore=shutil.ignore_patterns(".galley"))
            fresh = self.cook(self.path(f"fresh-{delay}"))
            self.assertEqual(after.roots, fresh.roots, after)
            self.assertNotEqual(fresh.roots, unedited)

    def test_a_copied_texture_is_cached_here_and_in_another_project(self):
        store = self.path("store")
        game = self.sample()
        self.cook(game, "--store", store)
        shutil.copy(os.path.join(game, "content/textures/brick_albedo.png"), os.path.join(game, "content/textures/copy_of_brick.png"))
        copied = self.cook(game, "--store", store)
        self.assertEqual(copied.cooked, 0, copied)
        self.assertEqual(copied.results["cached"], 3)
        other = self.project({"walls/b.png": read_file(os.path.join(game, "content/textures/brick_albedo.png"))},
                             ['match = "/Game/**/*.png"\ncooker = "texture"\nsettings = { quality = "fast" }'], name="other")
        cook = self.cook(other, "--store", store)
        self.assertEqual((cook.cooked, cook.results["cached"]), (0, 1), cook)

    def test_a_copied_material_points_at_its_new_neighbours(self):
        files = {"a/m.material": '{"t": {"$ref": "t.bin"}}', "a/t.bin": "first", "b/m.material": '{"t": {"$ref": "t.bin"}}', "b/t.bin": "second"}
        game = self.project(files, ['match = "/Game/**/*.material"\ncooker = "data"', 'match = "/Game/**/*.bin"\ncooker = "copy"'])
        cook = self.cook(game, "/Game/b/m.material")
        self.assertEqual(set(self.tree(game, "pc")), {"Game/b/m.material.cbor", "Game/b/t.bin"}, cook)
        both = self.cook(game, "/Game/a/m.material")
        self.assertEqual(both.results["cached"], 1, both)
        self.assertEqual(self.tree(game, "pc")["Game/a/t.bin"], b"first")

    def test_exec_action_by_hand_gives_the_same_bytes(self):
        game = self.sample()
        cook = self.cook(game)
        import subprocess
        from harness import BIN
        tree = self.tree(game, "android")
        for package, suffix in (("/Game/textures/brick_albedo.png", ".ktx2"), ("/Engine/shaders/water.frag", ".essl"),
                                ("/Game/data/strings.json", ".cbor"), ("/Game/text/credits.txt", ".baked"), ("/Game/data/table.bin", "")):
            action = self.path("action" + package.replace("/", "-"))
            exported = self.galley("records", package, "--platform", "android", "--export", action, "--project", game)
            self.assertEqual(exported.returncode, 0, exported.stderr)
            ran = subprocess.run([os.path.join(BIN, "galley-worker"), "exec-action", action], text=True, capture_output=True, cwd="/")
            self.assertEqual(ran.returncode, 0, f"{package}: {ran.stderr}")
            with open(os.path.join(action, "out", "output" + suffix), "rb") as file:
                self.assertEqual(file.read(), tree[package[1:] + suffix], package)
        self.assertTrue(cook.roots)


if __name__ == "__main__":
    unittest.main()
