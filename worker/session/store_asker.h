// StoreAsker: asks the owner of the store in a directory, through its socket, for the place of a
// blob.
//
// No answer is needed: without an answer, a blob is written that the store may already have. After
// a failure the owner is not asked for a while, nor while another thread connects, so that a stuck
// owner holds up only that thread.
// Threads: any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::worker {

class StoreAsker {
 public:
  static constexpr absl::Duration kDeadline = absl::Seconds(1);  // for an answer
  static constexpr absl::Duration kPause = absl::Seconds(30);    // after a failure

  using Connect =
      std::function<absl::StatusOr<std::unique_ptr<store::Store>>(const std::string& directory)>;
  StoreAsker();
  // `connect`: called under no lock.
  explicit StoreAsker(Connect connect) : connect_(std::move(connect)) {}

  // Another directory closes the connection.
  void SetStore(const std::string& directory);
  std::optional<store::BlobLocation> Where(const Digest& digest);

 private:
  std::shared_ptr<store::Store> Connected();
  void Pause(const absl::Status& why) GALLEY_REQUIRES(mutex_);

  const Connect connect_;
  SystemClock clock_;
  base::Mutex mutex_;
  std::string directory_ GALLEY_GUARDED_BY(mutex_);  // empty: not set yet
  std::shared_ptr<store::Store> store_ GALLEY_GUARDED_BY(mutex_);
  bool is_connecting_ GALLEY_GUARDED_BY(mutex_) = false;
  absl::Time paused_until_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace galley::worker
