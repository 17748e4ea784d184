// ContentTypeOf: the Content-Type of a cooked file, by the end of its name.
//
// Threads: none; a pure function.
#pragma once

#include <string_view>

namespace galley::director {

struct ContentType {
  std::string_view name = "application/octet-stream";
  // Whether zstd or gzip usually make such bytes smaller. False for formats with a compression of
  // their own.
  bool is_codable = false;
  bool operator==(const ContentType&) const = default;
};

// ASCII letters of the end are compared without case. `path` may be a suffix, ".reflect.cbor".
ContentType ContentTypeOf(std::string_view path);

}  // namespace galley::director
