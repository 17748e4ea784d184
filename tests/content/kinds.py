"""A project of the kinds of content that the sample has not, for `validate`: HDR, cubes and arrays, supercompression, a loop in Opus."""
import os, struct

import check_textures, sample_sounds

SIZE = 16
PROJECT = """[project]
name = "kinds"
[[mount]]
path = "/Game"
dir = "content"
%s
[[rule]]
match = "/Game/*.{png,hdr}"
cooker = "texture"
[[rule]]
match = "/Game/packed*.png"
settings = { zstd = 9 }
[[rule]]
match = "/Game/*.wav"
cooker = "audio"
"""


def hdr(width, height):
    """Radiance RGBE, flat: a slope from dark to eight times white."""
    texels = b"".join(struct.pack("4B", 128 + x * 7, 128 + y * 7, 200, 120 + (x + y) * 12 // (width + height)) for y in range(height) for x in range(width))
    return b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % (height, width) + texels


def picture(number):
    return bytes(v for y in range(SIZE) for x in range(SIZE) for v in (x * 15, y * 15, number * 20, 255))


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def put_layers(content, name, layout, count, more=""):
    """A source, its further images in a folder that no rule matches, and the sidecar that names them."""
    os.makedirs(os.path.join(content, name), exist_ok=True)
    layers = [f"{name}/{i}.png" for i in range(1, count)]
    for i, path in enumerate([f"{name}.png", *layers]):
        check_textures.write_png(os.path.join(content, path), SIZE, SIZE, picture(i))
    put(os.path.join(content, f"{name}.png.cook"), f'[settings]\nlayout = "{layout}"\nlayers = {layers!r}\n{more}')


def make(project, platform_blocks):
    """Returns the project's folder."""
    content = os.path.join(project, "content")
    put(os.path.join(project, "galley.toml"), PROJECT % platform_blocks)
    put(os.path.join(content, "sky.hdr"), hdr(SIZE, SIZE))
    put(os.path.join(content, "melody.wav"), sample_sounds.melody())
    put_layers(content, "cube", "cube", 6)
    put_layers(content, "packed_cubes", "cube_array", 12)
    put_layers(content, "stack", "array", 3)
    check_textures.write_png(os.path.join(content, "packed.png"), SIZE, SIZE, picture(1))
    return project
