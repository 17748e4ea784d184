#!/usr/bin/env python3
import os, sys, tempfile, unittest

sys.dont_write_bytecode = True
from knot import check_knot, edges, largest_knot, pairs


class KnotTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)
        os.mkdir(os.path.join(self.root.name, "core"))

    def write(self, name, *lines):
        with open(os.path.join(self.root.name, "core", name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def knot(self):
        return largest_knot(edges(pairs(self.root.name, "core"))[0])

    def test_a_header_and_its_source_are_one_node(self):
        self.write("a.h", "class A {", "};")
        self.write("b.h", '#include "core/a.h"', "class B {", "};")
        self.write("c.h", "class C {", "};")
        self.write("c.cc", '#include "core/c.h"', '#include "core/b.h"')
        self.assertEqual(len(self.knot()), 1)
        self.write("a.cc", '#include "core/a.h"', '#include "core/c.h"')
        self.assertEqual(self.knot(), ["core/a", "core/b", "core/c"])
        self.assertEqual(len(check_knot(self.root.name, "core", 3)), 0)
        self.assertIn("3 files need one another, and at most 2 may: a, b, c", check_knot(self.root.name, "core", 2)[0])

    def test_tests_and_comments_make_no_edge(self):
        self.write("a.h", '// #include "core/b.h"', "class A {", "};")
        self.write("b.h", '#include "core/a.h"', "class B {", "};")
        self.write("a_test.cc", '#include "core/b.h"')
        self.assertEqual(len(self.knot()), 1)

    def test_whoever_declares_an_interface_needs_those_who_implement_it(self):
        self.write("a.h", "class A {", " public:", "  virtual void F() = 0;", "};")
        self.write("b.h", '#include "core/a.h"', "class B : public A {", "};")
        self.assertEqual(self.knot(), ["core/a", "core/b"])

    def test_what_hides_an_edge_is_refused(self):
        self.write("a.h", "class B;", "class A {", "  B& b_;", "};")
        self.write("b.h", "class B {", "  std::function<void(int)> then_;", "};")
        self.write("c.cc", "void F() { core_.a.G(); }")
        refused = check_knot(self.root.name, "core", 1)
        self.assertEqual([line.split(":")[0] for line in sorted(refused)], ["core/a", "core/b", "core/c"])
        self.write("a.cc", '#include "core/b.h"')  # the edge is there
        self.assertEqual(len(check_knot(self.root.name, "core", 1)), 2)


if __name__ == "__main__":
    unittest.main()
