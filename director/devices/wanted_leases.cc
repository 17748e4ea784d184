#include "director/devices/wanted_leases.h"

#include <utility>

#include "common/base/plain_text.h"
#include "director/devices/node_path.h"

namespace galley::devices {
namespace {

constexpr std::string_view kSessionLease = "/device-session/";
constexpr std::string_view kLastGoodLease = "/device-last-good/";
constexpr std::string_view kTreeLease = "/device-tree/";

std::string_view KindOfLease(const LeaseOwner& owner) {
  if (owner.session.empty()) return kTreeLease;
  return owner.takes_last_good ? kLastGoodLease : kSessionLease;
}

}  // namespace

bool IsSessionId(std::string_view id) {
  return !id.empty() && id.size() <= kSessionIdBytesMax && IsAlphanumericOr(id, "_-");
}

std::string LeaseName(std::string_view project, const LeaseOwner& owner) {
  return std::string(project) + std::string(KindOfLease(owner)) +
         (owner.session.empty() ? owner.tree : owner.session);
}

std::optional<LeaseOwner> ParseLeaseName(std::string_view project, std::string_view name) {
  if (!name.starts_with(project)) return std::nullopt;
  const std::string_view rest = name.substr(project.size());
  LeaseOwner owner;
  if (rest.starts_with(kTreeLease)) {
    owner.tree = rest.substr(kTreeLease.size());
    return ParseNodeKey(owner.tree) ? std::optional(owner) : std::nullopt;
  }
  owner.takes_last_good = rest.starts_with(kLastGoodLease);
  const std::string_view kind = owner.takes_last_good ? kLastGoodLease : kSessionLease;
  if (!rest.starts_with(kind)) return std::nullopt;
  owner.session = rest.substr(kind.size());
  return IsSessionId(owner.session) ? std::optional(owner) : std::nullopt;
}

void WantedLeases::NoteHeld(std::vector<store::RootLease> leases) {
  for (store::RootLease& lease : leases) {
    touched_.insert(lease.name);
    std::string name = lease.name;
    told_.insert_or_assign(std::move(name), std::move(lease));
  }
}

void WantedLeases::Want(const std::string& name, const Digest& root, absl::Time now) {
  store::RootLease& lease = wanted_[name];
  const bool is_held = lease.name == name && lease.root == root && lease.until - now >= kRenewal;
  if (is_held) return;
  lease = {.name = name, .root = root, .until = now + kLength};
  touched_.insert(name);
}

void WantedLeases::Drop(const std::string& name) {
  if (wanted_.erase(name) > 0) touched_.insert(name);
}

store::LeaseChanges WantedLeases::TakeChanges() {
  store::LeaseChanges changes;
  for (const std::string& name : touched_) {
    const auto wanted = wanted_.find(name);
    const auto told = told_.find(name);
    if (wanted == wanted_.end()) {
      if (told == told_.end()) continue;
      changes.released.push_back(name);
      told_.erase(told);
    } else if (told == told_.end() || told->second != wanted->second) {
      changes.taken.push_back(wanted->second);
      told_.insert_or_assign(name, wanted->second);
    }
  }
  touched_.clear();
  return changes;
}

void WantedLeases::NoteLost(const store::LeaseChanges& changes) {
  for (const store::RootLease& lease : changes.taken) {
    told_.erase(lease.name);
    touched_.insert(lease.name);
  }
  // Whether the store still has these is not known: they are released once more.
  for (const std::string& name : changes.released) {
    told_.insert_or_assign(name, store::RootLease{.name = name});
    touched_.insert(name);
  }
}

}  // namespace galley::devices
