// MemoryGuard: decides when a director's own memory is short, and what the director does then.
//
// Above the soft limit, three quarters of the hard limit, unneeded memory is released and returned
// to the system. Above the hard limit a cook is ended, and a further cook only some seconds later,
// when the memory of the first cook may have been released.
//
// Cost: each Look reads a small kernel file.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "director/core/events.h"

namespace galley::director {

class MemoryGuard {
 public:
  struct Deps {
    std::function<uint64_t()> used;  // resident bytes of this process
    std::function<void()> trim;      // returns free memory of the allocator to the system
    // True: the allocator must keep no free memory from now on. False: it may.
    std::function<void(bool is_short)> set_short;
  };
  // `hard_bytes`: 0: there is no limit.
  MemoryGuard(uint64_t hard_bytes, Deps deps)
      : hard_bytes_(hard_bytes),
        deps_(std::move(deps)),
        idle_(hard_bytes == 0 ? 0 : deps_.used()) {}

  // Cook: a running cook.
  struct Cook {
    uint64_t number = 0;
    CookClass urgency_class = CookClass::kNightly;
    uint64_t packages = 0;  // in the cook so far
    uint64_t asked = 0;     // packages that the request names
  };
  enum class Want { kNothing, kLetGo, kEndACook };
  // Returns what to do now. Called now and then; checks at most once a second. `is_any_running`: a
  // cook runs.
  Want Look(absl::Time now, bool is_any_running);
  // Returns the cook to end: the newest cook of the lowest class. REQUIRES: `cooks` is not empty.
  static const Cook& Choose(const std::vector<Cook>& cooks);
  // Returns for people why the cook is ended, and how much memory it would need.
  std::string ReasonFor(const Cook& cook, const std::vector<Cook>& cooks) const;

  uint64_t hard_bytes() const { return hard_bytes_; }
  uint64_t soft_bytes() const { return hard_bytes_ / 4 * 3; }

 private:
  const uint64_t hard_bytes_;
  const Deps deps_;
  absl::Time looked_ = absl::InfinitePast();
  absl::Time trimmed_ = absl::InfinitePast();
  absl::Time ended_ = absl::InfinitePast();  // when a cook was last ended
  bool is_short_ = false;
  uint64_t used_ = 0;
  uint64_t idle_;  // memory used when no cook last ran
};

}  // namespace galley::director
