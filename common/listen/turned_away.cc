#include "common/listen/turned_away.h"

#include "absl/time/time.h"
#include "fmt/format.h"

namespace galley::listen {
namespace {

constexpr absl::Duration kQuiet = absl::Seconds(1);

}  // namespace

std::optional<std::string> TurnedAway::Note(const DoorFigures& figures, absl::Time now) {
  if (figures.turned_away() != seen_) {
    seen_ = figures.turned_away();
    last_ = now;
    if (begun_.has_value()) return std::nullopt;
    begun_ = now;
    return Beginning(figures);
  }
  if (!begun_.has_value() || now - last_ < kQuiet) return std::nullopt;
  std::string line = End(figures);
  begun_.reset();
  before_ = figures;
  return line;
}

std::string TurnedAway::Beginning(const DoorFigures& figures) const {
  std::string line = fmt::format(
      "{}: connections are turned away: {} of at most {} are open, {} of them have said nothing "
      "yet "
      "(at most {} of one address may, for {} s)",
      name_, figures.open, limits_.connections_max, figures.unfinished,
      limits_.unfinished_per_address_max, absl::ToInt64Seconds(limits_.patience));
  if (figures.no_descriptor != before_.no_descriptor)
    line += "; the process has no descriptor left (ulimit -n)";
  return line;
}

std::string TurnedAway::End(const DoorFigures& figures) const {
  return fmt::format(
      "{}: all connections are taken again: in {:.1f} s {} were refused, {} silent ones were "
      "closed "
      "to make room and {} after their time, {} came while no descriptor was left; {} are open",
      name_, absl::ToDoubleSeconds(last_ - *begun_), figures.refused - before_.refused,
      figures.made_room - before_.made_room, figures.timed_out - before_.timed_out,
      figures.no_descriptor - before_.no_descriptor, figures.open);
}

}  // namespace galley::listen
