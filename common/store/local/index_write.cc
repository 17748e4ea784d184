#include "common/store/local/index_write.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "common/store/local/fixed_fields.h"
#include "common/store/local/index_values.h"

namespace galley::store {
namespace {

bool IsCounted(std::string_view key) {
  return std::string_view("brop").find(key.front()) != std::string_view::npos;
}

bool NeedsOldValue(const IndexChange& change) {
  return IsCounted(change.key) || std::holds_alternative<IndexChange::Stamp>(change.edit);
}

}  // namespace

absl::Status IndexWrite::Add(std::span<const IndexChange> changes) {
  while (!changes.empty()) {
    const auto part = changes.first(std::min(IndexDatabase::kKeysAtOnce, changes.size()));
    changes = changes.subspan(part.size());
    std::vector<rocksdb::Slice> keys;
    keys.reserve(part.size());
    for (const IndexChange& change : part) {
      if (NeedsOldValue(change)) keys.push_back(rocks::ToSlice(change.key));
    }
    auto at = part.begin();
    // In the order of the batch: one key may be named more than once.
    const auto add_until_old_value = [&]() -> absl::Status {
      for (; at != part.end() && !NeedsOldValue(*at); ++at)
        RETURN_IF_ERROR(AddOne(*at, std::nullopt));
      return absl::OkStatus();
    };
    const auto add_with_old_value = [&](Value there) -> absl::Status {
      RETURN_IF_ERROR(add_until_old_value());
      return AddOne(*at++, there);
    };
    RETURN_IF_ERROR(db_.GetMany(keys, add_with_old_value));
    RETURN_IF_ERROR(add_until_old_value());
  }
  return absl::OkStatus();
}

absl::Status IndexWrite::AddOne(const IndexChange& change, Value there) {
  if (const auto changed = changed_.find(change.key); changed != changed_.end())
    there = changed->second;
  ASSIGN_OR_RETURN(const Value value, NewValue(change, there));
  if (NeedsOldValue(change) && !there.has_value() && !value.has_value()) return absl::OkStatus();
  if (IsCounted(change.key)) {
    if (there.has_value()) RETURN_IF_ERROR(Count(change.key, *there, UINT64_MAX));
    if (value.has_value()) RETURN_IF_ERROR(Count(change.key, *value, 1));
  }
  const rocksdb::Slice key = rocks::ToSlice(change.key);
  RETURN_IF_ERROR(
      db_.From(value.has_value() ? batch_.Put(key, rocks::ToSlice(*value)) : batch_.Delete(key)));
  changed_.insert_or_assign(change.key, value);
  return absl::OkStatus();
}

absl::StatusOr<IndexWrite::Value> IndexWrite::NewValue(const IndexChange& change, Value there) {
  if (const auto* value = std::get_if<std::string>(&change.edit)) return Value(*value);
  if (std::holds_alternative<IndexChange::Remove>(change.edit)) return Value();
  const auto* stamp = std::get_if<IndexChange::Stamp>(&change.edit);
  if (stamp == nullptr) return NewSets(change, there);
  if (!there.has_value()) return Value();
  ASSIGN_OR_RETURN(ResultPlace place, db_.Decoded(DecodeResultPlace(*there)));
  place.used_hours = stamp->hours;
  return Value(Keep(EncodeResultPlace(place)));
}

absl::StatusOr<IndexWrite::Value> IndexWrite::NewSets(const IndexChange& change, Value there) {
  ASSIGN_OR_RETURN(std::vector<SetPlace> sets, db_.Decoded(DecodeSets(there.value_or(""))));
  if (const auto* add = std::get_if<IndexChange::AddSet>(&change.edit)) {
    std::erase_if(sets, [&](const SetPlace& set) { return set.checksum == add->set.checksum; });
    sets.insert(sets.begin(), add->set);
    if (sets.size() > ActionCache::kSetsMax) sets.resize(ActionCache::kSetsMax);
  } else if (const auto* remove = std::get_if<IndexChange::RemoveSet>(&change.edit)) {
    std::erase_if(sets, [&](const SetPlace& set) { return set.place == remove->place; });
  } else if (const auto* move = std::get_if<IndexChange::MoveSet>(&change.edit)) {
    for (SetPlace& set : sets) {
      if (set.place == move->from) set.place = move->to;
    }
  }
  return sets.empty() ? Value() : Value(Keep(EncodeSets(sets)));
}

absl::Status IndexWrite::Commit(uint64_t epoch, std::optional<uint64_t> disputed_epoch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;  // the segments are the log
  std::string value;
  PutFixed64(value, epoch);
  RETURN_IF_ERROR(db_.From(batch_.Put(rocks::ToSlice(kMetaEpoch), rocks::ToSlice(value))));
  if (disputed_epoch.has_value()) {
    value.clear();
    PutFixed64(value, *disputed_epoch);
    RETURN_IF_ERROR(db_.From(batch_.Put(rocks::ToSlice(kMetaDisputed), rocks::ToSlice(value))));
  }
  RETURN_IF_ERROR(db_.From(
      batch_.Put(rocks::ToSlice(kMetaCounters), rocks::ToSlice(EncodeCounters(counters_)))));
  return db_.From(db_->Write(options, &batch_));
}

absl::Status IndexWrite::Count(std::string_view key, std::string_view value, uint64_t sign) {
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

}  // namespace galley::store
