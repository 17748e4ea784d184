#include "common/store/reapi/client/breaker.h"

#include <algorithm>

namespace galley::store {

bool Breaker::TakeProbe(absl::Time now) {
  if (!is_open() || now < next_probe_) return false;
  probe_wait_ = std::min(2 * probe_wait_, options_.probe_most);
  next_probe_ = now + probe_wait_;
  return true;
}

void Breaker::Answered() {
  failures_ = 0;
  opened_.reset();
  reason_.clear();
}

void Breaker::Failed(absl::Time now, std::string_view reason) {
  reason_ = reason;
  if (is_open()) return;
  if (++failures_ == 1) failing_since_ = now;
  if (failures_ < options_.failures_max && now - failing_since_ < options_.failing_max) return;
  opened_ = now;
  probe_wait_ = options_.probe_first;
  next_probe_ = now + probe_wait_;
}

}  // namespace galley::store
