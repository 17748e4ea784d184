#include "worker/cookers/texture/texture_format.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "fmt/format.h"

namespace galley::worker::texture {
namespace {

constexpr std::array<std::pair<FormatKind, std::string_view>, 7> kNames = {
    {{FormatKind::kRgba8, "rgba8"},
     {FormatKind::kRgba16f, "rgba16f"},
     {FormatKind::kBc1, "bc1"},
     {FormatKind::kBc3, "bc3"},
     {FormatKind::kBc4, "bc4"},
     {FormatKind::kBc5, "bc5"},
     {FormatKind::kAstc, "astc"}}};

constexpr uint32_t kVkAstc4x4Unorm = 157;  // sRGB follows, then the next block

uint32_t ParseSide(std::string_view text) {
  uint32_t value = 0;
  for (const char c : text) value = value * 10 + static_cast<uint32_t>(c - '0');
  return value;
}

}  // namespace

std::string_view FormatName(FormatKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return {};
}

std::optional<FormatKind> ParseFormat(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

BlockSize TextureFormat::block() const {
  if (kind == FormatKind::kRgba8 || kind == FormatKind::kRgba16f) return {.width = 1, .height = 1};
  if (kind != FormatKind::kAstc) return {.width = 4, .height = 4};
  const size_t cross = astc_block.find('x');
  return {.width = ParseSide(astc_block.substr(0, cross)),
          .height = ParseSide(astc_block.substr(cross + 1))};
}

uint32_t TextureFormat::block_bytes() const {
  switch (kind) {
    case FormatKind::kRgba8:
      return 4;
    case FormatKind::kRgba16f:
    case FormatKind::kBc1:
    case FormatKind::kBc4:
      return 8;
    case FormatKind::kBc3:
    case FormatKind::kBc5:
    case FormatKind::kAstc:
      return 16;
  }
  return 0;
}

uint32_t TextureFormat::vk_format() const {
  switch (kind) {
    case FormatKind::kRgba8:
      return is_srgb ? 43 : 37;
    case FormatKind::kRgba16f:
      return 97;
    case FormatKind::kBc1:
      return is_srgb ? 132 : 131;
    case FormatKind::kBc3:
      return is_srgb ? 138 : 137;
    case FormatKind::kBc4:
      return 139;
    case FormatKind::kBc5:
      return 141;
    case FormatKind::kAstc:
      break;
  }
  const auto* found = std::find(std::begin(kAstcBlocks), std::end(kAstcBlocks), astc_block);
  return kVkAstc4x4Unorm + 2 * static_cast<uint32_t>(found - std::begin(kAstcBlocks)) +
         (is_srgb ? 1 : 0);
}

uint32_t TextureFormat::type_size() const { return kind == FormatKind::kRgba16f ? 2 : 1; }

std::string TextureFormat::name() const {
  if (kind == FormatKind::kRgba16f) return std::string(FormatName(kind));
  const std::string_view transfer = is_srgb ? "srgb" : "unorm";
  return kind == FormatKind::kAstc ? fmt::format("astc_{}_{}", astc_block, transfer)
                                   : fmt::format("{}_{}", FormatName(kind), transfer);
}

uint64_t TextureFormat::LevelBytes(uint32_t width, uint32_t height) const {
  const BlockSize size = block();
  return uint64_t{(width + size.width - 1) / size.width} *
         ((height + size.height - 1) / size.height) * block_bytes();
}

std::optional<TextureFormat> FormatOfVk(uint32_t vk_format) {
  for (const auto& [kind, name] : kNames) {
    for (const std::string_view block : kAstcBlocks) {
      for (const bool is_srgb : {false, true}) {
        const TextureFormat format{.kind = kind, .is_srgb = is_srgb, .astc_block = block};
        const bool has_srgb =
            kind != FormatKind::kRgba16f && kind != FormatKind::kBc4 && kind != FormatKind::kBc5;
        if (format.vk_format() == vk_format && (has_srgb || !is_srgb)) return format;
      }
      if (kind != FormatKind::kAstc) break;
    }
  }
  return std::nullopt;
}

}  // namespace galley::worker::texture
