#!/usr/bin/env python3
"""What devices get is what a cook by the book makes: each file, in whatever order they are asked for, and the whole tree to which the links of a
session's root lead.

A seed is printed; GALLEY_SEED=<seed> draws the same project, order and faces again.
"""
import concurrent.futures, json, os, random, shutil, subprocess, time, unittest

from device_case import DATA, LEVEL, DeviceCase, SessionTree, digest_of, png, quoted
from harness import COPY, LIMIT_S, SAMPLE, read_file
from nginx_case import NginxCase

CURL = shutil.which("curl")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Two overlays, a mount that is staged elsewhere, cultures, variants, levels of detail, generated packages, several outputs, one that differs by
# platform.
EVERYTHING = """[project]
name = "game"
[[mount]]
path = "/Game"
dir = "content"
[[mount]]
path = "/Game"
dir = "mod"
priority = 1
[[mount]]
path = "/Game/dlc"
dir = "dlc"
stage_as = "/Game/dlc1"
[[mount]]
path = "/Engine"
dir = "engine"
[[platform]]
name = "pc"
texture = "bc"
shader = "spirv-1.5"
[[platform]]
name = "phone"
texture = "astc"
shader = "essl-310"
[[rule]]
match = "/**/*.{txt,sh,large}"
cooker = "copy"
[[rule]]
match = "/Game/**/*.json"
cooker = "data"
[[rule]]
match = "/Game/**/*.level"
cooker = "data"
settings = { cell_size = 100 }
[[rule]]
match = "/Game/**/*.note"
cooker = "command"
[rule.settings]
argv = ["/bin/sh", "-c", '(echo "$2"; cat "$0") > "$1"; wc -c < "$0" > "$3"', "{input}", "{output:.out}", "{platform}", "{output:.size}"]
outputs = [".out", ".size"]
[[rule]]
match = "/Game/**/*.png"
cooker = "texture"
settings = { quality = "fast" }
[[rule]]
match = "/Game/**/*.{gltf,glb}"
cooker = "mesh"
[[rule]]
match = "/Engine/shaders/*.{vert,frag}"
cooker = "shader"
settings = { include_dirs = ["/Engine/library"], defines = { FOG_DENSITY = "0.02" } }
[[rule]]
match = "/Engine/shaders/cutout.frag"
settings = { variants = { autumn = { TINT = "1.0, 0.6, 0.2" } } }
[cook]
cultures = ["de", "fr"]
"""
FOLDERS = ["", "a b/", "props/größe/", "maps/deep/er/", "100%+#/"]


class Everything:
    """A project at random, with one of everything."""

    def __init__(self, test, rng):
        self.test, self.rng = test, rng
        test.write("game/galley.toml", EVERYTHING)
        self.numbers = iter(range(1_000))
        for kind in ("txt", "json", "note", "png", "level"):
            for _ in range(rng.randrange(3, 7)):
                self.add("content/" + rng.choice(FOLDERS), kind)
            self.add("dlc/" + rng.choice(FOLDERS), kind)
            for name in [self.add("content/mods/", kind), self.add("content/mods/", kind)][:rng.randrange(1, 3)]:
                self.put(name.replace("content/", "mod/", 1), kind)
            self.add("mod/" + rng.choice(FOLDERS), kind)
        for folder in ("content/", "content/L10N/de/", "content/L10N/fr/"):
            test.write(f"game/{folder}hello.txt", f"hello of {folder}")
            test.write(f"game/{folder}hello.json", json.dumps({"hello": folder}))
        test.write("game/content/empty.txt", b"")
        test.write("game/content/run.sh", "#!/bin/sh\n", 0o755)
        # Above 1 MiB a copied file is a link.
        test.write("game/content/above.large", rng.randbytes((1 << 20) + 1))
        for name in ("pillar.glb", "pillar.glb.cook", "chest.glb", "flag.gltf"):
            test.write(f"game/content/meshes/{name}", read_file(os.path.join(SAMPLE, "content/meshes", name)))
        test.write("game/content/textures/fence.png", read_file(os.path.join(SAMPLE, "content/textures/fence.png")))
        shutil.copytree(os.path.join(SAMPLE, "engine"), test.path("game/engine"))

    def add(self, folder, kind):
        name = f"{folder}{kind}{next(self.numbers)}.{kind}"
        self.put(name, kind)
        return name

    def put(self, name, kind):
        self.test.write(f"game/{name}", getattr(self, "make_" + kind)())

    def make_txt(self):
        return self.rng.randbytes(self.rng.choice([1, 300, 20_000])).hex()

    def make_json(self):
        return json.dumps({"numbers": [self.rng.randrange(1 << 30) for _ in range(self.rng.randrange(20))]})

    def make_note(self):
        return f"note {self.rng.randrange(1 << 30)}\n"

    def make_png(self):
        return png([self.rng.randrange(256) for _ in range(3)], self.rng.choice([1, 4, 16]))

    def make_level(self):
        place = lambda: self.rng.randrange(-300, 300)
        return json.dumps({"items": [{"position": [place(), 0, place()], "item": self.rng.randrange(9)} for _ in range(self.rng.randrange(1, 6))]})


class TreeCase(DeviceCase):
    def book(self, project, *platforms):
        """{platform: {path: (digest, is_executable)}}: the roots of a cook by the book of a copy, into a store of its own."""
        copy = self.path("book")
        shutil.copytree(project, copy, symlinks=True, ignore=shutil.ignore_patterns(".galley"))
        named = [argument for platform in platforms for argument in ("--platform", platform)]
        done = self.galley("cook", "--standalone", "--no-stage", "--project", copy, *named)
        self.assertEqual(done.returncode, 0, done.stderr)
        roots = {}
        for platform in platforms:
            listed = self.galley("tree", f"{platform}@latest", "--json", "--project", copy)
            self.assertEqual(listed.returncode, 0, listed.stderr)
            entries = map(json.loads, listed.stdout.splitlines())
            roots[platform] = {entry["path"]: (entry["digest"], entry["executable"]) for entry in entries}
        return roots

    def expect_file(self, client, url, digest):
        """The file is there with these bytes, and is not sent again to who has its tag."""
        answer = self.get_ready(client, url)
        self.assertEqual((answer.status, digest_of(answer.body)), (200, digest), (url, answer))
        again = client.get(url, If_None_Match=answer.field("ETag"))
        self.assertEqual((again.status, again.body), (304, b""), (url, answer.field("ETag"), again))

    def expect_files(self, client, rng, expected, faces):
        """Each path is asked for at one face or more, in a random order, four at a time. Returns the paths that were asked for at each face."""
        asked = {face: [] for face in faces}
        asks = []
        for path in rng.sample(sorted(expected), len(expected)):
            for face in rng.sample(faces, rng.randint(1, len(faces))):
                asked[face].append(path)
                asks.append((face + quoted(path), expected[path][0]))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for _ in pool.map(lambda ask: self.expect_file(client, *ask), asks):
                pass  # a failure is raised here
        return asked

    def expect_tree(self, client, session, expected, is_selected=False):
        """The newest root of the session's audience leads to the expected files, and to nothing else where nothing is selected. What was asked for
        outside of sessions is in it a moment later. Returns the root."""
        tree = SessionTree(client)
        until = time.monotonic() + 30
        while True:
            root = client.get(f"/v1/sessions/{session}").json["newest_root"]
            found = tree.cooked(root)
            if is_selected:
                found = {path: file for path, file in found.items() if path in expected}
            if found == expected or time.monotonic() > until:
                break
            time.sleep(0.05)
        differ = {path: (found.get(path), expected.get(path)) for path in found.keys() | expected.keys() if found.get(path) != expected.get(path)}
        self.assertEqual(differ, {}, f"{root}: {{path: (what the links lead to, what a cook by the book has)}}")
        return root

    def expect_root(self, client, project, rng, root, expected):
        """The same by /v1/root/, by `galley tree` and by a checkout."""
        files, links = SessionTree(client).listed(root)
        listed = self.galley("tree", root, "--json", "--project", project)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        entries = {entry["path"]: entry for entry in map(json.loads, listed.stdout.splitlines())}
        self.assertEqual({path: entry.get("target") or (entry["digest"], entry["executable"]) for path, entry in entries.items()}, {**files, **links})
        linked = [path for path in expected if "/_gen/" not in path]
        for path in rng.sample(linked, min(len(linked), 40)):
            self.expect_file(client, f"/v1/root/{root}/static/{quoted(path)}", expected[path][0])
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        done = self.galley("checkout", root, out, "--project", project)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in linked:
            file = os.path.join(out, "static", path)
            self.assertEqual((digest_of(read_file(file)), bool(os.stat(file).st_mode & 0o100)), expected[path], path)

    def expect_nothing_published(self, project):
        """Asking is no cook: nothing was published, and no sandbox was touched."""
        self.assertEqual(self.status(project)["cooks"], [])
        self.assertEqual(self.galley("roots", "--json", "--project", project).stdout, "")
        self.assertFalse(os.path.exists(os.path.join(project, ".galley", "cooked")))


class DeviceTreeTest(TreeCase):
    def test_the_tree_to_which_all_links_lead_is_that_of_a_cook_by_the_book(self):
        rng = random.Random(self.seed())
        Everything(self, rng)
        project = self.path("game")
        book = self.book(project, "pc", "phone")
        for part in ("/_gen/", ".d/lod1.glb", ".d/autumn.spv", "Game/dlc1/", "Game/L10N/fr/", "Game/mods/", "%", ".size"):
            self.assertTrue(any(part in path for path in book["pc"]), (part, sorted(book["pc"])))
        client = self.serve_http(project, "--workers", "2")
        for platform, expected in book.items():
            session = self.session(client, platform=platform)["session"]
            face = f"/v1/sessions/{session}/"
            asked = self.expect_files(client, rng, expected, [f"/v1/{platform}/", face])
            # Its own root has what it was answered, and nothing that the cook by the book has not.
            own = SessionTree(client).cooked(client.get(f"/v1/sessions/{session}").json["root"])
            self.assertEqual({path: own.get(path) for path in asked[face]}, {path: expected[path] for path in asked[face]}, platform)
            self.assertLessEqual(own.items(), expected.items(), platform)
            root = self.expect_tree(client, session, expected)
            self.expect_root(client, project, rng, root, expected)
        # Cultures are another audience, whose tree has at once what stands.
        session = self.session(client, platform="pc", cultures=["de", "fr"])["session"]
        self.expect_tree(client, session, book["pc"])
        self.expect_nothing_published(project)

    def test_where_the_book_selects_each_of_its_files_is_there(self):
        rng = random.Random(self.seed())
        project = self.sample()
        expected = self.book(project, "deck")["deck"]
        client = self.serve_http(project, "--workers", "2")
        session = self.session(client, platform="deck")["session"]
        self.expect_files(client, rng, expected, ["/v1/deck/", f"/v1/sessions/{session}/"])
        root = self.expect_tree(client, session, expected, is_selected=True)
        self.expect_root(client, project, rng, root, expected)
        self.expect_nothing_published(project)


SMALL = {"a.txt": "a", "deep/er/b c.txt": "b" * 5000, "c.json": '{"c": [1, 2, 3]}',
         "town.level": json.dumps({"items": [{"position": [x, 0, z]} for x in (10, 150) for z in (20, 220)]})}


class ClientsTest(TreeCase, NginxCase):
    """The same, of a small project, with the clients that people have."""

    def small(self):
        project = self.project(SMALL, [COPY, DATA, LEVEL])
        return project, self.book(project, "pc")["pc"]

    def test_through_nginx(self):
        rng = random.Random(self.seed())
        project, expected = self.small()
        client = self.start(project, "--workers", "2")
        session = self.session(client, platform="pc")["session"]
        self.expect_files(client, rng, expected, ["/v1/pc/", f"/v1/sessions/{session}/"])
        root = self.expect_tree(client, session, expected)
        self.expect_root(client, project, rng, root, expected)

    @unittest.skipUnless(CURL, "curl is not installed")
    def test_with_curl(self):
        project, expected = self.small()
        client = self.serve_http(project, "--workers", "2")

        def curl(url, *more):
            return subprocess.run([CURL, "--silent", "--show-error", "--retry", "60", "--output", self.path("body"), "--write-out", "%{http_code}", *more,
                                   url], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)

        for path, (digest, _) in expected.items():
            url = f"{client.url}/v1/pc/{quoted(path)}"
            first = curl(url, "--etag-save", self.path("tag"))
            self.assertEqual((first.stdout, digest_of(self.read("body"))), ("200", digest), (url, first.stderr))
            again = curl(url, "--etag-compare", self.path("tag"))
            self.assertEqual(again.stdout, "304", (url, self.read("tag"), again.stderr))

    @unittest.skipUnless(BROWSER, "no browser is installed (Debian's package chromium)")
    def test_with_a_browser(self):
        client = self.serve_http(self.project(SMALL, [COPY, DATA, LEVEL]))
        self.get_ready(client, "/v1/pc/Game/a.txt")
        shown = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.path('browser')}", "--dump-dom",
                                f"{client.url}/v1/pc/Game/deep/er/b%20c.txt"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        self.assertIn("b" * 5000, shown.stdout, shown.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
