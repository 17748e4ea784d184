#include "common/store/local/log_records.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/store/local/fixed_fields.h"
#include "common/tree/wire_fields.h"

namespace galley::store {
namespace {

using tree::FieldTo;

absl::Status CheckMultiple(std::string_view bytes, size_t size, std::string_view what) {
  if (bytes.size() % size == 0) return absl::OkStatus();
  return InvalidArgumentError("{}: {} bytes are no multiple of {}", what, bytes.size(), size);
}

void PutWireDigest(WireWriter& writer, uint32_t field, const Digest& digest) {
  writer.Bytes(field, digest.hash());
  writer.Varint(field + 1, digest.size_bytes());
}

// A digest whose hash is absent was never written: it is refused.
absl::StatusOr<Digest> WireDigest(std::string_view hash, uint64_t size) {
  return Digest::FromHash(hash, size);
}

}  // namespace

std::string EncodeAdopted(std::span<const LocatedBlob> blobs) {
  std::string bytes;
  bytes.reserve(blobs.size() * kAdoptedBytes);
  for (const auto& [digest, location] : blobs) {
    PutDigest(bytes, digest);
    PutFixed64(bytes, location.segment);
    PutFixed64(bytes, location.offset);
  }
  return bytes;
}

absl::StatusOr<std::vector<LocatedBlob>> DecodeAdopted(std::string_view bytes) {
  RETURN_IF_ERROR(CheckMultiple(bytes, kAdoptedBytes, "adopted blobs"));
  std::vector<LocatedBlob> blobs;
  blobs.reserve(bytes.size() / kAdoptedBytes);
  for (size_t at = 0; at < bytes.size(); at += kAdoptedBytes) {
    ASSIGN_OR_RETURN(const Digest digest, GetDigest(bytes, at));
    const BlobLocation location{.segment = GetFixed64(bytes, at + kDigestBytes),
                                .offset = GetFixed64(bytes, at + kDigestBytes + 8)};
    blobs.emplace_back(digest, location);
  }
  return blobs;
}

std::string EncodeDigests(std::span<const Digest> digests) {
  std::string bytes;
  bytes.reserve(digests.size() * kDigestBytes);
  for (const Digest& digest : digests) PutDigest(bytes, digest);
  return bytes;
}

absl::StatusOr<std::vector<Digest>> DecodeDigests(std::string_view bytes) {
  RETURN_IF_ERROR(CheckMultiple(bytes, kDigestBytes, "digests"));
  std::vector<Digest> digests;
  digests.reserve(bytes.size() / kDigestBytes);
  for (size_t at = 0; at < bytes.size(); at += kDigestBytes) {
    ASSIGN_OR_RETURN(const Digest digest, GetDigest(bytes, at));
    digests.push_back(digest);
  }
  return digests;
}

std::string EncodeLoss(const Loss& loss) {
  std::string bytes;
  PutFixed64(bytes, loss.epoch);
  return bytes + EncodeDigests(loss.blobs);
}

absl::StatusOr<Loss> DecodeLoss(std::string_view bytes) {
  if (bytes.size() < 8) return absl::InvalidArgumentError("loss: shorter than its epoch");
  Loss loss;
  loss.epoch = GetFixed64(bytes, 0);
  ASSIGN_OR_RETURN(loss.blobs, DecodeDigests(bytes.substr(8)));
  return loss;
}

std::string EncodeActionResult(const PutActionResult& put) {
  WireWriter writer;
  writer.Bytes(1, put.instance);
  PutWireDigest(writer, 2, put.action);
  writer.Bytes(4, put.result);
  writer.Bytes(5, put.peer);
  return writer.Take();
}

absl::StatusOr<PutActionResult> DecodeActionResult(std::string_view bytes) {
  PutActionResult put;
  std::string_view hash;
  uint64_t size = 0;
  // Further fields are a later version's.
  RETURN_IF_ERROR(tree::ReadFields(bytes, FieldTo(1, "instance", put.instance),
                                   FieldTo(2, "action", hash), FieldTo(3, "action's size", size),
                                   FieldTo(4, "result", put.result), FieldTo(5, "peer", put.peer)));
  ASSIGN_OR_RETURN(put.action, WireDigest(hash, size));
  return put;
}

Digest ActionResultKey(std::string_view instance, const Digest& action) {
  WireWriter writer;
  writer.Bytes(1, instance);
  PutWireDigest(writer, 2, action);
  return Digest::Of(writer.bytes());
}

std::string EncodePublished(const PublishedRoot& root) {
  WireWriter writer;
  writer.Bytes(1, root.project_id);
  writer.Bytes(2, root.platform);
  writer.Varint(3, root.sequence);
  PutWireDigest(writer, 4, root.root);
  writer.Bool(6, root.by_the_book);
  writer.Varint(7, static_cast<uint64_t>(absl::ToUnixMicros(root.time)));
  PutWireDigest(writer, 8, root.snapshot);
  writer.Varint(10, root.keep_roots);
  return writer.Take();
}

absl::StatusOr<PublishedRoot> DecodePublished(std::string_view bytes) {
  PublishedRoot root;
  std::string_view root_hash, snapshot_hash;
  uint64_t root_size = 0, snapshot_size = 0, time_us = 0, keep_roots = 0;
  // Further fields are a later version's.
  RETURN_IF_ERROR(tree::ReadFields(
      bytes, FieldTo(1, "project", root.project_id), FieldTo(2, "platform", root.platform),
      FieldTo(3, "sequence", root.sequence), FieldTo(4, "root", root_hash),
      FieldTo(5, "root's size", root_size), FieldTo(6, "by_the_book", root.by_the_book),
      FieldTo(7, "time_us", time_us), FieldTo(8, "snapshot", snapshot_hash),
      FieldTo(9, "snapshot's size", snapshot_size), FieldTo(10, "keep_roots", keep_roots)));
  root.keep_roots = static_cast<uint32_t>(keep_roots);
  root.time = absl::FromUnixMicros(static_cast<int64_t>(time_us));
  ASSIGN_OR_RETURN(root.root, WireDigest(root_hash, root_size));
  ASSIGN_OR_RETURN(root.snapshot, WireDigest(snapshot_hash, snapshot_size));
  return root;
}

}  // namespace galley::store
