#include "common/store/local/disk.h"

#include <sys/stat.h>

#include "common/base/status_macros.h"

namespace galley::store {
namespace {

absl::StatusOr<std::optional<uint64_t>> SizeOf(const std::string& path) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  if (stat.ok() && !S_ISREG(stat->mode)) return std::optional<uint64_t>();
  if (stat.ok()) return stat->size_bytes;
  if (absl::IsNotFound(stat.status())) return std::optional<uint64_t>();
  return stat.status();
}

}  // namespace

absl::StatusOr<bool> Disk::Has(const Digest& digest, const BlobLocation& location) {
  if (digest == Digest()) return true;
  if (location.segment == 0) {
    ASSIGN_OR_RETURN(const auto size, SizeOf(BlobFilePath(directory_, digest)));
    return size == digest.size_bytes();
  }
  auto at = segments_.find(location.segment);
  if (at == segments_.end()) {
    ASSIGN_OR_RETURN(const auto size, SizeOf(SegmentPath(directory_, location.segment)));
    at = segments_.emplace(location.segment, size.value_or(0)).first;
  }
  return location.offset + kRecordHeaderBytes + digest.size_bytes() <= at->second;
}

}  // namespace galley::store
