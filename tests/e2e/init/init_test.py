"""`galley init` on a tree that has some of everything, and the cook after it."""
import json, os, shutil, signal, struct, subprocess, time, unittest, zlib
import harness
from init import look_test


def png(color_type=2):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    channels = {0: 1, 2: 3, 6: 4}[color_type]
    rows = b"".join(b"\0" + bytes([128] * channels * 4) for _ in range(4))
    header = struct.pack(">IIBBBBB", 4, 4, 8, color_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def wav(form=1):
    data = b"\0\0" * 800
    header = b"fmt " + struct.pack("<IHHIIHH", 16, form, 1, 8000, 16000, 2, 16)
    return b"RIFF" + struct.pack("<I", 4 + len(header) + 8 + len(data)) + b"WAVE" + header + b"data" + struct.pack("<I", len(data)) + data


def tga():
    return bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 24, 0]) + bytes(12)


MESH = {"asset": {"version": "2.0"}, "buffers": [{"uri": "tri.bin", "byteLength": 36}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "images": [{"uri": "bumps.png"}], "textures": [{"source": 0}], "materials": [{"normalTexture": {"index": 0}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0}
VULKAN = "#version 450\n#include \"light.glsl\"\nlayout(location = 0) out vec4 color;\nvoid main() { color = vec4(light(), 1.0); }\n"
FILES = {
    "assets/textures/wall.png": png(), "assets/textures/WALL_SIGN.PNG": png(), "assets/textures/wall_n.png": png(),
    "assets/textures/wall_roughness.png": png(0), "assets/textures/wall.dds": b"DDS built", "assets/textures/wall.png.import": "[remap]",
    "assets/textures/photo.png": b"\xff\xd8\xff\xe0 a jpeg", "assets/textures/sign.tga": tga(), "assets/textures/notes.tga": "no picture",
    "assets/textures/wall.psd": b"8BPS", "assets/sounds/step.wav": wav(), "assets/sounds/adpcm.wav": wav(2), "assets/sounds/song.ogg": b"OggS no codec",
    "assets/meshes/tri.gltf": json.dumps(MESH), "assets/meshes/tri.bin": struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0), "assets/meshes/bumps.png": png(),
    "assets/meshes/old.gltf": '{"asset": {"version": "1.0"}}', "assets/meshes/draft.blend": b"BLENDER",
    "assets/shaders/lit.frag": VULKAN, "assets/shaders/lit.frag.spv": b"\x03\x02\x23\x07", "assets/shaders/library/light.glsl": "vec3 light() { return vec3(1.0); }\n",
    "assets/shaders/points.geom": "#version 450\nlayout(points) in;\nlayout(points, max_vertices = 1) out;\nvoid main() { gl_Position = gl_in[0].gl_Position; EmitVertex(); }\n",
    "assets/shaders/old.frag": "#version 120\nvarying vec2 uv;\nvoid main() { gl_FragColor = vec4(uv, 0.0, 1.0); }\n",
    "assets/data/items.json": '{"sign": {"$ref": "../textures/sign.tga"}}', "assets/data/broken.json": "{ // a comment\n}",
    "assets/data/schema.json": '{"a": {"$ref": "#/b"}}', "assets/data/stone.material": "material stone { }", "assets/data/wood.material": "{}",
    "assets/logic/start.lua": "print(1)", "assets/odd [1]/{a},b.png": b"\xff\xd8\xff\xe0", "assets/odd [1]/c.png": png(),
    "assets/bin/tool": b"\x7fELF\x02\x01\x01", "assets/fonts/LICENSE": "free", "assets/README.md": "read me",
    "mods/castle/assets/tower.png": png(), "mods/castle/assets/gate.png": png(),
    "build/CMakeCache.txt": "", "build/assets/copy.png": b"broken", "src/main.cc": "int main() {}", ".godot/cache.png": b"broken", "Makefile": "all:",
}


def painted(width, height, at):
    """A PNG of the texels at(x, y): (red, green, blue, alpha)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = [b"".join(bytes(at(x, y)) for x in range(width)) for y in range(height)]
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""), b"".join(rows)


class InitTest(harness.E2ETest):
    def nasty(self):
        for path, data in FILES.items():
            self.write("game/" + path, data)
        os.symlink("nowhere", self.path("game/assets/dangling.png"))
        os.symlink("/usr", self.path("game/assets/out"))
        os.symlink(".", self.path("game/assets/loop"))
        os.mkfifo(self.path("game/assets/pipe.png"))
        return self.path("game")

    def test_an_interrupt_ends_it_at_once_and_it_says_that_nothing_was_written(self):
        galley = self.path("bin/galley")
        os.makedirs(self.path("bin"))
        shutil.copyfile(os.path.join(harness.BIN, "galley"), galley)
        os.chmod(galley, 0o755)
        begun = self.path("begun")
        worker = self.write("bin/galley-worker", f"#!/bin/sh\necho $$ > {begun}.part\nmv {begun}.part {begun}\nexec sleep 600\n")
        os.chmod(worker, 0o755)
        self.write("game/a_normal.png", png())
        process = subprocess.Popen([galley, "init", self.path("game")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        limit = time.monotonic() + 60
        while not os.path.exists(begun):
            self.assertLess(time.monotonic(), limit)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertIn(f"interrupted: {self.path('game/galley.toml')} was not written", err)
        self.assertFalse(os.path.exists(self.path("game/galley.toml")))
        pid = int(self.read("begun"))
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), limit, "the look goes on")

    def program_and_worker(self, script):
        """A galley beside another program in the place of the worker; script None: beside none."""
        os.makedirs(self.path("bin"))
        galley = self.path("bin/galley")
        shutil.copyfile(os.path.join(harness.BIN, "galley"), galley)
        os.chmod(galley, 0o755)
        if script is not None:
            os.chmod(self.write("bin/galley-worker", "#!/bin/sh\n" + script), 0o755)
        return galley

    def test_without_a_worker_it_says_so_and_writes_nothing(self):
        self.write("game/a.png", png())
        made = subprocess.run([self.program_and_worker(None), "init", self.path("game")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((made.returncode, made.stdout), (3, ""), made.stderr)
        self.assertIn(f"{self.path('bin/galley-worker')}: No such file or directory", made.stderr)
        self.assertFalse(os.path.exists(self.path("game/galley.toml")))

    def test_a_file_that_crashes_a_cooker_is_one_line_and_init_goes_on(self):
        real = os.path.join(harness.BIN, "galley-worker")
        worker = self.program_and_worker(
            f"""case "$*" in *--outline*) {real} "$@" | sed 's/\\("file":"[^"]*bad[0-9].png"\\).*/\\1,"failed":"the look crashed: signal 11"}}/';; *) exec {real} "$@";; esac""")
        for name in ("bad1.png", "bad2.png", "good.png"):
            self.write("game/assets/" + name, png())
        self.write("game/assets/photo.png", b"\xff\xd8\xff\xe0")
        made = subprocess.run([worker, "init", self.path("game")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("not all files were looked into, and their names decide: 2 files, first assets/bad1.png: the look crashed: signal 11\n", made.stdout)
        self.assertRegex(made.stdout, r"\.png +3 +texture ")
        self.assertIn("a JPEG under the name .png", made.stdout)

    def test_a_nasty_tree_cooks_without_a_failure(self):
        game = self.nasty()
        made = self.galley("init", game)
        self.assertEqual(made.returncode, 0, made.stderr)
        for line in (".blend", "a project of a modelling program", "a JPEG under the name .png", "(odd)", "a link out of the folder"):
            self.assertIn(line, made.stdout)
        self.assertEqual(harness.read_file(os.path.join(game, ".galley/.gitignore")), b"*\n")
        toml = harness.read_file(os.path.join(game, "galley.toml")).decode()
        cook = self.cook(game)
        self.assertEqual(cook.failures, [], f"{toml}\n{cook}")
        tree = self.tree(game, "windows")
        for path in ("Game/textures/wall.png.ktx2", "Game/textures/WALL_SIGN.PNG.ktx2", "Game/textures/photo.png", "Game/sounds/adpcm.wav",
                     "Game/sounds/step.wav.opus", "Game/meshes/tri.gltf.glb", "Game/meshes/old.gltf", "Game/shaders/lit.frag.spv",
                     "Game/shaders/points.geom.spv", "Game/shaders/old.frag", "Game/data/items.json.cbor", "Game/data/broken.json",
                     "Game/data/stone.material", "Game/data/wood.material.cbor", "Game/logic/start.lua", "Game/fonts/LICENSE",
                     "castle/tower.png.ktx2", "Game/odd [1]/{a},b.png", "Game/odd [1]/c.png.ktx2"):
            self.assertIn(path, tree)
        for path in ("Game/textures/wall.dds", "Game/textures/wall.psd", "Game/meshes/tri.bin", "Game/shaders/library/light.glsl", "Game/bin/tool",
                     "Game/README.md", "Game/meshes/draft.blend"):
            self.assertNotIn(path, tree)
        self.assertFalse([path for path in tree if "copy.png" in path or "cache.png" in path])
        records = self.galley("records", "/Game/meshes/bumps.png", "--project", game).stdout
        self.assertIn("normal", records)

    def test_the_table_lists_every_file_and_is_there_as_json(self):
        game = self.nasty()
        made = self.galley("init", game, "--json")
        table = json.loads(made.stdout)
        self.assertEqual({m["path"]: m["dir"] for m in table["mounts"]}, {"/Game": "assets", "/castle": "mods/castle/assets"})
        files = sum(row["files"] for row in table["table"] if not row["extension"].startswith("(f") and row["extension"] not in ("(hidden)", "(odd)"))
        self.assertEqual(files, len([p for p in FILES if not p.startswith(("build/", ".godot/"))]))
        self.assertTrue(all(row["reason"] and row["action"] in ("cook", "copy", "read", "leave_out") for row in table["table"]))

    def test_pixels_and_not_names_say_what_a_normal_map_is(self):
        """Through the worker, more files than it looks at in one call."""
        normal, red = look_test.png((128, 128, 255)), look_test.png((200, 30, 20))
        maps = {f"bumps{i:03}.png" for i in range(0, 130, 5)} | {"stone_normal.png"}
        others = {f"bumps{i:03}.png" for i in range(130)} - maps | {"image_faction_Normal.png", "combo-normal.png"}
        for name in maps | others:
            self.write(f"tree/assets/{name}", normal if name in maps else red)
        table = json.loads(self.galley("init", self.path("tree"), "--json").stdout)
        self.assertEqual(table["named_only"], ["assets/combo-normal.png", "assets/image_faction_Normal.png"])
        rows = {row["settings"]: (row["files"], row["reason"]) for row in table["table"]}
        self.assertEqual(rows['usage = "normal"'], (len(maps), "normal maps, by their pixels: two channels, read as numbers"), rows)
        self.assertEqual(rows[""][0], len(others), rows)
        cook = self.cook(self.path("tree"))
        self.assertEqual((cook.failures, [w for w in cook.summary["warnings"] if "normal" in w["text"]]), ([], []), cook)

    def test_the_values_of_grids_and_of_masks_in_alpha_come_through(self):
        """From the pixels of many levels to what is staged."""
        grids = {}
        for i in range(4):
            size = (30 + i, 50)
            images = {"ground": painted(*size, lambda x, y: (255, 96, 0, 255) if (x // 9 + y // 11) % 2 else (0, 0, 0, 255)),
                      "height": painted(*size, lambda x, y: (4 * x + y,) * 3 + (255,)),
                      "preview": painted(40, 40, lambda x, y: (5 * x, 6 * y, x * y % 200, 255))}
            for name, (data, texels) in images.items():
                self.write(f"game/levels/{i}/{name}.png", data)
                grids[f"{i}/{name}"] = texels
        self.write("game/levels/kart_colormask.png", painted(16, 16, lambda x, y: (0, 0, 0, 255 if x > 7 else 0))[0])
        game = self.path("game")
        table = json.loads(self.galley("init", game, "--json").stdout)
        rows = {row["settings"]: row["examples"] for row in table["table"]}
        self.assertEqual(len(rows['format = "rgba8", color_space = "linear", mipmaps = false, max_size = 0']), 8, rows)
        self.assertEqual(rows['color_space = "linear"'], ["levels/kart_colormask.png"], rows)
        cook = self.cook(game)
        self.assertEqual(cook.summary["warnings"], [], cook)
        for platform in ("windows", "android"):
            tree = self.tree(game, platform)
            exact = {path.partition("/")[2].partition(".")[0] for path, data in tree.items() if path.partition("/")[2].partition(".")[0] in grids
                     and data.endswith(grids[path.partition("/")[2].partition(".")[0]])}
            self.assertEqual(exact, {key for key in grids if "preview" not in key}, sorted(tree))
        self.assertIn(b"bc3", self.galley("records", "/Game/kart_colormask.png", "--project", game).stdout.lower().encode())

    def test_what_git_lfs_has_elsewhere_and_names_that_no_package_can_have_are_told(self):
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
        for path, data in {"wall.png": pointer, "step.wav": pointer, "sign.png": png(), "a\\b.png": png(), "c\nd.png": png()}.items():
            self.write("game/assets/" + path, data)
        game = self.path("game")
        said = self.galley("init", game).stdout
        self.assertIn("2 files are pointers of Git LFS, whose contents are not here (assets/step.wav, ...): run `git lfs pull` before you cook", said)
        for why in ("has a backslash", "has a control character"):
            self.assertRegex(said, rf"\(odd\) +1  rename it +a name that {why}, which no package can have")
        cook = self.cook(game, expect=1)
        self.assertEqual({(f["package"], f["error"].partition("; ")[2] or "its name") for f in cook.failures if f["platform"] == "windows"},
                         {("/Game/wall.png", "run `git lfs pull`"), ("/Game/step.wav", "run `git lfs pull`"),
                          ("/Game/a\\x5cb.png", "its name"), ("/Game/c\\x0ad.png", "its name")})
        # Fetched, and renamed.
        self.write("game/assets/wall.png", png())
        self.write("game/assets/step.wav", wav())
        for name in ("a\\b.png", "c\nd.png"):
            os.remove(self.path("game/assets", name))
        self.cook(game)

    def test_a_pointer_of_git_lfs_is_content_only_where_a_rule_keeps_it(self):
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
        rules = ['match = "/Game/*.bin"\ncooker = "copy"',
                 'match = "/Game/*.obj"\ncooker = "command"\nsettings = { argv = ["cp", "{input}", "{output:.txt}"], outputs = [".txt"] }']
        game = self.project({"a.bin": pointer, "b.obj": pointer, "c.bin": "content"}, rules)
        without = self.read(game, "galley.toml").decode()
        for _ in range(2):
            cook = self.cook(game, expect=1)
            self.assertEqual({failure["package"] for failure in cook.failures}, {"/Game/a.bin", "/Game/b.obj"})
            self.assertTrue(all("run `git lfs pull`" in failure["error"] for failure in cook.failures), cook.failures)
        platform = next(iter(cook.roots))
        self.assertEqual(set(self.tree(game, platform)), {"Game/c.bin"})
        self.write("game/galley.toml", without + '\n[[rule]]\nmatch = "/Game/**"\nlfs = "keep"\n')
        kept = self.tree(game, platform) if self.cook(game) else None
        self.assertEqual(kept, {"Game/a.bin": pointer.encode(), "Game/b.obj.txt": pointer.encode(), "Game/c.bin": b"content"})
        # The results are known now, and are no answer where pointers are not kept.
        self.write("game/galley.toml", without)
        self.assertEqual(len({failure["package"] for failure in self.cook(game, expect=1).failures}), 2)
        for name in ("a.bin", "b.obj"):
            self.write("game/content/" + name, "fetched")
        self.cook(game)
        self.write("game/content/a.bin", pointer)
        self.assertEqual({failure["package"] for failure in self.cook(game, expect=1).failures}, {"/Game/a.bin"})

    def test_a_first_cook_hides_its_folder_from_version_control(self):
        game = self.project({"a.bin": "x"}, ['match = "/Game/**/*.bin"\ncooker = "copy"'])
        self.cook(game)
        ignore = os.path.join(game, ".galley/.gitignore")
        self.assertEqual(harness.read_file(ignore), b"*\n")
        with open(ignore, "w") as file:
            file.write("store\n")
        self.cook(game)
        self.assertEqual(harness.read_file(ignore), b"store\n")


if __name__ == "__main__":
    unittest.main()
