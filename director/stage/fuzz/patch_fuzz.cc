// PatchFuzz: an index that DecodePatchIndex accepts has one encoding, and its recipes can be
// carried out. The input replaces the bytes behind a patch's checksum, which random input would not
// pass. The input is also tried as a header and a trailer.
#include <cstdint>

#include "common/base/status_macros.h"
#include "director/stage/patch_format.h"

using namespace galley::director;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(CheckPatchHeader(bytes));
  const auto trailer = DecodePatchTrailer(bytes, size * 2);
  GALLEY_CHECK(!trailer.ok() || EncodePatchSizes(*trailer) + trailer->hash == bytes);
  const auto index = DecodePatchIndex(bytes);
  if (!index.ok()) return 0;
  GALLEY_CHECK(EncodePatchIndex(*index) == bytes);
  for (const PatchRecipe& recipe : index->recipes) {
    uint64_t size_bytes = 0;
    for (const PatchPiece& piece : recipe.pieces) size_bytes += piece.size_bytes;
    GALLEY_CHECK(size_bytes == recipe.digest.size_bytes());
  }
  return 0;
}
