"""The command line itself: what is wrong with it is said with what to do; help; an answer that cannot be printed."""
import json, os, subprocess, unittest

from harness import E2ETest

COPY = 'match = "/Game/**/*.bin"\ncooker = "copy"'


class CliTest(E2ETest):
    def check_usage(self, *args, says):
        answer = self.galley(*args)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""), answer)
        self.assertEqual(answer.stderr, f"galley: {says}\n")

    def test_what_nobody_has_is_named_with_what_is_like_it(self):
        self.check_usage("cok", says="galley has no command cok, did you mean cook?; `galley --help` lists them")
        self.check_usage("store", "stat", says="galley store has no command stat, did you mean stats?; `galley store --help` lists them")
        self.check_usage("xyzzyx", says="galley has no command xyzzyx; `galley --help` lists them")
        self.check_usage(says="galley needs a command; `galley --help` lists them")
        self.check_usage("store", says="galley store needs a command; `galley store --help` lists them")
        self.check_usage("cook", "--platfrom=pc", says="galley cook has no option --platfrom, did you mean --platform?; `galley cook --help` lists them")
        self.check_usage("why", says="galley why: package is required; see `galley why --help`")
        self.check_usage("cook", "--workers", "0", says="galley cook: --workers: Value 0 not in range 1 to 4096; see `galley cook --help`")

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
            self.assertIn(answer.returncode, (0, 2), answer)
            self.assertIn("\ufffd", str(json.loads(answer.stdout)))

    def test_a_reader_that_goes_away_ends_no_cook(self):
        game = self.project({f"{i}.bin": str(i) for i in range(200)}, [COPY])
        cook = subprocess.Popen([os.path.join(self.bin, "galley"), "cook", "--json", "--project", game], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(json.loads(cook.stdout.readline()))
        cook.stdout.close()
        self.assertEqual((cook.stderr.read(), cook.wait()), (b"", 0))
        cook.stderr.close()
        self.assertEqual(len(self.tree(game, "pc")), 200)


if __name__ == "__main__":
    unittest.main()
