#include "common/store/interface/leases.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/parse_whole.h"
#include "common/base/plain_text.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kKind = "galley-leases";
constexpr int kVersion = 1;

// Removes the text before the first blank, and returns it.
std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

absl::StatusOr<RootLease> DecodeLease(std::string_view text) {
  RootLease lease;
  const std::string_view time = TakeWord(text), root = TakeWord(text);
  const auto until_us = ParseWhole<int64_t>(time);
  if (!until_us) return DataLossError("`{}` is no time", time);
  lease.until = absl::FromUnixMicros(*until_us);
  const absl::StatusOr<Digest> digest = Digest::Parse(root);
  if (!digest.ok()) return DataLossError("`{}` is no digest", root);
  lease.root = *digest;
  if (!ValidateLeaseName(text).ok()) return DataLossError("`{}` is no name of a lease", text);
  lease.name = text;
  return lease;
}

}  // namespace

absl::Status ValidateLeaseName(std::string_view name) {
  if (!name.empty() && name.size() <= kLeaseNameBytesMax && IsAlphanumericOr(name, "._-+/"))
    return absl::OkStatus();
  return InvalidArgumentError(
      "expected a lease's name of letters, digits and ._-+/, at most {} bytes", kLeaseNameBytesMax);
}

absl::Status ValidateLeaseNames(std::span<const RootLease> leases) {
  for (const RootLease& lease : leases) RETURN_IF_ERROR(ValidateLeaseName(lease.name));
  return absl::OkStatus();
}

std::vector<RootLease> LeasesOfNewRoots(std::span<const RootLease> taken,
                                        std::span<const RootLease> held) {
  std::set<Digest> roots;
  for (const RootLease& lease : held) roots.insert(lease.root);
  std::vector<RootLease> added;
  for (const RootLease& lease : taken) {
    if (!roots.contains(lease.root)) added.push_back(lease);
  }
  return added;
}

absl::Status AbsentRootOfLease(const RootLease& lease) {
  return NotFoundError("root {} of lease {} is not in the store", lease.root.ToString(),
                       lease.name);
}

std::string EncodeLeases(std::span<const RootLease> leases) {
  std::vector<SealedLine> lines;
  lines.reserve(leases.size());
  for (const RootLease& lease : leases) {
    lines.push_back({"lease", fmt::format("{} {} {}", absl::ToUnixMicros(lease.until),
                                          lease.root.ToString(), lease.name)});
  }
  return Seal(kKind, kVersion, lines);
}

absl::StatusOr<std::vector<RootLease>> DecodeLeases(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<SealedLine> lines, Unseal(kKind, kVersion, text));
  std::vector<RootLease> leases;
  for (const SealedLine& line : lines) {
    if (line.key != "lease") continue;
    ASSIGN_OR_RETURN(RootLease lease, DecodeLease(line.value));
    leases.push_back(std::move(lease));
  }
  return leases;
}

}  // namespace galley::store
