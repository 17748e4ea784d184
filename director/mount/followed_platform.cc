#include "director/mount/followed_platform.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "common/base/log.h"

namespace galley::mount {
namespace {

constexpr std::chrono::seconds kRetry(1);
constexpr std::chrono::milliseconds kGather(20);  // an event names many paths, one after the other

}  // namespace

void FollowedPlatform::Follow(Changed changed) {
  follows_ = true;
  hearer_ = std::thread([this] { Hear(); });
  teller_ = std::thread([this, changed = std::move(changed)] { GoOn(changed); });
}

void FollowedPlatform::Stop() {
  const std::lock_guard stopping(stop_mutex_);
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = true;
    noted_.notify_all();
  }
  client_.Cancel();
  if (hearer_.joinable()) hearer_.join();
  if (teller_.joinable()) teller_.join();
}

// ------------------------------------------------------------------ newer versions

void FollowedPlatform::Hear() {
  while (true) {
    const vfs::Result<int> ended = client_.WatchChanges([this](const vfs::Change& change) {
      Note(change);
      return 0;
    });
    std::unique_lock lock(mutex_);
    if (noted_.wait_for(lock, kRetry, [this] { return has_stopped_; })) return;
    if (!ended.ok()) LogWarning("changes are not heard of: {}", ended.fault().text);
  }
}

void FollowedPlatform::Note(const vfs::Change& change) {
  if (change.kind == GALLEY_VFS_BROKEN)
    LogWarning("package={} cannot be cooked: {}", change.path, change.text);
  const std::lock_guard lock(mutex_);
  if (change.kind == GALLEY_VFS_MORE) changes_.is_all = true;
  const bool is_path = change.kind == GALLEY_VFS_ADDED || change.kind == GALLEY_VFS_MODIFIED ||
                       change.kind == GALLEY_VFS_REMOVED || change.kind == GALLEY_VFS_STALE;
  if (is_path) changes_.paths.push_back(change.path);
  // A package that fails may be answered by its last good version, or no longer be.
  if (is_path || changes_.is_all) noted_.notify_all();
}

// False: it ends.
bool FollowedPlatform::AwaitChanges(Changes& changes) {
  std::unique_lock lock(mutex_);
  const auto has_stopped = [this] { return has_stopped_; };
  noted_.wait(lock, [this] { return has_stopped_ || changes_.is_all || !changes_.paths.empty(); });
  if (noted_.wait_for(lock, kGather, has_stopped)) return false;
  changes = std::exchange(changes_, {});
  return true;
}

void FollowedPlatform::GoOn(const Changed& changed) {
  std::string said;  // why the newest version is not seen, once
  for (Changes changes; AwaitChanges(changes);) {
    const vfs::Result<bool> advanced = client_.Advance();
    std::vector<std::string> later = changes.paths;
    if (advanced.ok()) {
      said.clear();
      log_.NoteChanged();
      later = changed(changes);
    } else if (std::exchange(said, advanced.fault().text) != said) {
      LogWarning("the newest version is not seen yet: {}", said);
    }
    // Paths that have to wait need no newer version.
    std::unique_lock lock(mutex_);
    while (!later.empty() || !advanced.ok()) {
      if (noted_.wait_for(lock, kRetry, [this] { return has_stopped_; })) return;
      if (!advanced.ok()) {
        changes_.is_all = changes_.is_all || changes.is_all;
        std::ranges::move(later, std::back_inserter(changes_.paths));
        break;
      }
      lock.unlock();
      later = changed({.paths = std::move(later), .is_all = false});
      lock.lock();
    }
  }
}

// ------------------------------------------------------------------ files

template <typename Call>
auto FollowedPlatform::InNewest(const std::atomic<bool>& stop, const Call& call)
    -> decltype(call()) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms_);
  while (true) {
    const std::string session = client_.status().session.view.id;
    auto result = call();
    const bool is_older = !result.ok() && result.fault().code == GALLEY_VFS_SUPERSEDED && follows_;
    if (!is_older || stop || std::chrono::steady_clock::now() >= until) return result;
    const vfs::Result<bool> advanced = client_.Advance(session, &stop);
    if (!advanced.ok()) return advanced.fault();
  }
}

vfs::Result<vfs::ShownPath> FollowedPlatform::LookHere(const std::string& path) {
  return client_.Look(path, /*is_from_cache=*/true);
}

vfs::Result<vfs::ShownPath> FollowedPlatform::Look(const std::string& path,
                                                   const std::atomic<bool>& stop) {
  return InNewest(stop, [&] { return client_.Look(path, /*is_from_cache=*/false, &stop); });
}

vfs::Result<std::vector<vfs::ShownEntry>> FollowedPlatform::List(const std::string& path,
                                                                 const std::atomic<bool>& stop) {
  return InNewest(stop, [&] { return client_.List(path, &stop); });
}

vfs::Outcome FollowedPlatform::Cook(const std::string& ask, const std::atomic<bool>& stop) {
  const vfs::Result<bool> cooked = InNewest(stop, [&]() -> vfs::Result<bool> {
    if (vfs::Outcome failed = client_.Cook(ask, &stop)) return *std::move(failed);
    return true;
  });
  return cooked.ok() ? std::nullopt : vfs::Outcome(cooked.fault());
}

vfs::Result<OpenedFile> FollowedPlatform::Open(const std::string& path,
                                               const std::atomic<bool>& stop) {
  vfs::Result<vfs::Client::Opened> opened =
      InNewest(stop, [&] { return client_.Open(path, &stop); });
  if (!opened.ok()) return opened.fault();
  const vfs::Result<vfs::ShownPath> shown = LookHere(path);
  const auto* const file = shown.ok() ? std::get_if<vfs::FileAt>(&*shown) : nullptr;
  return OpenedFile{.file = std::move(opened->file),
                    .blob = opened->blob,
                    .is_executable = file != nullptr && file->is_executable};
}

vfs::Result<std::shared_ptr<vfs::OpenFile>> FollowedPlatform::OpenBlob(
    const vfs::BlobId& blob, const std::atomic<bool>& stop) {
  return client_.OpenBlob(blob, &stop);
}

}  // namespace galley::mount
