// Conversions for the store's protocol (proto/galley/v1/store.proto), for both ends: digests,
// statuses, messages in chunks. Includes gRPC headers: only for .cc files of this folder.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/interface/store_admin.h"
#include "common/wire/digest_messages.h"
#include "galley/v1/store.pb.h"
#include "grpcpp/support/status.h"

namespace galley::store {

inline constexpr size_t kChunkBytesMax = 1 << 20;
inline constexpr size_t kChunkedMessageBytesMax = 1 << 30;

inline absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}
inline grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  // Messages travel as HTTP/2 headers, whose size is limited.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      MessageOf(status).substr(0, 4096));
}

using wire::RawDigestOf;
using wire::SetRawDigest;

v1::DigestList ToWire(std::span<const Digest> digests);
absl::StatusOr<std::vector<Digest>> FromWire(
    const google::protobuf::RepeatedPtrField<v1::BlobDigest>& list);
v1::Root ToWire(const PublishedRoot& root);
absl::StatusOr<PublishedRoot> FromWire(const v1::Root& wire);
v1::RootLease ToWire(const RootLease& lease);
absl::StatusOr<RootLease> FromWire(const v1::RootLease& wire);
absl::StatusOr<std::vector<RootLease>> FromWire(
    const google::protobuf::RepeatedPtrField<v1::RootLease>& list);
v1::LeaseChanges ToWire(const LeaseChanges& changes);
absl::StatusOr<LeaseChanges> FromWire(const v1::LeaseChanges& wire);
v1::CommitRequest ToWire(const CommitBatch& batch);
absl::StatusOr<CommitBatch> FromWire(const v1::CommitRequest& wire);
v1::RevokeReply ToWire(const RevokeReport& report);
absl::StatusOr<RevokeReport> FromWire(const v1::RevokeReply& wire);
v1::WhyReply ToWire(const WhyReport& report);
absl::StatusOr<WhyReport> FromWire(const v1::WhyReply& wire);

// Writes `bytes` in chunks. UNAVAILABLE: the other end went away.
template <typename Writer>
absl::Status WriteChunks(Writer& writer, std::string_view bytes) {
  v1::Chunk chunk;
  for (size_t begin = 0; begin < bytes.size(); begin += kChunkBytesMax) {
    chunk.set_data(std::string(bytes.substr(begin, kChunkBytesMax)));
    if (!writer.Write(chunk))
      return absl::UnavailableError("the other end of the store's socket went away");
  }
  return absl::OkStatus();
}

template <typename Reader>
absl::StatusOr<std::string> ReadChunks(Reader& reader,
                                       size_t size_bytes_max = kChunkedMessageBytesMax) {
  std::string bytes;
  v1::Chunk chunk;
  while (reader.Read(&chunk)) {
    if (chunk.data().size() > size_bytes_max - bytes.size()) {
      return ResourceExhaustedError("a message of more than {} bytes", size_bytes_max);
    }
    bytes += chunk.data();
  }
  return bytes;
}

// The message that was received, or the error of receiving it.
template <typename Message>
absl::StatusOr<Message> ParseMessage(const absl::StatusOr<std::string>& bytes) {
  RETURN_IF_ERROR(bytes.status());
  Message message;
  if (!message.ParseFromString(*bytes))
    return absl::InvalidArgumentError("bytes that are no " + message.GetTypeName());
  return message;
}

// Returns "unix:" and the path, escaped for a gRPC target name.
std::string SocketTarget(std::string_view path);

}  // namespace galley::store
