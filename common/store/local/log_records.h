// Payloads of the records that only the owner writes. docs/store.md specifies them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/fixed_fields.h"

namespace galley::store {

// The most blobs in one adopted record; more blobs take more records.
inline constexpr size_t kAdoptedMax = 16'384;
inline constexpr size_t kAdoptedBytes = kDigestBytes + 16;  // of each blob in the record

using LocatedBlob = std::pair<Digest, BlobLocation>;

std::string EncodeAdopted(std::span<const LocatedBlob> blobs);
absl::StatusOr<std::vector<LocatedBlob>> DecodeAdopted(std::string_view bytes);

std::string EncodeDigests(std::span<const Digest> digests);
absl::StatusOr<std::vector<Digest>> DecodeDigests(std::string_view bytes);

struct Loss {
  uint64_t epoch = 0;
  std::vector<Digest> blobs;
};
std::string EncodeLoss(const Loss& loss);
absl::StatusOr<Loss> DecodeLoss(std::string_view bytes);

// protobuf wire format: instance = 1, action hash = 2, action size = 3, result = 4, peer = 5.
std::string EncodeActionResult(const PutActionResult& put);
absl::StatusOr<PutActionResult> DecodeActionResult(std::string_view bytes);
// Returns the key of an action result's record: the digest of its first three fields.
Digest ActionResultKey(std::string_view instance, const Digest& action);

// protobuf wire format: project_id = 1, platform = 2, sequence = 3, root hash = 4, root size = 5,
// by_the_book = 6, time_us = 7, snapshot hash = 8, snapshot size = 9, keep_roots = 10.
std::string EncodePublished(const PublishedRoot& root);
absl::StatusOr<PublishedRoot> DecodePublished(std::string_view bytes);

}  // namespace galley::store
