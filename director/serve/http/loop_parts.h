// LoopParts: what the connections of one loop share.
// Threads: the loop's own, but for LoopGate.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/serve/http/connection_loop.h"
#include "director/serve/http/request_reader.h"
#include "director/serve/http/response_head.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace galley::director {

// LoopGate: the way to the loop's thread for all who may outlive the loop: responders, streams, the
// pool.
// Threads: any.
class LoopGate {
 public:
  explicit LoopGate(boost::asio::io_context& context) : context_(&context) {}
  // Runs `task` on the loop's thread, later; drops it after Close.
  void Post(std::function<void()> task) GALLEY_EXCLUDES(mutex_);
  void Close() GALLEY_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    context_ = nullptr;
  }

 private:
  base::Mutex mutex_;
  boost::asio::io_context* context_ GALLEY_GUARDED_BY(mutex_);
};

struct LoopParts {
  const ConnectionLoop::Options options;
  const ConnectionLoop::Deps deps;
  boost::asio::io_context& context;
  const std::shared_ptr<LoopGate> gate;
  std::array<char, kInputBytesMax> scratch{};  // for one read
  HttpDate date;
  bool is_stopping = false;

  absl::Time Monotonic() const { return deps.clock->Monotonic(); }
  const std::string& DateNow() { return date.At(deps.clock->Now()); }
};

}  // namespace galley::director
