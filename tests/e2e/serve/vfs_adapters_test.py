#!/usr/bin/env python3
"""Cooked files through PhysicsFS and SDL, and an installed library: the programs of docs/examples against a real director.

A seed is printed; GALLEY_SEED=<seed> draws the same orders again.
"""
import os, random, shutil, subprocess, threading, unittest, zlib

from device_case import IS_SANITIZED, digest_of
from device_tree_test import TreeCase
from harness import BIN, COPY, LIMIT_S, SOURCE

BUILD = os.path.dirname(os.path.abspath(BIN))
LOAD_SAMPLE = os.path.join(BIN, "load_sample")
KINDS = {".ktx2": "texture", ".glb": "mesh", ".opus": "sound"}
# The cook waits until the test has made the file "go" in the game's folder.
GATED = 'match = "/Game/**/*.gated"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "until [ -e $2/go ]; do sleep 0.05; done; cp $0 $1", ' \
        '"{input}", "{output:.out}", "%s"], outputs = [".out"] }'


@unittest.skipUnless(os.path.exists(LOAD_SAMPLE), "load_sample is not built: scripts/install-packages libphysfs-dev libsdl2-dev")
class AdaptersTest(TreeCase):
    def run_game(self, library, client, platform, paths):
        return subprocess.run([LOAD_SAMPLE, library, client.url, platform, self.path(library), *paths], capture_output=True, text=True, timeout=LIMIT_S)

    def load(self, library, client, platform, paths):
        """{path: (CRC-32, size, kind)}: a game that loads these files and ends."""
        done = self.run_game(library, client, platform, paths)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {}
        for line in done.stdout.splitlines():
            crc, size, rest = line.split(" ", 2)
            path, kind = rest.rsplit(" ", 1)
            found[path] = (crc, int(size), kind)
        return found

    def lines_of(self, game, count):
        """The next lines that the game writes. One that does not write them is killed when the patience ends."""
        patience = threading.Timer(LIMIT_S, game.kill)
        patience.start()
        lines = [game.stdout.readline() for _ in range(count)]
        patience.cancel()
        return lines

    def checked_out(self, project, platform):
        """The same of the files of a cook by the book, in a checkout."""
        self.book(project, platform)
        done = self.galley("checkout", f"{platform}@latest", self.path("out"), "--project", self.path("book"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for folder, _, names in os.walk(self.path("out")):
            for path in (os.path.join(folder, name) for name in names if not name.startswith(".galley-")):
                data = self.read(path)
                kind = KINDS.get(os.path.splitext(path)[1], "file")
                found[os.path.relpath(path, self.path("out"))] = (f"{zlib.crc32(data):08x}", len(data), kind)
        return found

    def test_the_files_of_the_sample_are_those_of_a_cook_by_the_book(self):
        rng = random.Random(self.seed())
        project = self.sample()
        expected = self.checked_out(project, "deck")
        self.assertEqual({kind for _, _, kind in expected.values()}, {"texture", "mesh", "sound", "file"})
        client = self.serve_http(project, "--workers", "2")
        for library in ("physfs", "sdl"):
            self.assertEqual(self.load(library, client, "deck", rng.sample(sorted(expected), len(expected))), expected, library)

    def test_a_slow_cook_holds_up_no_other_open(self):
        project = self.project({"slow.gated": "slow", **{f"{i}.txt": str(i) for i in range(8)}}, [COPY, GATED % self.path("game")])
        client = self.serve_http(project, "--workers", "2")
        self.addCleanup(lambda: self.write("game/go", ""))  # whatever happens, the cook ends
        quick = [f"Game/{i}.txt" for i in range(8)]
        game = subprocess.Popen([LOAD_SAMPLE, "physfs", client.url, "pc", self.path("cache"), "Game/slow.gated.out", *quick],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: (game.kill(), game.communicate()))
        said = self.lines_of(game, len(quick))
        self.assertEqual({line.split()[2] for line in said}, set(quick), said)
        self.write("game/go", "")
        self.assertEqual(self.lines_of(game, 1)[0].split()[2:], ["Game/slow.gated.out", "file"])
        self.assertEqual(game.wait(LIMIT_S), 0)

    def test_what_cannot_be_had_is_said(self):
        project = self.project({"a.txt": "a", "b.txt": "b", "wrong.ktx2": "no texture"}, [COPY.replace("*.txt", "*.{txt,ktx2}")])
        client = self.serve_http(project)
        for library in ("physfs", "sdl"):
            done = self.run_game(library, client, "pc", ["Game/a.txt", "Game/none.txt", "Game/wrong.ktx2", "Game/b.txt"])
            self.assertEqual((done.returncode, sorted(line.split()[2] for line in done.stdout.splitlines())), (1, ["Game/a.txt", "Game/b.txt"]), done)
            self.assertIn("Game/none.txt: there is no such file", done.stderr)
            self.assertIn("Game/wrong.ktx2 does not begin as its name says", done.stderr)


# The way of docs/devices.md, "Use it in your build".
GAME = """cmake_minimum_required(VERSION 3.25)
project(game C CXX)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(GALLEY_VFS REQUIRED IMPORTED_TARGET galley_vfs)
add_executable(read_file read_file.c)
target_link_libraries(read_file PRIVATE PkgConfig::GALLEY_VFS Threads::Threads)
set_target_properties(read_file PROPERTIES LINKER_LANGUAGE CXX)
"""


@unittest.skipIf(IS_SANITIZED, "the archive wants the sanitizer")
class InstalledTest(TreeCase):
    """A folder with an installed library and docs/examples/read_file.c, and nothing else of Galley."""

    def setUp(self):
        super().setUp()
        installed = self.path("opt")
        subprocess.run(["cmake", "--install", BUILD, "--component", "galley_vfs", "--prefix", installed], check=True, stdout=subprocess.DEVNULL)
        files = sorted(os.path.relpath(os.path.join(folder, name), installed) for folder, _, names in os.walk(installed) for name in names)
        self.assertEqual([os.path.basename(file) for file in files], ["galley_vfs.h", "libgalley_vfs.a", "galley_vfs.pc"], files)
        moved = self.path("moved")  # as a person has it who unpacks it somewhere
        os.rename(installed, moved)
        self.packages = os.path.join(moved, os.path.dirname(files[2]))
        shutil.copy(os.path.join(SOURCE, "docs/examples/read_file.c"), self.path("read_file.c"))

    def build(self, command):
        """Builds read_file in silence."""
        built = subprocess.run(command, shell=True, cwd=self.dir, env={**os.environ, "PKG_CONFIG_PATH": self.packages}, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
        self.assertEqual((built.returncode, built.stdout), (0, ""))

    def expect_files(self):
        client = self.serve_http(self.project({"a.txt": "a"}, [COPY]))
        read = subprocess.run([self.path("read_file"), client.url, "pc", self.path("cache"), "Game/a.txt"], capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(read.stdout, f"{digest_of(b'a')} Game/a.txt\n", read.stderr)

    def test_a_program_of_c_needs_the_installed_library_alone(self):
        self.build("cc read_file.c $(pkg-config --cflags --libs --static galley_vfs) -o read_file")
        self.expect_files()

    def test_a_game_finds_the_installed_library_by_cmake(self):
        self.write("CMakeLists.txt", GAME)
        self.build("(cmake -B . -S . && cmake --build .) >log || cat log")
        self.expect_files()


if __name__ == "__main__":
    unittest.main()
