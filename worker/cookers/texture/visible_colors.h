// FitVisibleColors: the colour half of a BC3 block, fitted to what can be seen of it.
//
// The error of a texel counts (alpha + 1) / 256 of an opaque one's, as in libsquish: what is
// transparent hardly counts, and a block without any visible texel keeps its colours. stb_dxt knows
// no weights: it fits the block as it is, and with the colours of transparent texels moved to the
// mean of the visible ones; the better of both is improved by weighted least squares.
#pragma once

#include <array>
#include <cstdint>

namespace galley::worker::texture {

using BlockTexels = std::array<uint8_t, 64>;  // 4x4 RGBA

// `color`: 8 bytes, BC3's colours of `block` as stb_dxt fitted them without weights; replaced where
// something better is found. `mode`: stb_dxt's. A block whose texels have one alpha stays as it is.
void FitVisibleColors(const BlockTexels& block, int mode, uint8_t* color);

}  // namespace galley::worker::texture
