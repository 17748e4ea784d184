"""What scripts/quickstart, test and bench say while they work."""
import contextlib, io, os, subprocess, sys, tempfile, unittest

import build
from progress import NINJA_STATUS, Ctest, Kept, Ninja, follow


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class StatusTest(unittest.TestCase):
    def test_of_ninja_the_steps_are_counted_and_only_failures_are_shown(self):
        clock = Clock()
        log = Ninja(clock)
        self.assertIsNone(log.status())
        for line in ("ninja: Entering directory `build'", "@1/741 Building CXX object a.o"):
            self.assertIsNone(log.feed(line))
        self.assertEqual(log.status(), "built 1 of 741", "what is left would be a guess")
        clock.now += 120
        self.assertIsNone(log.feed("@212/741 Building CXX object b.o"))
        self.assertEqual(log.status(), "built 212 of 741, about 5 min left")
        clock.now += 10
        log.feed("@700/741 Linking")
        self.assertEqual(log.status(), "built 700 of 741, about 10 s left")
        for line in ("FAILED: c.o", "c.cc:1: error: no", "ninja: build stopped: subcommand failed."):
            self.assertEqual(log.feed(line), line)

    def test_of_ctest_what_runs_is_told_with_its_age(self):
        clock = Clock()
        log = Ctest(3, clock)
        for line in ("test 1", "    Start 1: base_test", "1: [ RUN      ] Base.Is", "test 2", "    Start 2: e2e_cook"):
            self.assertIsNone(log.feed(line))
        clock.now += 30
        self.assertEqual(log.status(), "0 of 3 tests are done; running: base_test (for 30 s), e2e_cook (for 30 s)")
        log.feed("1/3 Test #1: base_test .........................   Passed    0.10 sec")
        self.assertEqual(log.status(), "1 of 3 tests are done; running: e2e_cook (for 30 s)")
        log.feed("2/3 Test #2: e2e_cook .........................***Failed   30.10 sec")
        self.assertEqual(log.status(), "2 of 3 tests are done; running: none")
        self.assertEqual(len(log.lines), 7)

    def test_a_program_is_followed_to_its_last_line(self):
        said, log = [], Kept("it", Clock())
        code = follow([sys.executable, "-c", "import sys; print('a'); sys.stderr.write('b'); sys.exit(3)"], log, said.append, period_s=0,
                      env={**os.environ, "PYTHONUNBUFFERED": "1"})
        self.assertEqual((code, log.lines), (3, ["a", "b"]))
        self.assertEqual(said[-1], "it has run for 0 s")
        said.clear()
        self.assertEqual(follow(["true"], Kept("it"), said.append, period_s=3_600), 0)
        self.assertEqual(said, [], "before its time nothing is said")


NINJA = """\
rule make
  command = touch $out
build a: make
build b: make a
rule fail
  command = echo words of a compiler; false
build c: fail
default b
"""
# The packages are the lines of a file; the CMake of here only says that it ran.
FAKES = {"dpkg-query": '#!/bin/sh\ncat "$FAKE/packages"\n', "cmake": '#!/bin/sh\necho "$@" >>"$FAKE/configured"\nexec cp "$FAKE/ninja" "$4/build.ninja"\n'}


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        for name, text in {**FAKES, "ninja": NINJA, "packages": "cmake 3 installed\n"}.items():
            self.write(("bin/" if name in FAKES else "") + name, text)
        os.mkdir(self.dir + "/out")
        saved = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(saved)))
        os.environ.update(FAKE=self.dir, PATH=f"{self.dir}/bin:{os.environ['PATH']}")
        self.write("bin/ninja", f'#!/bin/sh\nexec {self.ninja()} "$@"\n')

    def ninja(self):
        return next(path for path in (f"{folder}/ninja" for folder in os.environ["PATH"].split(":")) if path != f"{self.dir}/bin/ninja" and os.path.exists(path))

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def build(self, *targets):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = build.build("dev", self.dir + "/out", targets, period_s=0)
        return code, said.getvalue().splitlines()

    def configured(self):
        with open(self.dir + "/configured") as file:
            return len(file.readlines())

    def test_a_folder_that_was_configured_before_its_packages_were_there_is_configured_anew(self):
        code, said = self.build()
        self.assertEqual((code, self.configured()), (0, 1))
        self.assertEqual(said[-1].rsplit(" in ", 1)[0], f"== built {self.dir}/out")
        self.build()
        self.assertEqual(self.configured(), 1, "nothing has changed")
        self.write("packages", "cmake 3 installed\nlibboost-graph-dev 1 installed\n")
        self.build()
        self.assertEqual(self.configured(), 2)
        os.remove(f"{self.dir}/out/{build.STAMP}")
        self.build()
        self.assertEqual(self.configured(), 3, "configured by hand: nobody knows with what")

    def test_the_steps_of_a_build_are_told_as_lines(self):
        self.assertTrue({"== built 1 of 2, about 10 s left", "== built 2 of 2, about 10 s left"} & set(self.build()[1]))

    def test_what_fails_says_why(self):
        code, said = self.build("c")
        self.assertNotEqual(code, 0)
        self.assertIn("words of a compiler", said)
        self.assertFalse([line for line in said if line.startswith(NINJA_STATUS[0])], said)


if __name__ == "__main__":
    unittest.main()
