"""The command line itself: what is wrong with it is said with what to do; help; an answer that cannot be printed."""
import json, os, shutil, subprocess, unittest

from harness import E2ETest

COPY = 'match = "/Game/**/*.bin"\ncooker = "copy"'


class CliTest(E2ETest):
    def check_usage(self, *args, says):
        answer = self.galley(*args)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""), answer)
        self.assertEqual(answer.stderr, f"galley: {says}\n")

    def test_what_nobody_has_is_named_with_what_is_like_it(self):
        self.check_usage("cok", says="galley has no command \"cok\", did you mean \"cook\"?; `galley --help` lists them")
        self.check_usage("store", "stat", says="galley store has no command \"stat\", did you mean \"stats\"?; `galley store --help` lists them")
        self.check_usage("xyzzyx", says="galley has no command \"xyzzyx\"; `galley --help` lists them")
        self.check_usage(says="galley needs a command; `galley --help` lists them")
        self.check_usage("store", says="galley store needs a command; `galley store --help` lists them")
        self.check_usage("cook", "--platfrom=pc", says="galley cook has no option --platfrom, did you mean --platform?; `galley cook --help` lists them")
        self.check_usage("why", says="galley why: package is required; see `galley why --help`")
        self.check_usage("cook", "--workers", "0", says="galley cook: --workers: Value 0 not in range 1 to 4096; see `galley cook --help`")

    def test_an_empty_argument_is_nothing_that_was_meant(self):
        os.mkdir(self.path("work"))
        for args, says in ((["store", "put", "", "--store", "s"], "galley store put: path is empty"),
                           (["store", "put", ".", "--store", ""], "galley store put: --store is empty"),
                           (["checkout", "pin:x", ""], "galley checkout: directory is empty"),
                           (["cook", "--project", ""], "galley cook: --project is empty"),
                           (["cook", ""], "galley cook: selection is empty"), (["store", "gc", "--max-size", ""], "galley store gc: --max-size is empty"),
                           (["clean", ""], "galley clean: packages is empty"), (["init", ""], "galley init: directory is empty")):
            answer = self.galley(*args, cwd=self.path("work"))
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), (args, answer))
            self.assertIn(says + "; give it a value (is a variable of a script not set?)", answer.stderr)
            self.assertEqual(os.listdir(self.path("work")), [])

    def test_a_root_that_is_none_is_wrong_usage_and_a_store_that_is_none_is_not(self):
        game = self.project({"a.bin": "x"}, [COPY])
        root = self.cook(game).roots["pc"]
        unknown = "0" * 64 + "/5"
        for text in ("pc@1", "pc@4294967295", "pc@4294967296", "pc@18446744073709551616", "pc@99999999999999999999999", "pc@-1", "pc@", "pc#0", "pc#2", "pc#99999999999999999999999", "pc#", unknown, "pin:x"):
            for args in (["tree", text], ["diff", text, root], ["checkout", text, self.path("out")], ["patch", root, text, "-o", self.path("p")]):
                answer = self.galley(*args, "--project", game)
                self.assertEqual((answer.returncode, answer.stdout), (2, ""), (args, answer))
        self.assertEqual(self.galley("tree", "pc@0", "--project", game).returncode, 0)
        self.assertFalse(os.path.exists(self.path("out")) or os.path.exists(self.path("p")))
        for args in (["stats"], ["pins"], ["verify"], ["gc", "--max-size", "0"], ["gc", "--project", game], ["cat", root], ["why", root], ["forget", root]):
            answer = self.galley("store", *args, "--store", self.path("nowhere"))
            self.assertEqual(answer.returncode, 3, (args, answer))
            self.assertIn("there is no store in", answer.stderr)
        self.assertEqual(self.galley("roots", "--store", self.path("nowhere")).returncode, 3)
        self.assertEqual(self.galley("store", "stats").returncode, 2, "no project says which")
        self.assertIn("[store] remote", self.galley("store", "stats", "--store", "grpc://x:1").stderr)

    def test_wrong_usage_is_an_event_for_programs(self):
        answer = self.galley("cook", "--json", "--platfrom", "pc")
        self.assertEqual(answer.returncode, 2)
        event = json.loads(answer.stdout)
        self.assertEqual((event["event"], event["exit_code"]), ("error", 2))
        self.assertIn("did you mean --platform?", event["text"])

    def test_help_of_a_command_in_either_order(self):
        one, other = self.galley("help", "cook"), self.galley("cook", "--help")
        self.assertEqual((one.returncode, other.returncode), (0, 0))
        self.assertEqual(one.stdout, other.stdout)
        self.assertIn("--platform", one.stdout)
        self.assertIn("doctor", self.galley("help").stdout)
        self.assertEqual(self.galley("help", "store", "why").stdout, self.galley("store", "why", "--help").stdout)

    def completed(self, *words):
        """What bash offers for the last of these words."""
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _galley; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        answer = subprocess.run(["bash", "-c", script, os.path.join(self.bin, "galley"), *words], text=True, check=True, cwd=self.path("."),
                                stdout=subprocess.PIPE)
        return answer.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.completed("galley", "co"), ["cook", "completion"])
        self.assertEqual(self.completed("galley", "store", "un"), ["unpin"])
        self.assertEqual(self.completed("galley", "cook", "--summ"), ["--summary"])
        self.assertEqual(self.completed("galley", "cook", "--dlc"), [], "what is not built yet is not offered")
        self.assertEqual(self.completed("galley", "completion", "z"), ["zsh"])
        os.makedirs(self.path("folder"))
        self.write(self.path("file.txt"), b"x")
        self.assertEqual(self.completed("galley", "cook", "--out", "f"), ["folder"])
        self.assertEqual(sorted(self.completed("galley", "cook", "--summary", "f")), ["file.txt", "folder"])
        self.check_usage("completion", "csh", says="galley completion: shell: csh not in {bash,zsh,fish}; see `galley completion --help`")

    def test_the_man_page_is_one(self):
        page = self.galley("--man")
        self.assertEqual(page.returncode, 0)
        self.assertIn(".SS galley store verify\n", page.stdout)
        self.assertNotIn("not yet", page.stdout)

    def test_help_of_what_is_no_command_is_wrong_usage(self):
        self.check_usage("help", "nosuch", says="galley has no command \"nosuch\"; `galley --help` lists them")
        self.check_usage("help", "cok", says="galley has no command \"cok\", did you mean \"cook\"?; `galley --help` lists them")
        self.check_usage("help", "store", "stat", says="galley store has no command \"stat\", did you mean \"stats\"?; `galley store --help` lists them")
        self.check_usage("nosuch", "--help", says="galley has no command \"nosuch\"; `galley --help` lists them")

    def test_flags_that_are_not_built_yet_take_no_argument_away(self):
        self.check_usage("cook", "--map-dependencies", "/Game/x", says="--map-dependencies: not yet")
        self.check_usage("cook", "--verify-determinism=10", "/Game/x", says="--verify-determinism: not yet")
        self.check_usage("cook", "--dlc", "/Game/x", says="--dlc: not yet")
        self.check_usage("cook", "--recook", "/Game/x", says="--recook: not yet")
        self.check_usage("diff", "a", "b", "--budget", "F", says="--budget: not yet")
        for later in ("release", "container", "trust"):
            self.check_usage(later, "anything", "--of-it", says=f"{later}: not yet")
        for flag in ("--map-dependencies", "--link", "--no-sandbox"):  # an argument behind it is the selection's
            self.assertIn("galley cook: selection is empty", self.galley("cook", flag, "").stderr)
        self.assertIn("--dlc", self.galley("cook", "--dlc").stderr)

    def test_digests_are_taken_as_they_are_printed(self):
        game = self.project({"a.bin": "first", "bad.json": "{", "b.bin": "b"} | {f"{i}.txt.bin": str(i) for i in range(20)}, [COPY, 'match = "/Game/*.json"\ncooker = "data"'])
        first = self.cook(game, expect=1).roots["pc"]
        self.write("game/content/a.bin", "second")
        second = self.cook(game, expect=1).roots["pc"]
        roots = self.galley("roots", "--project", game).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in roots], ["pc#2", "pc#1"])
        # A root by its number, by its age, by its first digits.
        def files(root):
            answer = self.galley("tree", root, "--project", game)
            self.assertEqual(answer.returncode, 0, answer)
            return answer.stdout
        self.assertEqual({files(name) for name in ("pc#1", "pc@1", first, first[:12], first[:12] + "..")}, {files(first)})
        self.assertEqual({files(name) for name in ("pc#2", "pc@0", "pc@last", second[:12])}, {files(second)})
        for wrong, says in (("pc#3", "no root has this number"), ("pc#x", "expected a number after #"), ("other#1", "no root has this number")):
            answer = self.galley("tree", wrong, "--project", game)
            self.assertEqual(answer.returncode, 2, answer)
            self.assertIn(says, answer.stderr)
        # A file of a tree as `tree` prints it, a key and a weak key as `records` does.
        printed = next(line.split()[0] for line in files("pc#1").splitlines() if line.endswith("Game/a.bin"))
        self.assertEqual(self.galley("store", "cat", printed, "--project", game).stdout, "first")
        self.assertIn("pc#1", self.galley("store", "why", printed, "--project", game).stdout)
        key = json.loads(self.galley("records", "/Game/b.bin", "--json", "--project", game).stdout)["platforms"]["pc"]["action_key"]
        self.assertEqual(self.galley("store", "forget", key[:16], "--project", game).stdout, f"forgot the result of {key}\n")
        self.assertEqual(self.galley("store", "pin", "kept", first[:12], "--project", game).returncode, 0)
        # One digit is the beginning of several: there are more than sixteen.
        known = [first, second, key] + [line.split()[0] for line in (files(first) + files(second)).splitlines()]
        digit = max("0123456789abcdef", key=lambda digit: sum(one.startswith(digit) for one in set(known)))
        answer = self.galley("store", "why", digit, "--project", game)
        self.assertEqual(answer.returncode, 2, answer)
        self.assertIn(f"{digit} is ambiguous, give more digits:\n  {digit}", answer.stderr)
        self.assertEqual(self.galley("store", "cat", "0123456789abcdef0", "--project", game).returncode, 2)
        self.assertIn("expected <64 hex digits>/<size>", self.galley("store", "cat", "nothing", "--project", game).stderr)

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        game = self.project({"a.bin": "x"}, [COPY])
        self.cook(game)
        with open("/dev/full", "w") as full:
            for args in (["roots"], ["why", "/Game/a.bin"], ["store", "stats"], ["cook", "--json"]):
                answer = subprocess.run([os.path.join(self.bin, "galley"), *args, "--project", game], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(answer.returncode, 3, args)
                self.assertIn("standard output could not be written", answer.stderr)

    def test_a_folder_whose_name_is_no_text_is_told_to_programs_all_the_same(self):
        folder = os.path.join(os.fsencode(self.dir), b"\xff")
        os.mkdir(folder)
        with open(os.path.join(folder, b"a.bin"), "w") as file:
            file.write("x")
        for args in (["init", "--json"], ["store", "stats", "--json"]):
            answer = subprocess.run([os.path.join(self.bin, "galley"), *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn(answer.returncode, (0, 3), answer)
            self.assertIn("\ufffd", str(json.loads(answer.stdout)))

    def test_a_reader_that_goes_away_ends_no_cook(self):
        game = self.project({f"{i}.bin": str(i) for i in range(200)}, [COPY])
        cook = subprocess.Popen([os.path.join(self.bin, "galley"), "cook", "--json", "--project", game], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(json.loads(cook.stdout.readline()))
        cook.stdout.close()
        self.assertEqual((cook.stderr.read(), cook.wait()), (b"", 0))
        cook.stderr.close()
        self.assertEqual(len(self.tree(game, "pc")), 200)

    def test_folders_and_variables_may_have_bytes_that_are_no_utf8(self):
        odd = self.path(os.fsdecode(b"p\xff"))
        shutil.copytree(self.project({"a.json": "[1]"}, ['match = "/Game/**/*.json"\ncooker = "data"']), odd)
        env = {"ODD": os.fsdecode(b"x\xfe"), os.fsdecode(b"ODD\xfe"): "y"}
        for args in ([], ["--json"], ["--force"]):
            cook = self.galley("cook", *args, cwd=odd, env=env, timeout=30)
            self.assertEqual(cook.returncode, 0, cook)
            self.assertNotIn("invalid UTF-8", cook.stderr)
        self.assertEqual(list(self.tree(odd, "pc")), ["Game/a.json.cbor"])
        self.assertEqual(self.galley("serve", "--detach", cwd=odd, env=env, timeout=30).returncode, 0)
        try:
            for args in (["cook", "--json"], ["cook", "--force"], ["status"], ["status", "--json"]):
                done = self.galley(*args, cwd=odd, env=env, timeout=30)
                self.assertEqual(done.returncode, 0, done)
                self.assertNotIn("invalid UTF-8", done.stderr)
        finally:
            self.galley("serve", "--stop", cwd=odd)

    def test_closed_standard_descriptors_change_nothing(self):
        for closed in ("1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"):
            game = self.project({"a.txt": closed}, ['match = "/Game/**"\ncooker = "copy"\n'], name="game" + str(len(closed)))
            summary = self.path("summary.json")
            done = subprocess.run(["/bin/sh", "-c", f'exec "$0" "$@" {closed}', os.path.join(self.bin, "galley"), "cook", "--project", game,
                                   "--summary", summary], check=False, timeout=60)
            self.assertEqual(done.returncode, 0, closed)
            self.assertEqual(self.read_summary(summary)["results"]["cooked"], 1, closed)


if __name__ == "__main__":
    unittest.main()
