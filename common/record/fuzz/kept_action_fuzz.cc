// An Action and its kept blobs, one behind the other, each with its length in two bytes. Blobs of
// other digests than those asked for are an error, never a crash; an Action that is read back is
// that of the key.
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/record/kept_action.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next = [&rest]() -> absl::StatusOr<galley::Blob> {
    if (rest.size() < 2) return absl::NotFoundError("absent");
    const size_t length = static_cast<uint8_t>(rest[0]) + 256u * static_cast<uint8_t>(rest[1]);
    rest.remove_prefix(2);
    std::string bytes(rest.substr(0, length));
    rest.remove_prefix(bytes.size());
    return galley::MakeBlob(std::move(bytes));
  };
  const absl::StatusOr<galley::Blob> action = next();
  if (!action.ok()) return 0;
  const galley::Digest key = galley::Digest::Of(**action);
  bool is_first = true;
  const auto read = [&](std::string_view, const galley::Digest&) -> absl::StatusOr<galley::Blob> {
    if (!is_first) return next();
    is_first = false;
    return *action;
  };
  const auto kept = galley::record::ReadKeptAction(key, read);
  if (!kept.ok()) return 0;
  GALLEY_CHECK(kept->action.key == key);
  GALLEY_CHECK(kept->action.action == **action);
  GALLEY_CHECK(galley::record::BlobsToKeep(kept->action).size() == 4);
  return 0;
}
