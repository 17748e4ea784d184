// ResumedAttempts: the attempts that workers of an earlier director have in hand, or may have in
// hand until the workers attach (survivors.h).
// Threads: none; owned by its layer.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"

namespace galley::director {

class ResumedAttempts : JobPart {
 public:
  struct Resumed {
    AttemptId attempt = 0;
    std::optional<Digest> generated_source;
    bool has_begun = false;
    absl::Time over_at = absl::InfiniteFuture();  // the attempt's reports are here by then
  };
  using ByPackage = absl::btree_map<PackageId, Resumed>;

  ResumedAttempts(const JobGround& ground, Grants& grants, Attempts& attempts)
      : JobPart(ground), grants_(grants), attempts_(attempts) {}

  // REQUIRES: Attempts has the attempt.
  void Add(PackageId package, AttemptId attempt, const std::optional<Digest>& generated_source);
  bool IsResumed(AttemptId id) const;
  bool Has(PackageId package) const { return resumed_.contains(package); }
  bool empty() const { return resumed_.empty(); }
  bool names_packages() const { return !resumed_.empty() || !given_.empty(); }
  ByPackage& all() { return resumed_; }
  // Takes the package's resumed attempt, which is resumed no longer. nullopt: the package has none.
  std::optional<Resumed> Take(PackageId package);
  // Packages whose resumed attempt may hold resources that are not known yet: the attempt is
  // settled once the resources are known.
  absl::btree_set<PackageId>& unsettled() { return unsettled_; }
  // Some resumed attempts may hold resources: which resources, or on which machine, is not known.
  bool is_unsure() const { return is_unsure_; }
  void SetUnsure(bool is_unsure) { is_unsure_ = is_unsure; }

  void ForgetResumed(AttemptId id);
  void ForgetResumedOf(WorkerId worker);
  // No worker can report on the attempt any more: the attempt is forgotten.
  void ForgetAttempt(AttemptId id);
  // A step begins: attempts of which nothing was heard for long enough are forgotten.
  void ForgetUnheard();
  // The package's inputs have changed under this director: its resumed attempts count as any
  // outdated attempt.
  void Outdate(PackageId package);
  void CancelResumed();
  // A cook was stopped: the attempts of packages that no other cook wants end.
  void EndUnwanted();
  ByPackage::iterator Erase(ByPackage::iterator at);
  // The attempt's results are made from the package's present inputs. The shell has seen that files
  // and settings are as in the earlier term; a generated source may be another.
  bool IsOfToday(const Attempt& attempt) const;

 private:
  ByPackage resumed_;
  absl::btree_set<PackageId> unsettled_;
  bool is_unsure_ = false;
  // By package: all attempts that the journal knows of.
  absl::flat_hash_map<PackageId, std::vector<AttemptId>> given_;  // look-up only

  Grants& grants_;
  Attempts& attempts_;
};

}  // namespace galley::director
