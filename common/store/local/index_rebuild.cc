#include "common/store/local/index_rebuild.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "common/store/local/index_folder.h"
#include "common/store/local/layout.h"

namespace galley::store {

IndexRebuild::IndexRebuild(const Deps& deps)
    : deps_(deps),
      remaking_(deps.directory, deps.boot_time),
      // The epoch rises in any case.
      replay_({.directory = deps.directory,
               .store_id = deps.store_id,
               .on_loss = [] { return absl::OkStatus(); },
               .used_hours = [this] { return HoursOf(deps_.now()); },
               .on_read = [this](uint64_t bytes) { remaking_.NoteRead(bytes); }}) {}

absl::Status IndexRebuild::Read() {
  RETURN_IF_ERROR(CheckFreeSpace(deps_.directory, 0, deps_.free_bytes_least));
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments, ListSegments(deps_.directory));
  remaking_.Begin(segments);
  ASSIGN_OR_RETURN(index_, Index::Create(NewIndexPath(deps_.directory)));
  return ReadSegments();
}

absl::Status IndexRebuild::ReadSegments() {
  // In this order: a segment that is begun after they are listed is not in the list.
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> listed, ListSegments(deps_.directory));
  const std::map<uint64_t, uint64_t> ends = deps_.synced_ends->All();
  ASSIGN_OR_RETURN(const std::vector<SegmentTail> tails, replay_.FindTails(listed, ends, *index_));
  for (const SegmentTail& tail : tails) RETURN_IF_ERROR(replay_.Read(tail, *index_));
  RETURN_IF_ERROR(replay_.NoteAdopted(*index_));
  return ForgetGoneSegments(listed);
}

// A collection may have removed them since they were read.
absl::Status IndexRebuild::ForgetGoneSegments(const std::vector<SegmentListing>& listed) {
  ASSIGN_OR_RETURN(const auto states, index_->Segments());
  IndexBatch batch;
  for (const auto& [number, state] : states) {
    const bool is_there = std::ranges::any_of(
        listed,
        [number = number](const SegmentListing& listing) { return listing.number == number; });
    if (!is_there) batch.RemoveSegment(number);
  }
  return index_->Write(batch);
}

absl::StatusOr<std::unique_ptr<Index>> IndexRebuild::Finish(uint64_t epoch) {
  RETURN_IF_ERROR(ReadSegments());
  epoch = std::max(epoch, replay_.epoch_max() + 1);
  // Before anybody sees the index.
  RETURN_IF_ERROR(WriteEpoch(deps_.directory, epoch));
  IndexBatch batch;
  batch.SetEpoch(epoch);
  batch.SetDisputed();  // which of the results is in dispute, and since when, nobody knows
  RETURN_IF_ERROR(index_->Write(batch));
  RETURN_IF_ERROR(index_->Finish(deps_.store_id));
  RETURN_IF_ERROR(PutNewIndexInPlace(deps_.directory));
  index_->SetPath(IndexPath(deps_.directory));
  return std::move(index_);
}

}  // namespace galley::store
