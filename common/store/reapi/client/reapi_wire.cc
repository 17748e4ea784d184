#include "common/store/reapi/client/reapi_wire.h"

#include "fmt/format.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace galley::store {
namespace {

std::string BlobName(const Digest& digest, bool is_zstd) {
  return fmt::format("{}/{}/{}", is_zstd ? "compressed-blobs/zstd" : "blobs", digest.hex(),
                     digest.size_bytes());
}

std::string Prefix(std::string_view instance) {
  return instance.empty() ? std::string() : fmt::format("{}/", instance);
}

}  // namespace

std::string ReadName(std::string_view instance, const Digest& digest, bool is_zstd) {
  return Prefix(instance) + BlobName(digest, is_zstd);
}

std::string WriteName(std::string_view instance, std::string_view uuid, const Digest& digest,
                      bool is_zstd) {
  return fmt::format("{}uploads/{}/{}", Prefix(instance), uuid, BlobName(digest, is_zstd));
}

std::optional<absl::Duration> RetryInfoIn(const std::string& status_details) {
  google::rpc::Status status;
  if (status_details.empty() || !status.ParseFromString(status_details)) return std::nullopt;
  for (const google::protobuf::Any& detail : status.details()) {
    google::rpc::RetryInfo info;
    if (!detail.Is<google::rpc::RetryInfo>() || !detail.UnpackTo(&info) || !info.has_retry_delay())
      continue;
    return absl::Seconds(info.retry_delay().seconds()) +
           absl::Nanoseconds(info.retry_delay().nanos());
  }
  return std::nullopt;
}

}  // namespace galley::store
