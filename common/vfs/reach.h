// Reach: whether the director is taken to be away: after a connection that could not be made, or
// that fell silent, nothing is asked of it for kRetryMs. Any answer ends that.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace galley::vfs {

class Reach {
 public:
  static constexpr uint64_t kRetryMs = 5'000;

  bool MayAsk(uint64_t now_ms) const { return now_ms >= retry_at_ms_.load(); }
  bool is_away() const { return retry_at_ms_.load() != 0; }
  // True: it was not taken to be away until now.
  bool NoteAway(uint64_t now_ms) { return retry_at_ms_.exchange(now_ms + kRetryMs) == 0; }
  // True: it was taken to be away until now.
  bool NoteAnswer() { return retry_at_ms_.exchange(0) != 0; }

 private:
  std::atomic<uint64_t> retry_at_ms_ = 0;  // 0: it answers
};

}  // namespace galley::vfs
