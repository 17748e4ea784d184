"""Trust domains: a branch reads what main cooked and writes only its own, which main does not see; the roots are the same."""
import os, shutil, subprocess, unittest

from harness import E2ETest

RULES = ['match = "/Game/**/*.txt"\ncooker = "command"\nsettings = { argv = ["tools/cat", "{input}", "{output:.out}"], outputs = [".out"] }\n',
         'match = "/Game/**/*.json"\ncooker = "data"\n']
FILES = {"a.txt": "a", "b.txt": "b", "world.json": '{"see": {"$ref": "/Game/a.txt"}}'}


class TrustTest(E2ETest):
    def checkout(self, name, trust, read_trust=(), files=None, store="store"):
        extra = (f'[store]\ndir = "{self.path(store)}"\ntrust = "{trust}"\n'
                 f'read_trust = [{", ".join(chr(34) + one + chr(34) for one in read_trust)}]\n')
        game = self.project(files or FILES, RULES, name=name, extra=extra)
        self.write(f"{name}/tools/cat", '#!/bin/sh\ncat "$1" > "$2"\n', 0o755)
        return game

    def results(self, cook):
        return cook.results["cooked"], cook.results["cached"]

    def test_a_branch_reads_mains_results_and_writes_only_its_own(self):
        main = self.cook(self.checkout("main", "main"))
        self.assertEqual(self.results(main), (3, 0))
        branch = self.checkout("branch", "branch-x", ["main"])
        cook = self.cook(branch)
        self.assertEqual((self.results(cook), cook.roots), ((0, 3), main.roots))
        # A result that the branch cooks is its own: main cooks it again, and comes to the same.
        changed = {**FILES, "b.txt": "changed", "c.txt": "new"}
        for name in ("b.txt", "c.txt"):
            self.write(f"branch/content/{name}", changed[name])
        cook = self.cook(branch)
        self.assertEqual(self.results(cook), (2, 0), cook)
        again = self.cook(self.checkout("main2", "main", files=changed))
        self.assertEqual((self.results(again), again.roots), ((2, 2), cook.roots))
        # Another checkout of the branch has both domains' results, one of another branch main's only, and who reads nobody's none.
        for name, trust, read, expected in (("branch2", "branch-x", ["main"], (0, 4)), ("other", "branch-y", ["branch-x"], (2, 2)),
                                            ("alone", "branch-z", [], (4, 0))):
            with self.subTest(name):
                cook = self.cook(self.checkout(name, trust, read, files=changed))
                self.assertEqual((self.results(cook), cook.roots), (expected, again.roots), cook)

    def test_what_a_branch_makes_of_the_same_inputs_never_reaches_main(self):
        # A cooker that lies (its tool is observed by its bytes: the lie is somewhere else).
        lie = self.path("lie")
        tool = f'#!/bin/sh\ncat "$1" {lie} > "$2"\n'
        branch, main = self.checkout("branch", "branch-x", ["main"]), self.checkout("main", "main")
        for name in ("branch", "main"):
            self.write(f"{name}/tools/cat", tool, 0o755)
        self.write("lie", "poison")
        self.cook(branch)
        self.write("lie", "")
        cook = self.cook(main)
        self.assertEqual(self.results(cook), (3, 0), cook)
        self.assertEqual(self.tree(main, "pc")["Game/a.txt.out"], b"a")
        # Nor does main's replace what the branch has.
        shutil.rmtree(os.path.join(branch, ".galley"))
        self.assertEqual(self.results(self.cook(branch)), (0, 3))
        self.assertEqual(self.tree(branch, "pc")["Game/a.txt.out"], b"apoison")

    def test_domains_are_kept_apart_in_a_store_of_other_people_too(self):
        remote = subprocess.Popen([os.path.join(self.bin, "fake_reapi")], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(lambda: (remote.stdin.close(), remote.wait(), remote.stdout.close()))
        env = {"GALLEY_STORE_REMOTE": remote.stdout.readline().strip(), "GALLEY_STORE_REMOTE_MODE": "read-write"}
        main = self.cook(self.checkout("main", "main", store="1"), env=env)
        branch = self.checkout("branch", "branch-x", ["main"], store="2")
        self.write("branch/content/c.txt", "new")
        cook = self.cook(branch, env=env)
        self.assertEqual(self.results(cook), (1, 3), cook)
        self.assertEqual(cook.summary["warnings"], [])
        self.write("main/content/c.txt", "new")
        shutil.rmtree(self.path("1"))
        again = self.cook(self.path("main"), env=env)
        self.assertEqual((self.results(again), again.roots), ((1, 3), cook.roots))
        self.assertNotEqual(again.roots, main.roots)


if __name__ == "__main__":
    unittest.main()
