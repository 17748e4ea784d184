#include "worker/cookers/texture/layers.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

std::string ExtensionOf(std::string_view path) {
  const size_t dot = path.find_last_of("./\\");
  if (dot == std::string_view::npos || path[dot] != '.') return {};
  return absl::AsciiStrToLower(std::string(path.substr(dot + 1)));
}

absl::StatusOr<Image> DecodeLayer(CookContext& context, std::string_view extension,
                                  std::string_view bytes, uint32_t images_count) {
  ASSIGN_OR_RETURN(Decoded decoded, Decode(extension, bytes,
                                           {.memory_bytes_max = context.MemoryBytesMax(),
                                            .images_count = images_count}));
  for (const std::string& warning : decoded.warnings)
    context.AddWarning(record::WarningKind::kTextureFile, warning);
  return std::move(decoded.image);
}

absl::StatusOr<Image> ReadLayer(CookContext& context, const std::string& path,
                                uint32_t images_count) {
  ASSIGN_OR_RETURN(const FileContent content, context.ReadFile(path));
  if (content.kind != Kind::kFile) {
    return absl::InvalidArgumentError(
        content.kind == Kind::kFolder ? "expected a file, not a folder" : "no such file");
  }
  return DecodeLayer(context, ExtensionOf(path), *content.bytes, images_count);
}

absl::Status CheckAlike(CookContext& context, const Image& source, const std::string& path,
                        const Image& layer) {
  const bool is_alike = source.width == layer.width && source.height == layer.height;
  if (is_alike && source.is_hdr() == layer.is_hdr()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string name, context.Name());
  if (!is_alike) {
    return VerdictError("all layers must be of one size: {} is {} x {}, {} is {} x {}", name,
                        source.width, source.height, path, layer.width, layer.height);
  }
  const auto kind = [](const Image& image) { return image.is_hdr() ? "HDR" : "not HDR"; };
  return VerdictError("all layers must be HDR, or none: {} is {}, {} is {}", name, kind(source),
                      path, kind(layer));
}

}  // namespace

absl::StatusOr<std::vector<Image>> ReadLayers(CookContext& context,
                                              const TextureSettings& settings) {
  const uint32_t count = settings.images_count();
  std::vector<Image> images;
  ASSIGN_OR_RETURN(Image source,
                   DecodeLayer(context, context.extension(), *context.source(), count));
  if (settings.layout != Layout::kArray && source.width != source.height) {
    return VerdictError("setting \"layout\": a cube's faces are square, and the image is {} x {}",
                        source.width, source.height);
  }
  images.push_back(std::move(source));
  for (const std::string& path : settings.layers) {
    absl::StatusOr<Image> layer = ReadLayer(context, path, count);
    if (absl::IsInvalidArgument(layer.status()))
      return Annotate(layer.status(), fmt::format("setting \"layers\": {}", path));
    RETURN_IF_ERROR(layer.status());
    RETURN_IF_ERROR(CheckAlike(context, images.front(), path, *layer));
    images.push_back(*std::move(layer));
  }
  return images;
}

}  // namespace galley::worker::texture
