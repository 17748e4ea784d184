// Cook: one request, from when its turn comes until it is published or given up.
//
// A Cook has what is of one request alone, constructed anew for each: its selection, judgement,
// warnings, roots and counts. The packages that it wants are in the Graph.
// Threads: none; owned by Cooks.
#pragma once

#include <string>
#include <vector>

#include "director/core/changes.h"
#include "director/core/cook_core.h"
#include "director/core/cook_roots.h"
#include "director/core/edges.h"
#include "director/core/judging.h"
#include "director/core/losing.h"
#include "director/core/part.h"
#include "director/core/selection.h"
#include "director/core/tally.h"
#include "director/core/warnings.h"

namespace galley::director {

class Cook : Part {
 public:
  enum class Ending : uint8_t { kNone, kInterrupted, kFailFast };

  // Before the first request: a cook of nothing, which is over.
  explicit Cook(Core& core);
  Cook(Core& core, CookSlot slot, CookRequested request);

  const CookRequested& request() const { return request_; }
  CookMask bit() const { return BitOf(slot_); }
  bool is_over() const { return is_over_; }
  // Its claims are gone.
  bool is_let_go() const { return is_let_go_; }
  void SetLetGo() { is_let_go_ = true; }
  bool is_ending() const { return ending_ != Ending::kNone && !is_over_; }
  // Nothing of it is under way.
  bool IsQuiet() const;
  // Changes reach the cook. Once its roots are being built they do not.
  bool CanStillChange() const { return !is_over_ && !is_ending() && !roots.is_settling(); }
  // Published roots stand: what fails when lost bytes are made again behind them stops nothing.
  bool FailsFast() const { return !is_over_ && request_.fail_fast && !roots.has_published(); }
  bool Wants(PackageId package) const { return (packages_[package].cooks & bit()) != 0; }
  // The package is in the cook and need not be looked at.
  bool Stands(PackageId package) const {
    return request_.standing != nullptr && !Wants(package) &&
           request_.standing->Has(NameOf(package));
  }
  // The cook has a package of this name, whether it looks at it or not.
  bool Holds(std::string_view name) const {
    const PackageId package = packages_.Find(name);
    return (package.valid() && Wants(package)) ||
           (request_.standing != nullptr && request_.standing->WasInCook(name));
  }
  // The target of such a reference belongs to the cook, too.
  bool Follows(const Edge& edge) const {
    return (edge.platforms & request_.platforms) != 0 &&
           (request_.follow_soft || edge.category != InstigatorCategory::kSoftDependency);
  }

  // True: for that reason this cook wants the package, whoever else does.
  bool HasReason(PackageId package, const InstigatorView& why) const {
    if (!why.referencer.valid()) return (packages_[package].selected_by & bit()) != 0;
    return Wants(why.referencer) &&
           (request_.follow_soft || why.category != InstigatorCategory::kSoftDependency);
  }

  // The package is wanted in this cook from now on.
  void NoteMember(PackageId package) { members_.push_back(package); }
  // All that are or were wanted, in the order found, some perhaps twice.
  std::vector<PackageId>& members() { return members_; }
  const std::vector<PackageId>& members() const { return members_; }
  // Those that are wanted, each once, by id.
  std::vector<PackageId> Wanted() const;
  // The same by name.
  std::vector<PackageId> WantedByName() const;

  // The package begins anew: what was judged of it is forgotten, and roots that name it are not
  // wanted any more.
  void NoteRequeued(PackageId package);
  // The request's platforms have new numbers, and some are asked for as well.
  void Remap(const PlatformMap& map, PlatformMask added);
  void RenameSelected(const NewNames& new_names);
  void Select(SelectedPackage selected) { request_.selected.push_back(std::move(selected)); }
  // Packages that stood are looked at as well: `whole` is all that the cook selects.
  void Widen(std::vector<SelectedPackage> whole);
  bool was_widened() const { return was_widened_; }

  // Nothing new begins; what is in hand is cancelled; what is being committed is waited for.
  void Stop(Ending how);
  // REQUIRES: it was stopped. Packages that no other cook wants are given up.
  void GiveUp();
  // At the end of a step: the cook settles when it is quiet, and ends when it is settled.
  void GoOn();
  void End(const std::string& infrastructure_error);
  // CHECKs that the tally is the sum of what the packages add.
  void CheckTally() const;

  Tally tally;
  Selection selection;
  Judging judging;
  Warnings warnings;
  CookRoots roots;
  Losing losing;

 private:
  void CountUnfinished();
  void LeaveUnreached();
  bool HasCommits() const;
  bool LacksCommitsOnly() const;

  const CookSlot slot_;
  CookRequested request_;
  std::vector<PackageId> members_;
  bool is_empty_ = false;  // CookEnded::is_empty
  bool is_over_ = false;
  bool is_let_go_ = false;
  bool was_widened_ = false;
  const uint32_t begun_epoch_;  // of the catalog
  Ending ending_ = Ending::kNone;
};

}  // namespace galley::director
