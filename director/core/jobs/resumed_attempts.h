// ResumedAttempts: the attempts that workers of an earlier director have in hand, or are said to
// have until they attach (survivors.h).
// Threads: none; owned by Core.
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
    absl::Time over_at = absl::InfiniteFuture();  // its reports are here by then
  };
  using ByPackage = absl::btree_map<PackageId, Resumed>;

  ResumedAttempts(const JobGround& ground, Grants& grants, Attempts& attempts)
      : JobPart(ground), grants_(grants), attempts_(attempts) {}

  // REQUIRES: Attempts has it.
  void Add(PackageId package, AttemptId attempt, const std::optional<Digest>& generated_source);
  bool IsResumed(AttemptId id) const;
  bool Has(PackageId package) const { return resumed_.contains(package); }
  bool empty() const { return resumed_.empty(); }
  bool names_packages() const { return !resumed_.empty() || !given_.empty(); }
  ByPackage& all() { return resumed_; }
  // What the package's attempt was; it is resumed no longer. nullopt: it has none.
  std::optional<Resumed> Take(PackageId package);
  // Of a package whose attempt may hold resources, which is not known yet: the attempt is settled
  // once that is known.
  absl::btree_set<PackageId>& unsettled() { return unsettled_; }
  // Some of these may hold resources: which, or where, is not known.
  bool is_unsure() const { return is_unsure_; }
  void SetUnsure(bool is_unsure) { is_unsure_ = is_unsure; }

  void ForgetResumed(AttemptId id);
  void ForgetResumedOf(WorkerId worker);
  // Nobody can report on the attempt any more: it is forgotten.
  void ForgetAttempt(AttemptId id);
  // A step begins: attempts of which nothing was heard for long enough are forgotten.
  void ForgetUnheard();
  // The package's inputs have changed under this director: its attempts are as any that came
  // before.
  void Outdate(PackageId package);
  void CancelResumed();
  // A cook was stopped: the attempts of packages that no other cook wants end.
  void EndUnwanted();
  ByPackage::iterator Erase(ByPackage::iterator at);
  // The attempt's results are made from the inputs that the package has now. Whether files and
  // settings are those of an earlier term the shell has seen; a generated source may be another.
  bool IsOfToday(const Attempt& attempt) const;

 private:
  ByPackage resumed_;
  absl::btree_set<PackageId> unsettled_;
  bool is_unsure_ = false;
  // All attempts that the journal knows of, by package.
  absl::flat_hash_map<PackageId, std::vector<AttemptId>> given_;  // look-up only

  Grants& grants_;
  Attempts& attempts_;
};

}  // namespace galley::director
