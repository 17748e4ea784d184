#!/usr/bin/env python3
"""Tests of check_textures.py: textures of worker/cookers/texture/corpus_preview, all of one picture, are held against it and others.

usage: check_textures_test.py
"""

import argparse
import os
import tempfile
import unittest

import check_textures
import ktx2

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../worker/cookers/texture/corpus_preview")
USAGES = {"rgba8": "color", "bc1": "color", "bc3": "color", "bc4": "mask", "bc5": "normal", "astc": "color", "astc-normal": "normal"}


class CheckTexturesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.width, self.height, self.picture = ktx2.decode_level0(self.cooked("rgba8"))

    def cooked(self, name):
        """A corpus file without its first byte, which is the fuzzer's."""
        path = os.path.join(self.folder.name, name + ".ktx2")
        with open(os.path.join(CORPUS, name), "rb") as file:
            data = file.read()[1:]
        with open(path, "wb") as file:
            file.write(data)
        return path

    def problems_with(self, path, usage, rgba):
        source = os.path.join(self.folder.name, "source.png")
        check_textures.write_png(source, self.width, self.height, rgba)
        options = argparse.Namespace(source=source, usage=usage, quality="fast", psnr_min=0.0)
        return check_textures.check(path, options)["problems"]

    def test_each_format_is_accepted_with_its_source(self):
        for name, usage in USAGES.items():
            self.assertEqual(self.problems_with(self.cooked(name), usage, self.picture), [], name)

    def test_each_format_is_refused_with_another_picture(self):
        texels = self.width * self.height
        rows = [self.picture[y * self.width * 4:(y + 1) * self.width * 4] for y in range(self.height)]
        others = {
            "black": bytes([0, 0, 0, 255]) * texels,
            "white": b"\xff" * 4 * texels,
            "one colour": self.picture[:4] * texels,
            "negative": bytes(v if i % 4 == 3 else 255 - v for i, v in enumerate(self.picture)),
            "upside down": b"".join(reversed(rows)),
        }
        for name, usage in USAGES.items():
            for title, rgba in others.items():
                self.assertNotEqual(self.problems_with(self.cooked(name), usage, rgba), [], (name, title))

    def test_one_wrong_value_is_found_where_nothing_is_lost(self):
        changed = bytes([self.picture[0] ^ 1]) + self.picture[1:]
        self.assertEqual(self.problems_with(self.cooked("rgba8"), "color", changed), ["1 values are not the source's"])

    def test_one_wrong_block_is_found(self):
        for name in ("bc1", "bc3", "bc4", "bc5", "astc"):
            path = self.cooked(name)
            texture = ktx2.read_ktx2(path)
            size, level = texture.format.block_bytes, texture.levels[0]
            with open(path, "r+b") as file:
                file.seek(level.offset)
                file.write(level.data[size:2 * size])
            self.assertNotEqual(self.problems_with(path, USAGES[name], self.picture), [], name)

    def test_a_decoder_of_our_own_that_is_wrong_is_found_by_another(self):
        for name in ("bc1", "bc3", "bc4", "bc5"):
            texture = ktx2.read_ktx2(self.cooked(name))
            _, _, rgba = ktx2.decode_image(texture)
            options = argparse.Namespace(source=self.write_source(self.width), usage=USAGES[name], quality="fast", psnr_min=0.0)
            self.assertIn("dds_difference", check_textures.check(self.cooked(name), options))
            self.assertLessEqual(check_textures.check_dds(texture, rgba, self.folder.name), check_textures.DDS_TOLERANCE, name)
            for channel in range({"bc3": 4, "bc4": 1, "bc5": 2}.get(name, 3)):
                at = 4 * (self.width + 1) + channel
                wrong = rgba[:at] + bytes([rgba[at] ^ 0x40]) + rgba[at + 1:]
                self.assertGreaterEqual(check_textures.check_dds(texture, wrong, self.folder.name), 0x40 - 2, (name, channel))

    def test_colours_that_nobody_sees_may_be_lost(self):
        texels = lambda hidden, alpha: (bytes([200, 100, 50, 255]) + bytes([hidden, hidden, hidden, alpha])) * 8
        self.assertEqual(check_textures.blocks_off_their_mean(texels(0, 0), texels(255, 0), 4, 4), 0)
        self.assertEqual(check_textures.blocks_off_their_mean(texels(0, 255), texels(255, 255), 4, 4), 1)

    def test_black_is_nothing_like_white(self):
        black, white = bytes(4 * 16), b"\xff" * 4 * 16
        self.assertEqual(check_textures.psnr(black, white, "RGB"), 0.0)
        self.assertEqual(check_textures.psnr(black, black, "RGB"), check_textures.PSNR_EQUAL)
        self.assertAlmostEqual(check_textures.psnr(black, bytes([1]) * 4 * 16, "RGBA"), 48.1308)

    def test_another_size_is_a_problem(self):
        wide = ktx2.read_rgba(self.write_source(self.width + 1))
        self.assertEqual(len(wide), (self.width + 1) * self.height * 4)
        options = argparse.Namespace(source=self.write_source(self.width + 1), usage="color", quality="fast", psnr_min=0.0)
        self.assertEqual(check_textures.check(self.cooked("bc1"), options)["problems"],
                         ["the source has 90 texels, the first level 81"])

    def test_a_source_that_cannot_be_read_is_a_problem(self):
        options = argparse.Namespace(source=os.path.join(self.folder.name, "missing.png"), usage="color", quality="fast", psnr_min=0.0)
        self.assertRegex(" ".join(check_textures.check(self.cooked("bc1"), options)["problems"]), "convert says: .*missing.png")

    def write_source(self, width):
        source = os.path.join(self.folder.name, "source.png")
        check_textures.write_png(source, width, self.height, bytes(4 * width * self.height))
        return source


if __name__ == "__main__":
    unittest.main()
