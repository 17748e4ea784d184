// Requests and replies as protobuf messages, for tests of code that encodes and decodes by hand.
#pragma once

#include <string>
#include <string_view>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/digest.h"
#include "common/store/reapi/server/reapi_core.h"
#include "common/wire/digest_messages.h"
#include "google/bytestream/bytestream.pb.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"

namespace galley::store {

namespace reapi = build::bazel::remote::execution::v2;

inline void SetWire(const Digest& digest, reapi::Digest* message) {
  wire::SetHexDigest(digest, message);
}
inline Digest FromWire(const reapi::Digest& message) { return wire::HexDigestOf(message).value(); }

template <typename Message>
Message Parsed(std::string_view bytes) {
  Message message;
  EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return message;
}
template <typename Message>
Message ParsedReply(const ReapiCore::Reply& reply) {
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() ? Parsed<Message>(reply->reply) : Message();
}

// Returns the detail of `type` in a status.
template <typename Detail>
Detail DetailOf(const absl::Status& status, std::string_view type) {
  const auto payload = status.GetPayload("type.googleapis.com/google.rpc." + std::string(type));
  EXPECT_TRUE(payload.has_value()) << status;
  return payload.has_value() ? Parsed<Detail>(std::string(*payload)) : Detail();
}

}  // namespace galley::store
