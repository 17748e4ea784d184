#include "common/store/local/log_replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_reader.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kBatchChangesMax = 8192;

absl::Status SetState(Index& index, uint64_t segment, const SegmentState& state) {
  IndexBatch batch;
  batch.SetSegment(segment, state);
  return index.Write(batch);
}

// A collection moves it aside and, when it is cut off, back again.
bool HasFile(const std::string& directory, const Digest& digest) {
  const std::string path = BlobFilePath(directory, digest);
  for (const std::string& place : {path, CollectedFilePath(directory, digest), path}) {
    const absl::StatusOr<FileStat> stat = StatFile(place);
    if (stat.ok() && stat->size_bytes == digest.size_bytes()) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<SegmentTail>> LogReplay::FindTails(
    const std::vector<SegmentListing>& segments, const std::map<uint64_t, uint64_t>& ends,
    Index& index) {
  std::vector<SegmentTail> tails;
  ASSIGN_OR_RETURN(const auto states, index.Segments());
  segment_bytes_.clear();
  for (const SegmentListing& segment : segments) {
    segment_bytes_[segment.number] = segment.size_bytes;
    const auto known = states.find(segment.number);
    SegmentState state;
    if (known != states.end()) {
      state = known->second;
    } else {
      const absl::StatusOr<SegmentHeader> header =
          ReadSegmentHeader(deps_.directory, segment.number, deps_.store_id);
      if (absl::IsNotFound(header.status())) continue;  // a collection removed it meanwhile
      if (absl::IsDataLoss(header.status())) {
        RETURN_IF_ERROR(NoteBadHeader(segment, header.status(), index));
        continue;
      }
      RETURN_IF_ERROR(header.status());  // what it holds is not known, and not lost
      epoch_max_ = std::max(epoch_max_, header->loss_epoch);
      state = {
          .writer = header->writer,
          .indexed_bytes = header->writer == SegmentWriterKind::kOwner ? kSegmentHeaderBytes : 0};
    }
    const auto bound = ends.find(segment.number);
    const uint64_t end = bound == ends.end() ? segment.size_bytes : bound->second;
    if (state.writer == SegmentWriterKind::kOwner && end > state.indexed_bytes) {
      tails.push_back({.segment = segment.number, .end = end, .state = state});
    } else if (known == states.end() && bound == ends.end()) {
      RETURN_IF_ERROR(SetState(index, segment.number, state));
    }
  }
  return tails;
}

// A segment without a whole header was being made when a crash came, unless it holds more than
// that.
absl::Status LogReplay::NoteBadHeader(const SegmentListing& segment, const absl::Status& status,
                                      Index& index) {
  if (segment.size_bytes <= kSegmentHeaderBytes) return absl::OkStatus();
  NoteRepair(fmt::format("{}: {}; what it said is lost, and is made again when it is needed",
                         SegmentPath(deps_.directory, segment.number), MessageOf(status)));
  RETURN_IF_ERROR(deps_.on_loss());
  return SetState(index, segment.number,
                  {.writer = SegmentWriterKind::kWorker, .is_abandoned = true});
}

absl::Status LogReplay::Read(const SegmentTail& tail, Index& index) {
  SegmentState state = tail.state;
  IndexBatch batch;
  // How far it is indexed is said at the end only: until then a crash has it read again.
  const RecordVisitor visit = [&](uint64_t offset, const RecordHeader& header,
                                  std::string_view payload) -> absl::Status {
    if (deps_.on_read) deps_.on_read(RecordSpan(header.payload_bytes));
    if (batch.size() >= kBatchChangesMax) {
      RETURN_IF_ERROR(index.Write(batch));
      batch = IndexBatch();
    }
    return Apply({tail.segment, offset}, header, payload, batch);
  };
  const absl::StatusOr<ScanReport> report =
      ScanSegment(deps_.directory, tail.segment, state.indexed_bytes, visit, tail.end);
  if (absl::IsNotFound(report.status())) return absl::OkStatus();  // a collection removed it
  RETURN_IF_ERROR(report.status());
  if (!report->damaged.empty() || adopted_missing_ > 0) RETURN_IF_ERROR(deps_.on_loss());
  for (const DamagedRange& range : report->damaged) {
    NoteRepair(fmt::format(
        "{}: {} bytes at offset {} are damaged; what they held is made again when it is needed",
        SegmentPath(deps_.directory, tail.segment), range.size_bytes, range.offset));
    batch.NoteDamage({tail.segment, range.offset});
  }
  // A torn tail is behind us for good: nobody appends to this segment again.
  state.indexed_bytes = report->size_bytes;
  if (report->whole_end != report->size_bytes) {
    batch.NoteDamage({tail.segment, report->whole_end});
    state.is_abandoned = true;
  }
  batch.SetSegment(tail.segment, state);
  return index.Write(batch);
}

absl::Status LogReplay::NoteAdopted(Index& index) {
  IndexBatch batch;
  for (const auto& [segment, end] : std::exchange(adopted_ends_, {})) {
    ASSIGN_OR_RETURN(std::optional<SegmentState> state, index.Segment(segment));
    const bool is_workers = state.has_value() && state->writer == SegmentWriterKind::kWorker;
    if (!is_workers || state->is_cut || state->indexed_bytes >= end) continue;
    state->indexed_bytes = end;
    batch.SetSegment(segment, *state);
  }
  return index.Write(batch);
}

bool LogReplay::CanHold(const Digest& digest, const BlobLocation& location) {
  if (location.segment == 0) return HasFile(deps_.directory, digest);
  const auto fits = [&](uint64_t bytes) {
    return location.offset < bytes && digest.size_bytes() <= bytes - location.offset;
  };
  const auto at = segment_bytes_.find(location.segment);
  if (at != segment_bytes_.end() && fits(at->second)) return true;
  const bool is_older =
      !segment_bytes_.empty() && location.segment < segment_bytes_.rbegin()->first;
  if (at == segment_bytes_.end() && is_older) return false;  // it is gone
  // A worker may have written it since the segments were listed.
  const absl::StatusOr<FileStat> stat = StatFile(SegmentPath(deps_.directory, location.segment));
  if (!stat.ok()) return false;
  segment_bytes_[location.segment] = stat->size_bytes;
  return fits(stat->size_bytes);
}

absl::Status LogReplay::ApplyAdopted(std::string_view payload, IndexBatch& batch) {
  ASSIGN_OR_RETURN(const std::vector<LocatedBlob> blobs, DecodeAdopted(payload));
  for (const auto& [digest, location] : blobs) {
    if (!CanHold(digest, location)) {
      ++adopted_missing_;
      continue;
    }
    batch.SetBlob(digest, location);
    if (location.segment == 0) continue;
    // Without the padding, which a worker that died may not have written.
    uint64_t& end = adopted_ends_[location.segment];
    end = std::max(end, location.offset + kRecordHeaderBytes + digest.size_bytes());
  }
  return absl::OkStatus();
}

absl::Status LogReplay::Apply(const RecordPlace& place, const RecordHeader& header,
                              std::string_view payload, IndexBatch& batch) {
  const uint32_t used_hours = deps_.used_hours();
  switch (header.kind) {
    case RecordKind::kBlob:
      batch.SetBlob(header.key, {place.segment, place.offset});
      break;
    case RecordKind::kAdopted:
      return ApplyAdopted(payload, batch);
    case RecordKind::kObservationSet:
      batch.AddObservationSet(header.key, {.place = place, .checksum = header.payload_checksum});
      break;
    case RecordKind::kResult:
      batch.SetResult(header.key, place);
      if (used_hours != 0) batch.StampResult(header.key, used_hours);
      break;
    case RecordKind::kActionResult:
      batch.SetActionResult(header.key, place);
      if (used_hours != 0) batch.StampActionResult(header.key, used_hours);
      break;
    case RecordKind::kPublished: {
      ASSIGN_OR_RETURN(const PublishedRoot root, DecodePublished(payload));
      batch.SetRoot(root, place);
      break;
    }
    case RecordKind::kForgotten: {
      ASSIGN_OR_RETURN(const std::vector<Digest> keys, DecodeDigests(payload));
      for (const Digest& key : keys) batch.RemoveResult(key);
      break;
    }
    case RecordKind::kCollected: {
      ASSIGN_OR_RETURN(const std::vector<Digest> keys, DecodeDigests(payload));
      for (const Digest& key : keys) batch.RemoveActionResult(key);
      break;
    }
    case RecordKind::kLoss: {
      ASSIGN_OR_RETURN(const Loss loss, DecodeLoss(payload));
      epoch_max_ = std::max(epoch_max_, loss.epoch);
      for (const Digest& digest : loss.blobs) batch.RemoveBlob(digest);
      break;
    }
  }
  return absl::OkStatus();  // a later version's
}

}  // namespace galley::store
