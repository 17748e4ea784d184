#include "common/store/reapi/client/remote_verdict.h"

#include <algorithm>

namespace galley::store {
namespace {

// The part of begin..end that is later than `until`, which moves on to the end.
absl::Duration Beyond(absl::Time& until, absl::Time begin, absl::Time end) {
  const absl::Duration part = end - std::max(begin, until);
  until = std::max(until, end);
  return std::max(part, absl::ZeroDuration());
}

}  // namespace

void RemoteVerdict::CameRight(uint64_t blobs) { right_ += blobs; }

void RemoteVerdict::CameWrong() {
  ++wrong_;
  Judge();
}

void RemoteVerdict::Took(const Read& read) {
  const absl::Duration may_take =
      options_.read_time + absl::Seconds(static_cast<double>(read.bytes) /
                                         static_cast<double>(options_.bytes_per_second));
  const absl::Time in_time =
      read.is_of_use ? std::min(read.end, read.begin + may_take) : read.begin;
  useful_ += Beyond(useful_until_, read.begin, in_time);
  lost_ += Beyond(lost_until_, in_time, read.end);
  Judge();
}

absl::Duration RemoteVerdict::LeftToLose() const {
  return std::max(options_.lost_max + useful_ * options_.lost_of_useful - lost_,
                  absl::ZeroDuration());
}

void RemoteVerdict::Judge() {
  if (reason_ != Reason::kNone) return;
  if (wrong_ >= options_.wrong_min && wrong_ * options_.wrong_one_in > blobs_came()) {
    reason_ = Reason::kWrong;
  } else if (lost_ > options_.lost_max + useful_ * options_.lost_of_useful) {
    reason_ = Reason::kSlow;
  }
}

}  // namespace galley::store
