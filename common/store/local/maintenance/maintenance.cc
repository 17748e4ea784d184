#include "common/store/local/maintenance/maintenance.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/local/maintenance/collector.h"
#include "common/store/local/maintenance/dead_bytes.h"
#include "common/store/local/maintenance/left_behind.h"
#include "common/store/local/maintenance/revoker.h"
#include "common/store/local/maintenance/store_stats.h"
#include "common/store/local/maintenance/verifier.h"
#include "common/store/local/maintenance/why_finder.h"

namespace galley::store {
namespace {

constexpr int kCollectTriesMax = 3;
// A verify whose caller went away ends soon.
constexpr int kVerifyLooksMax = 25;

}  // namespace

Maintenance::Maintenance(StoreParts& store) : store_(store) { RemoveOldWriterNotes(store); }

absl::StatusOr<StoreStats> Maintenance::Stats(const StatsOptions& options) {
  return StatsOf(store_, options);
}

absl::StatusOr<VerifyReport> Maintenance::Verify(const VerifyOptions& options) {
  for (int looks = 0; is_verifying_.exchange(true); ++looks) {
    if (looks == kVerifyLooksMax)
      return FailedPreconditionError("another verify of store {} runs", store_.folder.directory);
    store_.folder.options.pause(VerifyPace::kPauseMax);
  }
  absl::StatusOr<VerifyReport> report = Verifier(store_, options).Run();
  is_verifying_ = false;
  return report;
}

absl::StatusOr<GcReport> Maintenance::Collect(const GcOptions& options) {
  const base::MutexLock lock(collect_mutex_);
  absl::StatusOr<GcReport> report;
  // The needed digests are found out again when the index was made again meanwhile.
  for (int tries = 0; tries < kCollectTriesMax; ++tries) {
    ASSIGN_OR_RETURN(const Coverage coverage, store_.index.Cover());
    report = Collector(store_, options, coverage).Run();
    if (report.ok() || store_.index.StillCovers(coverage).ok()) break;
  }
  return report;
}

absl::StatusOr<GcReport> Maintenance::GiveBackDeadBytes(Cancellation* cancellation) {
  const base::MutexLock lock(collect_mutex_);
  return store::GiveBackDeadBytes(store_, cancellation);
}

// A collection writes the places of results anew.
absl::StatusOr<RevokeReport> Maintenance::Revoke(const RevokeOptions& options) {
  const base::MutexLock lock(collect_mutex_);
  return Revoker(store_, options).Run();
}

absl::StatusOr<WhyReport> Maintenance::Why(const Digest& digest, size_t limit) {
  return WhyFinder(store_, digest, limit).Run();
}

}  // namespace galley::store
