// FitVisibleColors: fits the colour half of a BC3 block to the visible texels.
//
// The error of a texel counts (alpha + 1) / 256 of an opaque texel's error, as in libsquish:
// transparent texels hardly count, and a block without any visible texel keeps its colours. stb_dxt
// knows no weights: it fits the block as it is, and with the colours of transparent texels moved to
// the mean of the visible texels. The better result is improved by weighted least squares.
#pragma once

#include <array>
#include <cstdint>

namespace galley::worker::texture {

using BlockTexels = std::array<uint8_t, 64>;  // 4x4 RGBA

// `color`: 8 bytes, the colours of `block` as stb_dxt fitted them without weights; replaced where a
// better fit is found. `mode`: stb_dxt's. A block whose texels all have the same alpha stays as it
// is.
void FitVisibleColors(const BlockTexels& block, int mode, uint8_t* color);

}  // namespace galley::worker::texture
