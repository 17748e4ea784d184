// TextureFormat: the format of an output's texels, with its names in Vulkan and in the Khronos data
// format descriptor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace galley::worker::texture {

enum class FormatKind { kRgba8, kRgba16f, kBc1, kBc3, kBc4, kBc5, kAstc };

std::string_view FormatName(FormatKind kind);  // "rgba8", ...
std::optional<FormatKind> ParseFormat(std::string_view name);

struct BlockSize {
  uint32_t width = 1;
  uint32_t height = 1;
  auto operator<=>(const BlockSize&) const = default;
};

// The legal two-dimensional ASTC blocks, as "4x4", smallest first.
inline constexpr std::string_view kAstcBlocks[] = {"4x4",  "5x4",   "5x5",   "6x5",  "6x6",
                                                   "8x5",  "8x6",   "8x8",   "10x5", "10x6",
                                                   "10x8", "10x10", "12x10", "12x12"};

struct TextureFormat {
  FormatKind kind = FormatKind::kRgba8;
  bool is_srgb = false;                          // only kRgba8, kBc1, kBc3, kAstc
  std::string_view astc_block = kAstcBlocks[0];  // only kAstc; one of kAstcBlocks

  BlockSize block() const;       // in texels; 1x1 when uncompressed
  uint32_t block_bytes() const;  // bytes of a block, or of a texel when uncompressed
  uint32_t vk_format() const;    // Source: Vulkan specification, VkFormat.
  // KTX2: the bytes of a component, to swap on big-endian machines; 1 when compressed.
  uint32_t type_size() const;
  std::string name() const;  // "bc1_srgb", "astc_6x6_unorm", "rgba16f"
  // The bytes of a level of this size.
  uint64_t LevelBytes(uint32_t width, uint32_t height) const;
};

// The format with this number; nullopt: the cooker does not write it.
std::optional<TextureFormat> FormatOfVk(uint32_t vk_format);

}  // namespace galley::worker::texture
