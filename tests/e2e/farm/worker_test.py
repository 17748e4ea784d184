"""Workers and the programs that they run: failures that are not kept, their logs, and nothing that outlives a cook."""
import json, os, shutil, signal, subprocess, sys, unittest

from harness import BIN, LIMIT_S, SOURCE, E2ETest, is_running, kill, processes, read_file, wait_until

sys.path.append(os.path.join(SOURCE, "tests", "content"))
import check_textures, ktx2

COMMAND = 'match = "/Game/**/*.txt"\ncooker = "command"\nsettings = { argv = ["tools/tool", "{input}", "{output:.out}"], outputs = [".out"] }\n'


class WorkerTest(E2ETest):
    def game(self, tool, files=None):
        game = self.project(files or {"a.txt": "x"}, [COMMAND])
        self.write("game/tools/tool", tool, 0o755)
        return game

    def log_of(self, game, failure):
        """The blob that a failure's log names; segments hold blobs as they are."""
        self.assertTrue(failure["log"], failure)
        store = os.path.join(game, ".galley", "store")
        return b"".join(read_file(os.path.join(folder, name)) for folder, _, names in os.walk(store) for name in names
                        if os.path.isfile(os.path.join(folder, name)))

    def test_a_failing_command_is_run_again_by_the_next_cook_and_leaves_its_words(self):
        # The cause of the failure is in no key.
        missing = self.path("licence")
        game = self.game(f'#!/bin/sh\n[ -e {missing} ] || {{ echo there is no licence; exit 1; }}\ncp "$1" "$2"\n')
        cook = self.cook(game, expect=1)
        self.assertIn("exit code 1", cook.failures[0]["error"])
        self.assertIn(b"there is no licence\n", self.log_of(game, cook.failures[0]))
        self.write("licence", "")
        again = self.cook(game)
        self.assertEqual((again.failures, again.cooked), ([], 1))

    def test_an_executor_that_was_killed_with_its_job_is_counted_and_the_job_done_again(self):
        marker = self.path("killed")
        game = self.game(f'#!/bin/sh\n[ -e {marker} ] || {{ : > {marker}; kill -9 $PPID; exec sleep 60; }}\ncp "$1" "$2"\n')
        cook = self.cook(game)
        self.assertTrue(os.path.exists(marker))
        self.assertEqual(cook.summary["workers"]["executors_lost"], 1, cook)
        self.assertEqual(cook.cooked, 1, cook)

    def test_workers_that_cannot_start_an_executor_end_the_cook_soon_and_blame_no_package(self):
        game = self.project({f"{i}.bin": f"{i}" for i in range(50)}, ['match = "/Game/**/*.bin"\ncooker = "copy"\n'])
        os.makedirs(self.path("bin"))
        shutil.copy(os.path.join(BIN, "galley"), self.path("bin/galley"))
        # Runs from a file that is gone: it can start no other of its kind.
        self.write("bin/galley-worker", f'#!/bin/bash\nat=$(mktemp {self.path("worker.XXXX")})\ncp {os.path.join(BIN, "galley-worker")} $at\n'
                                        'chmod +x $at\nexec 9<$at\nrm $at\nexec /proc/self/fd/9 "$@"\n', 0o755)
        cook = subprocess.run([self.path("bin/galley"), "cook", "--project", game, "--summary", self.path("summary.json")], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        self.assertEqual(cook.returncode, 3, cook)
        self.assertRegex(cook.stderr, "no worker would start: [5-7] failures in a row")  # (two may fail at the same time)
        self.assertIn("no executor could be started", cook.stderr)
        with open(self.path("summary.json")) as file:
            self.assertEqual(json.load(file)["failures"], [])

    def by_hand(self, *args, cwd=None):
        return subprocess.run([os.path.join(BIN, "galley-worker"), "cook", *map(str, args)], cwd=cwd or self.dir, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)

    def test_a_file_cooked_by_hand_is_what_a_cook_of_the_project_makes(self):
        game = self.sample()
        self.cook(game)
        fog = os.path.join(game, "engine/shaders/lit_fog.frag")
        hand = self.by_hand(fog, "--mount", f"/Engine={game}/engine", "--settings",
                            '{"include_dirs": ["/Engine/library"], "defines": {"FOG_DENSITY": "0.02"}}', "--out", self.path("hand"), "--json")
        self.assertEqual(hand.returncode, 0, hand)
        told = json.loads(hand.stdout)
        self.assertEqual(read_file(self.path("hand/lit_fog.frag.spv")), self.tree(game, "windows")["Engine/shaders/lit_fog.frag.spv"])
        self.assertIn("file(/Engine/library/fog.glsl)", [seen["what"] for seen in told["observations"]])
        self.assertEqual(os.listdir(self.path("hand")).count("lit_fog.frag.spv"), 1)

    def test_a_preview_shows_what_a_player_would_see(self):
        game = self.sample()
        leaves = os.path.join(game, "content/textures/leaves.png")
        hand = self.by_hand(leaves, "--platform", "texture=astc", "--settings", '{"block": "12x12"}', "--preview", "leaves.png")
        self.assertEqual(hand.returncode, 0, hand)
        self.assertEqual(read_file(self.path("leaves.png"))[:24], read_file(leaves)[:24], "a PNG of the same size")
        self.assertTrue(os.path.exists(self.path("leaves.png.ktx2")))
        source, shown = ktx2.read_rgba(leaves), ktx2.read_rgba(self.path("leaves.png"))
        self.assertGreater(check_textures.psnr(source, shown, "RGBA"), 12)  # blocks of 12 x 12 texels of noise
        self.assertNotEqual(source, shown, "what the format makes of it, not the source")
        hand = self.by_hand(leaves, "--settings", '{"format": "rgba8"}', "--preview", "exact.png")
        self.assertEqual(hand.returncode, 0, hand)
        self.assertEqual(ktx2.read_rgba(self.path("exact.png")), source)

    def test_by_hand_what_is_wrong_is_said(self):
        game = self.sample()
        broken = self.write("broken.json", '{"a": }')
        os.symlink(self.dir, self.path("link"))
        verdict = self.by_hand(broken)
        self.assertEqual(verdict.returncode, 1, verdict)
        self.assertIn("line 1", verdict.stderr)
        texture = os.path.join(game, "content/textures/one.png")
        for args, said in ((["absent.png"], "no such file"), ([texture, "--cooker", "textur"], "texture"),
                           ([texture, "--settings", '{"qualty": "fast"}'], "quality"), ([texture, "--platform", "astc"], "texture=astc"),
                           ([broken, "--cooker", "copy", "--out", self.path("link")], "--out"), ([broken, "--preview", "x.png"], "line 1"), ([texture, "--preview", texture], "the source itself")):
            answer = self.by_hand(*args)
            self.assertIn(answer.returncode, (1, 2), answer)
            self.assertIn(said, answer.stderr, answer)

    def test_a_command_out_of_time_leaves_its_words(self):
        game = self.project({"a.txt": "x"}, [COMMAND + "timeout_s = 1"])
        self.write("game/tools/tool", "#!/bin/sh\necho waiting for godot\nexec sleep 1000\n", 0o755)
        cook = self.cook(game, expect=1)
        self.assertIn(b"waiting for godot\n", self.log_of(game, cook.failures[0]))

    def test_a_source_that_changes_while_its_command_reads_it_is_cooked_as_it_is_now(self):
        game = self.game('#!/bin/sh\nif ! [ -e ../../../changed ] && mkdir "$0.once" 2>/dev/null; then echo new > "$SOURCE"; fi\ncat "$1" > "$2"\n')
        with open(os.path.join(game, "galley.toml"), "a") as file:
            file.write('[cook]\nwalls = "off"\n')  # the program plays a person who saves
        source = os.path.join(game, "content", "a.txt")
        self.write("game/content/a.txt.cook", f'[settings.env]\nSOURCE = "{source}"\n')
        cook = self.cook(game)
        self.assertEqual(self.tree(game, "pc"), {"Game/a.txt.out": b"new\n"}, cook)
        second = self.cook(game)
        self.assertEqual(second.roots, cook.roots)

    def daemons(self, game):
        """The two programs that the tool starts: one in its group, one that left it."""
        found = []
        for name in ("near", "far"):
            try:
                found.append(int(read_file(self.path(name))))
            except (OSError, ValueError):
                return None
        return found

    def check_nothing_outlives(self, end):
        """`end`(process): ends the cook by force while a command runs."""
        game = self.game(f"""#!/bin/sh
setsid sh -c 'echo $$ > {self.path("far")}; exec sleep 1000' &
sleep 1000 &
echo $! > {self.path("near")}
wait
""")
        process = self.start_cook(game, "--workers", 1)
        pids = wait_until(lambda: self.daemons(game), "the command to start its programs")
        self.addCleanup(lambda: [kill(pid) for pid in pids])
        self.assertTrue(all(is_running(pid) for pid in pids))
        end(process)
        process.communicate(timeout=LIMIT_S)
        wait_until(lambda: not any(is_running(pid) for pid in pids), "the programs to end")

    def roles(self, process, role):
        return [pid for pid, command in processes("galley-worker", process.pid) if role in command]

    def test_ctrl_c_leaves_no_program_behind(self):
        self.check_nothing_outlives(lambda process: process.send_signal(signal.SIGINT))

    def test_a_killed_director_leaves_no_program_behind(self):
        self.check_nothing_outlives(lambda process: process.kill())

    def test_a_killed_executor_or_session_leaves_no_program_behind(self):
        for role in ("executor", "session"):
            def end(process):
                pids = self.daemons(self.path("game"))
                for pid in self.roles(process, role):
                    kill(pid)
                wait_until(lambda: not any(is_running(pid) for pid in pids), f"the programs of a killed {role} to end")
                process.send_signal(signal.SIGINT)  # the next attempt runs; it ends too
            with self.subTest(role):
                self.check_nothing_outlives(end)
                for name in ("near", "far"):
                    os.remove(self.path(name))


if __name__ == "__main__":
    unittest.main()
