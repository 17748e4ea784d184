"""What `cmake --install` puts into a folder is all that a cook needs."""
import os, re, subprocess, unittest

from harness import BIN, E2ETest, SOURCE, read_file

BUILD = os.path.dirname(os.path.abspath(BIN))


class InstallTest(E2ETest):
    def packages_of(self, *programs):
        """The Debian packages of the libraries that these name, but for those that every system has."""
        names = set(re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", *programs], text=True, check=True, stdout=subprocess.PIPE).stdout))
        # (As the loader finds them: a machine may have others of these names, for other processors.)
        loaded = "".join(subprocess.run(["ldd", program], text=True, check=True, stdout=subprocess.PIPE).stdout for program in programs)
        paths = {os.path.realpath(path) for name, path in re.findall(r"^\s*(\S+) => (\S+) ", loaded, re.M) if name in names}
        owners = subprocess.run(["dpkg-query", "-S", *paths], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return {line.split(":")[0] for line in owners.splitlines()} - {"libc6", "libgcc-s1"}

    def test_an_installed_galley_cooks(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.path("opt")], check=True, stdout=subprocess.DEVNULL)
        installed = self.path("opt", "bin")
        self.assertEqual(sorted(os.listdir(installed)), ["galley", "galley-cook", "galley-director", "galley-worker"])
        self.assertEqual(os.readlink(os.path.join(installed, "galley-cook")), "galley-worker")
        self.assertEqual(os.readlink(os.path.join(installed, "galley-director")), "galley")
        metrics = self.path("opt", "lib", "galley", "galley-metrics.so")  # which the programs look for there
        for path in ("README.md", "LICENSE", "docs/getting-started.md", "docs/cookers/texture.md"):
            self.assertEqual(self.read("opt", "share", "doc", "galley", path), read_file(os.path.join(SOURCE, path)))

        share = ("share",)
        self.assertIn(b".SH COMMANDS", self.read("opt", *share, "man", "man1", "galley.1"))
        for shell, path in (("bash", ("bash-completion", "completions", "galley")), ("zsh", ("zsh", "site-functions", "_galley")),
                            ("fish", ("fish", "vendor_completions.d", "galley.fish"))):
            self.assertIn(f"{shell} completion of galley".encode(), self.read("opt", *share, *path))

        game = self.sample()
        # As a person has it who put one link to it into a folder of the PATH; the build folder is nowhere in it.
        os.mkdir(self.path("path"))
        os.symlink(os.path.join(installed, "galley"), self.path("path", "galley"))
        self.bin = self.path("path")
        cook = self.cook(game, "--workers", "2", "--metrics", "127.0.0.1:0", env={"PATH": "/usr/bin:/bin"})
        self.assertEqual((cook.results["failed"], cook.summary["workers"]["started"]), (0, 2))
        self.assertGreater(cook.cooked, 100)
        documented = read_file(os.path.join(SOURCE, "docs", "getting-started.md")).decode()
        for package in self.packages_of(metrics, *(os.path.join(installed, name) for name in ("galley", "galley-worker"))):
            self.assertTrue(re.search(rf"(?<!\S){re.escape(package)}(?!\S)", documented), f"docs/getting-started.md does not list {package}")
        for name in os.listdir(installed):
            self.assertEqual(subprocess.run([os.path.join(installed, name), "--help"], stdout=subprocess.DEVNULL).returncode, 0, name)


if __name__ == "__main__":
    unittest.main()
