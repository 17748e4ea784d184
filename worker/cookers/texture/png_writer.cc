#include "worker/cookers/texture/png_writer.h"

#include <png.h>

#include "common/base/status_macros.h"
#include "worker/cookers/out_of_memory.h"

namespace galley::worker::texture {

// Uses libpng's simplified interface, out of which no long jump leads.
absl::StatusOr<std::string> WritePng(const Image& image) {
  const auto* texels = std::get_if<std::vector<uint8_t>>(&image.texels);
  GALLEY_CHECK(texels != nullptr);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = PNG_FORMAT_RGBA;
  std::string out(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = out.size();
  const int is_written =
      png_image_write_to_memory(&png, out.data(), &size, 0, texels->data(), 0, nullptr);
  if (is_written == 0) return OutOfMemoryError("libpng: {}", png.message);
  out.resize(size);
  return out;
}

}  // namespace galley::worker::texture
