#include "tests/simulation/network.h"

#include <algorithm>

namespace galley::simulation {

void Network::Send(const LinePtr& line, std::function<void()> deliver) {
  if (line->is_broken() || faults_.Happens(Fault::kMessageLost, 2)) return;
  const bool is_late = faults_.Happens(Fault::kMessageReordered, 2);
  Deliver(line, !is_late, deliver);
  if (faults_.Happens(Fault::kMessageDoubled, 3)) Deliver(line, false, deliver);
}

void Network::Deliver(const LinePtr& line, bool keeps_order, const std::function<void()>& deliver) {
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

}  // namespace galley::simulation
