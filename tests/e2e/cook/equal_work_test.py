"""Equal work is cooked once: models that embed one picture, files that were copied, files with other neighbours."""
import json, os, struct, sys, unittest, zlib

from harness import SOURCE, E2ETest

sys.path.append(os.path.join(SOURCE, "tests", "content"))
from sample_meshes import Document, box  # noqa: E402

MODELS = 60
PLATFORMS = ['name = "pc"\ntexture = "bc"\nshader = "spirv-1.5"', 'name = "phone"\ntexture = "astc"\nshader = "spirv-1.3"']


def png(size):
    """A picture of some colours, as an atlas has them."""
    rows = b"".join(b"\0" + bytes(v for x in range(size) for v in (x * 7 & 255, y * 5 & 255, (x ^ y) & 255)) for y in range(size))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


def model(size, picture):
    """A box whose material has the picture for its colour."""
    document = Document()
    positions, normals, uvs, indices = box(size)
    texture = document.add("textures", {"source": document.image(picture, "atlas")})
    material = document.add("materials", {"pbrMetallicRoughness": {"baseColorTexture": {"index": texture}}})
    document.add("meshes", {"primitives": [{"attributes": {
        "POSITION": document.accessor(positions, bounds=True), "NORMAL": document.accessor(normals), "TEXCOORD_0": document.accessor(uvs)},
        "indices": document.accessor([(index,) for index in indices], component=5125), "material": material}]})
    document.add("nodes", {"mesh": 0})
    return document.glb()


class EqualWorkTest(E2ETest):
    def cooked_of(self, stdout):
        """(package, platform) of what a cooker ran for."""
        events = (json.loads(line) for line in stdout.splitlines())
        return sorted((event["package"], event["platform"]) for event in events
                      if event.get("event") == "done" and event["source"] == "cooked")

    def test_a_picture_that_many_models_embed_is_cooked_once_for_each_platform(self):
        picture = png(64)
        files = {f"props/model{i:02}.glb": model(1 + i / 8, picture) for i in range(MODELS)}
        project = self.project(files, ['match = "**/*.glb"\ncooker = "mesh"', 'match = "**/*.png"\ncooker = "texture"'],
                               platforms=PLATFORMS)
        cook = self.cook(project, "--workers", "4", "--json")
        textures = [(package, platform) for package, platform in self.cooked_of(cook.stdout) if "/_gen/" in package]
        self.assertEqual(sorted(platform for _, platform in textures), ["pc", "phone"], textures)
        self.assertEqual(cook.results["cooked"] + cook.results["cached"], 2 * 2 * MODELS, cook)
        tree = self.tree(project, "pc")
        pictures = [data for path, data in tree.items() if path.endswith(".ktx2")]
        self.assertEqual((len(pictures), len(set(pictures))), (MODELS, 1))

        # So is what comes later: a model more costs itself alone.
        self.write("game/content/props/late.glb", model(9, picture))
        cook = self.cook(project, "--json")
        self.assertEqual({package for package, _ in self.cooked_of(cook.stdout)}, {"/Game/props/late.glb"})

    def test_what_lies_elsewhere_is_cooked_with_its_own_neighbours(self):
        stub = "#version 450\n#include \"common.glsl\"\nlayout(location = 0) out vec4 colour;\nvoid main() { colour = vec4(GREY); }\n"
        files = {}
        for i in range(12):
            files[f"sets/{i:02}/main.frag"] = stub
            files[f"sets/{i:02}/common.glsl"] = f"#define GREY 0.{i % 3}\n"
        project = self.project(files, ['match = "**/*.frag"\ncooker = "shader"'])
        cook = self.cook(project, "--workers", "2")
        self.assertEqual(cook.results["failed"], 0, cook)
        shaders = {}
        for path, data in self.tree(project, "pc").items():
            if path.endswith(".spv"):
                shaders.setdefault(int(path.split("/")[-2]) % 3, set()).add(data)
        self.assertEqual([len(of) for of in shaders.values()], [1, 1, 1])
        self.assertEqual(len(set.union(*shaders.values())), 3)


if __name__ == "__main__":
    unittest.main()
