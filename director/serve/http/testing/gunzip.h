// Gunzip: decodes gzip, for tests.
#pragma once

#include <zlib.h>

#include <string>

#include "common/base/status_macros.h"

namespace galley::director {

// REQUIRES: `coded` is one whole gzip file of at most `bytes_max` bytes of contents.
inline std::string Gunzip(const std::string& coded, size_t bytes_max) {
  z_stream stream{};
  GALLEY_CHECK(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string bytes(bytes_max, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int end = inflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  GALLEY_CHECK(end == Z_STREAM_END);
  return bytes;
}

}  // namespace galley::director
