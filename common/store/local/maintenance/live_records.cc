#include "common/store/local/maintenance/live_records.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "common/base/status_macros.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_reader.h"

namespace galley::store {
namespace {

constexpr size_t kRecordsAtOnce = 4096;
constexpr size_t kSamplesMin = 256;  // fewer say little, and to ask for all of so few is cheap

// Whether a record is one of those by which a segment is judged, whatever comes in turns in it.
bool IsSample(uint64_t offset) {
  return (offset * 0x9e3779b97f4a7c15u) >> 60 == 0;  // the golden ratio of 64 bits (Knuth, 6.4)
}

// The live records among those that `is_asked_for` chooses by their offset. `bytes` grows by the
// size of all that it chooses.
absl::StatusOr<std::vector<LiveRecord>> LiveAmong(StoreState& store, uint64_t segment,
                                                  const Dropped& dropped,
                                                  absl::FunctionRef<bool(uint64_t)> is_asked_for,
                                                  uint64_t& bytes) {
  std::vector<LiveRecord> live, some;
  const auto look = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(std::vector<LiveRecord> found,
                     StillLive(store, segment, std::exchange(some, {}), dropped));
    std::move(found.begin(), found.end(), std::back_inserter(live));
    return absl::OkStatus();
  };
  const RecordVisitor visit = [&](uint64_t offset, const RecordHeader& header,
                                  std::string_view payload) -> absl::Status {
    if (!is_asked_for(offset)) return absl::OkStatus();
    bytes += RecordSpan(header.payload_bytes);
    LiveRecord record{.offset = offset,
                      .kind = header.kind,
                      .key = header.key,
                      .span = RecordSpan(header.payload_bytes),
                      .written_s = header.written_s};
    if (header.kind == RecordKind::kAdopted) {
      ASSIGN_OR_RETURN(record.adopted, DecodeAdopted(payload));
    }
    some.push_back(std::move(record));
    return some.size() < kRecordsAtOnce ? absl::OkStatus() : look();
  };
  const absl::StatusOr<ScanReport> report =
      ScanSegment(store.folder.directory, segment, kSegmentHeaderBytes, visit);
  RETURN_IF_ERROR(report.status());
  RETURN_IF_ERROR(look());
  return live;
}

}  // namespace

absl::StatusOr<std::vector<LiveRecord>> LiveOf(StoreState& store, uint64_t segment,
                                               const Dropped& dropped) {
  uint64_t bytes = 0;
  return LiveAmong(
      store, segment, dropped, [](uint64_t) { return true; }, bytes);
}

absl::StatusOr<std::optional<uint64_t>> EstimateLiveBytes(StoreState& store, uint64_t segment,
                                                          const Dropped& dropped) {
  uint64_t all_bytes = 0, sample_bytes = 0, live_bytes = 0;
  size_t samples = 0;
  const auto is_sample = [&](uint64_t offset) {
    all_bytes = offset;
    samples += IsSample(offset);
    return IsSample(offset);
  };
  ASSIGN_OR_RETURN(const std::vector<LiveRecord> live,
                   LiveAmong(store, segment, dropped, is_sample, sample_bytes));
  for (const LiveRecord& record : live) live_bytes += record.span;
  if (samples < kSamplesMin) return std::nullopt;
  return static_cast<uint64_t>(static_cast<double>(all_bytes) * static_cast<double>(live_bytes) /
                               static_cast<double>(sample_bytes));
}

absl::StatusOr<std::vector<LiveRecord>> StillLive(StoreState& store, uint64_t segment,
                                                  std::vector<LiveRecord> records,
                                                  const Dropped& dropped) {
  std::map<RecordKind, std::vector<Digest>> keys;
  for (const LiveRecord& record : records) {
    keys[record.kind].push_back(record.key);
    for (const auto& [digest, location] : record.adopted)
      keys[RecordKind::kAdopted].push_back(digest);
  }
  std::erase(keys[RecordKind::kAdopted], Digest());
  ASSIGN_OR_RETURN(const auto blobs, store.index.With(&Index::Blobs, keys[RecordKind::kBlob]));
  ASSIGN_OR_RETURN(const auto adopted, store.index.With(&Index::Blobs, keys[RecordKind::kAdopted]));
  ASSIGN_OR_RETURN(const auto results,
                   store.index.With(&Index::Results, keys[RecordKind::kResult]));
  ASSIGN_OR_RETURN(const auto action_results,
                   store.index.With(&Index::ActionResults, keys[RecordKind::kActionResult]));
  ASSIGN_OR_RETURN(const auto sets,
                   store.index.With(&Index::ObservationSets, keys[RecordKind::kObservationSet]));
  std::set<RecordPlace> roots;
  if (keys.contains(RecordKind::kPublished)) {
    ASSIGN_OR_RETURN(const std::vector<IndexedRoot> all, store.index.With(&Index::AllRoots));
    for (const IndexedRoot& root : all) roots.insert(root.place);
  }
  size_t blob = 0, adopted_blob = 0, result = 0, action_result = 0, set = 0;
  const auto is_live = [&](LiveRecord& record) {
    const RecordPlace here{.segment = segment, .offset = record.offset};
    const auto is_here = [&](const auto& place) {
      if (!place.has_value() || *place != here) return false;
      record.used_hours = place->used_hours;
      return true;
    };
    const bool is_dropped = dropped.records.contains(here);
    switch (record.kind) {
      case RecordKind::kBlob:
        return blobs[blob++] == BlobLocation{.segment = segment, .offset = record.offset} &&
               !dropped.blobs.contains(record.key);
      case RecordKind::kResult:
        return is_here(results[result++]) && !is_dropped;
      case RecordKind::kActionResult:
        return is_here(action_results[action_result++]) && !is_dropped;
      case RecordKind::kObservationSet: {
        const auto& places = sets[set++];
        return !is_dropped && std::ranges::any_of(places, [&](const SetPlace& place) {
          return place.place == here;
        });
      }
      case RecordKind::kPublished:
        return roots.contains(here);
      case RecordKind::kAdopted:
        std::erase_if(record.adopted, [&](const LocatedBlob& told) {
          return told.first == Digest() || adopted[adopted_blob++] != told.second ||
                 dropped.blobs.contains(told.first);
        });
        record.span = RecordSpan(kAdoptedBytes * record.adopted.size());
        return !record.adopted.empty();
      default:
        return false;  // what takes something back that came before it
    }
  };
  std::vector<LiveRecord> live;
  for (LiveRecord& record : records) {
    if (is_live(record)) live.push_back(std::move(record));
  }
  return live;
}

}  // namespace galley::store
