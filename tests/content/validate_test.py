#!/usr/bin/env python3
"""Tests of validate's own checks: what is not there, or is something else, is not accepted.

usage: validate_test.py
"""

import importlib.machinery
import importlib.util
import os
import shutil
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "../../worker/cookers/texture/corpus_preview")
SHADER = "#include <metal_stdlib>\nstruct main0_out\n{\n};\nfragment main0_out main0(main0_in in [[stage_in]])\n{\n    return {};\n}\n"


def load_validate():
    loader = importlib.machinery.SourceFileLoader("validate", os.path.join(HERE, "validate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
    loader.exec_module(module)
    return module


validate = load_validate()


class ValidateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, data):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def test_a_kind_that_nothing_was_cooked_to_is_a_problem(self):
        with open(os.path.join(CORPUS, "bc1"), "rb") as file:
            texture = self.write("a.png.ktx2", file.read()[1:])
        outputs = [("pc", "a.png.ktx2", texture), ("pc", "a.frag.reflect.cbor", "")]
        self.assertEqual(validate.check_kinds({".ktx2", "bc1", ".reflect.cbor"}, outputs), [])
        self.assertEqual(validate.check_kinds({".ktx2", "bc3", ".cbor"}, outputs), ["nothing was cooked to .cbor", "nothing was cooked to bc3"])
        self.assertEqual(len(validate.check_kinds(validate.WANTED["sample"], [])), len(validate.WANTED["sample"]))

    def test_a_sandbox_with_another_number_of_files_than_its_root_is_a_problem(self):
        for platform in validate.PLATFORMS:
            for name in (".galley-root", ".galley-root.files", ".galley-sandbox", "a", "b"):
                self.write(f".galley/cooked/{platform}/{name}", b"")
        galley = self.write("bin/galley", b"#!/bin/sh\necho '{}'; echo '{}'\n")
        os.chmod(galley, 0o755)
        options = validate.argparse.Namespace(bin=os.path.dirname(galley))
        self.assertEqual(validate.check_tree(self.folder.name, options), [])
        os.remove(os.path.join(self.folder.name, ".galley/cooked/pc/b"))
        self.assertEqual(validate.check_tree(self.folder.name, options), ["pc: 1 files are cooked, and its root lists 2 "])
        shutil.rmtree(os.path.join(self.folder.name, ".galley/cooked"))
        self.assertEqual(len(validate.check_tree(self.folder.name, options)), len(validate.PLATFORMS))

    def test_metal_has_an_entry_point_and_braces_that_match(self):
        def problems(text):
            return validate.check_msl(self.write("a.msl", text.encode()), "plain", "a.frag.msl")
        self.assertEqual(problems(SHADER), [])
        self.assertEqual(problems("#include <metal_stdlib>\n"), ["no entry point main0"])
        self.assertEqual(problems(SHADER.replace("metal_stdlib", "stdio.h")), ["no Metal source"])
        self.assertEqual(problems(SHADER[:-2]), ["braces do not match"])
        self.assertEqual(problems(SHADER + "}{"), ["braces do not match"])

    def test_a_loop_that_is_lost_is_a_problem(self):
        said = "User comments section follows...\n\tLOOPSTART=22050\n\tLOOPLENGTH=22050\nVorbis stream 1:\n"
        self.assertEqual(validate.check_loop(said, 22050), [])
        self.assertEqual(len(validate.check_loop(said, 24000)), 1)
        self.assertEqual(validate.check_loop("", 22050), ["melody.wav: its loop became []"])
        self.assertEqual(validate.check_loop(said.replace("H=22050", "H=22049"), 22050),
                         ["melody.wav: its loop became ['LOOPSTART=22050', 'LOOPLENGTH=22049']"])

    def test_a_texture_is_of_its_format_its_shape_and_its_supercompression(self):
        def kinds(name):
            with open(os.path.join(CORPUS, name), "rb") as file:
                return validate.kinds_of(validate.ktx2.read_ktx2(self.write("a.ktx2", file.read()[1:])))
        self.assertEqual(kinds("bc1"), {"bc1"})
        self.assertIn("cube", kinds("cube"))
        self.assertIn("zstd", kinds("zstd"))

    def test_usages_are_those_of_the_projects_rules(self):
        self.assertEqual(validate.usage_of("sample", "Game/a_mask.png.ktx2"), "mask")
        self.assertEqual(validate.usage_of("real", "Game/a_mask.png.ktx2"), "color")
        self.assertEqual(validate.usage_of("real", "Game/a_n.tga.ktx2"), "normal")
        self.assertEqual(validate.usage_of("sample", "Game/a_n.png.ktx2"), "color")

    def node(self, answers):
        """A program that answers so, whatever it is asked."""
        lines = "".join(f"echo '{validate.json.dumps(answer)}'\n" for answer in answers)
        path = self.write("bin/node", f"#!/bin/sh\ncat > /dev/null\n{lines}".encode())
        os.chmod(path, 0o755)
        before = os.environ["PATH"]
        os.environ["PATH"] = os.path.dirname(path) + ":" + before
        self.addCleanup(os.environ.__setitem__, "PATH", before)

    def test_a_file_that_the_validator_says_nothing_of_is_a_problem(self):
        files = [("pc", "a.glb", "/a"), ("pc", "b.glb", "/b")]
        self.node([{"path": "/a", "errors": []}])
        self.assertEqual(validate.check_with_node(self.folder.name, "", files), ["pc b.glb: the validator says nothing of it"])
        self.node([{"path": "/a", "errors": ["E x"]}, {"path": "/b", "errors": []}])
        self.assertEqual(validate.check_with_node(self.folder.name, "", files), ["pc a.glb: E x"])

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_errors_of_the_gltf_validator_that_are_not_listed_are_problems(self):
        def problems(issues):
            self.write("node_modules/gltf-validator/index.js", f"""exports.validateBytes = async (bytes, options) => {{
                if (options.maxIssues !== 0) throw 'a limit';
                return {{issues: {validate.json.dumps(issues)}}}; }};""".encode())
            return validate.check_with_node(self.folder.name, validate.GLTF_SCRIPT, [("pc", "a.glb", self.write("a.glb", b"glTF"))])
        hint, error = {"severity": 3, "code": "H", "pointer": "/", "message": "h"}, {"severity": 0, "code": "E", "pointer": "/x", "message": "e"}
        self.assertEqual(problems({"numErrors": 0, "truncated": False, "messages": [hint]}), [])
        self.assertEqual(problems({"numErrors": 1, "truncated": False, "messages": [hint, error]}), ["pc a.glb: E /x: e"])
        self.assertEqual(problems({"numErrors": 2, "truncated": False, "messages": [error]}), ["pc a.glb: E /x: e", "pc a.glb: 2 errors are counted"])
        self.assertIn("pc a.glb: the report is truncated", problems({"numErrors": 0, "truncated": True, "messages": [hint]}))


if __name__ == "__main__":
    unittest.main()
