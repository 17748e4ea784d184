"""The sample's sounds: WAV files by integer arithmetic. Used by make_sample."""
import struct


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(rate, channels, bits, frames, loop=None):
    """`frames`: tuples of integers in the range of `bits` (8: unsigned), or of floats when bits is "float"."""
    is_float = bits == "float"
    width = 4 if is_float else bits // 8
    if is_float:
        data = b"".join(struct.pack("<%df" % channels, *frame) for frame in frames)
    elif bits == 8:
        data = bytes(value for frame in frames for value in frame)
    else:
        data = b"".join((value & ((1 << bits) - 1)).to_bytes(width, "little") for frame in frames for value in frame)
    body = chunk(b"fmt ", struct.pack("<HHIIHH", 3 if is_float else 1, channels, rate, rate * channels * width, channels * width, width * 8))
    if loop is not None:
        first, last = loop
        body += chunk(b"smpl", struct.pack("<9I", 0, 0, 1_000_000_000 // rate, 60, 0, 0, 0, 1, 0) + struct.pack("<6I", 0, 0, first, last, 0, 0))
    return chunk(b"RIFF", b"WAVE" + body + chunk(b"data", data))


def triangle(i, period, top):
    """A triangle wave in whole numbers, from -top to top."""
    phase = i % period
    half = period // 2
    return (2 * phase - half) * top // half if phase < half else (2 * (period - 1 - phase) - half) * top // half


def click():
    return wav(22050, 1, 8, [(128 + triangle(i, 40, 100) * (2205 - i) // 2205,) for i in range(2205)])


def melody():
    """Stereo, with a loop from the second half second on."""
    periods = (200, 168, 150, 134)
    frames = [(triangle(i, periods[i // 11025 % 4], 9000), triangle(i, periods[(i // 11025 + 2) % 4], 9000)) for i in range(44100)]
    return wav(44100, 2, 16, frames, loop=(22050, 44099))


def wind(noise):
    """Mono, 24 bits: smoothed noise."""
    values, level = [], 0
    for i in range(24000):
        level += ((noise(i, 3, 77) - 128) * 30000 - level) // 32
        values.append((level,))
    return wav(48000, 1, 24, values)


def hum():
    """Stereo, 32-bit floats, at a rate that no codec takes."""
    return wav(37800, 2, "float", [(triangle(i, 756, 1 << 20) / (1 << 22), triangle(i, 378, 1 << 20) / (1 << 22)) for i in range(18900)])
