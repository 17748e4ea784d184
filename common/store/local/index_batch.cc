#include "common/store/local/index_batch.h"

#include "common/store/local/index_values.h"

namespace galley::store {

void IndexBatch::SetBlob(const Digest& digest, const BlobLocation& location) {
  changes_.push_back({DigestKey('b', digest), EncodePlace(location.segment, location.offset)});
}

void IndexBatch::SetBlobs(std::span<const LocatedBlob> blobs) {
  for (const auto& [digest, location] : blobs) SetBlob(digest, location);
}

void IndexBatch::RemoveBlob(const Digest& digest) {
  changes_.push_back({DigestKey('b', digest), IndexChange::Remove()});
}

void IndexBatch::SetResult(const Digest& action_key, const RecordPlace& place) {
  changes_.push_back({DigestKey('r', action_key), EncodePlace(place.segment, place.offset)});
}

void IndexBatch::RemoveResult(const Digest& action_key) {
  changes_.push_back({DigestKey('r', action_key), IndexChange::Remove()});
}

void IndexBatch::SetActionResult(const Digest& key, const RecordPlace& place) {
  changes_.push_back({DigestKey('a', key), EncodePlace(place.segment, place.offset)});
}

void IndexBatch::RemoveActionResult(const Digest& key) {
  changes_.push_back({DigestKey('a', key), IndexChange::Remove()});
}

void IndexBatch::StampResult(const Digest& action_key, uint32_t hours) {
  changes_.push_back({DigestKey('r', action_key), IndexChange::Stamp{hours}});
}

void IndexBatch::StampActionResult(const Digest& key, uint32_t hours) {
  changes_.push_back({DigestKey('a', key), IndexChange::Stamp{hours}});
}

void IndexBatch::AddObservationSet(const Digest& weak_key, const SetPlace& set) {
  changes_.push_back({DigestKey('o', weak_key), IndexChange::AddSet{set}});
}

void IndexBatch::RemoveObservationSet(const Digest& weak_key, const RecordPlace& place) {
  changes_.push_back({DigestKey('o', weak_key), IndexChange::RemoveSet{place}});
}

void IndexBatch::MoveObservationSet(const Digest& weak_key, const RecordPlace& from,
                                    const RecordPlace& to) {
  changes_.push_back({DigestKey('o', weak_key), IndexChange::MoveSet{from, to}});
}

void IndexBatch::SetRoot(const PublishedRoot& root, const RecordPlace& place) {
  changes_.push_back({RootKey(root), EncodeRoot({root, place})});
}

void IndexBatch::SetSegment(uint64_t number, const SegmentState& state) {
  changes_.push_back({SegmentKey(number), EncodeSegmentState(state)});
}

void IndexBatch::RemoveSegment(uint64_t number) {
  changes_.push_back({SegmentKey(number), IndexChange::Remove()});
}

void IndexBatch::NoteDamage(const RecordPlace& place) {
  changes_.push_back({DamageKey(place), std::string()});
}

}  // namespace galley::store
