// UnneededPackages: forgets packages that nobody needs, when memory is short while devices ask.
//
// There may always be an ask, so that the graph never begins anew. Needed are:
//   - packages that somebody asks for, and what they need: generators, cooked inputs;
//   - packages whose cooks read an output of these, or wait for their list: changes reach them;
//   - packages that an attempt, a commit or a held result names, since a worker may report on them;
//   - packages whose failures are kept, and what they need: a change there ends the failure.
// A package that nobody needs, and to which needed packages refer, is forgotten with the
// references: a cook that comes later explores the needed packages again.
//
// Cost: O(packages + edges), at most once in kBetween. Does not change anything where less than a
// kLeastShare of the packages could be forgotten.
// Threads: none; owned by its layer.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/packages/kept_failures.h"
#include "director/core/packages/package_part.h"
#include "director/core/workers/held_results.h"

namespace galley::director {

class UnneededPackages : PackagePart {
 public:
  static constexpr absl::Duration kBetween = absl::Seconds(10);
  static constexpr size_t kLeastShare = 8;  // an eighth

  struct Deps {
    KeptFailures& kept_failures;
    Attempts& attempts;
    PendingCommits& commits;
    HeldResults& held_results;
  };
  UnneededPackages(const PackageGround& ground, const Deps& deps)
      : PackagePart(ground), deps_(deps) {}

  // REQUIRES: no cook runs or waits, no claims of cooks are left, and no attempt of an earlier
  // director is to be resumed.
  void Forget();

 private:
  // The needed packages. Packages that were found are looked at in turn.
  struct Needed {
    std::vector<bool> is_needed;  // by package
    std::vector<PackageId> found;
  };
  void Add(PackageId package, Needed& needed) const;
  Needed FindNeeded() const;
  void AddNeedsOf(PackageId package, Needed& needed) const;

  const Deps deps_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();  // StepContext::awake
};

}  // namespace galley::director
