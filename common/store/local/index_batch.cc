#include "common/store/local/index_batch.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "common/store/local/fixed_fields.h"
#include "common/store/local/index_values.h"

namespace galley::store {

template <typename Given, typename ValueOf>
absl::Status RocksBatch::ReplaceEach(char kind, std::span<const std::pair<Digest, Given>> all,
                                     const ValueOf& value_of) {
  for (size_t begin = 0; begin < all.size(); begin += IndexDatabase::kKeysAtOnce) {
    const auto part = all.subspan(begin, std::min(IndexDatabase::kKeysAtOnce, all.size() - begin));
    std::vector<std::string> keys;
    keys.reserve(part.size());
    for (const auto& [digest, given] : part) keys.push_back(DigestKey(kind, digest));
    const auto replace = [&](size_t i, std::optional<std::string_view> there) -> absl::Status {
      if (const auto changed = changed_.find(keys[i]); changed != changed_.end()) {
        there.reset();
        if (changed->second.has_value()) there = *changed->second;
      }
      absl::StatusOr<std::string> value = value_of(part[i].second, there);
      RETURN_IF_ERROR(value.status());
      return Replace(std::move(keys[i]), there, *std::move(value));
    };
    RETURN_IF_ERROR(db_.GetMany(keys, replace));
  }
  return absl::OkStatus();
}

absl::Status RocksBatch::SetBlob(const Digest& digest, const BlobLocation& location) {
  return Replace(DigestKey('b', digest), EncodePlace(location.segment, location.offset));
}

absl::Status RocksBatch::SetBlobs(std::span<const LocatedBlob> blobs) {
  return ReplaceEach('b', blobs, [](const BlobLocation& to, std::optional<std::string_view>) {
    return EncodePlace(to.segment, to.offset);
  });
}

absl::Status RocksBatch::RemoveBlob(const Digest& digest) {
  return Replace(DigestKey('b', digest), std::nullopt);
}

absl::Status RocksBatch::SetResults(std::span<const LocatedResult> results) {
  return ReplaceEach('r', results, [](const RecordPlace& to, std::optional<std::string_view>) {
    return EncodePlace(to.segment, to.offset);
  });
}

absl::Status RocksBatch::RemoveResult(const Digest& action_key) {
  return Replace(DigestKey('r', action_key), std::nullopt);
}

absl::Status RocksBatch::SetActionResult(const Digest& key, const RecordPlace& place) {
  return Set(DigestKey('a', key), EncodePlace(place.segment, place.offset));
}

absl::Status RocksBatch::RemoveActionResult(const Digest& key) {
  return Set(DigestKey('a', key), std::nullopt);
}

absl::Status RocksBatch::StampResult(const Digest& action_key, uint32_t hours) {
  return Stamp(DigestKey('r', action_key), hours);
}

absl::Status RocksBatch::StampActionResult(const Digest& key, uint32_t hours) {
  return Stamp(DigestKey('a', key), hours);
}

absl::Status RocksBatch::AddObservationSets(std::span<const LocatedSet> added) {
  const auto add = [this](const SetPlace& set,
                          std::optional<std::string_view> there) -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(std::vector<SetPlace> sets, db_.Decoded(DecodeSets(there.value_or(""))));
    std::erase_if(sets, [&](const SetPlace& other) { return other.checksum == set.checksum; });
    sets.insert(sets.begin(), set);
    if (sets.size() > ActionCache::kSetsMax) sets.resize(ActionCache::kSetsMax);
    return EncodeSets(sets);
  };
  return ReplaceEach('o', added, add);
}

absl::Status RocksBatch::RemoveObservationSet(const Digest& weak_key, const RecordPlace& place) {
  ASSIGN_OR_RETURN(std::vector<SetPlace> sets, Sets(weak_key));
  std::erase_if(sets, [&](const SetPlace& other) { return other.place == place; });
  return ReplaceSets(weak_key, sets);
}

absl::Status RocksBatch::MoveObservationSet(const Digest& weak_key, const RecordPlace& from,
                                            const RecordPlace& to) {
  ASSIGN_OR_RETURN(std::vector<SetPlace> sets, Sets(weak_key));
  for (SetPlace& set : sets) {
    if (set.place == from) set.place = to;
  }
  return sets.empty() ? absl::OkStatus() : ReplaceSets(weak_key, sets);
}

absl::Status RocksBatch::SetRoot(const PublishedRoot& root, const RecordPlace& place) {
  return Replace(RootKey(root), EncodeRoot({root, place}));
}

absl::Status RocksBatch::SetSegment(uint64_t number, const SegmentState& state) {
  return Set(SegmentKey(number), EncodeSegmentState(state));
}

absl::Status RocksBatch::RemoveSegment(uint64_t number) {
  return Set(SegmentKey(number), std::nullopt);
}

absl::Status RocksBatch::SetEpoch(uint64_t epoch) {
  epoch_ = std::max(epoch_.value_or(0), epoch);
  ++changes_;
  return absl::OkStatus();
}

absl::Status RocksBatch::NoteDamage(const RecordPlace& place) { return Set(DamageKey(place), ""); }

absl::Status RocksBatch::WriteTo(uint64_t epoch, std::optional<uint64_t> disputed_epoch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;  // the segments are the log
  rocksdb::WriteBatch& batch = batch_;
  std::string value;
  PutFixed64(value, epoch);
  RETURN_IF_ERROR(db_.From(batch.Put(rocks::ToSlice(kMetaEpoch), rocks::ToSlice(value))));
  if (disputed_epoch.has_value()) {
    value.clear();
    PutFixed64(value, *disputed_epoch);
    RETURN_IF_ERROR(db_.From(batch.Put(rocks::ToSlice(kMetaDisputed), rocks::ToSlice(value))));
  }
  RETURN_IF_ERROR(db_.From(
      batch.Put(rocks::ToSlice(kMetaCounters), rocks::ToSlice(EncodeCounters(counters_)))));
  return db_.From(db_->Write(options, &batch));
}

absl::Status RocksBatch::Add(const RocksBatch& other) {
  for (const auto& [key, value] : other.changed_) RETURN_IF_ERROR(Replace(key, value));
  if (other.epoch_.has_value()) RETURN_IF_ERROR(SetEpoch(*other.epoch_));
  is_disputing_ |= other.is_disputing_;
  return absl::OkStatus();
}

absl::Status RocksBatch::Count(std::string_view key, std::string_view value, uint64_t sign) {
  switch (key.front()) {
    case 'b': {
      ASSIGN_OR_RETURN(const Digest digest, db_.Decoded(KeyDigest(key)));
      ASSIGN_OR_RETURN(const RecordPlace place, db_.Decoded(DecodePlace(value)));
      counters_.blobs += sign;
      counters_.blob_bytes += sign * digest.size_bytes();
      if (place.segment != 0) break;
      counters_.files += sign;
      counters_.file_bytes += sign * digest.size_bytes();
      break;
    }
    case 'r':
      counters_.results += sign;
      break;
    case 'o': {
      ASSIGN_OR_RETURN(const std::vector<SetPlace> sets, db_.Decoded(DecodeSets(value)));
      counters_.observation_sets += sign * sets.size();
      break;
    }
    case 'p':
      counters_.roots += sign;
      break;
    default:
      break;  // the others are not counted
  }
  return absl::OkStatus();
}

bool RocksBatch::IsCounted(std::string_view key) {
  return std::string_view("brop").find(key.front()) != std::string_view::npos;
}

absl::Status RocksBatch::Replace(std::string key, std::optional<std::string> value) {
  if (!IsCounted(key)) return Set(std::move(key), std::move(value));
  ASSIGN_OR_RETURN(const std::optional<std::string> there, Get(key));
  return Replace(std::move(key), there, std::move(value));
}

absl::Status RocksBatch::Replace(std::string key, const std::optional<std::string_view>& there,
                                 std::optional<std::string> value) {
  if (there.has_value()) RETURN_IF_ERROR(Count(key, *there, UINT64_MAX));
  if (value.has_value()) RETURN_IF_ERROR(Count(key, *value, 1));
  if (!there.has_value() && !value.has_value()) return absl::OkStatus();
  return Set(std::move(key), std::move(value));
}

absl::Status RocksBatch::Stamp(std::string key, uint32_t hours) {
  ASSIGN_OR_RETURN(const std::optional<std::string> old, Get(key));
  if (!old.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(ResultPlace place, db_.Decoded(DecodeResultPlace(*old)));
  place.used_hours = hours;
  return Set(std::move(key), EncodeResultPlace(place));
}

absl::StatusOr<std::vector<SetPlace>> RocksBatch::Sets(const Digest& weak_key) {
  ASSIGN_OR_RETURN(const std::optional<std::string> old, Get(DigestKey('o', weak_key)));
  return db_.Decoded(DecodeSets(old.value_or("")));
}

absl::Status RocksBatch::ReplaceSets(const Digest& weak_key, const std::vector<SetPlace>& sets) {
  return Replace(DigestKey('o', weak_key),
                 sets.empty() ? std::nullopt : std::optional(EncodeSets(sets)));
}

absl::StatusOr<std::optional<std::string>> RocksBatch::Get(const std::string& key) {
  if (const auto found = changed_.find(key); found != changed_.end()) return found->second;
  return rocks::Get(*db_, key, [this](const auto& status) { return db_.From(status); });
}

absl::Status RocksBatch::Set(std::string key, std::optional<std::string> value) {
  ++changes_;
  RETURN_IF_ERROR(db_.From(value.has_value()
                               ? batch_.Put(rocks::ToSlice(key), rocks::ToSlice(*value))
                               : batch_.Delete(rocks::ToSlice(key))));
  changed_.insert_or_assign(std::move(key), std::move(value));
  return absl::OkStatus();
}

}  // namespace galley::store
