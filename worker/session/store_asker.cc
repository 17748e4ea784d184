#include "worker/session/store_asker.h"

#include <span>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/owner/connect.h"

namespace galley::worker {

StoreAsker::StoreAsker()
    : StoreAsker([](const std::string& directory) {
        return store::ConnectStore(directory,
                                   {.deadline = kDeadline, .reconnect_time = absl::ZeroDuration()});
      }) {}

void StoreAsker::SetStore(const std::string& directory) {
  const base::MutexLock lock(mutex_);
  if (directory == directory_) return;
  directory_ = directory;
  store_.reset();
  paused_until_ = absl::InfinitePast();
}

std::shared_ptr<store::Store> StoreAsker::Connected() {
  std::string directory;
  {
    const base::MutexLock lock(mutex_);
    if (directory_.empty() || clock_.Monotonic() < paused_until_) return nullptr;
    if (store_ != nullptr || is_connecting_) return store_;
    directory = directory_;
    is_connecting_ = true;
  }
  absl::StatusOr<std::unique_ptr<store::Store>> store = connect_(directory);
  const base::MutexLock lock(mutex_);
  is_connecting_ = false;
  if (directory != directory_) return nullptr;  // SetStore named another store meanwhile
  if (store.ok()) {
    store_ = *std::move(store);
  } else {
    Pause(store.status());
  }
  return store_;
}

void StoreAsker::Pause(const absl::Status& why) {
  LogDebug("store={} cannot be asked: {}", directory_, MessageOf(why));
  paused_until_ = clock_.Monotonic() + kPause;
}

std::optional<store::BlobLocation> StoreAsker::Where(const Digest& digest) {
  const std::shared_ptr<store::Store> store = Connected();
  if (store == nullptr) return std::nullopt;
  const auto found = store->Locate(std::span(&digest, 1));
  if (found.ok()) return found->front();
  const base::MutexLock lock(mutex_);
  Pause(found.status());
  return std::nullopt;
}

}  // namespace galley::worker
