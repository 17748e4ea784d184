#include "common/store/reapi/server/error_details.h"

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/base/wire_format.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kTypePrefix = "type.googleapis.com/google.rpc.";

absl::Status WithDetail(absl::Status status, std::string_view type, std::string detail) {
  status.SetPayload(fmt::format("{}{}", kTypePrefix, type), absl::Cord(std::move(detail)));
  return status;
}

}  // namespace

absl::Status MissingBlobsError(std::string_view what, std::span<const Digest> missing) {
  WireWriter failure;
  for (const Digest& digest : missing.first(std::min(missing.size(), kViolationsMax))) {
    WireWriter violation;
    violation.Bytes(1, "MISSING");
    violation.Bytes(2, fmt::format("blobs/{}", digest.ToString()));
    failure.Element(1, violation.bytes());
  }
  return WithDetail(
      FailedPreconditionError("{}: {} blobs are missing, the first is {}: upload them first", what,
                              missing.size(), missing.front().ToString()),
      "PreconditionFailure", failure.Take());
}

absl::Status BusyError(std::string_view what, absl::Duration retry_delay) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(retry_delay);
  WireWriter duration, retry;
  duration.Varint(1, static_cast<uint64_t>(nanoseconds / 1'000'000'000));
  duration.Varint(2, static_cast<uint64_t>(nanoseconds % 1'000'000'000));
  retry.Element(1, duration.bytes());
  return WithDetail(ResourceExhaustedError("{}: try again in {} ms", what,
                                           absl::ToInt64Milliseconds(retry_delay)),
                    "RetryInfo", retry.Take());
}

absl::Status ForPeers(const absl::Status& status) {
  if (status.ok()) return status;
  const bool is_ours = absl::IsInternal(status) || absl::IsUnknown(status);
  std::string text = is_ours ? "the server failed; its log says how"
                             : EscapeInvalidUtf8(MessageOf(status).substr(0, kStatusTextBytesMax));
  absl::Status told(status.code(), text);
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& detail) { told.SetPayload(type, detail); });
  return told;
}

std::string EncodeRpcStatus(const absl::Status& status) {
  WireWriter writer;
  writer.Varint(1, static_cast<uint64_t>(status.code()));
  writer.Bytes(2, std::string_view(status.message().data(), status.message().size()));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& detail) {
    WireWriter any;
    any.Bytes(1, std::string_view(type.data(), type.size()));
    any.Bytes(2, std::string(detail));
    writer.Element(3, any.bytes());
  });
  return writer.Take();
}

}  // namespace galley::store
