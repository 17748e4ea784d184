#include "common/store/local/index_values.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/local/fixed_fields.h"

namespace galley::store {
namespace {

// Big-endian, so that keys sort by number.
void PutBig(std::string& bytes, uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
}

uint64_t GetBig(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

}  // namespace

std::string DigestKey(char kind, const Digest& digest) {
  std::string key(1, kind);
  PutDigest(key, digest);
  return key;
}

absl::Status WrongValue(std::string_view what) {
  return DataLossError("a {} has the wrong size", what);
}

absl::StatusOr<Digest> KeyDigest(std::string_view key) {
  if (key.size() != 1 + kDigestBytes) return WrongValue("key");
  return GetDigest(key, 1);
}

std::string RootsPrefix(std::string_view project_id) {
  std::string key = "p";
  PutBig(key, project_id.size(), 4);
  key += project_id;
  return key;
}

std::string RootKey(const PublishedRoot& root) {
  std::string key = RootsPrefix(root.project_id);
  PutBig(key, root.platform.size(), 4);
  key += root.platform;
  PutBig(key, root.sequence, 8);
  return key;
}

std::string SegmentKey(uint64_t number) {
  std::string key = "s";
  PutBig(key, number, 8);
  return key;
}

absl::StatusOr<uint64_t> KeySegment(std::string_view key) {
  if (key.size() != 9) return WrongValue("segment's key");
  return GetBig(key.substr(1));
}

std::string DamageKey(const RecordPlace& place) {
  std::string key = "d";
  PutBig(key, place.segment, 8);
  PutBig(key, place.offset, 8);
  return key;
}

std::string EncodePlace(uint64_t segment, uint64_t offset) {
  std::string bytes;
  PutFixed64(bytes, segment);
  PutFixed64(bytes, offset);
  return bytes;
}

absl::StatusOr<RecordPlace> DecodePlace(std::string_view bytes) {
  if (bytes.size() < 16) return WrongValue("place");
  return RecordPlace{.segment = GetFixed64(bytes, 0), .offset = GetFixed64(bytes, 8)};
}

std::string EncodeResultPlace(const ResultPlace& place) {
  std::string bytes = EncodePlace(place.segment, place.offset);
  PutFixed32(bytes, place.used_hours);
  return bytes;
}

absl::StatusOr<ResultPlace> DecodeResultPlace(std::string_view bytes) {
  ASSIGN_OR_RETURN(const RecordPlace place, DecodePlace(bytes));
  return ResultPlace{place, bytes.size() >= 20 ? GetFixed32(bytes, 16) : 0};
}

std::string EncodeSets(const std::vector<SetPlace>& sets) {
  std::string bytes;
  for (const SetPlace& set : sets) {
    bytes += EncodePlace(set.place.segment, set.place.offset);
    PutFixed64(bytes, set.checksum);
  }
  return bytes;
}

absl::StatusOr<std::vector<SetPlace>> DecodeSets(std::string_view bytes) {
  if (bytes.size() % 24 != 0) return WrongValue("list of observation sets");
  std::vector<SetPlace> sets;
  for (size_t at = 0; at < bytes.size(); at += 24) {
    sets.push_back(
        {.place = {.segment = GetFixed64(bytes, at), .offset = GetFixed64(bytes, at + 8)},
         .checksum = GetFixed64(bytes, at + 16)});
  }
  return sets;
}

std::string EncodeRoot(const IndexedRoot& indexed) {
  return EncodePlace(indexed.place.segment, indexed.place.offset) + EncodePublished(indexed.root);
}

absl::StatusOr<IndexedRoot> DecodeRoot(std::string_view bytes) {
  IndexedRoot indexed;
  ASSIGN_OR_RETURN(indexed.place, DecodePlace(bytes));
  ASSIGN_OR_RETURN(indexed.root, DecodePublished(bytes.substr(16)));
  return indexed;
}

std::string EncodeSegmentState(const SegmentState& state) {
  std::string value;
  PutFixed32(value, static_cast<uint32_t>(state.writer));
  PutFixed32(value, (state.is_abandoned ? 1u : 0u) | (state.is_cut ? 2u : 0u) |
                        (state.is_dropped ? 4u : 0u));
  PutFixed64(value, state.indexed_bytes);
  return value;
}

absl::StatusOr<SegmentState> DecodeSegmentState(std::string_view bytes) {
  if (bytes.size() != 16) return WrongValue("segment's state");
  return SegmentState{.writer = static_cast<SegmentWriterKind>(GetFixed32(bytes, 0)),
                      .is_abandoned = (GetFixed32(bytes, 4) & 1) != 0,
                      .is_cut = (GetFixed32(bytes, 4) & 2) != 0,
                      .is_dropped = (GetFixed32(bytes, 4) & 4) != 0,
                      .indexed_bytes = GetFixed64(bytes, 8)};
}

std::string EncodeCounters(const IndexCounters& c) {
  std::string bytes;
  for (const uint64_t value :
       {c.blobs, c.blob_bytes, c.files, c.file_bytes, c.results, c.observation_sets, c.roots})
    PutFixed64(bytes, value);
  return bytes;
}

absl::StatusOr<IndexCounters> DecodeCounters(std::string_view bytes) {
  if (bytes.size() != 56) return WrongValue("set of counters");
  return IndexCounters{.blobs = GetFixed64(bytes, 0),
                       .blob_bytes = GetFixed64(bytes, 8),
                       .files = GetFixed64(bytes, 16),
                       .file_bytes = GetFixed64(bytes, 24),
                       .results = GetFixed64(bytes, 32),
                       .observation_sets = GetFixed64(bytes, 40),
                       .roots = GetFixed64(bytes, 48)};
}

}  // namespace galley::store
