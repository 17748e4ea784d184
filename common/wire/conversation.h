// Conversation: the numbers of the messages of one stream between a director and a worker. A
// message that comes twice is dropped. When a message is missing, the stream is broken: both sides
// drop the stream, the worker attaches anew, and the missing message is sent again. The promises of
// the transport are not relied upon: a stream may lead through other people's proxies.
//
// Pure; one for each side of a stream.
// Threads: one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "absl/time/time.h"

namespace galley::wire {

class Conversation {
 public:
  enum class Heard : uint8_t {
    kNext,
    kDoubled,  // seen before: to be dropped
    kBroken,   // a message was lost, to us or from us
  };
  // The time for which a message may stay unacknowledged while later messages arrive from the other
  // side, which sends at least once a second.
  static constexpr absl::Duration kPatience = absl::Seconds(10);
  // The most that a pause without messages counts: either the other side was silent, which is
  // judged elsewhere, or our own process did not run (stopped, suspended, starved), and the
  // acknowledgements lie unread in our buffers.
  static constexpr absl::Duration kPauseMax = absl::Seconds(2);

  // Returns the number of the message that is sent now.
  uint64_t Send(absl::Time now) {
    Live(now);
    unacknowledged_.push_back(lived_);
    return ++sent_;
  }
  Heard Receive(uint64_t sequence, uint64_t acknowledged, absl::Time now) {
    if (sequence <= heard_) return Heard::kDoubled;
    if (sequence != heard_ + 1 || acknowledged > sent_) return Heard::kBroken;
    heard_ = sequence;
    Live(now);
    while (acknowledged_ < acknowledged) {
      ++acknowledged_;
      unacknowledged_.pop_front();
    }
    const bool is_lost = !unacknowledged_.empty() && lived_ - unacknowledged_.front() > kPatience;
    return is_lost ? Heard::kBroken : Heard::kNext;
  }
  uint64_t heard() const { return heard_; }
  uint64_t sent() const { return sent_; }

 private:
  void Live(absl::Time now) {
    if (seen_ < now) lived_ += std::min(now - seen_, kPauseMax);
    seen_ = std::max(seen_, now);
  }

  absl::Time seen_ = absl::InfinitePast();  // when something was last sent or received
  absl::Duration lived_;                    // time until seen_; a pause counts at most kPauseMax
  uint64_t sent_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t heard_ = 0;
  std::deque<absl::Duration> unacknowledged_;  // lived_ when each was sent
};

}  // namespace galley::wire
