// Network: streams between workers and a director. Each direction of a stream delivers in order,
// after a delay, until the stream breaks; then some of the messages on their way are lost. gRPC
// promises as much. The wilder faults (a message lost, doubled, overtaken) break the promise.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

class Network {
 public:
  Network(Schedule& schedule, Random& random, Faults& faults)
      : schedule_(schedule), random_(random), faults_(faults) {}

  // Line: a direction of a stream.
  class Line {
   public:
    void Break() { is_broken_ = true; }
    bool is_broken() const { return is_broken_; }

   private:
    friend class Network;
    bool is_broken_ = false;
    absl::Time last_ = absl::InfinitePast();
  };
  using LinePtr = std::shared_ptr<Line>;

  // `deliver` runs as often as the message arrives.
  void Send(const LinePtr& line, const std::function<void()>& deliver) {
    if (line->is_broken() || faults_.Happens(Fault::kMessageLost, 2)) return;
    const bool is_late = faults_.Happens(Fault::kMessageReordered, 2);
    Deliver(line, !is_late, deliver);
    if (faults_.Happens(Fault::kMessageDoubled, 3)) Deliver(line, false, deliver);
  }

 private:
  void Deliver(const LinePtr& line, bool keeps_order, const std::function<void()>& deliver) {
    absl::Duration delay = random_.Some(2);
    if (!keeps_order) delay += random_.Some(50);
    if (faults_.Happens(Fault::kMessageDelayed, 10)) delay += random_.Some(2'000);
    absl::Time at = schedule_.now() + delay;
    if (keeps_order) line->last_ = at = std::max(at, line->last_);
    // A message that is on its way when the stream breaks may or may not arrive.
    const bool survives = random_.Percent(50);
    schedule_.After(at - schedule_.now(), [line, survives, deliver] {
      if (!line->is_broken() || survives) deliver();
    });
  }

  Schedule& schedule_;
  Random& random_;
  Faults& faults_;
};

}  // namespace galley::simulation
