#include "common/store/local/maintenance/store_stats.h"

#include <string>
#include <vector>

#include "common/base/folder_names.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/left_behind.h"

namespace galley::store {

absl::StatusOr<StoreStats> SizesOf(StoreParts& store) {
  RETURN_IF_ERROR(store.commits.CommitIfRoom());
  const IndexCounters counters = store.index.counters();
  StoreStats stats{.blobs = counters.blobs,
                   .blob_bytes = counters.blob_bytes,
                   .results = counters.results,
                   .observation_sets = counters.observation_sets,
                   .files = counters.files,
                   .file_bytes = counters.file_bytes,
                   .roots = counters.roots};
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments,
                   ListSegments(store.folder.directory));
  for (const SegmentListing& segment : segments) {
    ++stats.segments;
    stats.segment_bytes += segment.size_bytes;
  }
  stats.quarantined = NamesIn(QuarantineDirectory(store.folder.directory)).size();
  return stats;
}

absl::StatusOr<StoreStats> StatsOf(StoreParts& store, const StatsOptions& options) {
  ASSIGN_OR_RETURN(StoreStats stats, SizesOf(store));
  if (!options.counts_unadopted) return stats;
  ASSIGN_OR_RETURN(const std::vector<LargeFile> unadopted, UnadoptedFiles(store));
  for (const LargeFile& file : unadopted) {
    ++stats.unadopted_files;
    stats.unadopted_bytes += file.size_bytes;
  }
  for (const TemporaryLeft& one : TemporaryFiles(store)) {
    ++stats.temporary_files;
    stats.temporary_bytes += one.size_bytes;
  }
  return stats;
}

}  // namespace galley::store
