// Any bytes as an ActionResult, and any bytes as the folders that it names. For a valid result
// NamedBlobs works, and lists no blob twice. Input: two bytes, the size of the result; the result;
// the contents of every folder that is read (empty: the folder is absent).
#include <cstdint>
#include <set>

#include "common/base/status_macros.h"
#include "common/store/interface/action_result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t result_bytes = size_t{data[0]} << 8 | data[1];
  bytes.remove_prefix(2);
  const std::string_view result = bytes.substr(0, result_bytes);
  const std::string_view folder = bytes.substr(result.size());
  const auto absent = [](const galley::Digest&) -> absl::StatusOr<galley::Blob> {
    return absl::NotFoundError("absent");
  };
  const auto present = [&](const galley::Digest&) -> absl::StatusOr<galley::Blob> {
    return galley::MakeBlob(std::string(folder));
  };
  const bool may_be_kept = galley::store::ValidateActionResult(result).ok();
  const auto named = galley::store::NamedBlobs(result, absent);
  GALLEY_CHECK(named.ok() || !may_be_kept);
  if (folder.empty()) return 0;
  const auto all = galley::store::NamedBlobs(result, present);
  if (!all.ok()) return 0;
  GALLEY_CHECK(named.ok() && all->size() >= named->size());
  GALLEY_CHECK(std::set<galley::Digest>(all->begin(), all->end()).size() == all->size());
  return 0;
}
