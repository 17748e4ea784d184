// StandingFuzz: a standing of any bytes, and of any message with a right checksum: never a crash,
// and a standing that is read encodes to the same bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/content/byte_codec.h"
#include "director/standing/standing.h"

namespace {

void Decode(std::string_view bytes) {
  using namespace galley::director;
  const auto standing = DecodeStanding(bytes);
  if (!standing.ok()) return;
  const std::string written = EncodeStanding(*standing);
  const auto again = DecodeStanding(written);
  GALLEY_CHECK(again.ok() && EncodeStanding(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const std::string& magic =
      *new std::string(galley::director::EncodeStanding({}).substr(0, 8));
  Decode(bytes);
  Decode(galley::content::Seal(magic, bytes));
  return 0;
}
