#include "common/store/reapi/server/reapi_core.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/base/zstd_stream.h"
#include "common/store/reapi/server/error_details.h"
#include "common/tree/wire_fields.h"

namespace galley::store {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

// Below this a frame's own bytes eat what is won.
constexpr uint64_t kCompressedBytesMin = 1024;

absl::Status CheckBatch(uint64_t bytes, uint64_t more, uint64_t bytes_max) {
  if (more <= bytes_max && bytes <= bytes_max - more) return absl::OkStatus();
  return InvalidArgumentError("a batch of more than {} bytes: use ByteStream, or several batches",
                              bytes_max);
}

void SetSemVer(int major, int minor, build::bazel::semver::SemVer& version) {
  version.set_major(major);
  version.set_minor(minor);
}

}  // namespace

absl::Status CheckInstance(const ReapiOptions& options, const Caller& caller,
                           std::string_view instance) {
  if (options.instance.has_value() && instance != *options.instance) {
    return InvalidArgumentError("instance name \"{}\": this server has \"{}\"", instance,
                                *options.instance);
  }
  const std::vector<std::string>& allowed = caller.instances;
  if (allowed.empty() || std::ranges::find(allowed, instance) != allowed.end())
    return absl::OkStatus();
  return PermissionDeniedError("instance name \"{}\": it is not for {}", instance, caller.name);
}

absl::Status LossAsAbsence(const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::NotFoundError(MessageOf(status));
}

ReapiCore::Reply ReapiCore::GetCapabilities(std::string_view request) {
  ASSIGN_OR_RETURN(const std::string_view instance, DecodeGetCapabilities(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, instance));
  reapi::ServerCapabilities reply;
  reapi::CacheCapabilities& cache = *reply.mutable_cache_capabilities();
  cache.add_digest_functions(reapi::DigestFunction::SHA256);
  cache.mutable_action_cache_update_capabilities()->set_update_enabled(caller_.may_write_results);
  cache.set_max_batch_total_size_bytes(static_cast<int64_t>(options_.batch_bytes_max));
  cache.set_max_cas_blob_size_bytes(static_cast<int64_t>(options_.blob_bytes_max));
  // Links are what their writers say; nothing here follows them.
  cache.set_symlink_absolute_path_strategy(reapi::SymlinkAbsolutePathStrategy::ALLOWED);
  cache.add_supported_compressors(reapi::Compressor::ZSTD);
  cache.add_supported_batch_update_compressors(reapi::Compressor::ZSTD);
  SetSemVer(2, 0, *reply.mutable_low_api_version());
  SetSemVer(2, 12, *reply.mutable_high_api_version());
  return UnaryHandler::Answer{.reply = reply.SerializeAsString()};
}

ReapiCore::Reply ReapiCore::FindMissingBlobs(std::string_view request) {
  ASSIGN_OR_RETURN(const FindMissingRequest asked, DecodeFindMissing(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, asked.instance));
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store_.FindMissing(asked.digests));
  WireWriter reply;
  std::unordered_set<Digest, DigestHash> told;
  for (const Digest& digest : missing) {
    if (told.insert(digest).second) reply.Element(2, tree::EncodeDigest(digest));
  }
  return UnaryHandler::Answer{.reply = reply.Take()};
}

// An outcome for each.
std::vector<absl::Status> ReapiCore::PutBlobs(std::span<const BatchUpdateRequest::Blob> blobs) {
  std::vector<absl::Status> outcomes(blobs.size());
  std::vector<size_t> put;  // of `blobs`
  std::vector<BlobView> views;
  std::deque<std::string> unpacked;
  for (size_t i = 0; i < blobs.size(); ++i) {
    std::string_view bytes = blobs[i].data;
    if (blobs[i].digest == Digest() && bytes.empty()) continue;
    if (blobs[i].compressor != Compressor::kIdentity) {
      absl::StatusOr<std::string> plain = ZstdDecompress(bytes, blobs[i].digest.size_bytes());
      outcomes[i] = plain.status();
      if (!plain.ok()) continue;
      bytes = unpacked.emplace_back(*std::move(plain));
    }
    put.push_back(i);
    views.push_back({.digest = blobs[i].digest, .bytes = bytes});
  }
  std::vector<absl::Status> done = store_.PutMany(views);
  for (size_t at = 0; at < put.size(); ++at) outcomes[put[at]] = std::move(done[at]);
  return outcomes;
}

ReapiCore::Reply ReapiCore::BatchUpdateBlobs(std::string_view request) {
  ASSIGN_OR_RETURN(const BatchUpdateRequest given, DecodeBatchUpdate(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, given.instance));
  uint64_t bytes = 0;
  for (const BatchUpdateRequest::Blob& blob : given.blobs) {
    RETURN_IF_ERROR(CheckBatch(bytes, blob.digest.size_bytes(), options_.batch_bytes_max));
    bytes += blob.digest.size_bytes();
  }
  const std::vector<absl::Status> outcomes = PutBlobs(given.blobs);
  WireWriter reply;
  for (size_t i = 0; i < given.blobs.size(); ++i) {
    WireWriter response;
    response.Element(1, tree::EncodeDigest(given.blobs[i].digest));
    response.Element(2, EncodeRpcStatus(ForPeers(outcomes[i])));
    reply.Element(1, response.bytes());
  }
  return UnaryHandler::Answer{.reply = reply.Take(), .commit = CommitBatch{}};
}

ReapiCore::Reply ReapiCore::BatchReadBlobs(std::string_view request) {
  ASSIGN_OR_RETURN(const BatchReadRequest asked, DecodeBatchRead(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, asked.instance));
  uint64_t bytes = 0;
  for (const Digest& digest : asked.digests) {
    RETURN_IF_ERROR(CheckBatch(bytes, digest.size_bytes(), options_.batch_bytes_max));
    bytes += digest.size_bytes();
  }
  WireWriter reply;
  for (const Digest& digest : asked.digests) {
    WireWriter response;
    response.Element(1, tree::EncodeDigest(digest));
    const absl::StatusOr<Blob> blob = store_.Get(digest);
    std::string packed;
    if (blob.ok() && asked.takes_zstd && digest.size_bytes() >= kCompressedBytesMin)
      packed = ZstdCompress(**blob);
    const bool is_packed = !packed.empty() && packed.size() < digest.size_bytes();
    if (blob.ok()) response.Bytes(2, is_packed ? packed : **blob);
    response.Element(3, EncodeRpcStatus(ForPeers(LossAsAbsence(blob.status()))));
    if (is_packed) response.Varint(4, static_cast<uint64_t>(Compressor::kZstd));
    reply.Element(1, response.bytes());
  }
  return UnaryHandler::Answer{.reply = reply.Take()};
}

}  // namespace galley::store
