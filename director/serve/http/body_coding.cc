#include "director/serve/http/body_coding.h"

#include <zlib.h>

#include "common/base/status_macros.h"
#include "common/base/zstd_stream.h"

namespace galley::director {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest, with a gzip header (zlib.h, deflateInit2)
constexpr int kGzipMemory = 8;        // the default

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  // Fails only for want of memory.
  GALLEY_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kGzipMemory,
                            Z_DEFAULT_STRATEGY) == Z_OK);
  std::string coded(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(coded.data());
  stream.avail_out = static_cast<uInt>(coded.size());
  const int end = deflate(&stream, Z_FINISH);
  coded.resize(stream.total_out);
  deflateEnd(&stream);
  GALLEY_CHECK(end == Z_STREAM_END);
  return coded;
}

}  // namespace

std::optional<std::string> CodeBody(std::string_view bytes, http::ContentCoding coding) {
  GALLEY_CHECK(coding != http::ContentCoding::kIdentity);
  std::string coded = coding == http::ContentCoding::kZstd ? ZstdCompress(bytes) : Gzip(bytes);
  if (coded.size() * 20 > bytes.size() * 19) return std::nullopt;
  return coded;
}

}  // namespace galley::director
