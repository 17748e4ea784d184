#include "common/store/reapi/client/reapi_uploader.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/base/zstd_stream.h"
#include "common/store/reapi/client/retry.h"
#include "common/wire/channel.h"
#include "common/wire/digest_messages.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
constexpr size_t kWorthCompressing = 1 << 10;
constexpr int kLevel = 1;  // the wire is the limit, and most of what is cooked is dense already

// The next piece of a blob of which `left` (> 0) bytes are left. The last one only when the store
// says that all of it was right.
absl::StatusOr<std::string> NextOf(BlobReader& reader, uint64_t left) {
  ASSIGN_OR_RETURN(const std::string_view next, reader.Next(kPieceBytes));
  std::string piece(next);
  if (piece.empty() || piece.size() > left) return absl::DataLossError("a blob of another size");
  if (piece.size() < left) return piece;
  ASSIGN_OR_RETURN(const std::string_view end, reader.Next(kPieceBytes));
  if (!end.empty()) return absl::DataLossError("a blob of another size");
  return piece;
}

}  // namespace

struct ReapiUploader::Stream {
  Digest digest;
  BlobStore& from;
  bool is_zstd = false;
  std::string name;
  uint64_t offset = 0;  // from where the next try goes on
  bool is_first_try = true;
  bool was_refused = false;  // where it went on: the next try is from the start
  absl::Status own_error;    // of `from`
};

absl::Status ReapiUploader::Send(std::span<const Digest> digests, BlobStore& from,
                                 const RemoteLimits& limits) {
  std::set<Digest> wanted(digests.begin(), digests.end());
  wanted.erase(Digest());
  if (wanted.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ReapiCapabilities server, caller_.Capabilities(limits));
  const ReapiCaller::Batches blobs =
      caller_.Batched(std::vector<Digest>(wanted.begin(), wanted.end()), server);
  const size_t count = blobs.batches.size() + blobs.alone.size();
  std::atomic<size_t> next = 0;
  base::Mutex mutex;
  absl::Status first_error;
  const auto has_failed = [&] {
    const base::MutexLock lock(mutex);
    return !first_error.ok();
  };
  RunOnThreads(std::min(count, caller_.options().calls_at_once), [&](size_t) {
    for (size_t i = next++; i < count && !has_failed(); i = next++) {
      const absl::Status sent =
          i < blobs.batches.size()
              ? SendBatch(blobs.batches[i], from, server, limits)
              : SendAlone(blobs.alone[i - blobs.batches.size()], from, server, limits);
      const base::MutexLock lock(mutex);
      if (first_error.ok()) first_error = sent;
    }
  });
  return first_error;
}

// Blobs that the batch did not take are sent alone: the server may have limits of its own.
absl::Status ReapiUploader::SendBatch(std::span<const Digest> batch, BlobStore& from,
                                      const ReapiCapabilities& server, const RemoteLimits& limits) {
  reapi::BatchUpdateBlobsRequest request;
  request.set_instance_name(caller_.options().instance);
  uint64_t bytes = 0;
  std::set<Digest> open;
  for (const Digest& digest : batch) {
    ASSIGN_OR_RETURN(const Blob blob, from.Get(digest));
    auto& one = *request.add_requests();
    wire::SetHexDigest(digest, one.mutable_digest());
    if (server.has_zstd_batches && blob->size() >= kWorthCompressing) {
      std::string small = ZstdCompress(*blob, kLevel);
      if (small.size() < blob->size()) {
        one.set_data(std::move(small));
        one.set_compressor(reapi::Compressor::ZSTD);
      }
    }
    if (one.data().empty()) one.set_data(*blob);
    bytes += digest.size_bytes();
    open.insert(digest);
  }
  reapi::BatchUpdateBlobsResponse reply;
  const absl::Status status =
      caller_.Call("BatchUpdateBlobs", bytes, limits, [&](grpc::ClientContext& context) {
        reply.Clear();
        return caller_.cas().BatchUpdateBlobs(&context, request, &reply);
      });
  // INVALID_ARGUMENT: over a limit that it did not name; UNIMPLEMENTED: streams only.
  if (!status.ok() && !absl::IsInvalidArgument(status) && !absl::IsUnimplemented(status))
    return status;
  for (const auto& one : reply.responses()) {
    const absl::StatusOr<Digest> digest = wire::HexDigestOf(one.digest());
    if (!digest.ok() || one.status().code() != 0 || open.erase(*digest) == 0) continue;
    ++caller_.counters().blobs_sent;
    caller_.counters().bytes_sent += digest->size_bytes();
  }
  for (const Digest& digest : open) RETURN_IF_ERROR(SendAlone(digest, from, server, limits));
  return absl::OkStatus();
}

absl::Status ReapiUploader::SendAlone(const Digest& digest, BlobStore& from,
                                      const ReapiCapabilities& server, const RemoteLimits& limits) {
  Stream stream{.digest = digest,
                .from = from,
                .is_zstd = server.has_zstd_streams && digest.size_bytes() >= kWorthCompressing};
  const absl::Status status = WriteStream(stream, limits);
  RETURN_IF_ERROR(stream.own_error);
  if (status.ok()) {
    ++caller_.counters().blobs_sent;
    caller_.counters().bytes_sent += digest.size_bytes();
    return status;
  }
  return Annotate(status, fmt::format("sending blob {}", digest.ToString()));
}

// A refusal may be about how the upload went on, or about its compression: so it is sent once more,
// from the start, plain, under another name.
absl::Status ReapiUploader::WriteStream(Stream& stream, const RemoteLimits& limits) {
  absl::Status written;
  for (int round = 0; round < 2; ++round) {
    stream.name =
        WriteName(caller_.options().instance, caller_.NewUuid(), stream.digest, stream.is_zstd);
    stream.offset = 0;
    stream.is_first_try = true;
    stream.was_refused = false;
    written = caller_.Call(
        "ByteStream.Write", stream.digest.size_bytes(), limits, [&](grpc::ClientContext& context) {
          if (!std::exchange(stream.is_first_try, false)) FindOutHowFar(stream, limits);
          if (stream.offset == stream.digest.size_bytes()) return grpc::Status::OK;
          const grpc::Status status = WriteOnce(stream, context);
          // For any offset but 0 bazel-remote answers UNKNOWN.
          stream.was_refused =
              stream.offset != 0 && (status.error_code() == grpc::StatusCode::UNKNOWN ||
                                     !IsWorthRetrying(wire::FromGrpc(status).code()));
          return status;
        });
    if (written.ok() || !stream.own_error.ok()) return written;
    if (absl::IsUnimplemented(written) && stream.is_zstd) caller_.TurnOffZstd();
    if (!stream.was_refused && (!stream.is_zstd || IsWorthRetrying(written.code()))) return written;
    stream.is_zstd = false;
  }
  return written;
}

// After a break. Any answer but a number in the middle of the blob means: from the start, under
// another name (what is known of the old one is in doubt).
void ReapiUploader::FindOutHowFar(Stream& stream, const RemoteLimits& limits) {
  const bool was_refused = std::exchange(stream.was_refused, false);
  google::bytestream::QueryWriteStatusRequest request;
  request.set_resource_name(stream.name);
  google::bytestream::QueryWriteStatusResponse reply;
  const absl::Status asked = caller_.CallOnce(0, limits, [&](grpc::ClientContext& context) {
    return caller_.byte_stream().QueryWriteStatus(&context, request, &reply);
  });
  const uint64_t size = stream.digest.size_bytes();
  const auto committed = static_cast<uint64_t>(std::max<int64_t>(reply.committed_size(), 0));
  if (asked.ok() && reply.complete()) {
    stream.offset = size;
  } else if (asked.ok() && !was_refused && !stream.is_zstd && committed > 0 && committed < size) {
    stream.offset = committed;
  } else {
    stream.offset = 0;
    stream.name =
        WriteName(caller_.options().instance, caller_.NewUuid(), stream.digest, stream.is_zstd);
  }
}

// Makes one try. The server may answer before it has all: it has the blob already, or refuses it.
// Whatever size it says it committed is taken for success: there are three customs (docs).
grpc::Status ReapiUploader::WriteOnce(Stream& stream, grpc::ClientContext& context) {
  const auto own = [&](const absl::Status& status) {
    stream.own_error = status;
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "our own store");
  };
  absl::StatusOr<std::unique_ptr<BlobReader>> reader =
      stream.from.NewReader(stream.digest, stream.offset);
  if (!reader.ok()) return own(reader.status());
  google::bytestream::WriteResponse reply;
  const auto writer = caller_.byte_stream().Write(&context, &reply);
  google::bytestream::WriteRequest request;
  request.set_resource_name(stream.name);
  ZstdCompressor compressor(kLevel);
  // Bytes of the blob for a plain upload, compressed bytes for a compressed one.
  uint64_t sent = stream.offset;
  uint64_t read = stream.offset;
  const uint64_t size = stream.digest.size_bytes();
  bool is_open = true;
  while (is_open && !request.finish_write()) {
    absl::StatusOr<std::string> piece = NextOf(**reader, size - read);
    if (!piece.ok()) {
      context.TryCancel();
      (void)writer->Finish();
      return own(piece.status());
    }
    read += piece->size();
    std::string data;
    if (stream.is_zstd) {
      compressor.Append(*piece, data);
      if (read >= size) compressor.Finish(data);
      if (data.empty()) continue;
    } else {
      data = *std::move(piece);
    }
    request.set_write_offset(static_cast<int64_t>(sent));
    request.set_finish_write(read >= size);
    sent += data.size();
    request.set_data(std::move(data));
    is_open = writer->Write(request);
    request.clear_resource_name();
  }
  writer->WritesDone();
  return writer->Finish();
}

}  // namespace galley::store
