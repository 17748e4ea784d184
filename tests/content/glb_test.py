#!/usr/bin/env python3
"""Tests of glb.py: the sample's meshes are sound, damage is found.

usage: glb_test.py
"""

import copy
import os
import struct
import unittest

import glb

MESHES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample/content/meshes")


class GlbTest(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(MESHES, "pillar.glb"), "rb") as file:
            self.data = file.read()
        self.document, self.binary = glb.read_glb(self.data)

    def problems_when(self, change):
        """Of the document after `change` was applied to it."""
        document = copy.deepcopy(self.document)
        change(document)
        return " ".join(glb.check_document(document, self.binary))

    def test_the_samples_are_sound(self):
        for name in ("pillar.glb", "chest.glb", "terrain.glb"):
            self.assertEqual(glb.check(os.path.join(MESHES, name)), [], name)

    def test_damaged_chunks_are_refused(self):
        damaged = {"no GLB": b"GLTF" + self.data[4:], "expected 2 and": self.data + b"\0\0\0\0", "no GLB file": self.data[:11],
                   "version 1": self.data[:4] + struct.pack("<I", 1) + self.data[8:],
                   "the chunk at 12": self.data[:12] + struct.pack("<I", len(self.data)) + self.data[16:],
                   "kinds": self.data[:16] + b"JSOM" + self.data[20:]}
        for words, data in damaged.items():
            with self.assertRaisesRegex(ValueError, words):
                glb.read_glb(data)

    def test_views_and_accessors_stay_within_what_they_look_at(self):
        self.assertIn("outside of the buffer", self.problems_when(lambda d: d["bufferViews"][-1].update(byteLength=len(self.binary))))
        self.assertIn("its chunk", self.problems_when(lambda d: d["buffers"][0].update(byteLength=4)))
        self.assertIn("in the file", self.problems_when(lambda d: d["buffers"][0].update(uri="a.bin")))
        self.assertIn("reaches beyond", self.problems_when(lambda d: d["accessors"][0].update(count=9999)))
        self.assertIn("is not aligned", self.problems_when(lambda d: d["accessors"][0].update(byteOffset=1)))
        self.assertIn("names buffer view 99", self.problems_when(lambda d: d["accessors"][0].update(bufferView=99)))
        self.assertIn("stride of 3", self.problems_when(lambda d: d["bufferViews"][0].update(byteStride=3)))

    def test_names_of_other_objects_are_of_such_that_are_there(self):
        self.assertIn("node 0 names meshes 7 of 1", self.problems_when(lambda d: d["nodes"][0].update(mesh=7)))
        self.assertIn("animation 0 names nodes 9", self.problems_when(lambda d: d["animations"][0]["channels"][0]["target"].update(node=9)))
        self.assertIn("mesh 0 names materials -1", self.problems_when(lambda d: d["meshes"][0]["primitives"][0].update(material=-1)))

    def test_indices_name_vertices_that_are_there(self):
        def forget_a_vertex(document):
            for attribute in document["meshes"][0]["primitives"][0]["attributes"].values():
                document["accessors"][attribute]["count"] -= 1
        self.assertIn("index 53, and there are 53 vertices", self.problems_when(forget_a_vertex))
        self.assertIn("attributes of [53, 54] vertices", self.problems_when(lambda d: d["accessors"][0].update(count=53)))

    def test_extensions_are_declared(self):
        self.assertIn("['KHR_a']", self.problems_when(lambda d: d["nodes"][0].update(extensions={"KHR_a": {}})))
        self.assertIn("['KHR_b']", self.problems_when(lambda d: d.update(extensionsRequired=["KHR_b"])))
        self.assertEqual("", self.problems_when(lambda d: d["nodes"][0].update(extras={"extensions": {"KHR_a": {}}})))


if __name__ == "__main__":
    unittest.main()
