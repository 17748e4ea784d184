"""Platforms of what runs go to a worker that has nothing to do."""
import os, unittest

from harness import E2ETest

# Busy for a second, for one that merely waits would leave its slot. Says which executor ran it.
SLOW = """#!/bin/sh
timeout 1 yes > /dev/null
echo "$3 $PPID" >> {log}
{ cat "$1"; echo "$3"; } > "$2"
"""
PLATFORMS = ["pc", "deck", "phone", "tv"]


class SplittingTest(E2ETest):
    def game(self, name):
        platforms = [f'name = "{platform}"\ntexture = "bc"\nshader = "spirv-1.5"' for platform in PLATFORMS]
        rule = ('match = "/Game/*.slow"\ncooker = "command"\n'
                'settings = { argv = ["tools/slow", "{input}", "{output:.out}", "{platform}"], outputs = [".out"] }')
        game = self.project({"a.slow": "words\n"}, [rule], name=name, platforms=platforms)
        self.write(f"{name}/tools/slow", SLOW.replace("{log}", self.path(name + ".log")), 0o755)
        return game

    def ran(self, name):
        """Executor -> the platforms that it cooked, in order."""
        by = {}
        for line in self.read(name + ".log").decode().splitlines():
            platform, executor = line.split()
            by.setdefault(executor, []).append(platform)
        return by

    def test_two_workers_share_the_only_package_and_the_roots_are_the_same(self):
        alone = self.cook(self.game("alone"), "--workers", 1)
        self.assertEqual(alone.summary["workers"]["jobs_split"], 0, alone)
        shared = self.cook(self.game("shared"), "--workers", 2)
        self.assertGreaterEqual(shared.summary["workers"]["jobs_split"], 1, shared)
        self.assertEqual(shared.cooked, len(PLATFORMS), shared)
        self.assertEqual(shared.roots, alone.roots)
        parts = sorted(self.ran("shared").values())
        ran = sum(parts, [])
        self.assertEqual(sorted(set(ran)), sorted(PLATFORMS))
        # One that begins just when it is told to leave it out goes on with it.
        self.assertLessEqual(len(ran), len(PLATFORMS) + 1, parts)
        self.assertEqual(len(parts), 2, parts)


if __name__ == "__main__":
    unittest.main()
