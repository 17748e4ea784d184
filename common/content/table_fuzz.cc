// A table of any bytes, as a worker reads it from a director on its machine, and a cook from an
// earlier one: never a crash, and a table that decodes encodes again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/content/digest_cache.h"
#include "common/content/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto table = galley::content::DecodeTable(bytes);
  if (table.ok() &&
      !galley::content::DecodeTable(galley::content::EncodeTable(*table, table->identity)).ok())
    std::abort();
  (void)galley::content::DigestCache::Decode(bytes);
  return 0;
}
