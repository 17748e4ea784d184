// Asks: requests for one package on one platform each, beside the cooks (docs/core.md, Asks).
//
// A device waits for the package. An ask is Blocking, and takes with it what the package needs: its
// generator and its cooked inputs, on the same platform. References are not followed, no root is
// built, and nothing is published. An ask shares the package's work with cooks and other asks. It
// ends with AskEnded as soon as the package is done or has failed on its platform; then, or when it
// is withdrawn, the package and its needs are let go unless others want them.
//
// An ask *ahead of need* is for a package that a device may ask for next: nobody waits. Its package
// is spare (Urgency::kSpare): it is cooked only in slots that nothing else wants
// (workers/spare_jobs.h). Whoever asks for the package now lifts it to Blocking, and when that ask
// leaves the package is spare again. While others want the package, or what it needs, on other
// platforms, the ask is *deferred*: it claims nothing, so that the others need not wait until the
// package is looked up and loaded for a platform that is not theirs.
//
// A hard reference that leads nowhere, and a warning that the project makes an error, fail an ask
// as they fail a package of a cook. Conflicts between packages are not judged.
//
// Cost: O(log asks) for each ask, and O(needs + readers of needs) where an ask ends. O(packages)
// for the first ask after a time without cooks and asks, where asks ahead of need do not count.
// O(asks ahead of need and their needs) where one is deferred.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
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
  void OnAheadDisplaced(const AheadDisplaced& note);
  // Deferred asks claim their packages where nobody else is in the way any more.
  void TakeUpDeferred();
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
    bool is_ahead = false;
    bool was_there = false;  // the package was done when the ask claimed it
    // While the ask is deferred: it is not taken up before this time, and knows the package by its
    // name only. Nothing else keeps the package, which may be forgotten, and its id used again.
    std::optional<absl::Time> deferred_until = std::nullopt;
    std::string name = {};
  };

  void Claim(uint64_t ask);
  bool IsInNobodysWay(const Target& target) const;
  void Defer(uint64_t ask, absl::Time until);
  bool Needs(PackageId package, PackageId need) const;
  Target Remove(uint64_t ask);
  void NoteAsking();
  void Distrust();
  void End(uint64_t ask, AskEnded ended);
  void EndOf(PackageId package, PlatformIndex platform, const AskEnded& how);
  void Release(PackageId package);
  void EndIfNobodyAsks();
  // Somebody asks for the package, or for a package that needs it.
  bool IsAskedFor(PackageId package) const { return (packages_[package].cooks & kAsksBit) != 0; }
  Claims::Asked DirectOf(PackageId package) const;
  void AddReaders(PackageId package, absl::btree_map<PackageId, Claims::Asked>& asked) const;
  std::vector<PackageId> NeedsOf(PackageId package) const;
  std::optional<PackageFailed> Judge(PackageId package, PlatformIndex platform) const;

  const Deps deps_;
  absl::btree_map<uint64_t, Target> targets_;                             // by ask
  absl::btree_set<std::tuple<PackageId, PlatformIndex, uint64_t>> asks_;  // not deferred
  absl::btree_set<uint64_t> deferred_;
  uint64_t looked_up_to_ = 0;  // among the deferred asks
  size_t now_ = 0;             // asks for which somebody waits
};

}  // namespace galley::director
