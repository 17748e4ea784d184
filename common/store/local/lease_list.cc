#include "common/store/local/lease_list.h"

#include <cstdint>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr uint64_t kListBytesMax = 16 << 20;  // kLeasesMax lines have fewer

// Returns the outcome, for people. ReadOwnFile has moved what was no file.
std::string MoveAside(const std::string& path) {
  if (!FileExists(path)) return "it was moved aside";
  const absl::StatusOr<std::string> aside = PutAside(path);
  return aside.ok() ? "it was moved to " + *aside : MessageOf(aside.status());
}

}  // namespace

LeaseList::LeaseList(const std::string& store_directory) : path_(LeasesPath(store_directory)) {
  const absl::StatusOr<std::string> text = ReadOwnFile(path_, kListBytesMax);
  if (absl::IsNotFound(text.status())) return;
  auto read = text.ok() ? DecodeLeases(*text) : text.status();
  if (read.ok()) {
    const base::MutexLock lock(mutex_);
    for (RootLease& lease : *read) leases_.insert_or_assign(lease.name, std::move(lease));
    return;
  }
  NoteRepair(
      fmt::format("{}: the list of leases cannot be used: {}; {}. What devices look at may be "
                  "collected; they open their sessions anew",
                  path_, MessageOf(read.status()), MoveAside(path_)));
}

std::vector<RootLease> LeaseList::All(absl::Time now) const {
  const base::MutexLock lock(mutex_);
  std::vector<RootLease> all;
  for (const auto& [name, lease] : leases_) {
    if (lease.until > now) all.push_back(lease);
  }
  return all;
}

absl::Status LeaseList::Change(const LeaseChanges& changes, absl::Time now) {
  const base::MutexLock lock(mutex_);
  ByName leases = leases_;
  for (const std::string& name : changes.released) leases.erase(name);
  for (const RootLease& lease : changes.taken) leases.insert_or_assign(lease.name, lease);
  if (leases == leases_) return absl::OkStatus();
  std::erase_if(leases, [&](const auto& one) { return one.second.until <= now; });
  if (leases.size() > kLeasesMax)
    return ResourceExhaustedError("{}: {} leases are kept, and no more", path_, kLeasesMax);
  return Write(std::move(leases));
}

absl::Status LeaseList::Write(ByName leases) {
  std::vector<RootLease> lines;
  lines.reserve(leases.size());
  for (const auto& [name, lease] : leases) lines.push_back(lease);
  RETURN_IF_ERROR(WriteFileAtomic(path_, EncodeLeases(lines), /*sync=*/true));
  leases_ = std::move(leases);
  return absl::OkStatus();
}

}  // namespace galley::store
