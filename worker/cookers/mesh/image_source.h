// The images of a glTF: files beside it, or bytes within it, which become generated packages.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"

namespace galley::worker::mesh {

// The kind of the texels: colours in sRGB; a normal map; quantities, each channel its own.
enum class ImageUse : uint8_t { kColor, kNormal, kData };
std::string_view UseName(ImageUse use);

struct ImageSource {
  bool is_external = false;
  std::string path;  // external: as written, percent escapes decoded
  // Embedded.
  std::string bytes;
  std::string extension;  // "png"; by the first bytes, whatever the mimeType says
  std::string cooker;     // "texture"; "copy" for what is in a texture's final form (ktx2, dds)
};

// INVALID_ARGUMENT: no uri and no bufferView, a URI that is no relative path or leads to `_gen/`,
// bytes that no cooker reads. REQUIRES: image in range.
absl::StatusOr<ImageSource> ReadImage(Document& document, size_t image);

// "_gen/<name of the image, or image_<index>>[_<use>].<extension>", characters outside of
// [A-Za-z0-9_.-] as '_'; "_<index>" is put behind a name that `taken` holds (case aside); added to
// it.
std::string GeneratedName(const Document& document, size_t image, std::string_view extension,
                          std::string_view use, std::set<std::string>& taken);

// Settings for the cooker, the same on every platform. Quantities are cooked as linear colours:
// the texture cooker's masks may keep one channel only.
std::string SettingsOf(const ImageSource& source, ImageUse use);

}  // namespace galley::worker::mesh
