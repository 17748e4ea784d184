"""`galley tree`, `diff`, `checkout` of session trees: trees with links, as devices see them."""
import hashlib, json, os, unittest

from harness import E2ETest


def varint(number):
    encoded = b""
    while number > 0x7f:
        encoded += bytes([number & 0x7f | 0x80])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


def digest_of(data):
    return f"{hashlib.sha256(data).hexdigest()}/{len(data)}"


def node(name, data):
    """A FileNode or DirectoryNode of REAPI."""
    digest = field(1, hashlib.sha256(data).hexdigest().encode()) + varint(2 << 3) + varint(len(data))
    return field(1, name.encode()) + field(2, digest)


def directory(files=(), folders=(), links=()):
    """A Directory of REAPI; the arguments are sorted by name."""
    return (b"".join(field(1, node(*file)) for file in files) + b"".join(field(2, node(*folder)) for folder in folders)
            + b"".join(field(3, field(1, name.encode()) + field(2, target.encode())) for name, target in links))


class SessionTreeTest(E2ETest):
    def setUp(self):
        super().setUp()
        self.blobs = 0

    def put(self, *blobs):
        """Puts blobs, as the files of a tree."""
        for data in blobs:
            self.write(f"in/{self.blobs}", data)
            self.blobs += 1
        self.must("store", "put", self.path("in"), "--store", self.path("store"))

    def must(self, *args, expect=0):
        done = self.galley(*args)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def session(self, cooked, target="../resource/a.ktx2"):
        """A tree with `cooked` as what is cooked so far, and a link to a.ktx2; its root."""
        resource = directory(files=[("a.ktx2", cooked)])
        static = directory(links=[("a.ktx2", target)])
        root = directory(folders=[("resource", resource), ("static", static)])
        self.put(cooked, resource, static, root)
        return digest_of(root)

    def test_a_session_tree_is_listed_and_checked_out_with_its_links(self):
        root = self.session(b"texture")
        listed = self.must("tree", root, "--store", self.path("store")).stdout.splitlines()
        self.assertEqual(len(listed), 2, listed)
        self.assertIn("resource/a.ktx2", listed[0])
        self.assertRegex(listed[1], r"^link +- static/a.ktx2 -> ../resource/a.ktx2$")
        lines = self.must("tree", root, "static", "--json", "--store", self.path("store")).stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines], [{"path": "static/a.ktx2", "target": "../resource/a.ktx2"}])
        done = self.must("checkout", root, self.path("out"), "--json", "--store", self.path("store"))
        self.assertEqual(json.loads(done.stdout)["symbolic_links"], 1)
        self.assertEqual(os.readlink(self.path("out/static/a.ktx2")), "../resource/a.ktx2")
        with open(self.path("out/static/a.ktx2"), "rb") as file:
            self.assertEqual(file.read(), b"texture")

    def test_diff_sees_links(self):
        before, after = self.session(b"one"), self.session(b"two", "../resource/b.ktx2")
        done = self.must("diff", before, after, "--store", self.path("store"), expect=1)
        self.assertIn("changed  static/a.ktx2 -> ../resource/b.ktx2 (was ../resource/a.ktx2)", done.stdout)
        self.assertIn("0 added, 0 removed, 2 changed", done.stdout)
        lines = [json.loads(line) for line in
                 self.must("diff", before, after, "--json", "--store", self.path("store"), expect=1).stdout.splitlines()]
        self.assertIn({"kind": "changed", "path": "static/a.ktx2", "target_before": "../resource/a.ktx2",
                       "target_after": "../resource/b.ktx2"}, lines)
        self.must("diff", before, before, "--store", self.path("store"))

    def test_a_link_that_leaves_its_tree_is_not_laid_out(self):
        root = self.session(b"texture", "../../../etc/passwd")
        refused = self.galley("checkout", root, self.path("out"), "--store", self.path("store"))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("leaves the tree", refused.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_session_tree_is_not_pinned_as_a_cooked_one(self):
        root = self.session(b"texture")
        refused = self.galley("store", "pin", "session", root, "--store", self.path("store"))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("no tree that galley made", refused.stderr)


if __name__ == "__main__":
    unittest.main()
