// Reads any bytes as a table, as a worker reads the table of a director on its machine, and a cook
// the table of an earlier cook: never a crash.
#include <cstdint>
#include <string_view>

#include "common/content/digest_cache.h"
#include "common/content/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto table = galley::content::TableFile::FromBytes(bytes, /*is_trusted=*/true);
  for (size_t c = 0; table.ok() && c < table->chunks(); ++c) (void)table->Read(c).status();
  (void)galley::content::DigestCache::Decode(bytes);
  return 0;
}
