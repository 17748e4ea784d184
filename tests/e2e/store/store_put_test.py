"""`galley store put`: a folder into the store and out again, what cannot be put, and the store's owner elsewhere."""
import json, os, signal, subprocess, unittest

from harness import BIN, SOURCE, E2ETest, wait_until


class StorePutTest(E2ETest):
    def put(self, path, *args, expect=0, json_too=False, env=None):
        put = self.galley("store", "put", path, "--store", self.path("store"), *(["--json"] if json_too else []), *args, env=env)
        self.assertEqual(put.returncode, expect, put.stdout + put.stderr)
        return json.loads(put.stdout.splitlines()[-1]) if json_too else put

    def listing(self, base):
        found = {}
        for folder, _, names in os.walk(base):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, base)] = (file.read(), os.stat(path).st_mode & 0o100)
        return found

    def make(self):
        self.write("in/a.txt", "some text")
        self.write("in/bin/tool", "#!/bin/sh\n", 0o755)
        self.write("in/deep/large", os.urandom(3_000_000))
        for i in range(300):
            self.write(f"in/many/{i}", f"file {i % 200}")
        return self.path("in")

    def test_a_tree_is_pinned_as_soon_as_it_is_there(self):
        root = self.put(self.make(), "--pin", "sdk").stdout.strip()
        pins = self.galley("store", "pins", "--store", self.path("store"), "--json")
        self.assertEqual(json.loads(pins.stdout)["root"], root)
        self.assertIn("letters", self.put(self.path("in"), "--pin", "a b", expect=2).stderr)

    def test_checkout_gives_back_what_was_put(self):
        tree = self.make()
        put = self.put(tree)
        root = put.stdout.strip()
        self.assertRegex(root, r"^[0-9a-f]{64}/[0-9]+$")
        out = self.galley("checkout", root, self.path("out"), "--store", self.path("store"))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(self.listing(tree), self.listing(self.path("out")))
        linked = self.galley("checkout", root, self.path("linked"), "--link", "--store", self.path("store"), "--json")
        self.assertEqual(json.loads(linked.stdout)["linked"], 1, linked.stdout)
        self.assertEqual(self.listing(tree), self.listing(self.path("linked")))
        verify = self.galley("store", "verify", "--store", self.path("store"))
        self.assertEqual(verify.returncode, 0, verify.stdout)

    def test_a_folder_whose_checkout_was_cut_off_is_not_put(self):
        root = self.put(self.make()).stdout.strip()
        library = self.path("kill.so")
        source = os.path.join(SOURCE, "tests", "e2e", "kill_at_call.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        checkout = ("checkout", root, self.path("out"), "--store", self.path("store"))
        cut_off = self.galley(*checkout, env={"LD_PRELOAD": library, "GALLEY_KILL_AT": "100"})
        self.assertEqual(cut_off.returncode, -signal.SIGKILL, cut_off.stderr)
        self.assertTrue(os.path.exists(self.path("out/.galley-checkout")))
        refused = self.put(self.path("out"), expect=2)
        self.assertEqual(refused.stdout, "")
        self.assertIn(f"{self.path('out/.galley-checkout')}: a checkout to this folder was cut off", refused.stderr)
        self.write("around/b.txt", "b")
        os.rename(self.path("out"), self.path("around/out"))
        self.assertIn("around/out/.galley-checkout", self.put(self.path("around"), expect=2).stderr)
        os.rename(self.path("around/out"), self.path("out"))
        self.assertEqual(self.galley(*checkout).returncode, 0)
        self.assertEqual(self.put(self.path("out")).stdout.strip(), root)

    def test_an_unchanged_tree_is_not_read_again(self):
        tree = self.make()
        first = self.put(tree, json_too=True)
        self.assertEqual((first["files"], first["read_files"]), (303, 303))
        # A digest is kept when the file's times are two seconds old.
        wait_until(lambda: self.put(tree, json_too=True)["read_files"] == 0, "all digests to be kept")
        again = self.put(tree, json_too=True)
        self.assertEqual((again["read_files"], again["stored_blobs"], again["root"]), (0, 0, first["root"]))
        self.write("in/a.txt", "other text")
        changed = self.put(tree, json_too=True)
        self.assertEqual((changed["read_files"], changed["stored_blobs"]), (1, 2), "it, and the folder that it lies in")

    def test_odd_files_are_named_and_there_is_no_root(self):
        tree = self.make()
        os.symlink("a.txt", os.path.join(tree, "link"))
        os.mkfifo(os.path.join(tree, "pipe"))
        with open(os.path.join(tree.encode(), b"bad\xff"), "w"):
            pass
        put = self.put(tree, expect=1)
        self.assertEqual(put.stdout, "")
        with open(os.path.join(tree, "new\nline"), "w"):
            pass
        self.assertIn(f"path `{tree}/new\\x0aline` has a control character", self.put(tree, expect=1).stderr)
        os.remove(os.path.join(tree, "new\nline"))
        for text in ("/in/link is a link", "/in/pipe is a pipe", "bad\\xff", "3 of 306 files could not be put"):
            self.assertIn(text, put.stderr)
        report = self.put(tree, expect=1, json_too=True)
        self.assertIsNone(report["root"])
        self.assertEqual((len(report["errors"]), report["stored_blobs"]), (3, 0), "the rest was put the first time")

    def test_wrong_usage(self):
        self.assertIn("absent", self.put(self.path("absent"), expect=2).stderr)
        self.write("store/x", "")
        os.remove(self.path("store/x"))
        self.write("a", "")
        self.assertIn("holds the store itself", self.put(self.dir, expect=2).stderr)

    def test_what_is_no_tree_or_no_place_for_one_is_refused(self):
        root = self.put(self.make()).stdout.strip()
        blob = json.loads(self.galley("tree", root, "a.txt", "--store", self.path("store"), "--json").stdout)["digest"]
        refused = self.galley("checkout", blob, self.path("out"), "--store", self.path("store"))
        self.assertEqual(refused.returncode, 2, refused)
        self.assertIn("it is no tree", refused.stderr)
        os.symlink(self.path("store"), self.path("other"))
        for folder in ("store/out", "other/out", "store"):
            refused = self.galley("checkout", root, self.path(folder), "--store", self.path("store"))
            self.assertEqual(refused.returncode, 2, refused)
            self.assertIn("lies in the store", refused.stderr)
        self.assertFalse(os.path.exists(self.path("store/out")))
        self.write("mine/README", "mine")
        refused = self.galley("store", "put", self.path("in"), "--store", self.path("mine"))
        self.assertEqual(refused.returncode, 3, refused)
        self.assertIn("is not a store", refused.stderr)
        self.assertEqual(os.listdir(self.path("mine")), ["README"])
        self.put(self.path("in"), "--pin", "x")
        unpin = self.galley("store", "unpin", "x", "--store", self.path("store"), "--json")
        self.assertEqual(json.loads(unpin.stdout), {"unpinned": "x"})

    def test_through_the_owner_that_serves_it(self):
        tree = self.make()
        serve = subprocess.Popen([os.path.join(BIN, "galley"), "store", "serve", "--store", self.path("store"), "--listen", "127.0.0.1:0"],
                                 text=True, stdout=subprocess.PIPE)
        try:
            self.assertIn("serving", serve.stdout.readline())
            root = self.put(tree).stdout.strip()
            # A root that was acknowledged is durable: its owner need not live.
            serve.send_signal(signal.SIGKILL)
        finally:
            serve.kill()
            serve.communicate()
        out = self.galley("checkout", root, self.path("out"), "--store", self.path("store"))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(self.listing(tree), self.listing(self.path("out")))

    def test_an_interrupted_put_has_no_root_and_goes_on(self):
        for i in range(20):
            self.write(f"in/{i}", os.urandom(20_000_000))
        put = subprocess.Popen([os.path.join(BIN, "galley"), "store", "put", self.path("in"), "--store", self.path("store")],
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda: os.path.exists(self.path("store/files")) and os.listdir(self.path("store/files")) or put.poll() is not None,
                   "the put to write")
        put.send_signal(signal.SIGINT)
        stdout, stderr = put.communicate(timeout=120)
        if put.returncode != 0:  # it may have been done
            self.assertEqual((put.returncode, stdout), (130, ""), stderr)
        root = self.put(self.path("in")).stdout.strip()
        out = self.galley("checkout", root, self.path("out"), "--store", self.path("store"))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(self.listing(self.path("in")), self.listing(self.path("out")))


if __name__ == "__main__":
    unittest.main()
