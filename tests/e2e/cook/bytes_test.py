"""What a cook says of the bytes that it moved: loaded cold, taken warm, saved."""
import json, os, re, unittest

from harness import E2ETest

SHADER = ['match = "/Game/**/*.frag"\ncooker = "shader"\nsettings = { include_dirs = ["/Game/include"] }']
FRAG = '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "common.glsl"\n' \
       'layout(location = 0) out vec4 o;\nvoid main() { o = vec4(shade(%d.0)); }\n'


class BytesTest(E2ETest):
    def shaders(self, count):
        include = "// a long one\n" * 5000 + "float shade(float x) { return x * 0.5; }\n"
        sources = {f"s{i}/a.frag": FRAG % i for i in range(count)}
        game = self.project({"include/common.glsl": include, **sources}, SHADER)
        return game, len(include), sum(len(text) for text in sources.values())

    def test_what_shaders_share_is_read_once_by_one_worker_and_warm_afterwards(self):
        game, include, sources = self.shaders(4)
        cook = self.cook(game, "--workers", 1)
        bytes_moved = cook.summary["bytes"]
        self.assertEqual(bytes_moved["read"], sources + include, cook)
        self.assertGreaterEqual(bytes_moved["warm"], 3 * include, cook)
        self.assertEqual(bytes_moved["warm"] % include, 0, cook)
        self.assertEqual(bytes_moved["saved"], sum(len(data) for data in self.tree(game, "pc").values()), cook)
        self.assertRegex(cook.stderr, r"\n  loaded [0-9.]+ KiB, [0-9.]+ KiB of it warm, to save [0-9.]+ KiB\n")

    def test_what_is_up_to_date_moves_nothing_and_nothing_is_said_of_it(self):
        game, _, _ = self.shaders(2)
        self.cook(game)
        again = self.galley("cook", "--project", game, "--json")
        moved = json.loads(again.stdout.splitlines()[-1])["bytes"]
        self.assertEqual((moved["read"], moved["warm"], moved["saved"]), (0, 0, 0), moved)
        self.assertNotIn("loaded", self.cook(game).stderr)

    def test_a_run_that_serves_several_platforms_reads_and_saves_once(self):
        platforms = [f'name = "{name}"\ntexture = "bc"\nshader = "spirv-1.5"' for name in ("pc", "deck")]
        game = self.project({"a.bin": "x" * 1000}, ['match = "/Game/**/*.bin"\ncooker = "copy"'], platforms=platforms)
        cook = self.cook(game, "--workers", 1)  # another one that has nothing to do might be given one of them
        self.assertEqual((cook.cooked, cook.results["cached"]), (1, 1), cook)
        self.assertEqual((cook.summary["bytes"]["read"], cook.summary["bytes"]["saved"]), (1000, 1000), cook)

    def test_a_job_that_begins_again_for_a_cooked_input_read_its_source_twice(self):
        rules = ['match = "/Game/**/*.bin"\ncooker = "copy"',
                 'match = "/Game/**/*.txt"\ncooker = "command"\nsettings = { argv = ["cp", "{cooked:/Game/a.bin}", "{output:.o}"], '
                 'outputs = [".o"], cooked_inputs = ["/Game/a.bin"] }']
        game = self.project({"a.bin": "x" * 1000, "t.txt": "y" * 300}, rules)
        cook = self.cook(game, "/Game/t.txt", "--workers", 1)
        needs = cook.summary["bytes"]["read"] - 1000  # of a.bin's own cook
        self.assertEqual(needs, 300 + 300 + 1000, cook)


if __name__ == "__main__":
    unittest.main()
