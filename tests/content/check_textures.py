#!/usr/bin/env python3
"""Checks cooked textures against their sources with programs that share no code with Galley.

    check_textures.py FILE.ktx2 --source SOURCE [--usage U] [--quality Q] [--psnr-min DB]
    check_textures.py FILE.ktx2 ...          (structure alone)

For each file one JSON line: structure (ktx2.py); PSNR of the first level against the source, 99
when equal; and what its format can be held to:

    rgba8       the source's texels (of a 16-bit source to 1, for rounding)
    bc1, bc3    in each block no farther from the source than the block's mean colour is, and
                quantization
    bc4, bc5    in each block within half a step of eight between its least and greatest value (so,
                too, bc3's alpha)
    all four    ImageMagick decodes the same texels from DDS (bc4, bc5 as the alpha of BC3)
    astc        equal to what the `astcenc` command makes of the source at the same settings, or as
                near to the source as that is

A floor for PSNR would not do: true textures of a few texels come down to 17 dB. Needs Debian's
imagemagick, astcenc, zstd. Exit code 1: something is wrong.
"""

import argparse
import dataclasses
import json
import math
import operator
import os
import subprocess
import sys
import tempfile

import ktx2

PSNR_EQUAL = 99.0
PSNR_TOLERANCE = 0.05
DDS_TOLERANCE = 2  # of 255: decoders round the colours between differently
COLOR_QUANTIZATION = 4.0  # of 255: half a step of five bits
STEPS_QUANTIZATION = 1.0  # of 255: end points and steps between are rounded


def error_of(first, second):
    """The sum of squares."""
    return sum(difference * difference for difference in map(operator.sub, first, second))


def psnr(first, second, channels):
    """Of RGBA8, over the channels named; in dB, PSNR_EQUAL when equal."""
    planes = ["RGBA".index(name) for name in channels]
    error = sum(error_of(first[c::4], second[c::4]) for c in planes)
    if error == 0:
        return PSNR_EQUAL
    return round(10 * math.log10(255 * 255 * len(planes) * (len(first) // 4) / error), 4)


def write_png(path, width, height, rgba):
    subprocess.run(["convert", "-size", f"{width}x{height}", "-depth", "8", "rgba:-", "PNG32:" + path],
                   input=rgba, check=True)


def channels_of(texture):
    name = texture.format.name
    if name == "bc4":
        return "R"
    if name == "bc5" or texture.pairs.get("KTXswizzle") == "ra01":
        return "RG"
    return "RGB" if name == "bc1" else "RGBA"


def astcenc_flags(usage, has_alpha):
    if usage == "normal":
        return ["-normal"]
    if usage == "mask":
        return ["-mask"]
    return ["-a", "1"] if has_alpha else []


def check_astc(texture, rgba, folder, options):
    """What astcenc itself makes of the same texels."""
    png, astc = os.path.join(folder, "source.png"), os.path.join(folder, "source.astc")
    write_png(png, texture.width, texture.height, rgba)
    has_alpha = any(alpha != 255 for alpha in rgba[3::4])
    subprocess.run(["astcenc", "-cs" if texture.format.is_srgb else "-cl", png, astc,
                    texture.format.name[5:], "-" + options.quality, "-silent", "-j", "1"]
                   + astcenc_flags(options.usage, has_alpha), check=True, capture_output=True)
    with open(astc, "rb") as file:
        blocks = file.read()[16:]
    if blocks == texture.image():
        return {"astcenc": "equal"}
    level = dataclasses.replace(texture.levels[0], data=blocks)
    _, _, own = ktx2.decode_image(dataclasses.replace(texture, levels=[level]))
    return {"astcenc": "differs", "astcenc_psnr": psnr(rgba, own, channels_of(texture))}


def check_dds(texture, rgba, folder):
    """The largest difference between ImageMagick's reading of the blocks and ours."""
    dds, worst = os.path.join(folder, "a.dds"), 0
    for fourcc, blocks, holds in ktx2.dds_images(texture):
        ktx2.write_dds(dds, texture.width, texture.height, fourcc, blocks)
        ours, other = rgba, ktx2.read_rgba(dds)
        if holds != "RGBA":
            ours, other = rgba["RGBA".index(holds[1])::4], other[3::4]
        if len(ours) != len(other):
            return 255
        worst = max(worst, max(map(abs, map(operator.sub, ours, other)), default=0))
    return worst


def block_values(rgba, width, height, channel):
    """For each block of 4 x 4 texels the values of a channel that lie in the image."""
    plane = rgba[channel::4]
    for y in range(0, height, 4):
        rows = [plane[row * width:(row + 1) * width] for row in range(y, min(y + 4, height))]
        for x in range(0, width, 4):
            yield b"".join(row[x:x + 4] for row in rows)


def is_off_its_mean(channels, weights):
    """Whether a block is farther from the source's colours than one colour would be; channels: (wanted, found)."""
    total = sum(weights)
    error = variance = 0.0
    for wanted, found in channels:
        mean = sum(map(operator.mul, weights, wanted)) / total if total else 0.0
        error += sum(weight * (a - b) ** 2 for weight, a, b in zip(weights, wanted, found))
        variance += sum(weight * (value - mean) ** 2 for weight, value in zip(weights, wanted))
    return error ** 0.5 > variance ** 0.5 + COLOR_QUANTIZATION * (3 * total) ** 0.5


def blocks_off_their_mean(source, rgba, width, height):
    """How many blocks are off their mean colour, whether their texels count alike (as stb_dxt has it) or by alpha (libsquish)."""
    planes = [zip(block_values(source, width, height, c), block_values(rgba, width, height, c)) for c in range(3)]
    alphas = block_values(source, width, height, 3)
    return sum(is_off_its_mean(channels, b"\1" * len(alpha)) and is_off_its_mean(channels, alpha)
               for *channels, alpha in zip(*planes, alphas))


def blocks_off_their_steps(source, rgba, width, height, channel):
    """How many blocks are farther from the source than seven steps from its least to its greatest value are."""
    count = 0
    for wanted, found in zip(block_values(source, width, height, channel), block_values(rgba, width, height, channel)):
        half_step = (max(wanted) - min(wanted)) / 14
        count += error_of(wanted, found) > len(wanted) * (half_step + STEPS_QUANTIZATION) ** 2
    return count


def check_blocks(texture, source, rgba, width, height):
    name = texture.format.name
    found = {"blocks_wrong": blocks_off_their_mean(source, rgba, width, height) if name in ("bc1", "bc3") else 0}
    for channel in {"bc3": (3,), "bc4": (0,), "bc5": (0, 1)}.get(name, ()):
        found["blocks_wrong"] += blocks_off_their_steps(source, rgba, width, height, channel)
    return found


def bits_of(path):
    """Of a channel in an image file, by ImageMagick."""
    run = subprocess.run(["identify", "-format", "%z\n", path], capture_output=True, text=True, check=True)
    return int(run.stdout.split()[0])


def check_texels(rgba, source, path):
    """Whether texels are the source's."""
    tolerance = 1 if bits_of(path) > 8 else 0
    wrong = 0 if source == rgba else sum(abs(a - b) > tolerance for a, b in zip(source, rgba))
    return {"values_wrong": wrong}


def check_against_source(texture, options):
    width, height, rgba = ktx2.decode_image(texture)
    source = ktx2.read_rgba(options.source)
    if len(source) != len(rgba):
        return {"problems": [f"the source has {len(source) // 4} texels, the first level {len(rgba) // 4}"]}
    name = texture.format.name
    found = {"psnr": psnr(source, rgba, channels_of(texture))}
    if name == "rgba8":
        found.update(check_texels(rgba, source, options.source))
    if name.startswith("bc"):
        found.update(check_blocks(texture, source, rgba, width, height))
    with tempfile.TemporaryDirectory() as folder:
        if name.startswith("bc"):
            found["dds_difference"] = check_dds(texture, rgba, folder)
        if name.startswith("astc"):
            found.update(check_astc(texture, source, folder, options))
    return found


def problems_of(found, options):
    problems = found.pop("problems", [])
    if found.get("psnr", PSNR_EQUAL) < options.psnr_min:
        problems.append(f"PSNR {found['psnr']} is below {options.psnr_min}")
    if found.get("values_wrong", 0):
        problems.append(f"{found['values_wrong']} values are not the source's")
    if found.get("blocks_wrong", 0):
        problems.append(f"{found['blocks_wrong']} blocks are not the source's")
    if found.get("dds_difference", 0) > DDS_TOLERANCE:
        problems.append("ImageMagick decodes other texels from the same blocks")
    if "astcenc_psnr" in found and found["psnr"] < found["astcenc_psnr"] - PSNR_TOLERANCE:
        problems.append(f"astcenc itself reaches {found['astcenc_psnr']}")
    return problems


def check(path, options):
    found = {"file": path}
    problems = ktx2.check_structure(path)
    if not problems:
        texture = ktx2.read_ktx2(path)
        found["format"] = texture.format.name + ("_srgb" if texture.format.is_srgb else "")
        if options.source and not texture.format.name == "rgba16f":
            try:
                found.update(check_against_source(texture, options))
            except subprocess.CalledProcessError as error:
                found["problems"] = [f"{error.cmd[0]} says: {(error.stderr or b'').decode(errors='replace').strip()}"]
            problems = problems_of(found, options)
    found["problems"] = problems
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.ktx2")
    parser.add_argument("--source", help="the image it was cooked from")
    parser.add_argument("--usage", default="color", choices=["color", "normal", "mask"])
    parser.add_argument("--quality", default="fast", choices=["fast", "medium", "thorough"])
    parser.add_argument("--psnr-min", type=float, default=0.0)
    options = parser.parse_args()
    if options.source and len(options.files) != 1:
        parser.error("--source goes with one file")
    results = [check(path, options) for path in options.files]
    for result in results:
        print(json.dumps(result))
    return 1 if any(result["problems"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
