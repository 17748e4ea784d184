// EncodingFuzz: the first byte picks a kind of record of the journal, the rest is its stored form.
// Damaged bytes give an error or a record, never a crash; a decoded record is encoded to bytes that
// decode to the same record.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status_macros.h"
#include "director/journal/encoding.h"
#include "director/journal/kept_limits.h"

namespace {

template <typename Decode, typename Encode>
void Check(std::string_view bytes, Decode decode, Encode encode) {
  const auto first = decode(bytes);
  if (!first.ok()) return;
  const std::string stored = encode(*first);
  const auto second = decode(stored);
  GALLEY_CHECK(second.ok() && encode(*second) == stored);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 9) {
    case 0:
      Check(bytes, DecodeDigest, EncodeDigest);
      break;
    case 1:
      Check(bytes, DecodeMeta, EncodeMeta);
      break;
    case 2:
      Check(bytes, DecodePlatformRecord, EncodePlatformRecord);
      break;
    case 3:
      Check(bytes, DecodeInstigators, EncodeInstigators);
      break;
    case 4:
      Check(bytes, DecodeFailure, EncodeFailure);
      break;
    case 5:
      Check(bytes, DecodeLastPublished, EncodeLastPublished);
      break;
    case 6:
      Check(bytes, DecodeAttempt, EncodeAttempt);
      break;
    case 7:
      Check(bytes, DecodeBlame, EncodeBlame);
      break;
    case 8:
      Check(bytes, DecodeKeptLimits, EncodeKeptLimits);
      break;
    default:
      break;
  }
  return 0;
}
