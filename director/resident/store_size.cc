#include "director/resident/store_size.h"

#include "absl/time/clock.h"

namespace galley::director {

void StoreSize::LookIfAsked() {
  constexpr absl::Duration kInterval = absl::Seconds(5);  // shortest time between two looks
  const absl::Time now = absl::Now();
  if (now < looked_at_ + kInterval || !is_asked_for_.exchange(false)) return;
  looked_at_ = now;
  const auto stats = store_.Stats({.counts_unadopted = false});
  if (stats.ok()) bytes_ = stats->segment_bytes + stats->file_bytes;
}

}  // namespace galley::director
