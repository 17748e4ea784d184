#include "common/vfs/download.h"

#include <algorithm>
#include <utility>

namespace galley::vfs {
namespace {

constexpr size_t kProblemBytesMax = 64 << 10;

}  // namespace

Outcome Download::Begin(const BlobId& blob) {
  Result<std::unique_ptr<BlobPart>> part = cache_.BeginPart(blob);
  if (!part.ok()) return part.fault();
  blob_ = blob;
  part_ = *std::move(part);
  return std::nullopt;
}

Outcome Download::TakeBody(std::string_view bytes) {
  if (part_ == nullptr) {
    problem_ += bytes.substr(0, kProblemBytesMax - problem_.size());
    if (problem_.size() < kProblemBytesMax) return std::nullopt;
    return Fault{kStopped, "the answer is long enough"};
  }
  const auto skipped = static_cast<size_t>(std::min<uint64_t>(skips_, bytes.size()));
  skips_ -= skipped;
  bytes.remove_prefix(skipped);
  if (bytes.empty()) return std::nullopt;
  if (bytes.size() > blob_.size - have())
    return Fault{GALLEY_VFS_DAMAGED, "more bytes came than " + blob_.ToText() + " has"};
  return cache_.Append(*part_, bytes);
}

}  // namespace galley::vfs
