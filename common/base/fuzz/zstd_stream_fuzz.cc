// Any bytes, in any pieces, give what they give in one; never more than was allowed; and what is
// packed again comes back. Input: one byte for the pieces, two for the bound (in units of 64), then
// the stream.
#include <cstdint>
#include <string>

#include "common/base/status_macros.h"
#include "common/base/zstd_stream.h"

using galley::ZstdDecompressor;

namespace {

absl::Status Inflate(std::string_view bytes, uint64_t output_bytes_max, size_t piece_bytes,
                     std::string& out) {
  ZstdDecompressor decompressor({.output_bytes_max = output_bytes_max, .window_log_max = 20});
  const auto sink = [&out](std::string_view piece) {
    out.append(piece);
    return absl::OkStatus();
  };
  for (size_t at = 0; at < bytes.size(); at += piece_bytes)
    RETURN_IF_ERROR(decompressor.Append(bytes.substr(at, piece_bytes), sink));
  return decompressor.Finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const size_t piece_bytes = size_t{1} + data[0];
  const uint64_t output_bytes_max = 64 * (uint64_t{data[1]} << 8 | data[2]);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  std::string whole, pieces;
  const absl::Status in_one = Inflate(bytes, output_bytes_max, SIZE_MAX / 2, whole);
  const absl::Status in_pieces = Inflate(bytes, output_bytes_max, piece_bytes, pieces);
  GALLEY_CHECK(whole.size() <= output_bytes_max && pieces.size() <= output_bytes_max);
  GALLEY_CHECK(in_one.ok() == in_pieces.ok());
  if (!in_one.ok()) return 0;
  GALLEY_CHECK(whole == pieces);
  GALLEY_CHECK(galley::ZstdDecompress(galley::ZstdCompress(whole, 1), whole.size()).value() ==
               whole);
  return 0;
}
