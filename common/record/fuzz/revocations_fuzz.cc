// Revocations that DecodeRevocations takes say the same when EncodeRevocations has written them
// again.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/revocation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto all = galley::record::DecodeRevocations(text);
  if (!all.ok()) return 0;
  const auto again = galley::record::DecodeRevocations(galley::record::EncodeRevocations(*all));
  GALLEY_CHECK(again.ok() && *again == *all);
  return 0;
}
