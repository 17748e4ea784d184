// The compression of SHA-256, in each of its ways: for sha256.cc and its test.
//
// Source: FIPS 180-4, 6.2.2. Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace galley::vfs {

inline constexpr size_t kShaBlockBytes = 64;

// Adds `count` blocks to the state.
using AddBlocks = void (*)(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count);

void AddBlocksPortably(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count);
// By the processor's own instructions. nullptr: it has none that are known here.
AddBlocks FindFastAddBlocks();

}  // namespace galley::vfs
