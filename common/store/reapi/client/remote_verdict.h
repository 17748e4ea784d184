// RemoteVerdict: decides whether a cook goes on reading from a remote store. When reads have cost
// more than they are worth, the cook never asks again, so that it does not pay again and again.
//
//   wrong   at least 32 blobs, and more than one in five of the received blobs, had wrong bytes
//   slow    reads lost more than 10 s plus a quarter of the time of useful reads
//
// A read may take half a second, and a second for each 250 KB that it asks for. Time beyond that is
// lost; all time of a read that gave nothing right is lost. Concurrent reads lose the same second
// only once. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace galley::store {

struct RemoteVerdictOptions {
  uint64_t wrong_min = 32;
  uint64_t wrong_one_in = 5;
  absl::Duration lost_max = absl::Seconds(10);
  double lost_of_useful = 0.25;
  absl::Duration read_time = absl::Milliseconds(500);
  uint64_t bytes_per_second = 250'000;
};

class RemoteVerdict {
 public:
  enum class Reason { kNone, kWrong, kSlow };
  struct Read {
    absl::Time begin, end;   // monotonic
    uint64_t bytes = 0;      // asked for
    bool is_of_use = false;  // the server answered, without wrong bytes
  };

  explicit RemoteVerdict(const RemoteVerdictOptions& options = {}) : options_(options) {}

  void CameRight(uint64_t blobs);
  void CameWrong();
  // REQUIRES: calls come in the order of the reads' ends, or nearly so.
  void Took(const Read& read);

  Reason reason() const { return reason_; }
  uint64_t blobs_came() const { return right_ + wrong_; }
  uint64_t blobs_wrong() const { return wrong_; }
  absl::Duration lost() const { return lost_; }
  // Returns how much more time may be lost before the verdict.
  absl::Duration LeftToLose() const;

 private:
  void Judge();

  const RemoteVerdictOptions options_;
  uint64_t right_ = 0, wrong_ = 0;
  absl::Duration lost_, useful_;
  absl::Time lost_until_ = absl::InfinitePast(), useful_until_ = absl::InfinitePast();
  Reason reason_ = Reason::kNone;
};

}  // namespace galley::store
