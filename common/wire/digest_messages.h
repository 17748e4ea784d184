// Digests in messages. There are two forms: the hash in hex digits with an int64 size
// (galley.v1.Digest, REAPI's Digest), and the 32 bytes of the hash with a uint64 size
// (galley.v1.BlobDigest, galley.v1.GetRequest). Only protobuf's accessors are used, so that a user
// of this header links only its own message.
//
// Errors: INVALID_ARGUMENT: the message has no valid digest.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::wire {

template <typename Message>
void SetHexDigest(const Digest& digest, Message* message) {
  message->set_hash(digest.hex());
  message->set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
}
template <typename Message>
absl::StatusOr<Digest> HexDigestOf(const Message& message) {
  return Digest::FromHex(message.hash(), message.size_bytes());
}

template <typename Message>
void SetRawDigest(const Digest& digest, Message* message) {
  message->set_hash(std::string(digest.hash()));
  message->set_size_bytes(digest.size_bytes());
}
template <typename Message>
absl::StatusOr<Digest> RawDigestOf(const Message& message) {
  return Digest::FromHash(message.hash(), message.size_bytes());
}

}  // namespace galley::wire
