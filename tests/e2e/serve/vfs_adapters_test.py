#!/usr/bin/env python3
"""An installed library for games: the programs of docs/examples against a real director."""
import os, shutil, subprocess, unittest

from device_case import IS_SANITIZED, digest_of
from device_tree_test import TreeCase
from harness import BIN, COPY, LIMIT_S, SOURCE

BUILD = os.path.dirname(os.path.abspath(BIN))

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
