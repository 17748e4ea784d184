// ImageSource: an image of a glTF: a file beside the glTF, or bytes within it, which become a
// generated package.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"

namespace galley::worker::mesh {

// The kind of the texels: colours in sRGB; a normal map; quantities, with a meaning for each
// channel.
enum class ImageUse : uint8_t { kColor, kNormal, kData };
std::string_view UseName(ImageUse use);

struct ImageSource {
  bool is_external = false;
  std::string path;  // external: as written, percent escapes decoded
  // For an embedded image.
  std::string bytes;
  std::string extension;  // "png"; by the first bytes, whatever the mimeType says
  std::string cooker;     // "texture"; "copy" for a texture in its final form (ktx2, dds)
};

// INVALID_ARGUMENT: no uri and no bufferView, a URI that is no relative path or leads to `_gen/`,
// or bytes that no cooker reads. REQUIRES: image in range.
absl::StatusOr<ImageSource> ReadImage(Document& document, size_t image);

// "_gen/<name of the image, or image_<index>>[_<use>].<extension>". Characters outside of
// [A-Za-z0-9_.-] become '_'. If `taken` already holds the name, ignoring case, "_<index>" goes
// before the extension. The returned name is added to `taken`.
std::string GeneratedName(const Document& document, size_t image, std::string_view extension,
                          std::string_view use, std::set<std::string>& taken);

// Settings for the cooker, the same on every platform. Quantities are cooked as linear colours,
// since the texture cooker's masks may keep only one channel.
std::string SettingsOf(const ImageSource& source, ImageUse use);

}  // namespace galley::worker::mesh
