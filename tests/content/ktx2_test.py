#!/usr/bin/env python3
"""Tests of ktx2.py: the textures of worker/cookers/texture/corpus_preview are sound, damage is found.

usage: ktx2_test.py
"""

import os
import struct
import tempfile
import unittest

import ktx2

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../worker/cookers/texture/corpus_preview")


class Ktx2Test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def sample(self, name):
        """Bytes of a corpus file; its first byte is the fuzzer's."""
        with open(os.path.join(CORPUS, name), "rb") as file:
            return file.read()[1:]

    def write(self, data):
        path = os.path.join(self.folder.name, "a.ktx2")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def problems_with(self, name, offset, value):
        data = bytearray(self.sample(name))
        data[offset] = value
        return " ".join(ktx2.check_structure(self.write(data)))

    def test_every_sample_is_as_the_specification_demands(self):
        for name in sorted(os.listdir(CORPUS)):
            self.assertEqual(ktx2.check_structure(self.write(self.sample(name))), [], name)

    def test_damage_is_found(self):
        self.assertIn("unknown VkFormat", self.problems_with("bc1", 12, 1))
        self.assertIn("type size 2", self.problems_with("bc1", 16, 2))
        self.assertIn("level 0 has", self.problems_with("bc1", 20, 99))
        self.assertIn("5 faces", self.problems_with("bc1", 36, 5))
        self.assertIn("descriptor", self.problems_with("bc1", struct.unpack_from("<I", self.sample("bc1"), 48)[0] + 14, 1))
        self.assertIn("KTXorientation", self.problems_with("bc1", self.sample("bc1").index(b"rd\0"), ord("l")))
        self.assertIn("no KTX2 file", self.problems_with("bc1", 0, 0))
        self.assertIn("follow the last level", " ".join(ktx2.check_structure(self.write(self.sample("bc1") + b"\0"))))

    def test_a_cut_off_file_is_a_problem_not_an_exception(self):
        data = self.sample("bc3")
        for size in range(0, len(data), 7):
            self.assertNotEqual(ktx2.check_structure(self.write(data[:size])), [])

    def test_images_of_a_cube_lie_one_after_another(self):
        texture = ktx2.read_ktx2(self.write(self.sample("cube")))
        self.assertEqual((texture.layers, texture.faces, texture.images), (0, 6, 6))
        self.assertEqual(b"".join(texture.image(0, i) for i in range(6)), texture.levels[0].data)
        self.assertEqual(texture.image(0, 1), texture.image(0, 5))

    def test_blocks_decode_to_the_texels_that_rgba8_holds(self):
        width, height, exact = ktx2.decode_level0(self.write(self.sample("rgba8")))
        self.assertEqual((width, height, len(exact)), (9, 9, 9 * 9 * 4))
        for name, channels in (("bc3", (0, 1, 2, 3)), ("bc4", (0,)), ("bc5", (0, 1))):
            decoded = ktx2.decode_level0(self.write(self.sample(name)))[2]
            for channel in channels:
                errors = [abs(a - b) for a, b in zip(exact[channel::4], decoded[channel::4])]
                self.assertLess(sum(errors) / len(errors), 16.0, (name, channel))

    def test_bc4_blocks_have_two_palettes(self):
        block = bytes([240, 16]) + (0b010_001_000).to_bytes(6, "little")
        self.assertEqual(ktx2.decode_blocks("bc4", block, 3, 1)[::4], bytes([240, 16, 208]))
        block = bytes([16, 240]) + (0b111_110_010).to_bytes(6, "little")
        self.assertEqual(ktx2.decode_blocks("bc4", block, 3, 1)[::4], bytes([61, 0, 255]))

    def test_an_astc_file_has_its_header(self):
        texture = ktx2.read_ktx2(self.write(self.sample("astc")))
        path = os.path.join(self.folder.name, "a.astc")
        ktx2.write_astc(texture, path)
        with open(path, "rb") as file:
            data = file.read()
        self.assertEqual(data[:16], bytes.fromhex("13aba15c060601090000090000010000"))
        self.assertEqual(data[16:], texture.image())


if __name__ == "__main__":
    unittest.main()
