#!/usr/bin/env python3
"""Several cooks at once in a resident director: each comes to what it would come to alone."""
import os, signal, unittest

from harness import COPY, LIMIT_S, ResidentTest, is_running, kill, read_file


class SeveralCooksTest(ResidentTest):
    def counted_project(self, count, name="game"):
        """Each package takes a second; each run of its command adds a line to the file `runs`."""
        rule = 'match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", ' \
               f'"sleep 1; cp $0 $1; echo $0 >> {self.path("runs")}", "{{input}}", "{{output:.out}}"], outputs = [".out"] }}'
        return self.project({f"{i}.slow": f"{name} {i}" for i in range(count)}, [rule, COPY], name=name)

    def runs(self):
        return len(read_file(self.path("runs")).splitlines())

    def states(self, project):
        return sorted(c["state"] for c in self.status(project)["cooks"])

    def root_alone(self, project, name):
        """The root that a cook alone comes to, of the same files elsewhere."""
        files = {}
        content = os.path.join(project, "content")
        for folder, _, names in os.walk(content):
            for one in names:
                path = os.path.join(folder, one)
                files[os.path.relpath(path, content)] = read_file(path)
        copy = self.project(files, [], name=name)
        toml = read_file(os.path.join(project, "galley.toml"))
        self.write(f"{name}/galley.toml", toml)
        return self.cook(copy, "--standalone").roots

    def test_what_two_cooks_want_is_cooked_once_and_the_smaller_one_does_not_wait(self):
        project = self.counted_project(8)
        self.serve(project, "--workers", "2")
        nightly = self.start_cook(project)
        self.wait_until(lambda: self.states(project) == ["cooking"])
        commit = self.start_cook(project, "/Game/6.slow", "/Game/7.slow")
        self.wait_until(lambda: self.states(project) == ["cooking", "cooking"])
        ended = self.finish_cook(project, commit)
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.states(project), ["cooking"], "the nightly cook goes on")
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual((ended.summary["packages"]["in_cook"], whole.summary["packages"]["in_cook"]), (2, 8))
        self.assertEqual(self.runs(), 8)
        self.assertEqual(whole.roots, self.root_alone(project, "alone"))

    def test_one_is_cancelled_and_the_others_go_on(self):
        project = self.counted_project(6)
        self.serve(project, "--workers", "2")
        nightly = self.start_cook(project)
        self.wait_until(lambda: self.states(project) == ["cooking"])
        urgent = self.start_cook(project, "--class", "now", "/Game/5.slow")
        self.wait_until(lambda: self.states(project) == ["cooking", "cooking"])
        nightly.send_signal(signal.SIGINT)
        self.assertEqual(self.finish_cook(project, nightly).code, 130)
        ended = self.finish_cook(project, urgent)
        self.assertEqual(ended.code, 0, ended)
        self.assertLess(self.runs(), 6)

    def test_edits_reach_all_cooks_that_run(self):
        project = self.counted_project(8)
        self.serve(project, "--workers", "1")
        nightly = self.start_cook(project)
        self.wait_until(lambda: any(c["done"] > 1 for c in self.status(project)["cooks"]))
        # A new file, one that is another now, and one that is gone: the next cook's scan finds them.
        self.write("game/content/new.slow", "new")
        self.write("game/content/0.slow", "edited")
        os.unlink(os.path.join(project, "content/7.slow"))
        commit = self.cook(project, "/Game/0.slow")
        self.assertEqual(commit.code, 0, commit)
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual(whole.summary["packages"]["in_cook"], 8)
        self.assertEqual(whole.roots, self.root_alone(project, "alone"))
        self.assertEqual(read_file(os.path.join(project, ".galley/cooked/pc/Game/0.slow.out")), b"edited")

    def test_a_changed_rule_reaches_all_cooks_that_run(self):
        project = self.counted_project(6)
        self.write("game/content/a.txt", "a")
        self.serve(project, "--workers", "1")
        nightly = self.start_cook(project)
        self.wait_until(lambda: any(c["done"] > 1 for c in self.status(project)["cooks"]))
        toml = self.read("game/galley.toml")
        self.write("game/galley.toml", toml.replace(b"cp $0 $1", b"cat $0 $0 > $1"))
        commit = self.cook(project, "/Game/a.txt")
        self.assertEqual(commit.code, 0, commit)
        self.assertNotIn("waits", commit.stderr)
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual(whole.roots, self.root_alone(project, "alone"))

    def test_a_nightly_two_commits_and_a_cancelled_one_with_edits_and_a_killed_director(self):
        project = self.counted_project(48)
        process = self.serve(project, "--workers", "2")
        nightly = self.start_cook(project)
        self.wait_until(lambda: any(c["done"] > 0 for c in self.status(project)["cooks"]))
        self.write("game/content/8.slow", "edited by one")
        first = self.start_cook(project, "/Game/8.slow")
        self.write("game/content/9.slow", "edited by another")
        second = self.start_cook(project, "/Game/9.slow")
        cancelled = self.start_cook(project, "--force")
        self.wait_until(lambda: len(self.status(project)["cooks"]) == 4)
        cancelled.send_signal(signal.SIGINT)
        self.assertEqual(self.finish_cook(project, cancelled).code, 130)
        self.assertEqual([self.finish_cook(project, one).code for one in (first, second)], [0, 0])
        third = self.start_cook(project, "/Game/20.slow", "/Game/21.slow", "/Game/22.slow")
        self.wait_until(lambda: len(self.status(project)["cooks"]) == 2)
        workers = [w["process"] for w in self.status(project)["workers"]]
        os.kill(process, signal.SIGKILL)
        for one in (nightly, third):
            ended = self.finish_cook(project, one)
            self.assertEqual(ended.code, 3, ended)
            self.assertIn("is gone; the cook was at", ended.stderr)
        self.write("game/content/1.slow", "edited in between")
        self.serve(project, "--workers", "2")
        again, small = self.start_cook(project), self.start_cook(project, "/Game/1.slow")
        self.assertEqual(self.finish_cook(project, small).code, 0)
        whole = self.finish_cook(project, again)
        self.assertEqual(whole.code, 0, whole)
        self.assertLess(whole.cooked, 48)
        self.assertEqual(whole.roots, self.root_alone(project, "alone"))
        self.assertEqual(self.status(project)["cooks"], [])
        self.wait_until(lambda: sum(is_running(one) for one in workers) <= 2)


if __name__ == "__main__":
    unittest.main()
