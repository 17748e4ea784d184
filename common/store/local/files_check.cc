#include "common/store/local/files_check.h"

#include <sys/stat.h>

#include <map>
#include <string>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/index_folder.h"
#include "common/store/local/layout.h"

namespace galley::store {
namespace {

constexpr size_t kSegmentsLookedAtMax = 1000;

absl::Status IsNotOurs(const std::string& path, std::string_view what) {
  return FailedPreconditionError("{} {} while the store was in use", path, what);
}

// Errors other than absence (a disk that fails) are for whoever reads or writes there.
bool IsGone(const std::string& path) { return absl::IsNotFound(StatFile(path).status()); }

// An index that is being made anew takes its place later.
absl::Status CheckIndex(const std::string& directory) {
  const std::string current = JoinPath(IndexPath(directory), "CURRENT");
  if (!IsGone(current) || !IsGone(NewIndexPath(directory)) || !IsGone(current))
    return absl::OkStatus();
  return IsNotOurs(IndexPath(directory), "was deleted");
}

absl::Status CheckSegment(const std::string& path, const SegmentState& known) {
  if (known.is_dropped || known.is_cut || known.indexed_bytes == 0) return absl::OkStatus();
  const absl::StatusOr<FileStat> stat = StatFile(path);
  if (absl::IsNotFound(stat.status())) return IsNotOurs(path, "was deleted");
  if (stat.ok() && stat->size_bytes < known.indexed_bytes) return IsNotOurs(path, "was cut");
  return absl::OkStatus();
}

// The newest first: an older copy of the store lacks these.
absl::Status CheckSegments(const std::string& directory, LiveIndex& index) {
  const auto states = index.With(&Index::Segments);
  if (!states.ok()) return absl::OkStatus();  // whoever needs the index is told
  size_t left = kSegmentsLookedAtMax;
  for (auto at = states->rbegin(); at != states->rend() && left > 0; ++at, --left) {
    const std::string path = SegmentPath(directory, at->first);
    if (CheckSegment(path, at->second).ok()) continue;
    // A collection may have removed it since the index was asked.
    const auto now = index.With(&Index::Segment, at->first);
    if (now.ok() && now->has_value()) RETURN_IF_ERROR(CheckSegment(path, **now));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFiles(const StoreFolder& folder, LiveIndex& index) {
  const std::string& directory = folder.directory;
  for (const char* name : {"segments", "files", "format"}) {
    const std::string path = JoinPath(directory, name);
    if (IsGone(path)) return IsNotOurs(path, "was deleted");
  }
  if (StoreIdIn(directory) != folder.store_id)
    return IsNotOurs(JoinPath(directory, "id"), "was deleted or replaced");
  RETURN_IF_ERROR(CheckIndex(directory));
  return CheckSegments(directory, index);
}

}  // namespace galley::store
