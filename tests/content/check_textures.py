#!/usr/bin/env python3
"""Checks cooked textures against their sources with programs that share no code with Galley.

    check_textures.py FILE.ktx2 --source SOURCE [--usage U] [--quality Q] [--psnr-min DB]
    check_textures.py FILE.ktx2 ...          (structure alone)

For each file one JSON line: structure (ktx2.py), PSNR of the first level against the source by
ImageMagick's `compare -metric PSNR`; for BC1 and BC3 whether ImageMagick decodes the same texels
from DDS; for ASTC what the `astcenc` command makes of the source at the same settings: equal bytes,
or PSNR within 0.05 dB. Needs Debian's imagemagick, astcenc, zstd. Exit code 1: something is wrong.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import ktx2

PSNR_EQUAL = 99.0
PSNR_TOLERANCE = 0.05
DDS_TOLERANCE = 2  # of 255: decoders round the colours between differently


def psnr(first, second, channels):
    """By ImageMagick; in dB, PSNR_EQUAL when equal."""
    run = subprocess.run(["compare", "-channel", channels, "-metric", "PSNR", first, second, "null:"],
                         capture_output=True, text=True)
    if run.returncode > 1:
        raise RuntimeError(run.stderr.strip())
    value = float(run.stderr.split()[0])
    return PSNR_EQUAL if value in (0.0, float("inf")) else value


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


def check_astc(texture, rgba, png, folder, options):
    """What astcenc itself makes of the same texels."""
    astc, decoded = os.path.join(folder, "ref.astc"), os.path.join(folder, "ref.png")
    has_alpha = any(alpha != 255 for alpha in rgba[3::4])
    subprocess.run(["astcenc", "-cs" if texture.format.is_srgb else "-cl", png, astc,
                    texture.format.name[5:], "-" + options.quality, "-silent", "-j", "1"]
                   + astcenc_flags(options.usage, has_alpha), check=True, capture_output=True)
    with open(astc, "rb") as file:
        if file.read()[16:] == texture.image():
            return {"astcenc": "equal"}
    if texture.pairs.get("KTXswizzle"):
        return {"astcenc": "differs"}  # its own normals come back with another swizzle
    ktx2.decode_astc(astc, texture.format.is_srgb, decoded)
    return {"astcenc": "differs", "astcenc_psnr": psnr(png, decoded, channels_of(texture))}


def check_dds(texture, rgba, folder):
    """The largest difference between ImageMagick's reading of the blocks and ours."""
    dds = os.path.join(folder, "a.dds")
    ktx2.write_dds(texture, dds)
    other = ktx2.read_rgba(dds)
    return max((abs(a - b) for a, b in zip(rgba, other)), default=0) if len(rgba) == len(other) else 255


def check_against_source(texture, options):
    width, height, rgba = ktx2.decode_image(texture)
    source = ktx2.read_rgba(options.source)
    if len(source) != len(rgba):
        return {"problems": [f"the source has {len(source) // 4} texels, the first level {len(rgba) // 4}"]}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source_png, png = os.path.join(folder, "source.png"), os.path.join(folder, "cooked.png")
        write_png(source_png, width, height, source)
        write_png(png, width, height, rgba)
        found["psnr"] = psnr(source_png, png, channels_of(texture))
        name = texture.format.name
        if name in ("bc1", "bc3"):
            found["dds_difference"] = check_dds(texture, rgba, folder)
        if name.startswith("astc"):
            found.update(check_astc(texture, source, source_png, folder, options))
    return found


def problems_of(found, options):
    problems = found.pop("problems", [])
    if found.get("psnr", PSNR_EQUAL) < options.psnr_min:
        problems.append(f"PSNR {found['psnr']} is below {options.psnr_min}")
    if found.get("dds_difference", 0) > DDS_TOLERANCE:
        problems.append("ImageMagick decodes other texels from the same blocks")
    if "astcenc_psnr" in found and abs(found["astcenc_psnr"] - found["psnr"]) > PSNR_TOLERANCE:
        problems.append(f"astcenc itself reaches {found['astcenc_psnr']}")
    return problems


def check(path, options):
    found = {"file": path}
    problems = ktx2.check_structure(path)
    if not problems:
        texture = ktx2.read_ktx2(path)
        found["format"] = texture.format.name + ("_srgb" if texture.format.is_srgb else "")
        if options.source and not texture.format.name == "rgba16f":
            found.update(check_against_source(texture, options))
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
