// PendingCommits: results on their way to the disk, and who waits for an answer.
//
// A result is committed once, however many reports name it; each of them is acknowledged when it is
// durable.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/jobs/equal_work_followers.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/platforms.h"

namespace galley::director {

class PendingCommits : PackagePart {
 public:
  PendingCommits(const PackageGround& ground, EqualWorkFollowers& equal_work_followers)
      : PackagePart(ground), equal_work_followers_(equal_work_followers) {}

  struct InFlight {
    std::optional<PlatformIndex> platform;  // nullopt: removed since
    std::vector<std::pair<WorkerId, ReportId>> reports;
  };

  // No platform: the result is for a removed one, and only feeds the cache. `may_be_stored`: as in
  // Persist.
  void Commit(PackageId package, std::optional<PlatformIndex> platform, ResultId result,
              WorkerId worker, ReportId report, bool may_be_stored = false);
  // For the cook that it is for.
  void Submit(Persist::Item item);

  // The commit is answered. nullopt: it is none that anybody waits for.
  std::optional<InFlight> Take(const Persisted::Item& item);

  bool empty() const { return commits_.empty(); }
  size_t size() const { return commits_.size(); }
  // One of a package that one of these cooks wants. O(commits).
  bool HasAnyOf(CookMask cooks) const;
  bool Has(PackageId package, PlatformIndex platform) const;
  // The worker's process is another: those who wait for these answers are gone, and their numbers
  // will be another's.
  void ForgetReportsOf(WorkerId worker);
  // Platforms have new numbers.
  void Remap(const PlatformMap& map);

 private:
  // The platform: as Persist had it, whatever its number is today.
  absl::btree_map<std::tuple<PackageId, ResultId, PlatformIndex>, InFlight> commits_;

  EqualWorkFollowers& equal_work_followers_;
};

}  // namespace galley::director
