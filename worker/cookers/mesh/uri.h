// URIs in glTF: relative paths with percent escapes, and data URIs (RFC 3986, RFC 2397).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::worker::mesh {

// Turns "%20" into a space. INVALID_ARGUMENT: '%' without two hexadecimal digits.
absl::StatusOr<std::string> DecodePercent(std::string_view text);
// The path of a relative reference, percent escapes decoded, the rest as written. INVALID_ARGUMENT:
// empty, a URI with a scheme ("https:", "file:"), or a bad escape.
absl::StatusOr<std::string> PathOfUri(std::string_view uri);

inline bool IsDataUri(std::string_view uri) { return uri.starts_with("data:"); }
struct DataUri {
  std::string media_type;  // "image/png"; may be empty
  std::string bytes;
};
// INVALID_ARGUMENT: no comma, bad base64 (padding may be absent), a bad escape.
absl::StatusOr<DataUri> ParseDataUri(std::string_view uri);

}  // namespace galley::worker::mesh
