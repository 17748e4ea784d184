// MessageRoom: limits the messages of each worker that wait for the director's loop. Above the
// limit the thread of the worker's stream waits, so gRPC reads no more from the connection, and a
// flood of messages fills the worker's memory, not the director's.
//
//   stream thread   calls Enter, posts the message, and posts a call of Leave if must_leave()
//   loop            calls Leave
//
// Leave is called once for kTogether messages or kBytesTogether bytes.
// Threads: any; Enter for one worker: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/mutex.h"

namespace galley::director {

class MessageRoom {
 public:
  static constexpr uint64_t kMessagesMax = 512;       // of one worker
  static constexpr uint64_t kBytesMax = 64ull << 20;  // of one worker, plus one message
  static constexpr uint64_t kTogether = 16;
  static constexpr uint64_t kBytesTogether = 1ull << 20;

  struct Entered {
    bool is_open = false;  // false: Close was called
    // Nonzero: Leave must be called with this object, after all messages posted so far.
    uint64_t messages = 0, bytes = 0;
    bool must_leave() const { return messages > 0; }
  };
  // Waits until there is room.
  Entered Enter(const std::string& worker, uint64_t bytes) {
    const base::MutexLock lock(mutex_);
    while (!is_closed_ && !HasRoom(waiting_[worker])) changed_.Wait(mutex_);
    if (is_closed_) return {};
    Waiting& of = waiting_[worker];
    ++of.messages;
    of.bytes += bytes;
    ++of.not_told_messages;
    of.not_told_bytes += bytes;
    Entered entered{.is_open = true};
    if (of.not_told_messages < kTogether && of.not_told_bytes < kBytesTogether) return entered;
    entered.messages = of.not_told_messages;
    entered.bytes = of.not_told_bytes;
    of.not_told_messages = of.not_told_bytes = 0;
    return entered;
  }
  void Leave(const std::string& worker, const Entered& entered) {
    {
      const base::MutexLock lock(mutex_);
      const auto found = waiting_.find(worker);
      if (found == waiting_.end()) return;
      found->second.messages -= entered.messages;
      found->second.bytes -= entered.bytes;
      if (found->second.messages == 0) waiting_.erase(found);
    }
    changed_.NotifyAll();
  }
  // Ends all waits.
  void Close() {
    {
      const base::MutexLock lock(mutex_);
      is_closed_ = true;
    }
    changed_.NotifyAll();
  }

 private:
  struct Waiting {
    uint64_t messages = 0, bytes = 0;
    // The messages that no earlier Enter has returned for Leave.
    uint64_t not_told_messages = 0, not_told_bytes = 0;
  };
  static bool HasRoom(const Waiting& of) {
    return of.messages < kMessagesMax && of.bytes < kBytesMax;
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  std::map<std::string, Waiting> waiting_ GALLEY_GUARDED_BY(mutex_);  // by worker
};

}  // namespace galley::director
