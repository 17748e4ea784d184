"""Two directors for one project: the second is refused, and one that was overtaken writes nothing."""
import os, signal, subprocess, unittest

from harness import Cook, E2ETest, wait_until

RULE = 'match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["tools/slow", "{input}", "{output:.out}"], outputs = [".out"] }\n'


class ResumeTest(E2ETest):
    def game(self, tool, count, name="game"):
        game = self.project({f"{i:02}.slow": f"{i:02}\n" for i in range(count)}, [RULE], name=name)
        self.write(f"{name}/tools/slow", tool, 0o755)
        return game

    def wait(self, process):
        stdout, stderr = process.communicate(timeout=90)
        return Cook(subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr), self.summary_of(self.path("game")))

    def test_a_second_director_is_refused_and_told_who_has_the_project_even_if_that_one_is_stopped(self):
        game = self.game(f"#!/bin/sh\ntouch {self.path('begun')}\nsleep 1\ncp \"$1\" \"$2\"\n", 2)
        first = self.start_cook(game, "--workers", 1)
        wait_until(lambda: os.path.exists(self.path("begun")), "the first cook to begin")
        for stop in (False, True):
            if stop:
                first.send_signal(signal.SIGSTOP)
            second = self.galley("cook", "--project", game, "--standalone")
            self.assertEqual(second.returncode, 2, second)
            self.assertIn(f"process {first.pid} has this project", second.stderr)
        first.send_signal(signal.SIGCONT)
        self.assertEqual(self.wait(first).code, 0)

    def test_a_director_that_was_overtaken_while_it_was_stopped_writes_nothing(self):
        tool = f"#!/bin/sh\ntouch {self.path('begun')}\nsleep 0.2\ncat \"$1\" > \"$2\"\n"
        game = self.game(tool, 8)
        first = self.start_cook(game, "--workers", 1)
        self.addCleanup(lambda: (first.kill(), first.wait()))
        wait_until(lambda: os.path.exists(self.path("begun")), "the first cook to begin")
        first.send_signal(signal.SIGSTOP)
        # Somebody finds that it hangs, and starts over.
        os.rename(os.path.join(game, ".galley"), self.path("removed"))
        self.write("game/content/00.slow", "new\n")
        second = self.cook(game, "--workers", 1)
        self.assertEqual(second.cooked, 8, second)
        tree = self.tree(game, "pc")
        self.assertEqual(tree["Game/00.slow.out"], b"new\n")
        roots = self.galley("roots", "--project", game).stdout
        first.send_signal(signal.SIGCONT)
        stale = self.wait(first)
        self.assertEqual(stale.code, 3, stale)
        self.assertIn("overtaken", stale.stderr)
        self.assertEqual(self.tree(game, "pc"), tree)
        self.assertEqual(self.galley("roots", "--project", game).stdout, roots)


if __name__ == "__main__":
    unittest.main()
