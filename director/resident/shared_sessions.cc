#include "director/resident/shared_sessions.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::director {

ShownWorldPtr SharedSessions::present() const {
  base::MutexLock lock(mutex_);
  return held_.empty() ? nullptr : held_.back();
}

std::string SharedSessions::why_not() const {
  base::MutexLock lock(mutex_);
  return why_not_;
}

void SharedSessions::SetWhyNot(std::string why) {
  base::MutexLock lock(mutex_);
  why_not_ = std::move(why);
}

uint64_t SharedSessions::oldest() const {
  base::MutexLock lock(mutex_);
  return held_.empty() ? 0 : held_.front()->number;
}

void SharedSessions::BeginWorld(ShownWorldPtr shown, absl::Time now) {
  base::MutexLock lock(mutex_);
  sessions_.BeginWorld(shown->number, now);
  held_.push_back(std::move(shown));
  if (held_.size() > worlds_max_) held_.pop_front();
  const uint64_t oldest = held_.front()->number;
  std::erase_if(shown_, [&](const auto& one) { return one.second->number < oldest; });
  // An audience without sessions has no newest root that somebody may be told.
  leased_.KeepOnly(sessions_.Audiences());
}

void SharedSessions::ReplacePresent(const ShownWorldPtr& shown) {
  base::MutexLock lock(mutex_);
  held_.back() = shown;
  for (auto& [digest, one] : shown_) {
    if (one->number == shown->number) one = shown;
  }
}

void SharedSessions::SetNewest(const ShownWorldPtr& shown, devices::DeviceViewPtr view,
                               std::optional<devices::WorldChange> changed, absl::Time now) {
  base::MutexLock lock(mutex_);
  shown_[view->world_digest] = shown;
  has_unleased_ = true;
  if (shown->number == held_.back()->number)
    leased_.SetNewest({.platform = view->world->platform, .cultures = view->world->cultures},
                      view->root);
  sessions_.SetNewest(std::move(view), shown->number, std::move(changed), now);
}

ShownWorldPtr SharedSessions::ShownOf(const Digest& world_digest) const {
  const auto found = shown_.find(world_digest);
  return found == shown_.end() ? nullptr : found->second;
}

void SharedSessions::DropTree(const devices::Audience& audience, const Digest& world_digest) {
  base::MutexLock lock(mutex_);
  shown_.erase(world_digest);
  leased_.Drop(audience);
  sessions_.LetGo(world_digest);
}

absl::StatusOr<SharedSessions::Seen> SharedSessions::Renew(const std::string& id, absl::Time now) {
  base::MutexLock lock(mutex_);
  absl::StatusOr<devices::SessionView> renewed = sessions_.Renew(id, now);
  if (!renewed.ok()) return NotThere(renewed.status());
  devices::SessionView session = *std::move(renewed);
  Seen seen;
  if (session.standing != devices::SessionStanding::kFrozen) {
    seen.shown = ShownOf(session.world_digest);
    seen.newest = sessions_.NewestOf(session.world_digest);
  }
  seen.session = std::move(session);
  TellLeasedRoots(seen);
  return seen;
}

// A root is told when the store keeps it.
void SharedSessions::TellLeasedRoots(Seen& seen) {
  devices::SessionView& session = seen.session;
  const Digest* const own = leased_.Find(devices::LeaseName(
      project_, {.session = session.id, .takes_last_good = session.takes_last_good}));
  if (own != nullptr && *own != session.root) {
    seen.is_settling = true;
    session.root = *own;
  }
  // If the audience has no tree any more, what was leased for it may be released.
  if (session.newest_root == Digest() || leased_.Has(session.newest_root)) return;
  session.newest_root = leased_.NewestLeased(session.audience);
}

absl::StatusOr<std::vector<devices::ChangeEventPtr>> SharedSessions::EventsSince(
    const std::string& id, const std::optional<devices::EventId>& after) {
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(std::vector<devices::ChangeEventPtr> events, sessions_.EventsSince(id, after));
  if (!has_unleased_ || events.empty()) return events;
  is_missed_ = true;
  return std::vector<devices::ChangeEventPtr>();
}

bool SharedSessions::TakeMissed() {
  base::MutexLock lock(mutex_);
  return !has_unleased_ && std::exchange(is_missed_, false);
}

absl::Status SharedSessions::NotThere(const absl::Status& absent) const {
  return is_restoring_ ? UnavailableError("{}", kSessionsAreRestored) : absent;
}

absl::Status SharedSessions::BeginStream(const std::string& id, absl::Time now) {
  base::MutexLock lock(mutex_);
  const absl::Status begun = sessions_.BeginStream(id, now);
  return begun.ok() ? begun : NotThere(begun);
}

bool SharedSessions::IsLeased(const Digest& root) const {
  base::MutexLock lock(mutex_);
  return leased_.Has(root);
}

void SharedSessions::BeginRestore() {
  base::MutexLock lock(mutex_);
  is_restoring_ = true;
}

void SharedSessions::EndRestore(std::vector<store::RootLease> leases) {
  base::MutexLock lock(mutex_);
  is_restoring_ = false;
  leased_.NoteChanges({.taken = leases});
  sessions_.NoteHeldLeases(std::move(leases));
}

void SharedSessions::NoteRead(const std::string& id, const std::vector<std::string>& packages) {
  base::MutexLock lock(mutex_);
  for (const std::string& package : packages) {
    const PackageId next(static_cast<uint32_t>(ids_.size()));
    const auto [known, is_new] = ids_.try_emplace(package, next);
    if (is_new) names_.push_back(package);
    sessions_.NoteRead(id, known->second);
  }
}

std::vector<std::string> SharedSessions::ReadAmong(const devices::Audience& audience,
                                                   const std::vector<std::string>& changed) const {
  base::MutexLock lock(mutex_);
  std::vector<PackageId> ids;
  std::map<PackageId, std::string> names;
  for (const std::string& package : changed) {
    const auto known = ids_.find(package);
    if (known == ids_.end()) continue;
    ids.push_back(known->second);
    names[known->second] = package;
  }
  std::vector<std::string> read;
  for (const PackageId id : sessions_.ReadAmong(audience, ids)) read.push_back(names.at(id));
  return read;
}

std::vector<std::string> SharedSessions::AllRead(const devices::Audience& audience,
                                                 size_t packages_max) const {
  base::MutexLock lock(mutex_);
  std::vector<PackageId> ids;
  for (uint32_t i = 0; i < names_.size(); ++i) ids.emplace_back(i);
  std::vector<std::string> read;
  for (const PackageId id : sessions_.ReadAmong(audience, ids)) {
    if (read.size() == packages_max) break;
    read.push_back(names_[id.value()]);
  }
  return read;
}

std::optional<SharedSessions::LastGood> SharedSessions::FindLastGood(
    const devices::Audience& audience, const std::string& package,
    const std::string& suffix) const {
  base::MutexLock lock(mutex_);
  std::optional<LastGood> best;
  uint64_t newest = 0;
  for (const auto& [digest, shown] : shown_) {
    const devices::DeviceViewPtr view = sessions_.NewestOf(digest);
    if (view == nullptr || shown->number == held_.back()->number || shown->number < newest)
      continue;
    if (view->world->platform != audience.platform || view->world->cultures != audience.cultures)
      continue;
    const devices::FileAnswer answer = view->Find(package, suffix);
    const auto* file = std::get_if<devices::CookedFile>(&answer);
    if (file == nullptr) continue;
    best = LastGood{.file = *file, .root = view->root};
    newest = shown->number;
  }
  return best;
}

absl::Status SharedSessions::FlushLeases() {
  store::LeaseChanges changes;
  {
    base::MutexLock lock(mutex_);
    changes = sessions_.TakeLeaseChanges();
  }
  const bool is_empty = changes.released.empty() && changes.taken.empty();
  const absl::Status told = is_empty ? absl::OkStatus() : store_.ChangeLeases(changes);
  base::MutexLock lock(mutex_);
  if (told.ok()) {
    leased_.NoteChanges(changes);
    has_unleased_ = false;
  } else {
    sessions_.NoteLeasesLost(changes);
  }
  return Annotate(told, "leasing roots for devices");
}

}  // namespace galley::director
