// TextureSettings: the settings that a recipe gives the texture cooker, and the output format that
// follows from them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/cooker_description.h"
#include "nlohmann/json.hpp"
#include "worker/cookers/texture/image.h"
#include "worker/cookers/texture/texture_format.h"

namespace galley::worker::texture {

struct TextureSettings {
  Usage usage = Usage::kColor;
  std::optional<ColorSpace> color_space;  // nullopt: by usage and format
  bool mipmaps = true;
  uint32_t max_size = 0;
  Quality quality = Quality::kFast;
  std::optional<FormatKind> format;  // nullopt: by the platform's family
  std::string_view astc_block;       // one of kAstcBlocks
  int zstd_level = 0;
  std::vector<std::string> layers;  // paths of the images after the source
  Layout layout = Layout::kArray;

  uint32_t images_count() const { return static_cast<uint32_t>(layers.size()) + 1; }
};

// Vulkan's common maximum of maxImageArrayLayers.
inline constexpr size_t kImagesMax = 2048;

std::vector<record::SettingDescription> DescribeTextureSettings();

// `settings`: as record::ResolveSettings gives them. Errors: INVALID_ARGUMENT names the setting and
// what was expected.
absl::StatusOr<TextureSettings> ParseTextureSettings(const nlohmann::json& settings);
// Content: the facts about all layers together that decide the format.
struct Content {
  bool is_hdr = false;
  bool has_alpha = false;
};
// The format in a platform's texture family ("bc", "astc", "rgba8").
absl::StatusOr<FormatKind> FormatOfFamily(std::string_view family, Usage usage, Content content);
// The whole format, with colour space and block. INVALID_ARGUMENT: settings, content and format do
// not go together.
absl::StatusOr<TextureFormat> MakeFormat(FormatKind kind, const TextureSettings& settings,
                                         Content content);

}  // namespace galley::worker::texture
