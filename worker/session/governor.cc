#include "worker/session/governor.h"

#include <algorithm>

#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr uint64_t kNeedBytesLeast = 256 << 20;
constexpr uint64_t kDecay = 64;  // the part of used_bytes_ that is forgotten with each sample

}  // namespace

bool Governor::Sample(const MemoryRoom& room, uint64_t executor_bytes, bool holds_last_slot) {
  holds_last_slot_ = holds_last_slot;
  limit_bytes_ = room.limit_bytes;
  used_bytes_ = std::max(executor_bytes, used_bytes_ - used_bytes_ / kDecay);
  const bool was_short = is_short_;
  ++samples_;
  is_left_known_ = room.left_bytes.has_value() && limit_bytes_ > 0;
  if (!is_left_known_) {
    is_short_ = false;
    return was_short;
  }
  left_bytes_ = *room.left_bytes;
  left_source_ = room.left_source;
  const uint64_t least = std::min(kNeedBytesLeast, limit_bytes_ / 8);
  need_bytes_ = std::clamp(used_bytes_, least, limit_bytes_ / 2);
  is_short_ = left_bytes_ < (was_short ? need_bytes_ + need_bytes_ / 4 : need_bytes_);
  return is_short_ != was_short;
}

bool Governor::HasRoomBeside(uint64_t young_jobs) const {
  return !is_left_known_ || young_jobs == 0 || left_bytes_ / (young_jobs + 1) >= need_bytes_;
}

bool Governor::TellLimit() {
  const uint64_t change =
      limit_bytes_ > told_bytes_ ? limit_bytes_ - told_bytes_ : told_bytes_ - limit_bytes_;
  if (change <= told_bytes_ / 8) return false;
  told_bytes_ = limit_bytes_;
  return true;
}

std::string Governor::Describe() const {
  return fmt::format("{} bytes are left ({}), another job may take {}", left_bytes_, left_source_,
                     need_bytes_);
}

}  // namespace galley::worker
