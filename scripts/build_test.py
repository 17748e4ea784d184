"""What scripts/build.py reads from Ninja."""
import contextlib, io, os, sys, tempfile, unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import build

NINJA = """
rule touch
  command = touch $out
build common/liba.a: touch
build tests/a_test: touch common/liba.a
build common/all: phony common/liba.a tests/a_test
build bin/galley: touch || common/liba.a
build director/host/all: phony bin/galley
build director/all: phony director/host/all
build all: phony common/all || director/all
build unused: touch
default all
rule configure
  command = cp configured build.ninja
  generator = 1
build build.ninja: configure configured
"""


def write(folder, name, text, modified_s):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.utime(path, (modified_s, modified_s))


class PartsOfAllTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_the_groups_of_all_folders_are_taken_apart(self):
        write(self.folder, "configured", NINJA, 1000)
        write(self.folder, "build.ninja", NINJA, 2000)
        self.assertEqual(sorted(build.parts_of_all(self.folder)), ["bin/galley", "common/liba.a", "tests/a_test"])

    def test_what_changed_since_the_folder_was_configured_counts(self):
        write(self.folder, "build.ninja", NINJA, 1000)
        write(self.folder, "configured", NINJA.replace("tests/a_test", "tests/new_test"), 2000)
        self.assertEqual(sorted(build.parts_of_all(self.folder)), ["bin/galley", "common/liba.a", "tests/new_test"])

    def test_what_a_configuration_that_fails_says_is_shown(self):
        write(self.folder, "build.ninja", NINJA.replace("cp configured build.ninja", "echo no such package; false"), 1000)
        write(self.folder, "configured", "", 2000)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), self.assertRaises(SystemExit) as ended:
            build.parts_of_all(self.folder)
        self.assertEqual(ended.exception.code, 1)
        self.assertIn("no such package", shown.getvalue())


class InputsTest(unittest.TestCase):
    def test_what_hangs_on_a_target_is_no_input_of_it(self):
        self.assertEqual(build.inputs_in("a:\n  input: phony\n    b\n    | c\n    || d\n  outputs:\n    e\n"), ["b", "c", "d"])
        self.assertEqual(build.inputs_in("a:\n  outputs:\n    e\n"), [])


if __name__ == "__main__":
    unittest.main()
