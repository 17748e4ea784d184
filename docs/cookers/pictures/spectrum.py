"""Draws what frequencies a sound holds, for `make`."""
import cmath, math

from canvas import paint


def transform(values):
    """The discrete Fourier transform of 2^n values."""
    if len(values) == 1:
        return values
    even, odd = transform(values[::2]), transform(values[1::2])
    turned = [cmath.rect(1, -2 * math.pi * k / len(values)) * each for k, each in enumerate(odd)]
    return [a + b for a, b in zip(even, turned)] + [a - b for a, b in zip(even, turned)]


def spectrogram(values, wide=84, high=80):
    """Time to the right, 0 to 24 kHz upwards, 16 shades over 50 dB."""
    size, columns = 1024, []
    for i in range(wide):
        first = i * (len(values) - size) // (wide - 1)
        window = [v * (0.5 - 0.5 * math.cos(2 * math.pi * k / size)) / 32768 for k, v in enumerate(values[first:first + size])]
        bins = transform([complex(v) for v in window])[:size // 2]
        powers = [max(abs(b) ** 2 for b in bins[k * len(bins) // high:(k + 1) * len(bins) // high]) for k in range(high)]
        columns.append([max(0, min(15, int(15 + (10 * math.log10(p + 1e-12) - 26) / 3.3))) for p in powers])
    return paint(wide, high, lambda x, y: (255 - 17 * columns[x][high - 1 - y],) * 3).magnified(2)
