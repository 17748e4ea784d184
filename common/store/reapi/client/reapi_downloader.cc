#include "common/store/reapi/client/reapi_downloader.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/base/zstd_stream.h"
#include "common/store/interface/check_bytes.h"
#include "common/store/reapi/client/retry.h"
#include "common/store/reapi/client/waited_read.h"
#include "common/wire/channel.h"
#include "common/wire/digest_messages.h"

namespace galley::store {
namespace {

constexpr int kReadsOfABlob = 2;
// A compressed read that broke begins again: larger blobs are read plain.
constexpr uint64_t kCompressedBytesMax = 64 << 20;
// Beyond every output that there is; a lie about a size must not keep us busy for ever.
constexpr uint64_t kBlobBytesMax = 64ull << 30;

// Gathers in memory what is written to it.
class OneBlob final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return std::vector<Digest>(digests.begin(), digests.end());
  }
  absl::StatusOr<Blob> Get(const Digest&) override {
    return blob == nullptr ? absl::StatusOr<Blob>(absl::NotFoundError("nothing was put"))
                           : absl::StatusOr<Blob>(blob);
  }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    if (!AreBytesOf(digest, bytes)) return absl::InvalidArgumentError("other bytes");
    blob = MakeBlob(std::string(bytes));
    return absl::OkStatus();
  }
  Blob blob;
};

// Takes it all and keeps nothing.
class Nowhere final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return std::vector<Digest>(digests.begin(), digests.end());
  }
  absl::StatusOr<Blob> Get(const Digest&) override { return absl::NotFoundError("it keeps none"); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return AreBytesOf(digest, bytes) ? absl::OkStatus() : absl::InvalidArgumentError("other bytes");
  }
};

}  // namespace

// Work: what the threads of one Fetch share.
struct ReapiDownloader::Work {
  BlobStore& into;
  const RemoteLimits& limits;
  ReapiCapabilities server;
  base::Mutex mutex;
  std::set<Digest> lacking GALLEY_GUARDED_BY(mutex);
  absl::Status own_error GALLEY_GUARDED_BY(mutex);  // of `into`

  void Lacks(const Digest& digest) {
    const base::MutexLock lock(mutex);
    lacking.insert(digest);
  }
  bool HasOwnError() {
    const base::MutexLock lock(mutex);
    return !own_error.ok();
  }
  void Fails(const absl::Status& status) {
    const base::MutexLock lock(mutex);
    if (own_error.ok()) own_error = status;
  }
};

struct ReapiDownloader::Stream {
  Digest digest;
  BlobStore& into;
  bool is_zstd = false;
  std::unique_ptr<BlobWriter> writer;
  uint64_t offset = 0;       // of what `writer` has
  absl::Status own_error;    // of `into`
  bool is_too_long = false;  // more came than there is
};

void ReapiDownloader::NoteWrong(const Digest& digest) {
  LogWarning("remote={} blob={} bytes are wrong; not asked for again", caller_.options().url.text,
             digest.ToString());
  trust_.CameWrong(digest);
}

absl::StatusOr<std::vector<Digest>> ReapiDownloader::Fetch(std::span<const Digest> digests,
                                                           BlobStore& into,
                                                           const RemoteLimits& limits) {
  std::vector<Digest> wanted;
  for (const Digest& digest : std::set<Digest>(digests.begin(), digests.end())) {
    if (digest != Digest()) wanted.push_back(digest);
  }
  if (wanted.empty() || trust_.has_given_up()) return wanted;
  const absl::StatusOr<ReapiCapabilities> server = caller_.Capabilities(limits);
  if (!server.ok()) return wanted;
  Work work{.into = into, .limits = limits, .server = *server};

  std::erase_if(wanted, [&](const Digest& digest) {
    if (!trust_.IsKnownWrong(digest)) return false;
    work.Lacks(digest);
    return true;
  });
  const ReapiCaller::Batches blobs = caller_.Batched(wanted, *server);
  const size_t count = blobs.batches.size() + blobs.alone.size();
  std::atomic<size_t> next = 0;
  RunOnThreads(std::min(count, caller_.options().calls_at_once), [&](size_t) {
    for (size_t i = next++; i < count && !work.HasOwnError(); i = next++) {
      if (i < blobs.batches.size()) {
        FetchBatch(blobs.batches[i], work);
      } else {
        FetchAlone(blobs.alone[i - blobs.batches.size()], kReadsOfABlob, work);
      }
    }
  });
  const base::MutexLock lock(work.mutex);
  RETURN_IF_ERROR(work.own_error);
  return std::vector<Digest>(work.lacking.begin(), work.lacking.end());
}

// Blobs that did not come out of the batch, or came with wrong bytes, are asked for alone: the
// server may have limits of its own, or a bad day.
void ReapiDownloader::FetchBatch(std::span<const Digest> batch, Work& work) {
  reapi::BatchReadBlobsRequest request;
  request.set_instance_name(caller_.options().instance);
  if (work.server.has_zstd_streams) request.add_acceptable_compressors(reapi::Compressor::ZSTD);
  uint64_t bytes = 0;
  std::set<Digest> open(batch.begin(), batch.end());
  for (const Digest& digest : batch) {
    wire::SetHexDigest(digest, request.add_digests());
    bytes += digest.size_bytes();
  }
  reapi::BatchReadBlobsResponse reply;
  WaitedRead read(work.limits, trust_);
  const absl::Status status =
      caller_.Call("BatchReadBlobs", bytes, read.limits(), [&](grpc::ClientContext& context) {
        reply.Clear();
        return caller_.cas().BatchReadBlobs(&context, request, &reply);
      });
  read.Ended(bytes, /*is_of_use=*/!IsWorthRetrying(status.code()), caller_.is_down());
  if (!status.ok() && IsWorthRetrying(status.code())) {  // it was, and to no avail
    for (const Digest& digest : open) work.Lacks(digest);
    return;
  }
  std::set<Digest> wrong;
  size_t absent = 0;
  for (const auto& one : reply.responses()) {
    const absl::StatusOr<Digest> digest = wire::HexDigestOf(one.digest());
    if (!digest.ok() || !open.contains(*digest)) continue;
    // No status at all is OK: bazel-remote leaves it out beside compressed bytes.
    if (one.status().code() == static_cast<int>(absl::StatusCode::kNotFound)) {
      work.Lacks(*digest);
      open.erase(*digest);
      ++absent;
      continue;
    }
    if (one.status().code() != 0) continue;
    absl::StatusOr<std::string> plain = one.data();
    if (one.compressor() == reapi::Compressor::ZSTD)
      plain = ZstdDecompress(one.data(), digest->size_bytes());
    if (one.compressor() > reapi::Compressor::ZSTD) continue;
    if (!plain.ok() || !AreBytesOf(*digest, *plain)) {
      wrong.insert(*digest);
      continue;
    }
    if (const absl::Status put = work.into.Put(*digest, *plain); !put.ok()) return work.Fails(put);
    ++caller_.counters().blobs_fetched;
    caller_.counters().bytes_fetched += digest->size_bytes();
    open.erase(*digest);
  }
  trust_.CameRight(batch.size() - open.size() - absent);
  for (const Digest& digest : open) {
    if (work.HasOwnError()) return;
    FetchAlone(digest, wrong.contains(digest) ? 1 : kReadsOfABlob, work);
  }
}

void ReapiDownloader::FetchAlone(const Digest& digest, int rounds, Work& work) {
  Stream stream{.digest = digest,
                .into = work.into,
                .is_zstd = work.server.has_zstd_streams && rounds == kReadsOfABlob};
  const absl::Status status = Read(stream, rounds, work.limits);
  if (!stream.own_error.ok()) return work.Fails(stream.own_error);
  if (!status.ok()) work.Lacks(digest);
}

absl::StatusOr<Blob> ReapiDownloader::Get(const Digest& digest, const RemoteLimits& limits) {
  if (digest == Digest()) return MakeBlob("");
  ASSIGN_OR_RETURN(const ReapiCapabilities server, caller_.Capabilities(limits));
  OneBlob into;
  Stream stream{.digest = digest, .into = into, .is_zstd = server.has_zstd_streams};
  RETURN_IF_ERROR(Read(stream, kReadsOfABlob, limits));
  return into.blob;
}

std::optional<bool> ReapiDownloader::IsRightThere(const Digest& digest,
                                                  const RemoteLimits& limits) {
  Nowhere into;
  Stream stream{.digest = digest, .into = into};
  const absl::Status status = ReadStream(stream, /*rounds=*/1, limits);
  if (!status.ok() && !absl::IsDataLoss(status)) return std::nullopt;
  return status.ok();
}

absl::Status ReapiDownloader::CheckAsked(const Digest& digest) const {
  if (digest.size_bytes() > kBlobBytesMax)
    return NotFoundError("blob {} is too large", digest.ToString());
  if (trust_.IsKnownWrong(digest))
    return DataLossError("blob {}: the server's bytes were wrong", digest.ToString());
  return absl::OkStatus();
}

absl::Status ReapiDownloader::Read(Stream& stream, int rounds, const RemoteLimits& limits) {
  RETURN_IF_ERROR(CheckAsked(stream.digest));
  if (limits.is_waited_for && trust_.has_given_up())
    return absl::UnavailableError("it is not read from any more");
  WaitedRead read(limits, trust_);
  const absl::Status status = ReadStream(stream, rounds, read.limits());
  const bool is_of_use = !absl::IsDataLoss(status) && !IsWorthRetrying(status.code());
  read.Ended(stream.digest.size_bytes(), is_of_use, caller_.is_down());
  if (status.ok()) trust_.CameRight(1);
  if (absl::IsDataLoss(status) && stream.own_error.ok()) NoteWrong(stream.digest);
  return status;
}

// Wrong bytes are asked for a second time, from the start and not compressed: a server that ignores
// where a read begins, or one that went away in the middle, shows as that, too.
absl::Status ReapiDownloader::ReadStream(Stream& stream, int rounds, const RemoteLimits& limits) {
  const Digest& digest = stream.digest;
  const int rounds_before = kReadsOfABlob - rounds;
  for (int round = rounds_before; round < kReadsOfABlob; ++round) {
    stream.writer.reset();
    stream.offset = 0;
    stream.is_too_long = false;
    if (round != 0 || digest.size_bytes() > kCompressedBytesMax) stream.is_zstd = false;
    const absl::Status read = caller_.CallInParts(
        "ByteStream.Read", digest.size_bytes(), stream.offset, limits,
        [&](grpc::ClientContext& context) { return ReadOnce(stream, context); });
    RETURN_IF_ERROR(stream.own_error);
    if (absl::IsUnimplemented(read) && stream.is_zstd) {
      caller_.TurnOffZstd();
      continue;
    }
    if (!read.ok() && !absl::IsInvalidArgument(read)) return read;
    if (read.ok() && !stream.is_too_long && stream.writer != nullptr) {
      const absl::Status finished = stream.writer->Finish();
      if (finished.ok()) {
        ++caller_.counters().blobs_fetched;
        caller_.counters().bytes_fetched += digest.size_bytes();
        return absl::OkStatus();
      }
      if (!absl::IsInvalidArgument(finished)) return stream.own_error = finished;
    }
  }
  return DataLossError("blob {}: the server's bytes are wrong", digest.ToString());
}

// Makes one try. Plain bytes go on where the last one broke; compressed ones begin again, since
// some servers send the whole blob wherever a compressed read begins (bb-storage).
grpc::Status ReapiDownloader::ReadOnce(Stream& stream, grpc::ClientContext& context) {
  if (stream.writer == nullptr || stream.is_zstd) {
    absl::StatusOr<std::unique_ptr<BlobWriter>> writer = stream.into.NewWriter(stream.digest);
    if (!writer.ok()) {
      stream.own_error = writer.status();
      return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "our own store");
    }
    stream.writer = *std::move(writer);
    stream.offset = 0;
  }
  google::bytestream::ReadRequest request;
  request.set_resource_name(ReadName(caller_.options().instance, stream.digest, stream.is_zstd));
  request.set_read_offset(static_cast<int64_t>(stream.offset));
  const auto reader = caller_.byte_stream().Read(&context, request);
  const uint64_t size = stream.digest.size_bytes();
  ZstdDecompressor decompressor({.output_bytes_max = size});
  const auto take = [&](std::string_view bytes) -> absl::Status {
    if (bytes.size() > size - stream.offset) {
      stream.is_too_long = true;
      return absl::InvalidArgumentError("too long");
    }
    if (absl::Status status = stream.writer->Append(bytes); !status.ok())
      return stream.own_error = status;
    stream.offset += bytes.size();
    return absl::OkStatus();
  };
  google::bytestream::ReadResponse piece;
  absl::Status taken;
  while (taken.ok() && reader->Read(&piece)) {
    taken = stream.is_zstd ? decompressor.Append(piece.data(), take) : take(piece.data());
  }
  if (!taken.ok()) {
    context.TryCancel();
    (void)reader->Finish();
    // Bytes that are wrong are not asked for again at once.
    return wire::ToGrpc(stream.own_error.ok() ? absl::InvalidArgumentError(MessageOf(taken))
                                              : absl::FailedPreconditionError("our own store"));
  }
  grpc::Status status = reader->Finish();
  if (status.ok() && stream.offset < size) {
    // The server said that this was all. A read that is compressed, or from the start, would end
    // the same again.
    if (stream.is_zstd || request.read_offset() == 0)
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "too short");
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "ended early");
  }
  return status;
}

}  // namespace galley::store
