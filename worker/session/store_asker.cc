#include "worker/session/store_asker.h"

#include <span>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/remote/connect.h"

namespace galley::worker {

void StoreAsker::SetStore(const std::string& directory) {
  const base::MutexLock lock(mutex_);
  if (directory == directory_) return;
  directory_ = directory;
  store_.reset();
  paused_until_ = absl::InfinitePast();
}

std::shared_ptr<store::Store> StoreAsker::Connected() {
  const base::MutexLock lock(mutex_);
  if (directory_.empty() || clock_.Monotonic() < paused_until_) return nullptr;
  if (store_ != nullptr) return store_;
  absl::StatusOr<std::unique_ptr<store::Store>> store = store::ConnectStore(
      directory_, {.deadline = kDeadline, .reconnect_time = absl::ZeroDuration()});
  if (store.ok()) {
    store_ = *std::move(store);
  } else {
    LogDebug("store={} cannot be asked: {}", directory_, MessageOf(store.status()));
    paused_until_ = clock_.Monotonic() + kPause;
  }
  return store_;
}

std::optional<store::BlobLocation> StoreAsker::Where(const Digest& digest) {
  const std::shared_ptr<store::Store> store = Connected();
  if (store == nullptr) return std::nullopt;
  const auto found = store->Locate(std::span(&digest, 1));
  if (found.ok()) return found->front();
  const base::MutexLock lock(mutex_);
  LogDebug("store={} cannot be asked: {}", directory_, MessageOf(found.status()));
  paused_until_ = clock_.Monotonic() + kPause;
  return std::nullopt;
}

}  // namespace galley::worker
