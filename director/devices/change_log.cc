#include "director/devices/change_log.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"

namespace galley::devices {
namespace {

template <typename T>
void AppendAll(std::vector<T>&& from, std::vector<T>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void AppendPaths(WorldChange&& change, ChangeEvent& event) {
  AppendAll(std::move(change.added), event.added);
  AppendAll(std::move(change.modified), event.modified);
  AppendAll(std::move(change.removed), event.removed);
}

// Shortens a list so that `left` entries more may be named. Returns whether something was cut off.
template <typename T>
bool CutList(std::vector<T>& list, size_t& left) {
  const bool is_cut = list.size() > left;
  if (is_cut) list.erase(list.begin() + static_cast<std::ptrdiff_t>(left), list.end());
  left -= list.size();
  return is_cut;
}

// Cuts a sorted event off behind so many entries. What went comes first.
void CutEvent(ChangeEvent& event, size_t entries_max) {
  size_t left = entries_max;
  for (auto* const list : {&event.removed, &event.modified, &event.added})
    event.is_cut = CutList(*list, left) || event.is_cut;
  event.is_cut = CutList(event.failures, left) || event.is_cut;
  event.is_cut = CutList(event.healed, left) || event.is_cut;
  event.is_cut = CutList(event.conflicts, left) || event.is_cut;
  event.is_cut = CutList(event.stale, left) || event.is_cut;
}

void SortEvent(ChangeEvent& event) {
  SortUnique(event.added);
  SortUnique(event.modified);
  SortUnique(event.removed);
  SortUnique(event.stale);
  SortUnique(event.healed);
  std::ranges::sort(event.failures, {}, &PackageFailure::package);
}

// The entry for this path in a list that is sorted by path; nullptr: there is none.
ChangedPath* ChangeAt(std::vector<ChangedPath>& list, const std::string& path) {
  const auto at = std::ranges::lower_bound(list, path, {}, &ChangedPath::path);
  return at == list.end() || at->path != path ? nullptr : &*at;
}

}  // namespace

void ChangeLog::NoteWorld(uint64_t world, WorldChange changed, const DeviceView& view,
                          absl::Time now) {
  world_ = world;
  root_ = view.root;
  if (changed.is_cut) ForgetOlder(now);
  CarryOver(changed);
  ChangeEvent event = NewEvent();
  event.is_cut = changed.is_cut;
  std::vector<NodeKey> keys;
  for (StalePackage& package : changed.stale) {
    const NodeKey key = NodeKeyOf(package.package);
    // A failure or healing that was not told yet is one of the older world.
    if (const auto failure = failures_.find(key); failure != failures_.end())
      SetFailure(key, failure->second.told, now);
    if (!package.is_new && view.nodes.Find(key) == nullptr)
      std::ranges::copy(package.Paths(), std::back_inserter(event.stale));
    stale_.insert_or_assign(key, std::move(package));
    keys.push_back(key);
  }
  for (const std::string& package : changed.not_stale) NoteHealed(package, now);
  AppendPaths(std::move(changed), event);
  // The package may be cooked already: its older result holds in the newer world.
  for (const NodeKey& key : keys) Settle(key, view, now, event);
  Tell(std::move(event));
}

void ChangeLog::NoteGrowth(const DeviceView& view, absl::Time now) {
  root_ = view.root;
  ChangeEvent event = NewEvent();
  for (const NodeKey& key : view.added) Settle(key, view, now, event);
  Tell(std::move(event));
}

void ChangeLog::ForgetOlder(absl::Time now) {
  stale_.clear();
  std::vector<NodeKey> failed;
  for (const auto& [key, state] : failures_) failed.push_back(key);
  for (const NodeKey& key : failed) SetFailure(key, std::nullopt, now);
}

void ChangeLog::CarryOver(WorldChange& changed) {
  std::vector<ChangedPath> more;
  for (StalePackage& package : changed.stale) {
    const auto old = stale_.find(NodeKeyOf(package.package));
    if (old == stale_.end()) continue;
    package.is_new = package.is_new || old->second.is_new;
    for (const auto& [path, digest] : old->second.before) {
      if (ChangedPath* const removed = ChangeAt(changed.removed, path)) {
        removed->before = digest;
      } else if (path.starts_with(package.stage_path)) {
        package.before.try_emplace(path, digest);
      } else {
        more.push_back({path, digest, std::nullopt});
      }
    }
  }
  for (const std::string& package : changed.not_stale) {
    const auto old = stale_.find(NodeKeyOf(package));
    if (old == stale_.end()) continue;
    for (const auto& [path, digest] : old->second.before) {
      ChangedPath* const there = ChangeAt(changed.removed, path) != nullptr
                                     ? ChangeAt(changed.removed, path)
                                     : ChangeAt(changed.modified, path);
      if (there != nullptr) {
        there->before = digest;
      } else {
        more.push_back({path, digest, std::nullopt});
      }
    }
    stale_.erase(old);
  }
  AppendAll(std::move(more), changed.removed);
}

void ChangeLog::Settle(const NodeKey& key, const DeviceView& view, absl::Time now,
                       ChangeEvent& event) {
  const DeviceNode* const node = view.nodes.Find(key);
  if (node == nullptr) return;
  SetFailure(key, std::nullopt, now);
  const auto stale = stale_.find(key);
  if (stale == stale_.end()) return;
  AppendPaths(SettledChange(stale->second, *node), event);
  stale_.erase(stale);
}

void ChangeLog::NoteFailed(PackageFailure failure, absl::Time now) {
  const NodeKey key = NodeKeyOf(failure.package);
  SetFailure(key, std::move(failure), now);
}

void ChangeLog::NoteHealed(const std::string& package, absl::Time now) {
  SetFailure(NodeKeyOf(package), std::nullopt, now);
}

void ChangeLog::SetFailure(const NodeKey& key, std::optional<PackageFailure> now_is,
                           absl::Time now) {
  auto at = failures_.find(key);
  if (at == failures_.end()) {
    if (!now_is) return;
    at = failures_.try_emplace(key).first;
  }
  FailureState& state = at->second;
  due_.erase(std::pair(state.due, key));
  state.now = std::move(now_is);
  state.due = absl::InfiniteFuture();
  if (state.now != state.told) {
    state.due = now + kQuiet;
    due_.emplace(state.due, key);
  } else if (!state.told) {
    failures_.erase(at);
  }
}

void ChangeLog::NoteConflict(PathConflict conflict) {
  ChangeEvent event = NewEvent();
  event.conflicts.push_back(std::move(conflict));
  Tell(std::move(event));
}

absl::Time ChangeLog::ticks_at() const {
  return due_.empty() ? absl::InfiniteFuture() : due_.begin()->first;
}

void ChangeLog::Tick(absl::Time now) {
  ChangeEvent event = NewEvent();
  while (!due_.empty() && due_.begin()->first <= now) {
    const NodeKey key = due_.begin()->second;
    due_.erase(due_.begin());
    FailureState& state = failures_.at(key);
    state.due = absl::InfiniteFuture();
    if (state.now) {
      event.failures.push_back(*state.now);
    } else {
      event.healed.push_back(state.told->package);
    }
    state.told = state.now;
    if (!state.told) failures_.erase(key);
  }
  if (event.entries() > 0) Tell(std::move(event));
}

ChangeEvent ChangeLog::NewEvent() const { return {.world = world_, .root = root_}; }

void ChangeLog::Tell(ChangeEvent event) {
  SortEvent(event);
  CutEvent(event, options_.event_max);
  event.id = {.term = options_.term, .number = ++last_number_};
  entries_ += event.entries();
  events_.push_back(std::make_shared<const ChangeEvent>(std::move(event)));
  while (!events_.empty() &&
         (events_.size() > options_.events_max || entries_ > options_.entries_max)) {
    entries_ -= events_.front()->entries();
    events_.pop_front();
  }
}

std::vector<ChangeEventPtr> ChangeLog::Since(const EventId& after) const {
  const bool is_known = after.term == options_.term && after.number <= last_number_;
  if (!is_known || last_number_ - after.number > events_.size()) return {Snapshot()};
  const auto count = static_cast<std::ptrdiff_t>(last_number_ - after.number);
  return std::vector<ChangeEventPtr>(events_.end() - count, events_.end());
}

std::vector<PackageFailure> ChangeLog::Failures() const {
  std::vector<PackageFailure> failures;
  for (const auto& [key, state] : failures_) {
    if (state.told) failures.push_back(*state.told);
  }
  return failures;
}

ChangeEventPtr ChangeLog::Snapshot() const {
  ChangeEvent event = NewEvent();
  event.id = last();
  event.is_snapshot = true;
  event.failures = Failures();
  for (const auto& [key, package] : stale_) {
    if (event.stale.size() > options_.listed_max) break;
    if (!package.is_new) AppendAll(package.Paths(), event.stale);
  }
  event.is_cut =
      event.failures.size() > options_.listed_max || event.stale.size() > options_.listed_max;
  SortEvent(event);
  if (event.failures.size() > options_.listed_max) event.failures.resize(options_.listed_max);
  if (event.stale.size() > options_.listed_max) event.stale.resize(options_.listed_max);
  return std::make_shared<const ChangeEvent>(std::move(event));
}

}  // namespace galley::devices
