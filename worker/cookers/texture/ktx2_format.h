// KTX2 format: the constants that the reader and the writer of KTX2 files share.
// Source: https://registry.khronos.org/KTX/specs/2.0/ktxspec.v2.html
#pragma once

#include <cstdint>
#include <string_view>

namespace galley::worker::texture {

inline constexpr std::string_view kKtx2Identifier("\xABKTX 20\xBB\r\n\x1A\n", 12);
inline constexpr uint32_t kKtx2SchemeZstd = 2;

}  // namespace galley::worker::texture
