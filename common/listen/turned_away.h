// TurnedAway: what the log says of connections that are turned away: one line when it begins, and
// one with the numbers when there were none for a second. Pure.
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

  // A line for the log. REQUIRES: neither the figures nor the time go back.
  std::optional<std::string> Note(const DoorFigures& figures, absl::Time now);
  // Note is to be called again soon.
  bool is_going_on() const { return begun_.has_value(); }

 private:
  std::string Beginning(const DoorFigures& figures) const;
  std::string End(const DoorFigures& figures) const;

  const std::string name_;
  const DoorLimits limits_;
  DoorFigures before_;               // when it began
  uint64_t seen_ = 0;                // turned away so far
  std::optional<absl::Time> begun_;  // nullopt: nobody is turned away
  absl::Time last_;                  // when somebody was
};

}  // namespace galley::listen
