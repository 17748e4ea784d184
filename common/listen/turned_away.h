// TurnedAway: the log lines about connections that are turned away: one when it begins, and one
// with the counts after a second without any. Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/listen/door_figures.h"
#include "common/listen/doorkeeper.h"

namespace galley::listen {

class TurnedAway {
 public:
  TurnedAway(std::string name, const DoorLimits& limits)
      : name_(std::move(name)), limits_(limits) {}

  // Returns a line for the log, or nullopt. REQUIRES: neither the figures nor the time go back.
  std::optional<std::string> Note(const DoorFigures& figures, absl::Time now);
  // True: Note must be called again soon.
  bool is_going_on() const { return begun_.has_value(); }

 private:
  std::string Beginning(const DoorFigures& figures) const;
  std::string End(const DoorFigures& figures) const;

  const std::string name_;
  const DoorLimits limits_;
  DoorFigures before_;               // figures before the connections were turned away
  uint64_t seen_ = 0;                // turned away so far
  std::optional<absl::Time> begun_;  // nullopt: nobody is turned away
  absl::Time last_;                  // when the last one was turned away
};

}  // namespace galley::listen
