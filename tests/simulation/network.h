// Network: streams between workers and a director. Each direction of a stream delivers in order,
// after a delay, until the stream breaks; then some of the messages on their way are lost. gRPC
// promises as much. The wilder faults (a message lost, doubled, overtaken) break the promise.
#pragma once

#include <functional>
#include <memory>
#include <utility>

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
  void Send(const LinePtr& line, std::function<void()> deliver);

 private:
  void Deliver(const LinePtr& line, bool keeps_order, const std::function<void()>& deliver);

  Schedule& schedule_;
  Random& random_;
  Faults& faults_;
};

}  // namespace galley::simulation
