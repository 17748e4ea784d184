#include "director/journal/record_builder.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {

absl::Status RecordBuilder::Add(std::string_view key, std::string_view value) {
  const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
  if (!parts) return absl::DataLossError("the journal holds a malformed key");
  return Annotate(AddPart(*parts, value), fmt::format("record of {}", parts->package));
}

absl::Status RecordBuilder::AddPart(const PackageKeyParts& parts, std::string_view value) {
  switch (parts.tag) {
    case kFailureTag: {
      ASSIGN_OR_RETURN(record_.failures[std::string(parts.platform)], DecodeFailure(value));
      return absl::OkStatus();
    }
    case kInstigatorsTag: {
      ASSIGN_OR_RETURN(record_.instigators, DecodeInstigators(value));
      return absl::OkStatus();
    }
    case kPublishedTag: {
      ASSIGN_OR_RETURN(Published published, DecodePublished(value));
      published_.emplace_back(parts.platform, std::move(published));
      return absl::OkStatus();
    }
    case kRecordTag: {
      ASSIGN_OR_RETURN(PlatformRecord record, DecodePlatformRecord(value));
      record_.platforms.emplace(parts.platform, std::move(record));
      return absl::OkStatus();
    }
    case kUntrustedTag: {
      if (const auto found = record_.platforms.find(std::string(parts.platform));
          found != record_.platforms.end()) {
        found->second.is_trusted = false;
      }
      return absl::OkStatus();
    }
    default:
      return DataLossError("the journal holds an unknown kind of record for {}", parts.package);
  }
}

std::optional<PackageRecord> RecordBuilder::Take() {
  for (auto& [platform, published] : published_) {
    const auto found = record_.platforms.find(platform);
    if (found == record_.platforms.end()) continue;
    found->second.published_key = published.key;
    found->second.published_in = std::move(published.in);
  }
  published_.clear();
  PackageRecord record = std::exchange(record_, PackageRecord());
  if (record.platforms.empty() && record.instigators.empty() && record.failures.empty())
    return std::nullopt;
  return record;
}

}  // namespace galley::director
