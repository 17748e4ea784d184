#include "common/store/local/maintenance/sweeper.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/log_records.h"

namespace galley::store {
namespace {

constexpr size_t kStepMax = 4096;
constexpr size_t kFilesInStepMax = 256;

}  // namespace

absl::Status CheckCancelled(const GcOptions& options) {
  if (options.cancellation == nullptr || !options.cancellation->is_cancelled())
    return absl::OkStatus();
  return absl::CancelledError(
      "the collection was interrupted: what went until then was needed by nobody");
}

absl::Status Sweeper::Sweep(const Plan& plan, GcReport& report) {
  RETURN_IF_ERROR(SweepSets(plan.sets));
  if (plan.results.empty() && plan.blobs.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(RaiseEpoch());
  report.dropped_results = report.dropped_blobs = report.dropped_bytes = 0;
  size_t result = 0, blob = 0;
  // Results first: one that names what is gone is of no use to anybody.
  while (result < plan.results.size() || blob < plan.blobs.size()) {
    Step step;
    for (; result < plan.results.size() && step.size() < kStepMax; ++result) {
      const DroppedResult& dropped = plan.results[result];
      (dropped.is_ours ? step.results : step.action_results).push_back(dropped.key);
    }
    size_t files = 0;
    for (; blob < plan.blobs.size() && step.size() < kStepMax && files < kFilesInStepMax; ++blob) {
      step.blobs.push_back(plan.blobs[blob]);
      files += plan.blobs[blob].second.segment == 0;
    }
    RETURN_IF_ERROR(Drop(step, report));
  }
  return absl::OkStatus();
}

// Nothing of the log says so: an index that is made anew has them again, and the next collection
// drops them again.
absl::Status Sweeper::SweepSets(const std::vector<std::pair<Digest, RecordPlace>>& sets) {
  for (size_t begin = 0; begin < sets.size(); begin += kStepMax) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    const base::MutexLock lock(store_.writer.mutex());
    RETURN_IF_ERROR(store_.writer.CheckWritable());
    RETURN_IF_ERROR(store_.index.StillCovers(coverage_));
    IndexBatch index;
    for (size_t i = begin; i < std::min(begin + kStepMax, sets.size()); ++i) {
      const auto& [weak_key, place] = sets[i];
      if (!IsTold(weak_key)) index.RemoveObservationSet(weak_key, place);
    }
    RETURN_IF_ERROR(store_.writer.WriteIndex(index));
  }
  return absl::OkStatus();
}

absl::Status Sweeper::RaiseEpoch() {
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  IndexBatch index;
  RETURN_IF_ERROR(store_.writer.RaiseEpoch(index));
  RETURN_IF_ERROR(store_.writer.WriteIndex(index));
  epoch_ = store_.index.epoch();
  return absl::OkStatus();
}

absl::Status Sweeper::Drop(Step& step, GcReport& report) {
  RETURN_IF_ERROR(CheckCancelled(options_));
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  RETURN_IF_ERROR(store_.index.StillCovers(coverage_));
  absl::Status logged = Condemn(step);
  if (logged.ok()) logged = store_.writer.SyncLog();
  if (!logged.ok()) {
    Pardon(step);
    return logged;
  }
  IndexBatch index;
  const absl::Status noted = Note(step, index);
  // The log says that it is gone: an index that says otherwise is behind it for good.
  if (!noted.ok()) store_.writer.Break(noted);
  RETURN_IF_ERROR(noted);
  RETURN_IF_ERROR(store_.writer.WriteIndex(index));
  store_.reported_present.PardonAll();
  report.dropped_results += step.results.size() + step.action_results.size();
  for (const auto& [digest, location] : step.blobs) {
    ++report.dropped_blobs;
    report.dropped_bytes += digest.size_bytes();
    if (location.segment == 0) ::unlink(CollectedFilePath(store_.folder.directory, digest).c_str());
  }
  return absl::OkStatus();
}

absl::Status Sweeper::Note(const Step& step, IndexBatch& index) {
  for (const Digest& key : step.results) index.RemoveResult(key);
  for (const Digest& key : step.action_results) index.RemoveActionResult(key);
  for (const auto& [digest, location] : step.blobs) index.RemoveBlob(digest);
  return store_.writer.NoteSegments({}, {}, index);
}

// Leaves in `step` what nobody was told of meanwhile. The log says that it is gone before anybody
// can put it again.
absl::Status Sweeper::Condemn(Step& step) {
  const base::ExclusiveLock telling(store_.reported_present.mutex());
  const base::MutexLock lock(store_.log.mutex());
  const auto is_told = [&](const Digest& digest) { return IsTold(digest); };
  std::erase_if(step.results, is_told);
  std::erase_if(step.action_results, is_told);
  std::vector<LocatedBlob> untold;
  for (const LocatedBlob& blob : step.blobs) {
    if (!is_told(blob.first) && !store_.log.IsPending(blob.first)) untold.push_back(blob);
  }
  step.blobs = std::move(untold);
  std::erase_if(step.blobs, [&](const LocatedBlob& blob) {
    const auto& [digest, location] = blob;
    return location.segment == 0 && !PutAside(digest);
  });
  for (const auto* keys : {&step.results, &step.action_results})
    store_.reported_present.Condemn(*keys);
  for (const auto& [digest, location] : step.blobs)
    store_.reported_present.Condemn(std::span(&digest, 1));
  return Append(step);
}

// False: the file stays, and so does its blob.
bool Sweeper::PutAside(const Digest& digest) {
  const std::string from = BlobFilePath(store_.folder.directory, digest);
  const std::string aside = CollectedFilePath(store_.folder.directory, digest);
  if (::rename(from.c_str(), aside.c_str()) == 0) return true;
  if (errno == ENOENT) return true;  // gone already: the index need not know it
  LogWarning("store={} gc: {}", store_.folder.directory,
             MessageOf(ErrnoStatus(errno, "move", from)));
  return false;
}

absl::Status Sweeper::Append(const Step& step) {
  const auto append = [&](RecordKind kind, const std::string& payload)
                          GALLEY_REQUIRES(store_.log.mutex()) {
                            return store_.log.Append(kind, Digest(), payload).status();
                          };
  if (!step.results.empty())
    RETURN_IF_ERROR(append(RecordKind::kForgotten, EncodeDigests(step.results)));
  if (!step.action_results.empty())
    RETURN_IF_ERROR(append(RecordKind::kCollected, EncodeDigests(step.action_results)));
  std::vector<Digest> blobs;
  for (const auto& [digest, location] : step.blobs) blobs.push_back(digest);
  return append(RecordKind::kLoss, EncodeLoss({.epoch = epoch_, .blobs = blobs}));
}

// Takes the condemnation back: nothing says that it is gone.
void Sweeper::Pardon(const Step& step) {
  const base::ExclusiveLock telling(store_.reported_present.mutex());
  for (const auto& [digest, location] : step.blobs) {
    if (location.segment == 0)
      static_cast<void>(RestoreCollectedFile(store_.folder.directory, digest));
  }
  store_.reported_present.Pardon();
}

}  // namespace galley::store
