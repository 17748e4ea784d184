// MemoryGuard: when a director's own memory is short, and what it does about that.
//
// Above the soft limit, three quarters of the hard one, what nobody needs is let go, and free
// memory goes back to the system. Above the hard one a cook ends, and the next one only when what
// the first one had was given back.
//
// Cost: a read of a small kernel file for each Look.
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
    std::function<void()> trim;      // gives back what the allocator holds for later
    // From now on the allocator holds nothing, or what it likes.
    std::function<void(bool is_short)> set_short;
  };
  // `hard_bytes`: 0: there is no limit.
  MemoryGuard(uint64_t hard_bytes, Deps deps)
      : hard_bytes_(hard_bytes),
        deps_(std::move(deps)),
        idle_(hard_bytes == 0 ? 0 : deps_.used()) {}

  // A cook that runs.
  struct Cook {
    uint64_t number = 0;
    CookClass urgency_class = CookClass::kNightly;
    uint64_t packages = 0;  // in it so far
    uint64_t asked = 0;     // packages that its request names
  };
  enum class Want { kNothing, kLetGo, kEndACook };
  // What is to be done now; `running`: are there cooks? Called now and then; looks at most once a
  // second.
  Want Look(absl::Time now, bool is_any_running);
  // The cook that is to end: of the lowest class the last one. REQUIRES: `cooks` is not empty.
  static const Cook& Choose(const std::vector<Cook>& cooks);
  // Why that cook ends, and what it would need.
  std::string ReasonFor(const Cook& cook, const std::vector<Cook>& cooks) const;

  uint64_t hard_bytes() const { return hard_bytes_; }
  uint64_t soft_bytes() const { return hard_bytes_ / 4 * 3; }

 private:
  const uint64_t hard_bytes_;
  const Deps deps_;
  absl::Time looked_ = absl::InfinitePast();
  absl::Time trimmed_ = absl::InfinitePast();
  absl::Time ended_ = absl::InfinitePast();  // a cook, the last time
  bool is_short_ = false;
  uint64_t used_ = 0;
  uint64_t idle_;  // used when no cook ran, the last time
};

}  // namespace galley::director
