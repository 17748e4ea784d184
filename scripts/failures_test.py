"""What scripts/test shows of a failure."""
import os, subprocess, sys, tempfile, unittest

from failures import BLOCK_LINES_MAX, failures, told

GTEST = """\
[==========] Running 3 tests from 1 test suite.
[ RUN      ] AppleTest.IsGreen
[       OK ] AppleTest.IsGreen (0 ms)
[ RUN      ] AppleTest.IsRound
a word of the apple's
common/apple_test.cc:172: Failure
Expected equality of these values:
  corners
    Which is: 1
  0u

printed on the way common/apple_test.cc:175: Failure
Value of: IsRound()
  Actual: false
Expected: true
[  FAILED  ] AppleTest.IsRound (2047 ms)
[ RUN      ] AppleTest.Throws
unknown file: Failure
C++ exception with description "worm" thrown in the test body.
[  FAILED  ] AppleTest.Throws (0 ms)
[----------] 3 tests from AppleTest (2048 ms total)

[  FAILED  ] 2 tests, listed below:
[  FAILED  ] AppleTest.IsRound
[  FAILED  ] AppleTest.Throws
""".splitlines()

FAILING = """\
import unittest
class Pear(unittest.TestCase):
    def test_green(self):
        pass
    def test_round(self):
        self.assertEqual(1, 2, "corners")
    def test_worm(self):
        raise OSError("worm")
unittest.main()
"""


class FailuresTest(unittest.TestCase):
    def test_each_failed_assertion_has_its_test_and_its_words(self):
        first, second, third = failures(GTEST)
        self.assertEqual(first, ["AppleTest.IsRound:", "common/apple_test.cc:172: Failure", "Expected equality of these values:", "  corners",
                                 "    Which is: 1", "  0u"])
        self.assertEqual(second[0], "AppleTest.IsRound:")
        self.assertTrue(second[1].endswith("common/apple_test.cc:175: Failure"))
        self.assertEqual(second[-1], "Expected: true")
        self.assertEqual(third[1:], ["unknown file: Failure", 'C++ exception with description "worm" thrown in the test body.'])

    def test_each_traceback_of_unittest_is_there_to_its_last_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pear.py")
            with open(path, "w") as file:
                file.write(FAILING)
            said = subprocess.run([sys.executable, path, "-v"], text=True, stderr=subprocess.PIPE).stderr
        other, one = sorted(failures(said.splitlines()))
        self.assertTrue(one[0].startswith("FAIL: test_round"), one)
        self.assertEqual(one[-1], "AssertionError: 1 != 2 : corners")
        self.assertTrue(other[0].startswith("ERROR: test_worm"), other)
        self.assertEqual(other[-1], "OSError: worm")

    def test_where_nothing_failed_there_is_nothing(self):
        self.assertEqual(failures(GTEST[:3]), [])
        self.assertEqual(failures(["[ RUN      ] A.Logs", "Failure", "a.cc:1: Skipped", "[       OK ] A.Logs (0 ms)"]), [])

    def test_what_is_long_keeps_its_beginning_and_its_end(self):
        [block] = failures(["a_test.cc:1: Failure", *(f"{i}" for i in range(1_000)), "x" * 5_000, "the end", "[  FAILED  ] A.B (0 ms)"])
        self.assertEqual(len(block), BLOCK_LINES_MAX)
        self.assertEqual((block[1], block[-1]), ("a_test.cc:1: Failure", "the end"))
        self.assertLess(max(len(line) for line in block), 1_100)

    def test_of_many_as_many_are_told_as_there_is_room_for(self):
        blocks = [[f"{i}"] * 10 for i in range(20)]
        lines = told(blocks, 35).split("\n")
        self.assertLessEqual(len(lines), 36)
        self.assertEqual((lines[0], lines[-1]), ("0", "... and 17 more"))
        self.assertEqual(told([["0"] * 40], 35).count("0"), 40, "the first one in any case")


if __name__ == "__main__":
    unittest.main()
