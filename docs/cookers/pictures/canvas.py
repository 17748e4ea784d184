"""Pictures in memory, for `make`: rows of RGB texels, laid side by side, magnified, written as small PNGs."""
import math, struct, subprocess, zlib

WHITE = (255, 255, 255)


class Picture:
    """`texels`: (r, g, b) of each texel, row by row."""

    def __init__(self, width, height, texels):
        self.width, self.height, self.texels = width, height, list(texels)

    def crop(self, left, top, width, height):
        return paint(width, height, lambda x, y: self.at(left + x, top + y))

    def magnified(self, times):
        return paint(self.width * times, self.height * times, lambda x, y: self.at(x // times, y // times))

    def at(self, x, y):
        return self.texels[y * self.width + x]

    def difference(self, other, times):
        """Grey: the greatest difference of a channel, so many times."""
        greys = [min(255, times * max(abs(a - b) for a, b in zip(*pair))) for pair in zip(self.texels, other.texels)]
        return Picture(self.width, self.height, [(grey,) * 3 for grey in greys])

    def psnr(self, other):
        """Decibels over all channels; the pictures differ."""
        squares = sum((a - b) ** 2 for pair in zip(self.texels, other.texels) for a, b in zip(*pair))
        return 10 * math.log10(255 ** 2 * 3 * len(self.texels) / squares)


def paint(width, height, color):
    return Picture(width, height, [color(x, y) for y in range(height) for x in range(width)])


def row(pictures, gap=8, rest=WHITE):
    """Side by side, their lower edges on one line."""
    height = max(picture.height for picture in pictures)
    lines = [[] for _ in range(height)]
    for i, picture in enumerate(pictures):
        for y, line in enumerate(lines):
            above = height - picture.height
            line += [rest] * (gap if i else 0)
            line += [rest] * picture.width if y < above else picture.texels[(y - above) * picture.width:(y - above + 1) * picture.width]
    return Picture(len(lines[0]), height, [texel for line in lines for texel in line])


def column(pictures, gap=8, rest=WHITE):
    width = max(picture.width for picture in pictures)
    texels = []
    for i, picture in enumerate(pictures):
        texels += [rest] * (width * gap if i else 0)
        for y in range(picture.height):
            texels += picture.texels[y * picture.width:(y + 1) * picture.width] + [rest] * (width - picture.width)
    return Picture(width, len(texels) // width, texels)


# ---------------------------------------------------------------- PNG

def read(path):
    """Any image file; alpha is left out."""
    with open(path, "rb") as file:
        head = file.read(24)
    if head[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError(f"{path}: no PNG")
    data = subprocess.run(["convert", path, "-alpha", "off", "-depth", "8", "rgb:-"], stdout=subprocess.PIPE, check=True).stdout
    return Picture(*struct.unpack(">II", head[16:]), zip(data[::3], data[1::3], data[2::3]))


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _packed(indices, bits):
    """Palette indices of one row, the first in the upper bits."""
    value = 0
    for index in indices:
        value = value << bits | index
    spare = -len(indices) * bits % 8
    return (value << spare).to_bytes((len(indices) * bits + 7) // 8, "big")


def _smallest(rows, step):
    """The rows as a zlib stream: plain, or each by its difference from the row above."""
    plain = b"".join(b"\0" + row for row in rows)
    above = b"".join(b"\2" + bytes((a - b) & 255 for a, b in zip(row, before))
                     for row, before in zip(rows, [bytes(len(rows[0]))] + rows))
    left = b"".join(b"\1" + row[:step] + bytes((a - b) & 255 for a, b in zip(row[step:], row)) for row in rows)
    mixed = b"".join(above[at:at + len(rows[0]) + 1] if rows[i] == rows[i - 1] and i else left[at:at + len(rows[0]) + 1]
                     for i, at in enumerate(range(0, len(above), len(rows[0]) + 1)))
    return min((zlib.compress(data, 9) for data in (plain, above, left, mixed)), key=len)


def write(picture, path):
    """With a palette when there are at most 256 colours."""
    palette = sorted(set(picture.texels))
    lines = [picture.texels[y * picture.width:(y + 1) * picture.width] for y in range(picture.height)]
    if len(palette) <= 256:
        bits = next(bits for bits in (1, 2, 4, 8) if len(palette) <= 1 << bits)
        index = {color: i for i, color in enumerate(palette)}
        head = struct.pack(">IIBBBBB", picture.width, picture.height, bits, 3, 0, 0, 0)
        extra = _chunk(b"PLTE", b"".join(bytes(color) for color in palette))
        data = _smallest([_packed([index[color] for color in line], bits) for line in lines], 1)
    else:
        head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
        extra, data = b"", _smallest([b"".join(map(bytes, line)) for line in lines], 3)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + extra + _chunk(b"IDAT", data) + _chunk(b"IEND", b""))
