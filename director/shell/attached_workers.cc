#include "director/shell/attached_workers.h"

#include <algorithm>
#include <charconv>

#include "common/base/status_macros.h"
#include "director/core/jobs/worker_table.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kLocal = "local-";

// Returns 2 for "local-3" with the prefix "local-"; nullopt for another kind of name.
std::optional<uint32_t> NumberAfter(std::string_view prefix, std::string_view name) {
  if (prefix.empty() || !name.starts_with(prefix)) return std::nullopt;
  uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, number);
  if (error != std::errc() || rest != end || number == 0 || number > kLaunchedWorkers)
    return std::nullopt;
  return number - 1;
}

// The id of a worker that a launcher named.
std::optional<WorkerId> OwnId(std::string_view launched, std::string_view name) {
  if (const auto local = NumberAfter(kLocal, name)) return WorkerId(*local);
  if (const auto number = NumberAfter(launched, name)) return WorkerId(kLaunchedWorkers + *number);
  return std::nullopt;
}

}  // namespace

bool AttachedWorkers::IsOurs(std::string_view name) const {
  return IsLocal(name) || OwnId(launched_, name).has_value();
}

bool AttachedWorkers::IsLocal(std::string_view name) { return name.starts_with(kLocal); }

std::string AttachedWorkers::LauncherOf(std::string_view name) const {
  if (IsLocal(name)) return "local";
  return IsOurs(name) ? launcher_ : kByHand;
}

bool AttachedWorkers::MayTake(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  return OwnId(launched_, name).has_value() || foreign_.contains(name) ||
         foreign_names_.size() < kForeignMax;
}

WorkerId AttachedWorkers::IdOf(std::string_view name) {
  if (const std::optional<WorkerId> own = OwnId(launched_, name)) return *own;
  const base::MutexLock lock(mutex_);
  const auto found = foreign_.find(name);
  if (found != foreign_.end()) return found->second;
  const WorkerId id(kForeignWorkers + static_cast<uint32_t>(foreign_names_.size()));
  foreign_.emplace(name, id);
  foreign_names_.emplace_back(name);
  return id;
}

std::string AttachedWorkers::NameOf(WorkerId worker) const {
  const Pool pool = PoolOf(worker);
  if (pool == Pool::kLocal) return fmt::format("{}{}", kLocal, worker.value() + 1);
  if (pool == Pool::kLaunched)
    return fmt::format("{}{}", launched_, worker.value() - kLaunchedWorkers + 1);
  const base::MutexLock lock(mutex_);
  const size_t number = worker.value() - kForeignWorkers;
  GALLEY_CHECK(number < foreign_names_.size());
  return foreign_names_[number];
}

void AttachedWorkers::Attach(const std::string& name, std::optional<uint64_t> segment,
                             absl::Time now) {
  const base::MutexLock lock(mutex_);
  attached_[name] = {.segment = segment, .heard = now, .walls_missing = ""};
}

void AttachedWorkers::SetWallsMissing(const std::string& name, const std::string& why) {
  const base::MutexLock lock(mutex_);
  if (const auto found = attached_.find(name); found != attached_.end())
    found->second.walls_missing = why;
}

std::string AttachedWorkers::WallsMissingOf(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = attached_.find(name);
  return found == attached_.end() ? "" : found->second.walls_missing;
}

void AttachedWorkers::SetSegment(const std::string& name, uint64_t segment) {
  const base::MutexLock lock(mutex_);
  if (const auto found = attached_.find(name); found != attached_.end())
    found->second.segment = segment;
}

std::optional<uint64_t> AttachedWorkers::SegmentOf(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = attached_.find(name);
  return found == attached_.end() ? std::nullopt : found->second.segment;
}

bool AttachedWorkers::HasFiles(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = attached_.find(name);
  // A worker that a dead director started, and that is not back yet, has the local files.
  return found == attached_.end() ? IsLocal(name) : found->second.segment.has_value();
}

std::vector<std::string> AttachedWorkers::Names() const {
  const base::MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, attached] : attached_) names.push_back(name);
  return names;
}

void AttachedWorkers::Heard(std::string_view name, absl::Time now) {
  const base::MutexLock lock(mutex_);
  if (const auto found = attached_.find(name); found != attached_.end()) found->second.heard = now;
}

void AttachedWorkers::Remove(std::string_view name) {
  const base::MutexLock lock(mutex_);
  if (const auto found = attached_.find(name); found != attached_.end()) attached_.erase(found);
}

std::vector<std::string> AttachedWorkers::RemoveSilentSince(absl::Time since,
                                                            absl::Time long_since) {
  const base::MutexLock lock(mutex_);
  size_t far = 0, quiet = 0;
  for (const auto& [name, attached] : attached_) {
    far += !IsLocal(name);
    quiet += !IsLocal(name) && attached.heard <= since;
  }
  if (quiet == 0) return {};
  if (quiet >= kManySilent && 2 * quiet > far) since = long_since;
  std::vector<std::string> silent;
  for (auto at = attached_.begin(); at != attached_.end();) {
    if (IsLocal(at->first) || at->second.heard > since) {
      ++at;
    } else {
      silent.push_back(at->first);
      at = attached_.erase(at);
    }
  }
  return silent;
}

}  // namespace galley::director
