"""Reads KTX 2.0 files as Galley writes them, independently of Galley's own code.

Written from the Khronos KTX 2.0 and Data Format 1.3 specifications, for tests: what a file says of
itself is compared with what its VkFormat demands, and levels are decoded by other programs
(astcenc, ImageMagick) or by the small decoders below. Only Python's standard library; the programs
zstd, astcenc and convert (Debian: zstd, astcenc, imagemagick) are called where they are needed.

    texture = read_ktx2(path)              Texture: sizes, VkFormat, levels (inflated)
    problems = check_structure(path)       list of sentences; empty: all is as specified
    width, height, rgba = decode_level0(path)   8-bit RGBA of the first image of the first level
    write_astc(texture, path), dds_images(texture)    the same image for other programs
"""

import dataclasses
import os
import struct
import subprocess
import tempfile

IDENTIFIER = b"\xabKTX 20\xbb\r\n\x1a\n"
SCHEME_NONE, SCHEME_ZSTD = 0, 2
LINEAR_ALPHA = 15 | 0x10  # channel alpha, qualifier linear
FLOAT = 0x80 | 0x40  # qualifiers float and signed
MAX32 = 0xFFFFFFFF
ASTC_BLOCKS = ["4x4", "5x4", "5x5", "6x5", "6x6", "8x5", "8x6", "8x8", "10x5", "10x6", "10x8", "10x10",
               "12x10", "12x12"]


@dataclasses.dataclass(frozen=True)
class Format:
    """What a VkFormat demands: samples are (bit offset, bits, channel and qualifiers, lower, upper)."""
    name: str
    is_srgb: bool
    color_model: int
    block: tuple
    block_bytes: int
    type_size: int
    samples: tuple


def _make_formats():
    formats = {}
    def add(number, name, is_srgb, model, block, size, samples, type_size=1):
        formats[number] = Format(name, is_srgb, model, block, size, type_size, tuple(samples))
    for number, is_srgb in ((37, False), (43, True)):
        alpha = LINEAR_ALPHA if is_srgb else 15
        add(number, "rgba8", is_srgb, 1, (1, 1), 4,
            [(8 * i, 8, (0, 1, 2, alpha)[i], 0, 255) for i in range(4)])
    add(97, "rgba16f", False, 1, (1, 1), 8,
        [(16 * i, 16, (0, 1, 2, 15)[i] | FLOAT, 0xBF800000, 0x3F800000) for i in range(4)], 2)
    for number, is_srgb in ((131, False), (132, True)):
        add(number, "bc1", is_srgb, 128, (4, 4), 8, [(0, 64, 0, 0, MAX32)])
    for number, is_srgb in ((137, False), (138, True)):
        alpha = LINEAR_ALPHA if is_srgb else 15
        add(number, "bc3", is_srgb, 130, (4, 4), 16, [(0, 64, alpha, 0, MAX32), (64, 64, 0, 0, MAX32)])
    add(139, "bc4", False, 131, (4, 4), 8, [(0, 64, 0, 0, MAX32)])
    add(141, "bc5", False, 132, (4, 4), 16, [(0, 64, 0, 0, MAX32), (64, 64, 1, 0, MAX32)])
    for i, block in enumerate(ASTC_BLOCKS):
        for is_srgb in (False, True):
            size = tuple(int(side) for side in block.split("x"))
            add(157 + 2 * i + is_srgb, "astc_" + block, is_srgb, 162, size, 16, [(0, 128, 0, 0, MAX32)])
    return formats


FORMATS = _make_formats()


@dataclasses.dataclass
class Level:
    offset: int
    stored_bytes: int
    inflated_bytes: int
    data: bytes  # inflated


@dataclasses.dataclass
class Texture:
    vk_format: int
    type_size: int
    width: int
    height: int
    depth: int
    layers: int
    faces: int
    scheme: int
    descriptor: bytes
    pairs: dict  # key -> value, without the final NUL
    pair_keys: list  # in the order of the file
    ranges: dict  # "descriptor", "pairs", "global data" -> (offset, size)
    levels: list
    file_bytes: int

    @property
    def format(self):
        return FORMATS[self.vk_format]

    @property
    def images(self):
        return max(self.layers, 1) * self.faces

    def size_of_level(self, level):
        return max(self.width >> level, 1), max(self.height >> level, 1)

    def bytes_of_image(self, level):
        width, height = self.size_of_level(level)
        block_width, block_height = self.format.block
        return (-(-width // block_width)) * (-(-height // block_height)) * self.format.block_bytes

    def image(self, level=0, index=0):
        """The bytes of one image of a level; index counts layer by layer, in a layer face by face."""
        size = self.bytes_of_image(level)
        return self.levels[level].data[index * size:(index + 1) * size]


def _inflate(data):
    return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout


def _parse_pairs(data):
    pairs, keys = {}, []
    while data:
        (size,) = struct.unpack_from("<I", data)
        key, _, value = data[4:4 + size].partition(b"\0")
        keys.append(key)
        pairs[key.decode()] = value[:-1].decode() if value.endswith(b"\0") else value
        data = data[4 + (size + 3) // 4 * 4:]
    return pairs, keys


def read_ktx2(path):
    """ValueError: no KTX2 file, or one whose ranges lie outside of it."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:12] != IDENTIFIER or len(data) < 80:
        raise ValueError(f"{path}: no KTX2 file")
    (vk_format, type_size, width, height, depth, layers, faces, levels_count, scheme, dfd_offset,
     dfd_bytes, kvd_offset, kvd_bytes, sgd_offset, sgd_bytes) = struct.unpack_from("<13I2Q", data, 12)
    ranges = {"descriptor": (dfd_offset, dfd_bytes), "pairs": (kvd_offset, kvd_bytes),
              "global data": (sgd_offset, sgd_bytes)}
    levels = []
    for i in range(max(levels_count, 1)):
        offset, stored, inflated = struct.unpack_from("<3Q", data, 80 + 24 * i)
        if offset + stored > len(data):
            raise ValueError(f"{path}: level {i} lies outside of the file")
        payload = data[offset:offset + stored]
        levels.append(Level(offset, stored, inflated,
                            _inflate(payload) if scheme == SCHEME_ZSTD else payload))
    pairs, keys = _parse_pairs(data[kvd_offset:kvd_offset + kvd_bytes])
    return Texture(vk_format, type_size, width, height, depth, layers, faces, scheme,
                   data[dfd_offset:dfd_offset + dfd_bytes], pairs, keys, ranges, levels, len(data))


def expected_descriptor(format, bytes_plane0):
    """Data Format 1.3, chapter 5: the total size and one basic block."""
    size = 24 + 16 * len(format.samples)
    out = struct.pack("<IIHH", size + 4, 0, 2, size)
    out += struct.pack("<4B", format.color_model, 1, 2 if format.is_srgb else 1, 0)
    out += bytes([format.block[0] - 1, format.block[1] - 1, 0, 0, bytes_plane0]) + bytes(7)
    for bit_offset, bits, channel, lower, upper in format.samples:
        out += struct.pack("<HBB4x2I", bit_offset, bits - 1, channel, lower, upper)
    return out


def _check_levels(texture, levels_whole):
    format = texture.format
    # KTX 2.0, "mipPadding": lcm(texel block size, 4), which is the block size here; 1 when packed.
    alignment = 1 if texture.scheme else format.block_bytes
    end = 0
    for i in reversed(range(len(texture.levels))):
        level = texture.levels[i]
        wanted = texture.bytes_of_image(i) * texture.images
        if level.inflated_bytes != wanted or len(level.data) != wanted:
            yield (f"level {i} has {len(level.data)} bytes, its index says {level.inflated_bytes}; "
                   f"expected {wanted}")
        if level.offset % alignment:
            yield f"level {i} begins at {level.offset}, no multiple of {alignment}"
        if level.offset < end:
            yield f"level {i} begins at {level.offset}, before the end of the smaller one"
        end = level.offset + level.stored_bytes
    if end != texture.file_bytes:
        yield f"{texture.file_bytes - end} bytes follow the last level"
    longest = max(texture.width, texture.height)
    whole = longest.bit_length()
    if len(texture.levels) != 1 and len(texture.levels) != whole and levels_whole:
        yield f"{len(texture.levels)} levels; expected 1 or {whole}"


def _check(texture, levels_whole):
    if texture.vk_format not in FORMATS:
        yield f"unknown VkFormat {texture.vk_format}"
        return
    format = texture.format
    if texture.type_size != format.type_size:
        yield f"type size {texture.type_size}; expected {format.type_size}"
    if texture.depth != 0 or not texture.width or not texture.height:
        yield f"{texture.width} x {texture.height} x {texture.depth} is not two-dimensional"
    if texture.faces not in (1, 6) or (texture.faces == 6 and texture.width != texture.height):
        yield f"{texture.faces} faces of {texture.width} x {texture.height}"
    if texture.scheme not in (SCHEME_NONE, SCHEME_ZSTD):
        yield f"supercompression scheme {texture.scheme}"
    # bytesPlane0 of supercompressed data: 0 up to revision 3 of the specification, then as it was.
    planes = {0, format.block_bytes} if texture.scheme else {format.block_bytes}
    if texture.descriptor not in [expected_descriptor(format, plane) for plane in planes]:
        yield f"descriptor {texture.descriptor.hex()}; expected {expected_descriptor(format, max(planes)).hex()}"
    index_end = 80 + 24 * len(texture.levels)
    if texture.ranges["descriptor"][0] != index_end or texture.ranges["pairs"][0] % 4:
        yield "descriptor or key/value data are misplaced"
    if texture.ranges["global data"] != (0, 0):
        yield "there is global data, though no scheme has any"
    if texture.pair_keys != sorted(texture.pair_keys):
        yield "keys are not sorted"
    if texture.pairs.get("KTXorientation") != "rd" or not texture.pairs.get("KTXwriter"):
        yield f"key/value data {texture.pairs}; expected KTXorientation rd and a KTXwriter"
    yield from _check_levels(texture, levels_whole)


def check_structure(path, levels_whole=True):
    """What is wrong with a file, in sentences. `levels_whole`: either one level or all down to 1x1."""
    try:
        return list(_check(read_ktx2(path), levels_whole))
    except (ValueError, struct.error, subprocess.CalledProcessError) as error:
        return [str(error)]


def write_astc(texture, path, level=0, index=0):
    """One image as an .astc file: magic, block, size in three bytes each, blocks."""
    width, height = texture.size_of_level(level)
    with open(path, "wb") as file:
        file.write(struct.pack("<I3B", 0x5CA1AB13, *texture.format.block, 1))
        for side in (width, height, 1):
            file.write(side.to_bytes(3, "little"))
        file.write(texture.image(level, index))


def dds_images(texture, level=0, index=0):
    """What a reader of DDS that knows only DXT1 and DXT5 can decode of an image: [(fourcc, blocks, what it holds)]. A block of BC4,
    and each half of one of BC5, is what the alpha of DXT5 is; "A" holds the channel named after it."""
    name, data = texture.format.name, texture.image(level, index)
    if name in ("bc1", "bc3"):
        return [({"bc1": b"DXT1", "bc3": b"DXT5"}[name], data, "RGBA")]
    size = texture.format.block_bytes
    return [(b"DXT5", b"".join(data[at + half:at + half + 8] + bytes(8) for at in range(0, len(data), size)), "A" + "RG"[half // 8])
            for half in range(0, size, 8)]


def write_dds(path, width, height, fourcc, data):
    """Source: Microsoft, DDS_HEADER."""
    header = struct.pack("<4s7I44x", b"DDS ", 124, 0x81007, height, width, len(data), 0, 0)
    header += struct.pack("<2I4s20x5I", 32, 4, fourcc, 0x1000, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(header + data)


# --- Decoders. Data Format 1.3, chapters 18 (S3TC) and 19 (RGTC).

def _expand565(value):
    r, g, b = value >> 11, value >> 5 & 63, value & 31
    return (r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2)


def _decode_colors(block, is_bc1):
    first, second, indices = struct.unpack("<HHI", block)
    a, b = _expand565(first), _expand565(second)
    if first > second or not is_bc1:
        palette = [a, b, tuple((2 * x + y + 1) // 3 for x, y in zip(a, b)),
                   tuple((x + 2 * y + 1) // 3 for x, y in zip(a, b))]
    else:
        palette = [a, b, tuple((x + y + 1) // 2 for x, y in zip(a, b)), (0, 0, 0)]
    return [palette[indices >> 2 * i & 3] for i in range(16)]


def _decode_channel(block):
    a, b = block[0], block[1]
    steps = 7 if a > b else 5
    palette = [a, b] + [(a * (steps - i) + b * i + steps // 2) // steps for i in range(1, steps)]
    palette += [0, 255][:8 - len(palette)]
    indices = int.from_bytes(block[2:8], "little")
    return [palette[indices >> 3 * i & 7] for i in range(16)]


def _decode_block(name, block):
    if name == "bc1":
        return [(*color, 255) for color in _decode_colors(block, True)]
    if name == "bc3":
        return [(*color, alpha) for color, alpha in
                zip(_decode_colors(block[8:], False), _decode_channel(block[:8]))]
    if name == "bc4":
        return [(red, red, red, 255) for red in _decode_channel(block)]
    return [(red, green, 0, 255) for red, green in
            zip(_decode_channel(block[:8]), _decode_channel(block[8:]))]


def decode_blocks(name, data, width, height):
    """RGBA8 of BC1, BC3, BC4 (r, r, r, 255), BC5 (r, g, 0, 255)."""
    size = 8 if name in ("bc1", "bc4") else 16
    columns = -(-width // 4)
    out = bytearray(width * height * 4)
    for i in range(len(data) // size):
        x, y = i % columns * 4, i // columns * 4
        texels = _decode_block(name, data[i * size:(i + 1) * size])
        for row in range(min(4, height - y)):
            line = bytes(v for texel in texels[row * 4:row * 4 + min(4, width - x)] for v in texel)
            at = ((y + row) * width + x) * 4
            out[at:at + len(line)] = line
    return bytes(out)


def _decode_halves(data):
    """As sRGB, cut off above 1."""
    def encode(value):
        value = min(max(value, 0.0), 1.0)
        return round(255 * (12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055))
    halves = struct.unpack(f"<{len(data) // 2}e", data)
    return bytes(round(255 * min(max(v, 0.0), 1.0)) if i % 4 == 3 else encode(v)
                 for i, v in enumerate(halves))


def _read_grey_alpha_tga(path):
    """RGBA of an uncompressed TGA of 8 bits grey and 8 bits alpha (type 3, TGA 2.0, without orientation bits other than top or
    bottom), which ImageMagick 6 takes for 16 bits of 5-5-5; None for any other file."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 18 or data[1] != 0 or data[2] != 3 or data[16] != 16 or data[17] & 0xDF != 8:
        return None
    width, height = struct.unpack_from("<HH", data, 12)
    start = 18 + data[0]
    rows = [data[start + 2 * width * y : start + 2 * width * (y + 1)] for y in range(height)]
    if not data[17] & 0x20:
        rows.reverse()
    return b"".join(bytes((row[i], row[i], row[i], row[i + 1])) for row in rows for i in range(0, 2 * width, 2))


def read_rgba(path):
    """8-bit RGBA of an image file, by ImageMagick."""
    if path.endswith(".tga") and (rgba := _read_grey_alpha_tga(path)) is not None:
        return rgba
    return subprocess.run(["convert", path, "-auto-orient", "-depth", "8", "rgba:-"],
                          capture_output=True, check=True).stdout


def decode_astc(path, is_srgb, png):
    subprocess.run(["astcenc", "-ds" if is_srgb else "-dl", path, png, "-silent"], check=True,
                   capture_output=True)


def decode_image(texture, level=0, index=0):
    """(width, height, RGBA8) of one image. ASTC normals: y is brought from alpha to green."""
    width, height = texture.size_of_level(level)
    name, data = texture.format.name, texture.image(level, index)
    if name == "rgba8":
        return width, height, data
    if name == "rgba16f":
        return width, height, _decode_halves(data)
    if not name.startswith("astc"):
        return width, height, decode_blocks(name, data, width, height)
    with tempfile.TemporaryDirectory() as folder:
        astc, png = os.path.join(folder, "a.astc"), os.path.join(folder, "a.png")
        write_astc(texture, astc, level, index)
        decode_astc(astc, texture.format.is_srgb, png)
        rgba = bytearray(read_rgba(png))
    if texture.pairs.get("KTXswizzle") == "ra01":
        rgba[1::4], rgba[2::4], rgba[3::4] = rgba[3::4], bytes(len(rgba) // 4), b"\xff" * (len(rgba) // 4)
    return width, height, bytes(rgba)


def decode_level0(path):
    """(width, height, RGBA8) of a file's first image."""
    return decode_image(read_ktx2(path))
