// ResumedAttempts: the attempts of an earlier director that surviving workers have, or may have
// until they attach (survivors.h).
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
    absl::Time over_at = absl::InfiniteFuture();  // all reports on it are here by then
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
  // Removes and returns the package's resumed attempt. nullopt: it has none.
  std::optional<Resumed> Take(PackageId package);
  // Packages for whose resumed attempt Survivors::HoldResources did not decide yet whether it holds
  // resources.
  absl::btree_set<PackageId>& unsettled() { return unsettled_; }
  // True: some resumed attempt may hold resources, but the resources or their machine are unknown.
  bool is_unsure() const { return is_unsure_; }
  void SetUnsure(bool is_unsure) { is_unsure_ = is_unsure; }

  void ForgetResumed(AttemptId id);
  void ForgetResumedOf(WorkerId worker);
  // Forgets an attempt on which no worker can report any more.
  void ForgetAttempt(AttemptId id);
  // Runs at the beginning of a step: forgets the attempts of Attempts::TakeUnheard.
  void ForgetUnheard();
  // The package's inputs have changed under this director: the attempts that an earlier director
  // gave are outdated, and resumed ones are cancelled.
  void Outdate(PackageId package);
  void CancelResumed();
  // A cook was stopped: cancels the attempts at packages that no active cook wants.
  void EndUnwanted();
  ByPackage::iterator Erase(ByPackage::iterator at);
  // True: the attempt's results are made from the package's present inputs. For an attempt of an
  // earlier term, the shell has compared files and settings, but not generated sources: false then.
  bool IsOfToday(const Attempt& attempt) const;

 private:
  ByPackage resumed_;
  absl::btree_set<PackageId> unsettled_;
  bool is_unsure_ = false;
  // By package: all attempts of earlier directors.
  absl::flat_hash_map<PackageId, std::vector<AttemptId>> given_;  // look-up only

  Grants& grants_;
  Attempts& attempts_;
};

}  // namespace galley::director
