#include "worker/cookers/texture/texture_cooker.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/source_looker.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/texture/encoder.h"
#include "worker/cookers/texture/flat_colors.h"
#include "worker/cookers/texture/ktx2_writer.h"
#include "worker/cookers/texture/layers.h"
#include "worker/cookers/texture/library_identity.h"
#include "worker/cookers/texture/mip_chain.h"
#include "worker/cookers/texture/normal_map.h"
#include "worker/cookers/texture/texture_settings.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace texture {
namespace {

// Raised by hand when outputs change without a change of a library.
constexpr int kRevision = 5;

record::CookerDescription Describe() {
  return {
      .name = "texture",
      .identity = fmt::format("{};{}", kRevision, LibraryIdentity()),
      .extensions = {"png", "jpg", "jpeg", "tga", "bmp", "hdr"},
      .outputs = {{.suffix = ".ktx2"}},
      .documentation = "Images to KTX2 textures with mip chains, in the platform's texel format.",
      .settings = DescribeTextureSettings(),
      // An HDR image has the same format on all platforms.
      .looks = {{.subject = "texture",  // a platform parameter
                 .extensions = {"png", "jpg", "jpeg", "tga", "bmp"},
                 .unless_setting = "format"}}};
}

class LoadedTexture : public Cooker::Loaded {
 public:
  // REQUIRES: an image for each layer, all of the same size, and all or none HDR.
  LoadedTexture(TextureSettings settings, std::vector<Image> images)
      : settings_(std::move(settings)), images_(std::move(images)) {
    content_.is_hdr = images_.front().is_hdr();
    for (const Image& image : images_) content_.has_alpha |= image.has_alpha;
  }

  const TextureSettings& settings() const { return settings_; }
  // The facts about all layers together.
  const Content& content() const { return content_; }
  // The mip chain of each layer; made at the first call.
  const std::vector<std::vector<Level>>& Chains(TexelType type, ColorSpace color_space) {
    auto [chains, is_new] = chains_.try_emplace({type, color_space});
    if (!is_new) return chains->second;
    for (const Image& image : images_) {
      chains->second.push_back(MakeMipChain(image, {.usage = settings_.usage,
                                                    .color_space = color_space,
                                                    .texel_type = type,
                                                    .mipmaps = settings_.mipmaps,
                                                    .max_size = settings_.max_size}));
    }
    return chains->second;
  }

 private:
  const TextureSettings settings_;
  const std::vector<Image> images_;
  Content content_;
  std::map<std::pair<TexelType, ColorSpace>, std::vector<std::vector<Level>>> chains_;
};

// The colour space of the source's integers.
ColorSpace SourceColorSpace(const LoadedTexture& loaded, const TextureFormat& format) {
  const TextureSettings& settings = loaded.settings();
  if (loaded.content().is_hdr) return ColorSpace::kLinear;
  if (settings.color_space) return *settings.color_space;
  const bool is_data = format.kind == FormatKind::kBc4 || format.kind == FormatKind::kBc5;
  return settings.usage == Usage::kColor && !is_data ? ColorSpace::kSrgb : ColorSpace::kLinear;
}

// False also for images that JudgePixels calls grey, and for nearly grey images, which JPEG,
// palettes and filters make of grey images.
bool HasDifferingChannels(const Level& level) {
  constexpr int kNearlyGrey = 8;
  constexpr size_t kOneOf = 100;
  size_t differing = 0;
  for (size_t i = 0; i < level.texels.size(); i += 4) {
    const uint8_t* const texel = level.texels.data() + i;
    const auto [least, most] = std::minmax({texel[0], texel[1], texel[2]});
    differing += most - least > kNearlyGrey ? 1 : 0;
  }
  return differing * kOneOf * 4 > level.texels.size();
}

// The side up to which a loss gives no warning: the loss is below 1 KiB, and the blocks of ASTC
// divide few textures.
constexpr uint32_t kSmallSide = 64;
constexpr double kAstcPaddingTold = 0.1;
// Enough for the headers of most images. A JPEG may have more before its size.
constexpr uint64_t kHeaderBytes = 64 << 10;

// Judges the whole texture, not its small mips, which never fill a block.
void WarnOfPartialBlocks(CookContext& context, const TextureFormat& format, const Level& level) {
  const BlockSize block = format.block();
  if (level.width % block.width == 0 && level.height % block.height == 0) return;
  if (level.width <= kSmallSide && level.height <= kSmallSide) return;
  const auto padded = [](uint32_t size, uint32_t unit) { return (size + unit - 1) / unit * unit; };
  const uint32_t width = padded(level.width, block.width);
  const uint32_t height = padded(level.height, block.height);
  const double more = static_cast<double>(uint64_t{width} * height) /
                          static_cast<double>(uint64_t{level.width} * level.height) -
                      1;
  const bool is_astc = format.kind == FormatKind::kAstc;
  if (is_astc && more < kAstcPaddingTold) return;
  context.AddWarning(
      record::WarningKind::kTextureBlockSize,
      fmt::format(
          "the texture's size is no multiple of its format's blocks: {} x {} texels in blocks of "
          "{} x {} take the room of {} x {}, {:.1f} % more{}",
          level.width, level.height, block.width, block.height, width, height, 100 * more,
          is_astc ? "" : "; Direct3D 11 and WebGL take no such texture"));
}

// Warns of losses that would surprise a person.
void WarnOfLosses(CookContext& context, const LoadedTexture& loaded, const TextureFormat& format,
                  const std::vector<std::vector<Level>>& chains) {
  if (format.kind == FormatKind::kBc1 && loaded.content().has_alpha) {
    context.AddWarning(
        record::WarningKind::kTextureAlpha,
        "setting \"format\": \"bc1\" has no alpha, and the image has; \"bc3\" keeps it");
  }
  const auto differs = [](const std::vector<Level>& chain) {
    return HasDifferingChannels(chain.front());
  };
  if (format.kind == FormatKind::kBc4 && std::ranges::any_of(chains, differs)) {
    context.AddWarning(record::WarningKind::kTextureChannels,
                       "format \"bc4\" keeps the red channel only, and the image's channels "
                       "differ; format = \"bc1\" with color_space = \"linear\" keeps three");
  }
  if (loaded.content().is_hdr && loaded.settings().color_space == ColorSpace::kSrgb) {
    context.AddWarning(
        record::WarningKind::kTextureColorSpace,
        "setting \"color_space\": \"srgb\" is ignored for an HDR image, which is linear");
  }
}

// Warns of images that are used as normal maps and are none.
void WarnOfOtherPixels(CookContext& context, const TextureSettings& settings,
                       const std::vector<Image>& images) {
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string warning = NormalMapWarning(JudgePixels(images[i]));
    if (warning.empty()) continue;
    context.AddWarning(record::WarningKind::kTextureNotNormal,
                       i == 0 ? warning : fmt::format("{}: {}", settings.layers[i - 1], warning));
  }
}

void AddTags(CookContext& context, const Ktx2Texture& texture, size_t file_bytes) {
  const auto add = [&](std::string_view name, uint64_t value) {
    context.AddTag(name, static_cast<double>(value));
  };
  add("width", texture.width);
  add("height", texture.height);
  context.AddTag("format", texture.format.name());
  add("mips", texture.levels.size());
  add("bytes", file_bytes);
  if (texture.layers_count > 0) add("layers", texture.layers_count);
  if (texture.faces_count > 1) add("faces", texture.faces_count);
}

class TextureCooker : public Cooker, public SourceLooker {
 public:
  TextureCooker() : description_(Describe()) {}

  const record::CookerDescription& description() const override { return description_; }
  void Trim() override { astc_encoder_.Trim(); }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override;
  uint64_t outline_bytes() const override { return kHeaderBytes; }
  absl::Status Look(CookContext& context, LookDepth depth, FileLook& look) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  absl::StatusOr<std::unique_ptr<Loaded>> LoadImages(CookContext& context);
  absl::Status CookImages(CookContext& context, LoadedTexture& loaded);
  static absl::StatusOr<FormatKind> ChooseFormat(CookContext& context, const LoadedTexture& loaded);
  absl::StatusOr<std::vector<std::string>> EncodeChains(
      const std::vector<std::vector<Level>>& chains, const EncodeOptions& options);
  absl::StatusOr<std::string> EncodeLevel(const Level& level, const EncodeOptions& options);

  const record::CookerDescription description_;
  AstcEncoder astc_encoder_;
};

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> TextureCooker::Load(CookContext& context) {
  return GuardMemory(context, "texture", [&] { return LoadImages(context); });
}

// The bits of a channel.
double BitsOf(const Image& image) {
  if (image.is_hdr()) return 32;
  return std::holds_alternative<std::vector<uint16_t>>(image.texels) ? 16 : 8;
}

void DescribeImage(CookContext& context, const Image& image, FileLook& look) {
  look.kind = fmt::format("image, {} x {}{}{}", image.width, image.height,
                          image.is_hdr() ? ", HDR" : "", image.has_alpha ? ", with alpha" : "");
  context.AddTag("width", static_cast<double>(image.width));
  context.AddTag("height", static_cast<double>(image.height));
  context.AddTag("alpha", image.has_alpha);
}

absl::Status LookAtHeader(CookContext& context, FileLook& look) {
  ASSIGN_OR_RETURN(const Decoded decoded,
                   Decode(context.extension(), *context.source(),
                          {.memory_bytes_max = context.MemoryBytesMax(), .header_only = true}));
  DescribeImage(context, decoded.image, look);
  context.AddTag("grey", decoded.is_grey);
  context.AddTag("palette", decoded.has_palette);
  return absl::OkStatus();
}

absl::Status LookAtTexels(CookContext& context, FileLook& look) {
  ASSIGN_OR_RETURN(const TextureSettings settings, ParseTextureSettings(context.settings()));
  ASSIGN_OR_RETURN(const std::vector<Image> images, ReadLayers(context, settings));
  const Image& image = images.front();
  DescribeImage(context, image, look);
  look.pixels = NameOf(JudgePixels(image).pixels);
  context.AddTag("bits", BitsOf(image));
  context.AddTag("flat", HasFlatColors(image));
  return absl::OkStatus();
}

absl::Status TextureCooker::Look(CookContext& context, LookDepth depth, FileLook& look) {
  return GuardMemory(context, "texture", [&]() -> absl::Status {
    absl::Status status =
        depth == LookDepth::kOutline ? LookAtHeader(context, look) : LookAtTexels(context, look);
    if (!status.ok()) look.flaw = FindImageFlaw(context.extension(), *context.source());
    return status;
  });
}

absl::Status TextureCooker::Cook(CookContext& context, Loaded& loaded) {
  return GuardMemory(context, "texture",
                     [&] { return CookImages(context, dynamic_cast<LoadedTexture&>(loaded)); });
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> TextureCooker::LoadImages(CookContext& context) {
  ASSIGN_OR_RETURN(TextureSettings settings, ParseTextureSettings(context.settings()));
  ASSIGN_OR_RETURN(std::vector<Image> images, ReadLayers(context, settings));
  if (settings.usage == Usage::kNormal) WarnOfOtherPixels(context, settings, images);
  return std::make_unique<LoadedTexture>(std::move(settings), std::move(images));
}

absl::StatusOr<FormatKind> TextureCooker::ChooseFormat(CookContext& context,
                                                       const LoadedTexture& loaded) {
  if (loaded.settings().format) return *loaded.settings().format;
  if (loaded.content().is_hdr) return FormatKind::kRgba16f;
  ASSIGN_OR_RETURN(const std::optional<std::string> family, context.Platform("texture"));
  if (!family) {
    return VerdictError(
        "the platform has no texture family; set `texture` to bc, astc or rgba8 in its "
        "[[platform]], or `format` in the rule");
  }
  return FormatOfFamily(*family, loaded.settings().usage, loaded.content());
}

absl::StatusOr<std::string> TextureCooker::EncodeLevel(const Level& level,
                                                       const EncodeOptions& options) {
  switch (options.format.kind) {
    case FormatKind::kRgba8:
    case FormatKind::kRgba16f:
      return std::string(level.texels.begin(), level.texels.end());
    case FormatKind::kAstc:
      return astc_encoder_.Encode(level, options);
    case FormatKind::kBc1:
    case FormatKind::kBc3:
    case FormatKind::kBc4:
    case FormatKind::kBc5:
      return EncodeBlocks(level, options);
  }
  return absl::InternalError("no such format");
}

// Encodes level by level, as KTX2 orders them: the largest level of all layers first.
absl::StatusOr<std::vector<std::string>> TextureCooker::EncodeChains(
    const std::vector<std::vector<Level>>& chains, const EncodeOptions& options) {
  std::vector<std::string> levels(chains.front().size());
  for (size_t i = 0; i < levels.size(); ++i) {
    for (const std::vector<Level>& chain : chains) {
      ASSIGN_OR_RETURN(std::string encoded, EncodeLevel(chain[i], options));
      if (chains.size() == 1) {
        levels[i] = std::move(encoded);
      } else {
        levels[i] += encoded;
      }
    }
  }
  return levels;
}

absl::Status TextureCooker::CookImages(CookContext& context, LoadedTexture& loaded) {
  const TextureSettings& settings = loaded.settings();
  ASSIGN_OR_RETURN(const FormatKind kind, ChooseFormat(context, loaded));
  ASSIGN_OR_RETURN(const TextureFormat format, MakeFormat(kind, settings, loaded.content()));
  const TexelType texel_type = kind == FormatKind::kRgba16f ? TexelType::kHalf : TexelType::kUnorm8;
  const std::vector<std::vector<Level>>& chains =
      loaded.Chains(texel_type, SourceColorSpace(loaded, format));
  WarnOfLosses(context, loaded, format, chains);
  WarnOfPartialBlocks(context, format, chains.front().front());

  const EncodeOptions options{.format = format,
                              .usage = settings.usage,
                              .quality = settings.quality,
                              .has_alpha = loaded.content().has_alpha};
  ASSIGN_OR_RETURN(std::vector<std::string> levels, EncodeChains(chains, options));
  const bool is_astc_normal = kind == FormatKind::kAstc && settings.usage == Usage::kNormal;
  const bool is_cube = settings.layout != Layout::kArray;
  const uint32_t faces_count = is_cube ? kCubeFaces : 1;
  const bool is_array = settings.layout == Layout::kCubeArray || (!is_cube && chains.size() > 1);
  const Ktx2Texture texture{.format = format,
                            .width = chains.front().front().width,
                            .height = chains.front().front().height,
                            .layers_count = is_array ? settings.images_count() / faces_count : 0,
                            .faces_count = faces_count,
                            .levels = std::move(levels),
                            .swizzle = is_astc_normal ? "ra01" : "",
                            .zstd_level = settings.zstd_level};
  ASSIGN_OR_RETURN(std::string file, WriteKtx2(texture));
  AddTags(context, texture, file.size());
  return context.AddOutput(".ktx2", std::move(file));
}

}  // namespace
}  // namespace texture

std::unique_ptr<Cooker> CreateTextureCooker() { return std::make_unique<texture::TextureCooker>(); }

}  // namespace galley::worker
