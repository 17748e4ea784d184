#include "worker/cookers/texture/texture_cooker.h"

#include <map>
#include <new>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/texture/encoder.h"
#include "worker/cookers/texture/ktx2_writer.h"
#include "worker/cookers/texture/library_identity.h"
#include "worker/cookers/texture/mip_chain.h"
#include "worker/cookers/texture/texture_settings.h"

namespace galley::worker {
namespace texture {
namespace {

// Raised by hand when outputs change without a change of library.
constexpr int kRevision = 2;

record::CookerDescription Describe() {
  return {
      .name = "texture",
      .identity = fmt::format("{};{}", kRevision, LibraryIdentity()),
      .extensions = {"png", "jpg", "jpeg", "tga", "bmp", "hdr"},
      .outputs = {".ktx2"},
      .documentation = "Images to KTX2 textures with mip chains, in the platform's texel format.",
      .settings = DescribeTextureSettings()};
}

class LoadedTexture : public Cooker::Loaded {
 public:
  LoadedTexture(TextureSettings settings, Image image)
      : settings_(settings), image_(std::move(image)) {}

  const TextureSettings& settings() const { return settings_; }
  const Image& image() const { return image_; }
  // Made when first asked for.
  const std::vector<Level>& Chain(TexelType type, ColorSpace color_space) {
    auto [chain, is_new] = chains_.try_emplace({type, color_space});
    if (is_new) {
      chain->second = MakeMipChain(image_, {.usage = settings_.usage,
                                            .color_space = color_space,
                                            .texel_type = type,
                                            .mipmaps = settings_.mipmaps,
                                            .max_size = settings_.max_size});
    }
    return chain->second;
  }

 private:
  const TextureSettings settings_;
  const Image image_;
  std::map<std::pair<TexelType, ColorSpace>, std::vector<Level>> chains_;
};

// What the source's integers mean.
ColorSpace SourceColorSpace(const LoadedTexture& loaded, const TextureFormat& format) {
  const TextureSettings& settings = loaded.settings();
  if (loaded.image().is_hdr()) return ColorSpace::kLinear;
  if (settings.color_space) return *settings.color_space;
  const bool is_data = format.kind == FormatKind::kBc4 || format.kind == FormatKind::kBc5;
  return settings.usage == Usage::kColor && !is_data ? ColorSpace::kSrgb : ColorSpace::kLinear;
}

bool HasDifferingChannels(const Level& level) {
  for (size_t i = 0; i < level.texels.size(); i += 4) {
    if (level.texels[i] != level.texels[i + 1] || level.texels[i] != level.texels[i + 2])
      return true;
  }
  return false;
}

// What a person would be surprised to lose.
void WarnOfLosses(CookContext& context, const LoadedTexture& loaded, const TextureFormat& format,
                  const Level& first) {
  if (format.kind == FormatKind::kBc1 && loaded.image().has_alpha) {
    context.AddWarning("setting format: bc1 has no alpha, and the image has; bc3 keeps it");
  }
  if (format.kind == FormatKind::kBc4 && HasDifferingChannels(first)) {
    context.AddWarning(
        "bc4 keeps the red channel only, and the image's channels differ; set format to bc1 with "
        "color_space linear to keep three");
  }
  if (loaded.image().is_hdr() && loaded.settings().color_space == ColorSpace::kSrgb) {
    context.AddWarning("setting color_space: srgb is ignored for an HDR image, which is linear");
  }
}

class TextureCooker : public Cooker {
 public:
  TextureCooker() : description_(Describe()) {}

  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  absl::StatusOr<std::unique_ptr<Loaded>> LoadImage(CookContext& context);
  absl::Status CookImage(CookContext& context, LoadedTexture& loaded);
  static absl::StatusOr<FormatKind> ChooseFormat(CookContext& context, const LoadedTexture& loaded);
  absl::StatusOr<std::string> EncodeLevel(const Level& level, const EncodeOptions& options);

  const record::CookerDescription description_;
  AstcEncoder astc_encoder_;
};

// Want of memory is trouble of the machine, no verdict on the source.
absl::Status OutOfMemory(const CookContext& context) {
  return absl::ResourceExhaustedError(fmt::format(
      "not enough memory for this texture (the job may use {} bytes); raise `memory` in its rule",
      context.MemoryBytesMax()));
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> TextureCooker::Load(CookContext& context) {
  try {
    return LoadImage(context);
  } catch (const std::bad_alloc&) {
    return OutOfMemory(context);
  }
}

absl::Status TextureCooker::Cook(CookContext& context, Loaded& loaded) {
  try {
    return CookImage(context, dynamic_cast<LoadedTexture&>(loaded));
  } catch (const std::bad_alloc&) {
    return OutOfMemory(context);
  }
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> TextureCooker::LoadImage(CookContext& context) {
  ASSIGN_OR_RETURN(const TextureSettings settings, ParseTextureSettings(context.settings()));
  ASSIGN_OR_RETURN(Decoded decoded, Decode(context.extension(), *context.source(),
                                           {.memory_bytes_max = context.MemoryBytesMax()}));
  for (const std::string& warning : decoded.warnings) context.AddWarning(warning);
  return std::make_unique<LoadedTexture>(settings, std::move(decoded.image));
}

absl::StatusOr<FormatKind> TextureCooker::ChooseFormat(CookContext& context,
                                                       const LoadedTexture& loaded) {
  if (loaded.settings().format) return *loaded.settings().format;
  if (loaded.image().is_hdr()) return FormatKind::kRgba16f;
  ASSIGN_OR_RETURN(const std::optional<std::string> family, context.Platform("texture"));
  if (!family) {
    return absl::InvalidArgumentError(
        "the platform has no texture family; set `texture` to bc, astc or rgba8 in its "
        "[[platform]], or `format` in the rule");
  }
  return FormatOfFamily(*family, loaded.settings().usage, loaded.image());
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
      return EncodeBlocks(level, options.format.kind, options.quality);
  }
  return absl::InternalError("no such format");
}

absl::Status TextureCooker::CookImage(CookContext& context, LoadedTexture& loaded) {
  const TextureSettings& settings = loaded.settings();
  ASSIGN_OR_RETURN(const FormatKind kind, ChooseFormat(context, loaded));
  ASSIGN_OR_RETURN(const TextureFormat format, MakeFormat(kind, settings, loaded.image()));
  const TexelType texel_type = kind == FormatKind::kRgba16f ? TexelType::kHalf : TexelType::kUnorm8;
  const std::vector<Level>& chain = loaded.Chain(texel_type, SourceColorSpace(loaded, format));
  WarnOfLosses(context, loaded, format, chain.front());

  const bool is_astc_normal = kind == FormatKind::kAstc && settings.usage == Usage::kNormal;
  Ktx2Texture texture{.format = format,
                      .width = chain.front().width,
                      .height = chain.front().height,
                      .levels = {},
                      .swizzle = is_astc_normal ? "ra01" : "",
                      .zstd_level = settings.zstd_level};
  const EncodeOptions options{.format = format,
                              .usage = settings.usage,
                              .quality = settings.quality,
                              .has_alpha = loaded.image().has_alpha};
  for (const Level& level : chain) {
    ASSIGN_OR_RETURN(std::string encoded, EncodeLevel(level, options));
    texture.levels.push_back(std::move(encoded));
  }
  ASSIGN_OR_RETURN(std::string file, WriteKtx2(texture));
  context.AddTag("width", static_cast<double>(texture.width));
  context.AddTag("height", static_cast<double>(texture.height));
  context.AddTag("format", format.name());
  context.AddTag("mips", static_cast<double>(texture.levels.size()));
  context.AddTag("bytes", static_cast<double>(file.size()));
  return context.AddOutput(".ktx2", std::move(file));
}

}  // namespace
}  // namespace texture

std::unique_ptr<Cooker> CreateTextureCooker() { return std::make_unique<texture::TextureCooker>(); }

}  // namespace galley::worker
