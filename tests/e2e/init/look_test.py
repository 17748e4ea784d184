"""`galley-worker describe --look`: what the cookers say about files, one JSON object a line."""
import json, os, struct, subprocess, unittest, zlib
import harness


def png(pixel, side=4):
    """One colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(pixel) * side for _ in range(side))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GLSL = "#version 450\n#include <light.glsl>\nlayout(binding = 0) uniform cbuffer { vec4 c; } cb;\nlayout(location = 0) out vec4 o;\nvoid main() { o = cb.c * light(); }\n"
MESH = {"asset": {"version": "2.0"}, "buffers": [{"uri": "tri.bin", "byteLength": 36}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "images": [{"uri": "bumps.png"}], "textures": [{"source": 0}], "materials": [{"normalTexture": {"index": 0}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0}
FILES = {"flat.png": png((128, 128, 255)), "red.png": png((200, 30, 20)), "broken.png": b"\x89PNG\r\n\x1a\n", "a.frag": GLSL, "lib/light.glsl": "float light() { return 1.0; }\n",
         "b.frag": "cbuffer C { float4 c; };\nfloat4 main() : SV_Target { return c; }\n", "m.gltf": json.dumps(MESH),
         "tri.bin": struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0), "d.json": '{"a": {"$soft": "red.png"}}', "x.fbx": "model",
         "p.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"}


class LookTest(harness.E2ETest):
    def look(self, *args, given=None):
        done = subprocess.run([os.path.join(self.bin, "galley-worker"), "describe", *args], cwd=self.path("tree"), input=given, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {look["file"]: look for look in map(json.loads, done.stdout.splitlines())}

    def setUp(self):
        super().setUp()
        for path, data in FILES.items():
            self.write("tree/" + path, data)

    def test_a_cooker_says_whether_it_takes_a_file_and_what_it_is_and_what_it_refers_to(self):
        looks = self.look("--look", "flat.png", "red.png", "broken.png", "m.gltf", "d.json", "x.fbx", "b.frag", "absent.png")
        self.assertEqual(list(looks), ["flat.png", "red.png", "broken.png", "m.gltf", "d.json", "x.fbx", "b.frag", "absent.png"])
        self.assertEqual((looks["flat.png"]["takes"], looks["flat.png"]["kind"], looks["flat.png"]["pixels"]), (True, "image, 4 x 4", "normal"))
        self.assertEqual(looks["red.png"]["pixels"], "color")
        self.assertIn("truncated", looks["broken.png"]["why_not"])
        self.assertEqual((looks["m.gltf"]["takes"], looks["m.gltf"]["reads"]), (True, ["tri.bin"]))
        self.assertEqual(looks["m.gltf"]["references"], [{"path": "bumps.png", "kind": "hard"}])
        self.assertEqual(looks["d.json"]["references"], [{"path": "red.png", "kind": "soft"}])
        self.assertEqual((looks["x.fbx"]["cooker"], looks["x.fbx"]["why_not"]), ("", "no cooker takes .fbx files"))
        self.assertEqual((looks["b.frag"]["takes"], looks["b.frag"]["kind"]), (False, "HLSL"))
        self.assertEqual(looks["b.frag"]["flaw"], "not GLSL but another language, such as HLSL")
        self.assertIn("absent.png", looks["absent.png"]["failed"])

    def test_an_outline_decodes_and_compiles_nothing_and_reads_heads_only(self):
        """What is wrong behind a header is not seen; a header that is longer than the head is read to its end."""
        whole = png((1, 2, 3), 64)
        comment = b"iTXt" + b"x" * 100_000
        chunk = struct.pack(">I", 100_000) + comment + struct.pack(">I", zlib.crc32(comment))
        self.write("tree/cut.png", whole[:60])
        self.write("tree/long.png", whole[:33] + chunk + whole[33:])
        self.write("tree/photo.png", b"\xff\xd8\xff\xe0")
        self.write("tree/wrong.frag", "#include <light.glsl>\nvoid main() { no }")
        self.write("tree/lost.gltf", json.dumps({**MESH, "buffers": [{"uri": "absent.bin", "byteLength": 36}]}))
        looks = self.look("--outline", "--look", "cut.png", "long.png", "photo.png", "wrong.frag", "lost.gltf", "d.json", "x.fbx", "absent.png")
        self.assertEqual({file for file, look in looks.items() if look["takes"]}, {"cut.png", "long.png", "wrong.frag", "lost.gltf", "d.json"})
        for name in ("cut.png", "long.png"):
            self.assertEqual((looks[name]["kind"], looks[name]["tags"]["width"], "pixels" in looks[name]), ("image, 64 x 64", 64, False))
        self.assertEqual(looks["photo.png"]["flaw"], "a JPEG under the name .png")
        self.assertEqual((looks["wrong.frag"]["includes"], looks["wrong.frag"]["tags"]), (["light.glsl"], {"main": True}))
        self.assertEqual((looks["lost.gltf"]["reads"], looks["lost.gltf"]["images"]), (["absent.bin"], [{"path": "bumps.png", "use": "normal"}]))
        self.assertEqual(looks["d.json"]["references"], [{"path": "red.png", "kind": "soft"}])

    def test_names_come_from_standard_input_and_settings_reach_the_cooker(self):
        args = ("--cooker", "shader", "--settings", '{"include_dirs": ["/Game/lib"]}', "--mount", "/Game=.", "--look", "-")
        looks = self.look(*args, given="a.frag\n")
        self.assertEqual((looks["a.frag"]["takes"], looks["a.frag"]["kind"]), (True, "GLSL, .frag shader"), looks)
        self.assertIs(self.look("--look", "-", given="a.frag\n")["a.frag"]["takes"], False)


if __name__ == "__main__":
    unittest.main()
