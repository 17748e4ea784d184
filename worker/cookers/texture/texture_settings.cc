#include "worker/cookers/texture/texture_settings.h"

#include <algorithm>
#include <iterator>

#include "common/base/status_macros.h"
#include "fmt/ranges.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

using record::SettingType;

constexpr int64_t kMaxSizeMax = 65'535;
constexpr int64_t kZstdLevelMax = 19;  // above it decoders need unusual memory

const std::vector<std::string> kUsages = {"color", "normal", "mask"};
const std::vector<std::string> kColorSpaces = {"srgb", "linear"};
const std::vector<std::string> kQualities = {"fast", "medium", "thorough"};
const std::vector<std::string> kLayouts = {"array", "cube", "cube_array"};
const std::vector<std::string> kFormats = {"rgba8", "rgba16f", "bc1", "bc3", "bc4", "bc5", "astc"};

// The index of a choice; nullopt: the setting is absent or null.
std::optional<size_t> ParseChoice(const nlohmann::json& settings, const char* name,
                                  const std::vector<std::string>& choices) {
  const auto choice =
      std::find(choices.begin(), choices.end(), settings.value(name, nlohmann::json()));
  if (choice == choices.end()) return std::nullopt;
  return static_cast<size_t>(choice - choices.begin());
}

absl::StatusOr<int64_t> ParseInteger(const nlohmann::json& settings, const char* name,
                                     int64_t max) {
  const int64_t value = settings.at(name).get<int64_t>();
  if (value >= 0 && value <= max) return value;
  return VerdictError("setting \"{}\": expected an integer from 0 to {}, not {}", name, max,
                      settings.at(name).dump());
}

absl::Status CheckLayerCount(const TextureSettings& settings) {
  const uint32_t count = settings.images_count();
  if (count > kImagesMax) {
    return VerdictError(
        "setting \"layers\": {} paths; expected at most {}, since the source is the first of {} "
        "images",
        settings.layers.size(), kImagesMax - 1, kImagesMax);
  }
  if (settings.layout == Layout::kCube && count != kCubeFaces) {
    return VerdictError(
        "setting \"layers\": {} paths; expected 5 with layout \"cube\": the source is +X, then -X "
        "+Y -Y +Z -Z",
        settings.layers.size());
  }
  if (settings.layout == Layout::kCubeArray && count % kCubeFaces != 0) {
    return VerdictError(
        "setting \"layers\": {} paths; expected 5, 11, 17, ... with layout \"cube_array\": six "
        "faces a cube, +X -X +Y -Y +Z -Z, the source is the first",
        settings.layers.size());
  }
  return absl::OkStatus();
}

std::vector<std::string> AstcBlocks() { return {std::begin(kAstcBlocks), std::end(kAstcBlocks)}; }

bool HasSrgbVariant(FormatKind kind) {
  return kind == FormatKind::kRgba8 || kind == FormatKind::kBc1 || kind == FormatKind::kBc3 ||
         kind == FormatKind::kAstc;
}

}  // namespace

std::vector<record::SettingDescription> DescribeTextureSettings() {
  return {
      {.name = "usage",
       .type = SettingType::kChoice,
       .default_json = R"("color")",
       .choices = kUsages,
       .documentation = "What the image is: colour, a tangent-space normal map, or masks (each "
                        "channel a quantity of its own)."},
      {.name = "color_space",
       .type = SettingType::kChoice,
       .default_json = "null",
       .choices = kColorSpaces,
       .documentation = "How the file's numbers are meant; by default srgb for color (linear in "
                        "bc4, bc5 and HDR), linear for normal and mask."},
      {.name = "mipmaps",
       .type = SettingType::kBool,
       .default_json = "true",
       .documentation = "Whether the whole chain down to 1x1 is made."},
      {.name = "max_size",
       .type = SettingType::kInteger,
       .default_json = "0",
       .documentation = "The image is halved until no side is longer than this; 0: never."},
      {.name = "quality",
       .type = SettingType::kChoice,
       .default_json = R"("fast")",
       .choices = kQualities,
       .documentation = "How much time the encoder takes."},
      {.name = "format",
       .type = SettingType::kChoice,
       .default_json = "null",
       .choices = kFormats,
       .documentation = "The texel format; by default the platform's texture family decides."},
      {.name = "block",
       .type = SettingType::kChoice,
       .default_json = R"("6x6")",
       .choices = AstcBlocks(),
       .documentation = "The block size of astc."},
      {.name = "zstd",
       .type = SettingType::kInteger,
       .default_json = "0",
       .documentation = "Supercompression with zstd at this level, 1 to 19; 0: none."},
      {.name = "layers",
       .type = SettingType::kStringList,
       .default_json = "[]",
       .documentation = "Paths of further images of the same size, relative to the source or "
                        "absolute: the source is the first layer, these follow."},
      {.name = "layout",
       .type = SettingType::kChoice,
       .default_json = R"("array")",
       .choices = kLayouts,
       .documentation = "What the layers are: an array, a cube map's faces (+X -X +Y -Y +Z -Z, "
                        "the source is +X), or the faces of several cubes."},
  };
}

absl::StatusOr<TextureSettings> ParseTextureSettings(const nlohmann::json& settings) {
  TextureSettings parsed;
  const std::optional<size_t> color_space = ParseChoice(settings, "color_space", kColorSpaces);
  const std::optional<size_t> format = ParseChoice(settings, "format", kFormats);
  ASSIGN_OR_RETURN(const int64_t max_size, ParseInteger(settings, "max_size", kMaxSizeMax));
  ASSIGN_OR_RETURN(const int64_t zstd_level, ParseInteger(settings, "zstd", kZstdLevelMax));
  parsed.mipmaps = settings.at("mipmaps").get<bool>();
  parsed.layers = settings.at("layers").get<std::vector<std::string>>();
  if (std::ranges::find(parsed.layers, "") != parsed.layers.end()) {
    return VerdictError("setting \"layers\": expected a list of paths, not {}",
                        settings.at("layers").dump());
  }
  parsed.layout = static_cast<Layout>(ParseChoice(settings, "layout", kLayouts).value_or(0));
  parsed.usage = static_cast<Usage>(ParseChoice(settings, "usage", kUsages).value_or(0));
  if (color_space) parsed.color_space = static_cast<ColorSpace>(*color_space);
  parsed.quality = static_cast<Quality>(ParseChoice(settings, "quality", kQualities).value_or(0));
  if (format) parsed.format = ParseFormat(kFormats[*format]);
  parsed.astc_block = kAstcBlocks[ParseChoice(settings, "block", AstcBlocks()).value_or(0)];
  parsed.max_size = static_cast<uint32_t>(max_size);
  parsed.zstd_level = static_cast<int>(zstd_level);
  if (parsed.usage == Usage::kNormal && parsed.color_space == ColorSpace::kSrgb) {
    return VerdictError(
        "the settings usage = \"normal\" and color_space = \"srgb\" contradict each other: a "
        "vector is not a colour");
  }
  RETURN_IF_ERROR(CheckLayerCount(parsed));
  return parsed;
}

absl::StatusOr<FormatKind> FormatOfFamily(std::string_view family, Usage usage, Content content) {
  if (family != "bc" && family != "astc" && family != "rgba8") {
    return VerdictError("the platform's texture family is \"{}\"; expected bc, astc or rgba8",
                        family);
  }
  if (content.is_hdr) return FormatKind::kRgba16f;
  if (family == "rgba8") return FormatKind::kRgba8;
  if (family == "astc") return FormatKind::kAstc;
  if (usage == Usage::kNormal) return FormatKind::kBc5;
  if (usage == Usage::kMask) return FormatKind::kBc4;
  return content.has_alpha ? FormatKind::kBc3 : FormatKind::kBc1;
}

absl::StatusOr<TextureFormat> MakeFormat(FormatKind kind, const TextureSettings& settings,
                                         Content content) {
  if (content.is_hdr && kind != FormatKind::kRgba16f) {
    return VerdictError(
        "setting \"format\": \"{}\" cannot hold an HDR image; expected \"rgba16f\", or none",
        FormatName(kind));
  }
  if (content.is_hdr && settings.usage != Usage::kColor)
    return VerdictError("setting \"usage\": an HDR image can only have the usage \"color\"");
  const bool is_data = kind == FormatKind::kBc4 || kind == FormatKind::kBc5;
  if (is_data && settings.color_space == ColorSpace::kSrgb) {
    return VerdictError(
        "the settings color_space = \"srgb\" and format = \"{0}\" do not go together: \"{0}\" "
        "holds linear values only",
        FormatName(kind));
  }
  const ColorSpace by_usage =
      settings.usage == Usage::kColor ? ColorSpace::kSrgb : ColorSpace::kLinear;
  const bool is_srgb =
      settings.color_space.value_or(by_usage) == ColorSpace::kSrgb && HasSrgbVariant(kind);
  return TextureFormat{.kind = kind, .is_srgb = is_srgb, .astc_block = settings.astc_block};
}

}  // namespace galley::worker::texture
