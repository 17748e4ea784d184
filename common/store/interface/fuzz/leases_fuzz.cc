// Leases that DecodeLeases takes say the same when EncodeLeases has written them again.
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/store/interface/leases.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto leases = galley::store::DecodeLeases(text);
  if (!leases.ok()) return 0;
  GALLEY_CHECK(galley::store::ValidateLeaseNames(*leases).ok());
  const auto again = galley::store::DecodeLeases(galley::store::EncodeLeases(*leases));
  GALLEY_CHECK(again.ok() && *again == *leases);
  return 0;
}
