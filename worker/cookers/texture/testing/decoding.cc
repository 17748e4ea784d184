#include "worker/cookers/texture/testing/decoding.h"

#include "common/base/status_macros.h"

namespace galley::worker::texture {

std::string ErrorOf(std::string_view extension, std::string_view bytes,
                    const DecodeOptions& options) {
  const absl::StatusOr<Decoded> decoded = Decode(extension, bytes, options);
  if (decoded.ok()) return "decoded";
  return absl::IsInvalidArgument(decoded.status()) ? MessageOf(decoded.status())
                                                   : decoded.status().ToString();
}

Bitmap DecodedBitmap(std::string_view extension, std::string_view bytes) {
  const absl::StatusOr<Decoded> decoded = Decode(extension, bytes, {});
  GALLEY_CHECK(decoded.ok());
  const auto& texels = std::get<std::vector<uint8_t>>(decoded->image.texels);
  return MakeBitmap(decoded->image.width, decoded->image.height, [&](uint32_t x, uint32_t y) {
    const size_t i = (size_t{y} * decoded->image.width + x) * 4;
    return Color{texels[i], texels[i + 1], texels[i + 2], texels[i + 3]};
  });
}

}  // namespace galley::worker::texture
