// Asks: requests for one package on one platform each, beside the cooks (docs/core.md, Asks).
//
// A device waits for the package. An ask is Blocking, and takes with it what the package needs: its
// generator and its cooked inputs, on the same platform. References are not followed, no root is
// built, and nothing is published. An ask shares the package's work with cooks and other asks. It
// ends with AskEnded as soon as the package is done or has failed on its platform; then, or when it
// is withdrawn, the package and its needs are let go unless others want them.
//
// A hard reference that leads nowhere, and a warning that the project makes an error, fail an ask
// as they fail a package of a cook. Conflicts between packages are not judged.
//
// Cost: O(log asks) for each ask, and O(needs + readers of needs) where an ask ends. O(packages)
// for the first ask after a time without cooks and asks.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/kept_failures.h"
#include "director/core/packages/package_part.h"
#include "director/core/workers/worker_lifecycle.h"

namespace galley::director {

class Asks : PackagePart {
 public:
  struct Deps {
    KeptFailures& kept_failures;
    ResumedAttempts& resumed_attempts;
    Claims& claims;
    WorkerLifecycle& worker_lifecycle;
  };
  Asks(const PackageGround& ground, const Deps& deps) : PackagePart(ground), deps_(deps) {}

  void OnPackageAsked(const PackageAsked& event);
  void OnAskWithdrawn(const AskWithdrawn& event);
  void OnAskSettled(const AskSettled& note);
  // Changed packages, and packages that read their outputs, may be tried again.
  void OnFilesChanged(const FilesChanged& event);
  // The packages, and packages that read their outputs, may be tried again: their inputs changed,
  // or a person cleared them. Names of packages or of their files.
  void ForgetFailures(const std::vector<std::string>& packages);
  // Ends all asks with this error.
  void EndAll(const std::string& infrastructure_error);
  // Platforms have new numbers. Asks for platforms that are gone end.
  void Remap(const PlatformMap& map);

  size_t size() const { return targets_.size(); }

 private:
  struct Target {
    PackageId package;
    PlatformIndex platform = 0;
  };

  void Begin();
  void Distrust();
  void End(uint64_t ask, AskEnded ended);
  void EndOf(PackageId package, PlatformIndex platform, const AskEnded& how);
  void Release(PackageId package);
  void EndIfNobodyAsks();
  // Somebody asks for the package, or for a package that needs it.
  bool IsAskedFor(PackageId package) const { return (packages_[package].cooks & kAsksBit) != 0; }
  PlatformMask DirectOf(PackageId package) const;
  std::vector<PackageId> NeedsOf(PackageId package) const;
  std::optional<PackageFailed> Judge(PackageId package, PlatformIndex platform) const;

  const Deps deps_;
  absl::btree_map<uint64_t, Target> targets_;  // by ask
  absl::btree_set<std::tuple<PackageId, PlatformIndex, uint64_t>> asks_;
};

}  // namespace galley::director
