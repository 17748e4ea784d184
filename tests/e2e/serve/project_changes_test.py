#!/usr/bin/env python3
"""A resident director while its project changes: platforms, mounts, names; and failures that are over."""
import os, shutil, unittest

from harness import COPY, ResidentTest, read_file

PLATFORMS = ['name = "pc"\ntexture = "bc"', 'name = "deck"\ntexture = "bc"']
SLOW = ('match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", '
        '"sleep 0.3; echo {platform} | cat - $0 > $1", "{input}", "{output:.out}"], outputs = [".out"] }')


class ProjectChangesTest(ResidentTest):
    def slow(self, count, platforms=None):
        files = {f"{i}.slow": f"slow {i}" for i in range(count)}
        return self.project({**files, "a.txt": "a"}, [SLOW, COPY], platforms=platforms or PLATFORMS)

    def edit(self, old, new):
        toml = self.read("game/galley.toml").decode()
        self.assertIn(old, toml)
        self.write("game/galley.toml", toml.replace(old, new))

    def start_and_wait(self, project, *args):
        process = self.start_cook(project, *args)
        self.wait_until(lambda: any(c["done"] > 1 for c in self.status(project)["cooks"]))
        return process

    def roots_alone(self, project):
        """What a cook alone comes to, of the same files elsewhere."""
        copy = self.path("alone")
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".galley"))
        return self.cook(copy, "--standalone").roots

    def test_platforms_come_and_move_while_a_cook_runs(self):
        project = self.slow(6)
        self.serve(project, "--workers", "2")
        nightly = self.start_and_wait(project)
        self.edit('[[platform]]\nname = "pc"', '[[platform]]\nname = "phone"\ntexture = "astc"\n[[platform]]\nname = "pc"')
        commit = self.cook(project, "--platform", "phone", "/Game/a.txt")
        self.assertEqual(commit.code, 0, commit)
        self.assertNotIn("waits", commit.stderr)
        self.assertEqual(list(commit.roots), ["phone"])
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertIn("the cook is for phone, pc, deck now", whole.stderr)
        self.assertEqual(sorted(whole.roots), ["deck", "pc", "phone"])
        self.assertEqual(whole.roots, self.roots_alone(project))

    def test_a_platform_goes_and_who_named_it_is_told(self):
        project = self.slow(8)
        self.serve(project, "--workers", "1")
        named = self.start_cook(project, "--platform", "deck")
        all_of_them = self.start_and_wait(project)
        self.edit('[[platform]]\nname = "deck"\ntexture = "bc"\n', "")
        commit = self.cook(project, "/Game/a.txt")
        self.assertEqual((commit.code, list(commit.roots)), (0, ["pc"]), commit)
        ended = self.finish_cook(project, named)
        self.assertEqual(ended.code, 2, ended)
        self.assertIn("--platform deck: galley.toml has no such platform (it has pc)", ended.stderr)
        whole = self.finish_cook(project, all_of_them)
        self.assertEqual((whole.code, list(whole.roots)), (0, ["pc"]), whole)

    def test_the_only_cook_ends_with_2_when_its_platform_goes(self):
        project = self.slow(8)
        self.serve(project, "--workers", "1")
        named = self.start_and_wait(project, "--platform", "deck", *[f"/Game/{i}.slow" for i in range(8)])
        self.edit('[[platform]]\nname = "deck"\ntexture = "bc"\n', "")
        self.assertEqual(self.cook(project, "/Game/a.txt").code, 0)
        ended = self.finish_cook(project, named)
        self.assertEqual(ended.code, 2, ended)
        self.assertIn("--platform deck: galley.toml has no such platform (it has pc)", ended.stderr)

    def test_one_edit_removes_what_is_left_to_do_and_changes_what_is_done(self):
        rule = SLOW.replace("sleep 0.3", "[ {platform} = deck ] && sleep 1")
        project = self.project({f"{i}.slow": f"slow {i}" for i in range(4)} | {"a.txt": "a"}, [rule, COPY], platforms=PLATFORMS)
        self.serve(project, "--workers", "1")
        nightly = self.start_and_wait(project)
        self.edit('[[platform]]\nname = "deck"\ntexture = "bc"\n', "")
        self.edit("echo {platform}", "echo new")
        self.assertEqual(self.cook(project, "/Game/a.txt").code, 0)
        whole = self.finish_cook(project, nightly)
        self.assertEqual((whole.code, list(whole.roots)), (0, ["pc"]), whole)
        self.assertEqual(whole.roots, self.roots_alone(project))

    def test_a_platform_with_other_parameters_is_cooked_anew(self):
        project = self.project({"a.txt": "a", **{f"{i}.slow": "slow" for i in range(6)}}, [
            'match = "/Game/**/*.slow"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "sleep 0.3; echo $2 > $1", '
            '"{input}", "{output:.out}", "{platform.texture}"], outputs = [".out"] }', COPY], platforms=PLATFORMS)
        self.serve(project, "--workers", "1")
        nightly = self.start_and_wait(project)
        self.edit('name = "deck"\ntexture = "bc"', 'name = "deck"\ntexture = "astc"')
        self.assertEqual(self.cook(project, "/Game/a.txt").code, 0)
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual(whole.roots, self.roots_alone(project))

    def test_a_mount_moves_while_a_cook_runs(self):
        project = self.slow(6)
        shutil.copytree(os.path.join(project, "content"), os.path.join(project, "elsewhere"))
        self.write("game/elsewhere/0.slow", "of elsewhere")
        self.serve(project, "--workers", "1")
        nightly = self.start_and_wait(project)
        self.edit('dir = "content"', 'dir = "elsewhere"')
        commit = self.cook(project, "/Game/a.txt")
        self.assertEqual(commit.code, 0, commit)
        self.assertNotIn("waits", commit.stderr)
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual(whole.roots, self.roots_alone(project))
        self.assertEqual(read_file(os.path.join(project, ".galley/cooked/pc/Game/0.slow.out")), b"pc\nof elsewhere")

    def test_a_file_that_is_moved_is_cooked_under_its_new_name(self):
        project = self.slow(6)
        self.serve(project, "--workers", "1")
        named = self.start_and_wait(project, *[f"/Game/{i}.slow" for i in range(6)])
        os.rename(os.path.join(project, "content/5.slow"), os.path.join(project, "content/moved.slow"))
        self.assertEqual(self.cook(project, "/Game/a.txt").code, 0)
        ended = self.finish_cook(project, named)
        self.assertEqual(ended.code, 0, ended)
        cooked = os.path.join(project, ".galley/cooked/pc/Game")
        self.assertEqual(read_file(os.path.join(cooked, "moved.slow.out")), b"pc\nslow 5")
        self.assertFalse(os.path.exists(os.path.join(cooked, "5.slow.out")))

    def test_a_failure_that_is_mended_while_the_cook_runs_is_none(self):
        project = self.slow(6)
        self.write("game/content/bad.json", "{")
        self.write("game/content/gone.json", "{")
        self.edit("[[rule]]", '[[rule]]\nmatch = "/Game/**/*.json"\ncooker = "data"\n[[rule]]')
        self.serve(project, "--workers", "2")
        nightly = self.start_cook(project)
        self.wait_until(lambda: any(c["failed"] == 4 for c in self.status(project)["cooks"]))
        self.write("game/content/bad.json", "{}")
        os.unlink(os.path.join(project, "content/gone.json"))
        self.assertEqual(self.cook(project, "/Game/a.txt").code, 0)
        whole = self.finish_cook(project, nightly)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual(whole.summary["failures"], [])
        self.assertIn("4 of the failures that were told are over", whole.stderr)
        self.assertEqual(whole.roots, self.roots_alone(project))

    def test_thirty_two_platforms_at_once(self):
        platforms = [f'name = "p{i}"\ntexture = "{["bc", "astc", "rgba8"][i % 3]}"' for i in range(32)]
        project = self.project({f"{i}.txt": f"text {i}" for i in range(5)}, [COPY], platforms=platforms)
        self.serve(project, "--workers", "2")
        whole = self.cook(project)
        self.assertEqual(whole.code, 0, whole)
        self.assertEqual(len(whole.roots), 32)
        self.assertEqual(whole.roots, self.roots_alone(project))
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + '[[platform]]\nname = "one too many"\n')
        refused = self.cook(project)
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("32", refused.stderr)


if __name__ == "__main__":
    unittest.main()
