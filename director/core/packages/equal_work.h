// EqualWork: of all packages that are to be cooked and have equal work (WorkId), one leads and is
// cooked; the others follow. When the lead ends, the followers are looked up again, each with the
// values of its own folder.
//
// A package leads, for one of its platforms or for several with equal work, while the work is ready
// for a worker, in a worker's hands, or being committed. A package that waits for another package
// does not lead, so that no cycle of waits goes through equal work. How the lead ends decides what
// becomes of the followers whose look-up misses:
//
//   kResult     The leader has a durable result, a verdict too. The followers lie elsewhere, and
//               are cooked at once, side by side.
//   kWaits      The leader's cook wants another package's output first. The followers, too, are
//               cooked at once, and may find out the same. When that output is there, one leads
//               anew.
//   kExhausted  The leader's attempts are used up: it failed by crashes, limits, its tool or its
//               machine. That is not shared: the followers, too, are cooked at once, side by side,
//               and each is judged by itself (one after the other, copies of a job that hangs would
//               take the sum of their limits).
//   kNothing    The leader failed otherwise, is stale, backs off again, or is not wanted: one of
//               the followers leads.
//
// A look-up may miss although a result came before its answer. So results are noted while look-ups
// are open, and a platform that was asked before the result came is asked once more.
//
// A follower that stops following, for example because it left the cook, is not removed. TakeFreed
// and ForEachFollower still name it, and the caller must check that it follows. TakeLeft names its
// leader, which may be less urgent from now on.
//
// Invariant: each follower's leader is another package, or TakeFreed still has to return the
// follower (kept by Lifecycle).
// Cost: O(1), amortised; about 16 bytes for each led work and for each noted result.
// Threads: none; owned by Lifecycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "director/core/ids.h"

namespace galley::director {

class EqualWork {
 public:
  struct Follower {
    PackageId package;
    PlatformIndex platform = 0;
    WorkId work = 0;
  };
  enum class End : uint8_t { kResult, kWaits, kExhausted, kNothing };
  struct Freed {
    Follower follower;
    End why = End::kNothing;
  };

  // Another platform of the package leads. REQUIRES: no other package leads the work.
  void Lead(PackageId package, WorkId work);
  // Invalid: no package leads the work.
  PackageId LeaderOf(WorkId work) const;
  // A platform of the package leads no longer. REQUIRES: the platform leads.
  void EndLead(PackageId package, WorkId work, End how);

  // REQUIRES: another package leads the work.
  void Follow(const Follower& follower);
  bool IsFollowed(WorkId work) const { return followers_.contains(work); }
  // visit(const Follower&) for each follower, and for those that follow no longer.
  template <typename Visit>
  void ForEachFollower(WorkId work, Visit visit) const {
    const auto found = followers_.find(work);
    if (found == followers_.end()) return;
    for (const Follower& follower : found->second) visit(follower);
  }
  // A follower of the work follows no longer, or is less urgent.
  void NoteLeaving(WorkId work);
  bool has_left() const { return !left_.empty(); }
  // The leaders whose followers NoteLeaving was called for since the last call.
  absl::btree_set<PackageId> TakeLeft() { return std::exchange(left_, {}); }
  bool has_freed() const { return !freed_.empty(); }
  // The next follower whose leader leads no longer. REQUIRES: has_freed.
  Freed TakeFreed();

  // Notes a durable result or verdict of the work, whoever cooked it.
  void NoteResult(WorkId work) { results_[work] = ++results_noted_; }
  // How many results were noted so far. Keep the number with a question, for HasResultSince.
  uint32_t results_noted() const { return results_noted_; }
  bool HasResultSince(WorkId work, uint32_t noted_when_asked) const;
  // Forgets the noted results. REQUIRES: no question is open.
  void ForgetResults();
  void Clear();

  size_t leading() const { return leading_; }  // platforms of packages

 private:
  struct Leader {
    PackageId package;
    uint16_t platforms = 0;
    bool has_result = false;  // for some platform of its lead
  };

  absl::flat_hash_map<WorkId, Leader> leaders_;                   // look-up only
  absl::flat_hash_map<WorkId, std::vector<Follower>> followers_;  // look-up only
  std::deque<Freed> freed_;
  absl::btree_set<PackageId> left_;
  // The number of the work's last result; look-up only.
  absl::flat_hash_map<WorkId, uint32_t> results_;
  uint32_t results_noted_ = 0;
  size_t leading_ = 0;
};

}  // namespace galley::director
