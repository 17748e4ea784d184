// PendingCommits: results that are being committed, and the reports that wait for that.
//
// A result is committed once, however many reports bring it. All of these reports are acknowledged
// when the result is durable.
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
    std::optional<PlatformIndex> platform;  // nullopt: the platform was removed since
    std::vector<std::pair<WorkerId, ReportId>> reports;
  };

  // Commits the result. nullopt: its platform was removed, so it only feeds the cache.
  // `may_be_stored`: as in Persist.
  void Commit(PackageId package, std::optional<PlatformIndex> platform, ResultId result,
              WorkerId worker, ReportId report, bool may_be_stored = false);
  // Sends the item, with the cook for which it counts (Persist::Item::cook).
  void Submit(Persist::Item item);

  // Removes and returns the commit that this item answers. nullopt: no report waits for it.
  std::optional<InFlight> Take(const Persisted::Item& item);

  bool empty() const { return commits_.empty(); }
  size_t size() const { return commits_.size(); }
  // True: a commit of a package that one of these cooks wants is on its way. O(commits).
  bool HasAnyOf(CookMask cooks) const;
  bool Has(PackageId package, PlatformIndex platform) const;
  // visit(PackageId) for the package of each commit.
  template <typename Visit>
  void ForEachPackage(Visit visit) const {
    for (const auto& [commit, in_flight] : commits_) visit(std::get<PackageId>(commit));
  }
  // The worker has a new process: no report of the old one is acknowledged, since the new process
  // uses the same report numbers.
  void ForgetReportsOf(WorkerId worker);
  // Platforms have new numbers.
  void Remap(const PlatformMap& map);

 private:
  // By package, result, and the platform's number in Persist, which may be another one today.
  absl::btree_map<std::tuple<PackageId, ResultId, PlatformIndex>, InFlight> commits_;

  EqualWorkFollowers& equal_work_followers_;
};

}  // namespace galley::director
