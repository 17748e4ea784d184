#include "common/store/local/live_index.h"

#include <optional>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/index_folder.h"
#include "common/store/local/layout.h"
#include "fmt/format.h"

namespace galley::store {

absl::StatusOr<Coverage> LiveIndex::Cover() {
  RETURN_IF_ERROR(With(&Index::CheckFiles));
  if (const std::optional<uint64_t> generation = SettledGeneration(); generation.has_value())
    return Coverage(*generation);
  return FailedPreconditionError(
      "{}: it is damaged, and another one could not be made. Until it is made nothing is removed",
      IndexPath(deps_.directory));
}

absl::Status LiveIndex::StillCovers(const Coverage& coverage) const {
  if (Generation() == coverage.generation_) return absl::OkStatus();
  return AbortedError(
      "{}: it was made again meanwhile: nothing more is removed until it is found out again what "
      "is needed",
      IndexPath(deps_.directory));
}

absl::Status LiveIndex::Write(IndexBatch& batch) {
  // The index that With hands over may have been replaced before the lock was there.
  return With([&](Index&) {
    const base::MutexLock lock(write_mutex_);
    return WriteTo(*Current(), batch);
  });
}

absl::Status LiveIndex::WriteTo(Index& index, IndexBatch& batch) {
  const uint64_t epoch = index.epoch();
  if (batch.epoch().value_or(epoch + 1) <= epoch) {
    // An index that was made meanwhile took this number: somebody may have been told it already,
    // who has to notice what is lost by this batch, too.
    RETURN_IF_ERROR(WriteEpoch(deps_.directory, epoch + 1));
    batch.SetEpoch(epoch + 1);
  }
  return index.Write(batch);
}

absl::Status LiveIndex::DescribeDamageAgain(const absl::Status& damage) {
  given_up_ = InternalError(
      "{}: it was made again a moment ago, and is damaged again: {}. See to the disk and the "
      "memory of this machine",
      IndexPath(deps_.directory), MessageOf(damage));
  return given_up_;
}

absl::Status LiveIndex::Remake(Index& damaged, const absl::Status& damage) {
  RETURN_IF_ERROR(given_up_);
  absl::Status remade = MakeFromSegments(damaged);
  // The one that was moved aside now is still read.
  if (absl::IsResourceExhausted(remade) && RemoveUnusedIndexes(deps_.directory, aside_))
    remade = MakeFromSegments(damaged);
  if (remade.ok()) return remade;
  // The unfinished index is of no use, and the disk may be full.
  (void)RemoveAll(NewIndexPath(deps_.directory));
  const std::string where = aside_.empty() ? "" : fmt::format("it is {} now, and ", aside_);
  const std::string text = fmt::format(
      "{}: {}; {}another one could not be made: {}. Nothing is lost: it is made by the next "
      "command "
      "that can",
      IndexPath(deps_.directory), MessageOf(damage), where, MessageOf(remade));
  // Never NOT_FOUND, which whoever asked for a blob takes for its absence.
  const bool is_told = absl::IsResourceExhausted(remade) || absl::IsPermissionDenied(remade);
  return absl::Status(is_told ? remade.code() : absl::StatusCode::kInternal, text);
}

absl::Status LiveIndex::MakeFromSegments(Index& damaged) {
  // The damaged index is moved aside first of all: so nobody takes it for whole, wherever this is
  // cut off.
  const absl::StatusOr<std::string> aside = MoveIndexAside(deps_.directory);
  if (aside.ok()) {
    aside_ = *aside;
    damaged.SetPath(aside_);
  } else if (!absl::IsNotFound(aside.status())) {  // gone: an earlier attempt moved it
    return aside.status();
  }
  IndexRebuild rebuild(deps_);
  rebuild.remaking().set_aside(aside_);
  RETURN_IF_ERROR(rebuild.Read());
  {
    const base::MutexLock write_lock(write_mutex_);
    ASSIGN_OR_RETURN(std::unique_ptr<Index> made, rebuild.Finish(damaged.epoch() + 1));
    Replace(std::move(made));
  }
  rebuild.remaking().Tell(damaged.damage());
  return absl::OkStatus();
}

}  // namespace galley::store
