"""Bad input: an error that names package, file and cause; the cook goes on; the exit code of docs/cli.md; mended input cooks right."""
import json, os, resource, struct, subprocess, unittest, zlib

from harness import LIMIT_S, SAMPLE, E2ETest, processes, read_file, wait_until

GOOD_PNG = read_file(os.path.join(SAMPLE, "content/textures/one.png"))
TEXTURE = 'match = "/Game/**/*.png"\ncooker = "texture"\nsettings = { quality = "fast" }'
DATA = 'match = "/Game/**/*.{json,level,material}"\ncooker = "data"'
SHADER = 'match = "/Game/**/*.{vert,frag}"\ncooker = "shader"'
COPY = 'match = "/Game/**/*.bin"\ncooker = "copy"'
GOOD_SHADER = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(1.0); }\n"


def bomb():
    """1 MB of PNG that decodes to 1 GiB."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    size = 16384
    deflate = zlib.compressobj(9)
    row = bytes(1 + size * 4)
    body = b"".join(deflate.compress(row) for _ in range(size)) + deflate.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def command(script, extra=""):
    return f'match = "/Game/**/*.txt"\ncooker = "command"\nsettings = {{ argv = ["tools/{script}", "{{input}}", "{{output:.out}}"], outputs = [".out"] }}\n{extra}'


class BadInputTest(E2ETest):
    def check_bad_then_mended(self, files, mended, rules, words):
        """`files` hold one bad package beside good.bin; `words`: what its error must say."""
        game = self.project({"good.bin": "fine", **files}, [*rules, COPY])
        bad = f"/Game/{next(iter(mended))}"
        cook = self.cook(game, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {bad}, cook)
        for word in words:
            self.assertIn(word, cook.failures[0]["error"])
        self.assertEqual(self.tree(game, "pc"), {"Game/good.bin": b"fine"})
        again = self.cook(game, expect=1)
        self.assertEqual(again.cooked, 0, "the verdict is kept")
        for name, data in mended.items():
            self.write(f"game/content/{name}", data)
        self.assertEqual(self.cook(game).failures, [])
        return cook

    def test_a_corrupt_png(self):
        data = bytearray(GOOD_PNG)
        data[-20] ^= 0xFF
        cook = self.check_bad_then_mended({"a.png": bytes(data)}, {"a.png": GOOD_PNG}, [TEXTURE], ["png: "])
        self.assertTrue(cook.failures[0]["stage"] in ("load", "save"))

    def test_a_truncated_png(self):
        self.check_bad_then_mended({"a.png": GOOD_PNG[:40]}, {"a.png": GOOD_PNG}, [TEXTURE], ["png: "])

    def test_a_zero_byte_png_and_json_and_shader(self):
        self.check_bad_then_mended({"a.png": b""}, {"a.png": GOOD_PNG}, [TEXTURE], ["empty"])
        game = self.project({"a.json": "", "b.frag": ""}, [DATA, SHADER], name="zero")
        cook = self.cook(game, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {"/Game/a.json", "/Game/b.frag"})

    def test_a_bomb(self):
        self.check_bad_then_mended({"a.png": bomb()}, {"a.png": GOOD_PNG}, [TEXTURE], ["16384", "limit"])

    def test_a_shader_with_an_error_in_an_include(self):
        cook = self.check_bad_then_mended({"s.frag": '#version 450\n#include "inc.glsl"\nvoid main() {}\n', "inc.glsl": "float f( { }\n"},
                                          {"s.frag": GOOD_SHADER}, [SHADER], ["inc.glsl", "1"])
        self.assertTrue(cook.failures[0]["error"])

    def test_a_shader_that_is_no_text_is_quoted_byte_by_byte(self):
        bad = '#version 450\nvoid main() { undefd_'.encode() + b"\xe9 = 1; }\n"
        cook = self.check_bad_then_mended({"s.frag": bad}, {"s.frag": GOOD_SHADER}, [SHADER], ["\\x80", "undefd_"])
        self.assertEqual(cook.summary["workers"]["executors_lost"], 0)

    def test_a_shader_whose_macros_grow_without_end_is_refused_and_named(self):
        def bomb(term):
            lines = ["#version 450", "layout(location = 0) in vec4 v;", "layout(location = 0) out vec4 c;", f"#define A0 {term} + {term}"]
            lines += [f"#define A{i} A{i - 1} + A{i - 1}" for i in range(1, 40)]
            return "\n".join([*lines, "void main() { c = vec4(A39); }", ""])
        # A tree of 2^40 terms, and as many that are folded into one.
        game = self.project({"tree.frag": bomb("v"), "folded.frag": bomb("1.0"), "good.frag": GOOD_SHADER}, [SHADER])
        cook = self.cook(game, expect=1)
        for name in ("/Game/tree.frag", "/Game/folded.frag"):
            self.assertRegex(cook.errors_of(name)[0], r"\.frag:44: one expression has more than 4096 operators in a row; use variables for its parts")
        self.assertEqual(cook.summary["workers"]["executors_lost"], 0)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/good.frag.spv", "Game/good.frag.reflect.cbor"})

    def test_a_source_larger_than_the_jobs_memory_is_not_read(self):
        game = self.project({"a.json": b"[" + b" " * (65 << 20) + b"]", "b.json": "[]"}, [DATA + '\nmemory = "64MiB"'])
        cook = self.cook(game, expect=1)
        self.assertEqual([f["package"] for f in cook.failures], ["/Game/a.json"], cook)
        self.assertIn("/Game/a.json has 68157442 bytes, more than the job's memory limit of 67108864", cook.failures[0]["error"])

    def test_a_gltf_that_reaches_out_of_the_mounts_reads_nothing_there(self):
        triangle = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
        outside = self.write("game/outside.bin", triangle)  # in the project's folder, under no mount

        def gltf(uri):
            return json.dumps({"asset": {"version": "2.0"}, "buffers": [{"byteLength": 36, "uri": uri}],
                               "bufferViews": [{"buffer": 0, "byteLength": 36}],
                               "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
                               "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}]})
        said = {"../outside.bin": 'there is no file "../outside.bin"', "%2e%2e/outside.bin": 'there is no file "../outside.bin"',
                outside: f'there is no file "{outside}"', "../" * 20 + outside[1:]: "there is no file", "/../outside.bin": "leaves the mounts",
                "file://" + outside: "is not a relative path", "http://localhost/a.bin": "is not a relative path"}
        files = {f"{i}.gltf": gltf(uri) for i, uri in enumerate(said)}
        game = self.project({**files, "good.gltf": gltf("inside.bin"), "inside.bin": triangle}, ['match = "/Game/**/*.gltf"\ncooker = "mesh"'])
        cook = self.cook(game, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {f"/Game/{name}" for name in files}, cook)
        for name, words in zip(files, said.values()):
            self.assertIn("/buffers/0/uri: ", cook.errors_of(f"/Game/{name}")[0])
            self.assertIn(words, cook.errors_of(f"/Game/{name}")[0])
        self.assertEqual(set(self.tree(game, "pc")), {"Game/good.gltf.glb"})

    def test_json_that_does_not_parse(self):
        self.check_bad_then_mended({"a.json": '{\n  "a": [1, 2\n}\n'}, {"a.json": "{}"}, [DATA], ["line 3"])

    def test_a_missing_include_is_an_error_that_names_it(self):
        cook = self.check_bad_then_mended({"s.frag": '#version 450\n#include "nowhere.glsl"\nvoid main() {}\n'}, {"s.frag": GOOD_SHADER},
                                          [SHADER], ["nowhere.glsl"])
        self.assertTrue(cook.failures)

    def test_a_cycle_of_cooked_inputs_prints_the_shortest(self):
        tool = "#!/bin/sh\ncp \"$1\" \"$2\"\n"
        files = {f"{name}.txt": name for name in "abc"}
        game = self.project(files, [command("tool")])
        self.write("game/tools/tool", tool, 0o755)
        for name, needs in (("a", "/Game/b.txt:.out"), ("b", "/Game/c.txt:.out"), ("c", "/Game/a.txt:.out")):
            self.write(f"game/content/{name}.txt.cook", f'[settings]\ncooked_inputs = ["{needs}"]\n')
        cook = self.cook(game, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {"/Game/a.txt", "/Game/b.txt", "/Game/c.txt"}, cook)
        self.assertIn("/Game/a.txt -> /Game/b.txt -> /Game/c.txt -> /Game/a.txt", cook.failures[0]["error"])
        self.write("game/content/c.txt.cook", "[settings]\ncooked_inputs = []\n")
        self.assertEqual(self.cook(game).failures, [])

    def test_a_cooked_input_is_cooked_first_and_a_change_that_leaves_it_as_it_was_stops_there(self):
        game = self.project({"a.txt": "a", "b.txt": "b one\n"}, [command("first_word")])
        self.write("game/tools/first_word", '#!/bin/sh\nset -eu\ncut -d" " -f1 < "$1" > "$2"\n[ -z "${3:-}" ] || cat "$3" >> "$2"\n', 0o755)
        self.write("game/content/a.txt.cook", '[settings]\nargv = ["tools/first_word", "{input}", "{output:.out}", "{cooked:/Game/b.txt:.out}"]\n'
                   'cooked_inputs = ["/Game/b.txt:.out"]\n')
        first = self.cook(game)
        self.assertEqual(self.tree(game, "pc")["Game/a.txt.out"], b"a\nb\n", first)
        self.write("game/content/b.txt", "b two\n")
        second = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(second.stdout), {"/Game/b.txt"})
        self.write("game/content/b.txt", "c three\n")
        third = self.cook(game, "--json")
        self.assertEqual(self.cooked_packages(third.stdout), {"/Game/a.txt", "/Game/b.txt"})
        self.assertEqual(self.tree(game, "pc")["Game/a.txt.out"], b"a\nc\n")

    def test_two_packages_with_one_output_path_both_fail(self):
        # copy gives a.json.cbor its own name; data gives a.json the same.
        game = self.project({"a.json": "{}", "a.json.cbor": "x", "good.bin": "y"},
                            [DATA, 'match = "/Game/*.cbor"\ncooker = "copy"', COPY])
        cook = self.cook(game, expect=1)
        self.assertEqual({f["package"] for f in cook.failures}, {"/Game/a.json", "/Game/a.json.cbor"}, cook)
        self.assertEqual({f["stage"] for f in cook.failures}, {"commit"})
        self.assertEqual(self.tree(game, "pc"), {"Game/good.bin": b"y"})
        os.remove(self.path("game/content/a.json.cbor"))
        self.assertEqual(self.cook(game).failures, [])

    def test_an_unknown_cooker_and_a_sidecar_with_a_typo(self):
        game = self.project({"a.png": GOOD_PNG, "a.png.cook": "[settings]\nmipmap = false\n", "b.bin": "fine", "c.odd": "x"},
                            [TEXTURE, COPY, 'match = "/Game/*.odd"\ncooker = "textur"'])
        cook = self.cook(game, expect=2)
        self.assertIn("content/a.png.cook:2: cooker \"texture\" has no setting \"mipmap\"; did you mean \"mipmaps\"?", cook.stderr)
        self.assertIn("unknown cooker `textur`; did you mean `texture`?", cook.stderr)
        self.assertEqual((cook.summary, self.tree(game, "pc")), ({}, {}), "nothing is done: tests/e2e/cook/selection_test.py has more")
        toml = self.read("game/galley.toml").decode().replace('"textur"', '"copy"')
        self.write("game/galley.toml", toml)
        self.write("game/content/a.png.cook", "[settings]\nmipmaps = false\n")
        self.cook(game, "/Game/a.png")

    def test_a_typo_in_the_project_file_is_usage(self):
        game = self.project({"a.bin": "x"}, [COPY + "\nsetings = {}"])
        cook = self.cook(game, expect=2)
        self.assertIn("galley.toml:", cook.stderr)
        self.assertIn("settings", cook.stderr)
        self.assertFalse(os.path.exists(game + ".summary.json"))

    def test_a_project_without_packages_and_a_package_that_is_not_there_are_usage(self):
        empty = self.project({"a.xyz": "x"}, [COPY], name="empty")
        self.assertIn("no package", self.cook(empty, expect=2).stderr)
        game = self.project({"a.bin": "x"}, [COPY])
        self.assertIn("/Game/b.bin", self.cook(game, "/Game/b.bin", expect=2).stderr)
        self.assertEqual(self.galley("cook", "--project", self.path("nowhere")).returncode, 2)
        self.assertEqual(self.galley("cook", "--no-such-option").returncode, 2)

    def test_a_store_that_cannot_be_opened_is_infrastructure(self):
        game = self.project({"a.bin": "x"}, [COPY])
        self.write("not-a-folder", "x")
        cook = self.cook(game, "--store", self.path("not-a-folder"), expect=3)
        self.assertIn("not-a-folder", cook.stderr)
        self.assertEqual(self.cook(game).failures, [])

    def test_no_space_left_stops_cleanly_and_goes_on_when_there_is_space(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small file system needs root")
        small = self.path("small")
        os.makedirs(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "none", small], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("mount is not allowed here")
        self.addCleanup(subprocess.run, ["umount", "-l", small])
        game = self.project({f"{i}.bin": os.urandom(1 << 20) for i in range(40)}, [COPY])
        cook = self.cook(game, "--store", os.path.join(small, "store"), expect=3)
        self.assertEqual(cook.roots, {})
        self.assertEqual(self.tree(game, "pc"), {})
        self.assertIn("space", cook.stderr)
        subprocess.run(["mount", "-o", "remount,size=400m", small], check=True)
        self.assertEqual(self.cook(game, "--store", os.path.join(small, "store")).failures, [])
        self.assertEqual(len(self.tree(game, "pc")), 40)

    def test_no_space_left_for_the_sandbox_says_what_to_do_and_the_next_cook_goes_on(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small file system needs root")
        small = self.path("small")
        os.makedirs(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", small], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("mount is not allowed here")
        self.addCleanup(subprocess.run, ["umount", "-l", small])
        game = self.project({f"{i}.bin": os.urandom(1 << 20) for i in range(8)}, [COPY])
        full = self.cook(game, "--out", small, expect=3)
        self.assertEqual([(f["package"], f["stage"]) for f in full.failures], [("", "stage")], full)
        self.assertRegex(full.stderr, rf"error: pc: staging Game/(\d)\.bin of /Game/\1\.bin: write {small}/pc/Game/\1\.bin: No space left on device; its root is published: fix this and cook again")
        self.assertNotIn("galley why", full.stderr)  # no package is to blame
        subprocess.run(["mount", "-o", "remount,size=40m", small], check=True)
        cook = self.cook(game, "--out", small)
        self.assertEqual((cook.roots, cook.cooked), (full.roots, 0), cook)
        self.assertEqual(len(os.listdir(os.path.join(small, "pc/Game"))), 8)

    def test_a_command_that_fails_names_itself_and_its_log(self):
        game = self.project({"a.txt": "x", "b.bin": "y"}, [command("tool"), COPY])
        self.write("game/tools/tool", "#!/bin/sh\necho something is wrong >&2\nexit 7\n", 0o755)
        cook = self.cook(game, expect=1)
        self.assertIn("exit code 7", cook.failures[0]["error"])
        self.assertIn("something is wrong", cook.failures[0]["error"])
        self.assertTrue(cook.failures[0]["log"], cook)
        self.write("game/tools/tool", '#!/bin/sh\ncp "$1" "$2"\n', 0o755)
        self.assertEqual(self.cook(game).failures, [])

    def test_a_cooker_that_never_ends_is_ended_and_named(self):
        game = self.project({"a.txt": "x", "b.bin": "y"}, [command("tool", "timeout_s = 1"), COPY])
        unique = str(100_000 + os.getpid())  # to tell our sleep from others'
        self.write("game/tools/tool", f"#!/bin/sh\nsleep {unique}\n", 0o755)
        cook = self.cook(game, expect=1)
        self.assertEqual([f["package"] for f in cook.failures], ["/Game/a.txt"])
        self.assertIn("timeout_s", cook.failures[0]["error"])
        self.assertEqual(set(self.tree(game, "pc")), {"Game/b.bin"})
        self.assertFalse([c for _, c in processes("sleep") if unique in c])

    def test_a_cooker_that_eats_memory_is_ended_and_named(self):
        game = self.project({"a.txt": "x", "b.bin": "y"}, [command("tool", 'memory = "256MiB"'), COPY])
        self.write("game/tools/tool", "#!/usr/bin/python3\nx = []\nwhile True:\n    x.append(bytearray(16 << 20))\n", 0o755)
        cook = self.cook(game, expect=1)
        self.assertEqual([f["package"] for f in cook.failures], ["/Game/a.txt"], cook)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/b.bin"})

    def test_a_command_that_writes_without_end_is_stopped(self):
        game = self.project({"a.txt": "x", "b.bin": "y"}, [command("tool", "timeout_s = 4"), COPY])
        self.write("game/tools/tool", '#!/bin/sh\nexec cat /dev/zero > "$2"\n', 0o755)
        cook = self.cook(game, expect=1)
        self.assertEqual([f["package"] for f in cook.failures], ["/Game/a.txt"], cook)

    def test_odd_files_are_named_and_the_rest_is_cooked(self):
        game = self.project({"good.bin": "fine", "Case.bin": "1", "case.bin": "2"}, [COPY])
        content = self.path("game/content")
        os.symlink("/etc/hostname", os.path.join(content, "out.bin"))
        os.symlink("loop.bin", os.path.join(content, "loop.bin"))
        os.mkfifo(os.path.join(content, "pipe.bin"))
        open(os.path.join(os.fsencode(content), b"\xff\xfe.bin"), "w").close()
        cook = self.cook(game, expect=1)
        failed = {f["package"] for f in cook.failures}
        self.assertLessEqual({"/Game/out.bin", "/Game/loop.bin", "/Game/pipe.bin", "/Game/Case.bin", "/Game/case.bin"}, failed, cook)
        self.assertEqual(set(self.tree(game, "pc")), {"Game/good.bin"})

    def test_ctrl_c_keeps_what_was_finished_and_touches_no_sandbox(self):
        game = self.project({f"{i}.txt": str(i) for i in range(40)}, [command("tool")])
        self.write("game/tools/tool", '#!/bin/sh\nsleep 0.2\ncp "$1" "$2"\n', 0o755)
        process = self.start_cook(game, "--workers", 2, "--json")
        while json.loads(process.stdout.readline())["event"] != "done":
            pass
        process.send_signal(2)
        cook = self.finish_cook(game, process)
        self.assertEqual(cook.code, 130, cook)
        self.assertEqual(cook.roots, {})
        self.assertEqual(self.tree(game, "pc"), {})
        finished = cook.results["cooked"]
        self.assertGreater(finished, 0)
        rest = self.cook(game)
        self.assertEqual(rest.results["cooked"] + rest.results["cached"] + rest.results["up_to_date"], 40)
        self.assertLessEqual(rest.cooked, 40 - finished)

    def test_fail_fast_stops_and_publishes_nothing(self):
        game = self.project({"a.json": "{", "b.bin": "x"}, [DATA, COPY])
        cook = self.cook(game, "--fail-fast", expect=1)
        self.assertEqual(cook.roots, {})
        self.assertEqual(self.tree(game, "pc"), {})

    def test_a_second_cook_waits_and_standalone_refuses(self):
        game = self.project({"a.txt": "x"}, [command("tool")])
        self.write("game/tools/tool", f'#!/bin/sh\ntouch {self.path("begun")}\nwhile ! [ -e {self.path("go")} ]; do sleep 0.05; done\n'
                                      'cp "$1" "$2"\n', 0o755)
        first = self.start_cook(game)
        self.addCleanup(first.kill)
        wait_until(lambda: os.path.exists(self.path("begun")) or first.poll() is not None, "the first cook")
        self.assertEqual(self.galley("cook", "--project", game, "--standalone").returncode, 2)
        second = subprocess.Popen([os.path.join(self.bin, "galley"), "cook", "--project", game], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True)
        self.addCleanup(second.kill)
        self.assertIn("waiting", next((line for line in second.stderr if "waiting" in line), "it does not wait"))
        self.write("go", "")
        second.communicate(timeout=LIMIT_S)
        self.assertEqual(second.returncode, 0)
        self.assertEqual(self.finish_cook(game, first).code, 0)

    def test_a_corrupt_blob_is_found_and_made_again(self):
        game = self.sample()
        first = self.cook(game)
        segments = os.path.join(game, ".galley/store/segments")
        biggest = max((os.path.join(segments, n) for n in os.listdir(segments)), key=os.path.getsize)
        with open(biggest, "r+b") as file:
            file.seek(os.path.getsize(biggest) // 2)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 0x55]))
        found = self.galley("store", "verify", "--project", game)
        self.assertEqual(found.returncode, 1, found.stdout)
        verify = ("store", "verify", "--project", game, "--json")
        self.assertEqual(json.loads(self.galley(*verify).stdout)["problems"], [])
        again = self.cook(game)
        self.assertEqual(again.roots, first.roots)
        self.assertEqual(self.galley(*verify).returncode, 0)

    def test_wrong_bytes_of_a_cooked_input_are_made_again_for_the_cook_that_reads_them(self):
        rule = ('match = "/Game/**/*.txt"\ncooker = "command"\n'
                'settings = { argv = ["tools/join", "{input}", "{output:.out}"], outputs = [".out"] }')
        game = self.project({"made.txt": "MADE-OF-THIS\n" * 100, "reader.txt": "one\n"}, [rule])
        self.write("game/tools/join", '#!/bin/sh\ncat "$1" "$3" > "$2"\n', 0o755)
        argv = '[settings]\nargv = ["tools/join", "{input}", "{output:.out}", "%s"]\n'
        self.write("game/content/made.txt.cook", argv % "/dev/null")
        self.write("game/content/reader.txt.cook", argv % "{cooked:/Game/made.txt:.out}")
        self.cook(game)
        found = 0
        for folder, _, names in os.walk(os.path.join(game, ".galley/store")):
            for path in (os.path.join(folder, name) for name in names):
                data = read_file(path)
                if b"MADE-OF-THIS" in data and "index" not in path:
                    with open(path, "wb") as file:
                        file.write(data.replace(b"MADE-OF-THIS", b"mADE-OF-THIS", 1))
                    found += 1
        self.assertGreater(found, 0)
        self.write("game/content/reader.txt", "two\n")  # its cook reads what lies there
        cook = self.cook(game, "--workers", 1)
        self.assertEqual(cook.cooked, 2, cook)
        self.assertEqual(self.read("game/.galley/cooked/pc/Game/reader.txt.out"), b"two\n" + b"MADE-OF-THIS\n" * 100)
        fresh = self.cook(game, "--store", self.path("other"), "--force")
        self.assertEqual(cook.roots, fresh.roots)


if __name__ == "__main__":
    unittest.main()
