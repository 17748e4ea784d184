// CookTable: the cooks that run, each in a slot of its own, and those that wait for their turn.
//
// A cook that is over keeps its slot until its claims are let go: until the next step when other
// cooks run, until the next cook begins when none does. So what it came to can still be asked for.
// Threads: none; owned by Core.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "director/core/claimants.h"
#include "director/core/cook.h"
#include "director/core/core_figures.h"
#include "director/core/graph.h"
#include "director/core/part.h"

namespace galley::director {

class CookTable : Part, public Claimants {
 public:
  explicit CookTable(Core& core);

  void OnCookRequested(const CookRequested& event);
  void OnCancelRequested(const CancelRequested& event);
  void OnDirectorUnfit(const DirectorUnfit& event) { EndAll(event.reason); }
  void OnCookUnfit(const CookUnfit& event);
  void OnMemoryShort();
  void OnPackagesDiscovered(const PackagesDiscovered& event);
  // The same with new files, for cooks that go on with them.
  void Discover(const std::vector<PackagesDiscovered>& all);
  void OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  void OnLossSeen(const LossSeen& event);
  void OnLostFound(const LostFound& event);

  // A step begins.
  void Advance();
  // Lets claims of cooks that are over go, while others run. Returns units.
  size_t LetGo(size_t units_max);
  // Packages that only cooks want which were stopped since the last call are given up.
  void GiveUp();
  // Returns units.
  size_t SelectSome(size_t units_max);
  // At the end of a step: cooks that are done are settled or ended, and the next one begins.
  void GoOn();
  bool HasAgenda() const;
  // None of the running ones can go on.
  void EndAll(const std::string& infrastructure_error);
  // The state of a cook, on which the masks below depend, changed.
  void NoteState();
  void NoteStopped() { has_stopped_ = true; }
  void NoteEnded() { has_ended_ = true; }

  // Claimants:
  void ForEach(PackageId package, absl::FunctionRef<void(const Claimant&)> visit) const override;

  // visit(Cook&) for each of these that runs, by slot.
  template <typename Visit>
  void ForEachOf(CookMask cooks, Visit visit) const {
    for (cooks &= running_; cooks != 0; cooks &= cooks - 1)
      visit(*cooks_[static_cast<size_t>(std::countr_zero(cooks))]);
  }
  CookMask running() const { return running_; }  // not over
  CookMask active() const { return active_; }    // and not ending
  CookMask open() const { return open_; }        // and not settling: packages can join it
  CookMask settling() const { return active_ & ~open_; }
  CookMask fail_fast() const { return fail_fast_; }
  CookMask forcing() const { return forcing_; }
  CookMask follow_soft() const { return follow_soft_; }
  // The cooks among `cooks` in which the package stands (Cook::Stands).
  CookMask StandingIn(PackageId package, CookMask cooks) const;
  bool has_stopped() const { return has_stopped_; }
  // The cooks that go on are of several classes.
  bool has_several_classes() const { return (classes_ & (classes_ - 1)) != 0; }
  // Some cook that goes on wants the package.
  bool IsWanted(PackageId package) const { return (packages_[package].cooks & active_) != 0; }
  // Such a cook wants it to be cooked whatever is known.
  bool IsForced(PackageId package) const {
    return (packages_[package].cooks & active_ & forcing_) != 0;
  }
  // The phase of a platform of the package that must be cooked, or looked up first.
  Phase FirstPhaseOf(PackageId package) const {
    return IsForced(package) ? Phase::kToCook : Phase::kToLookUp;
  }
  // The cooks that want the package for one of these platforms.
  CookMask ClaimersOn(PackageId package, PlatformMask platforms) const;
  // The same without those in which the package failed for it already.
  CookMask ListenersOn(PackageId package, PlatformIndex platform) const;
  PlatformMask PlatformsOf(CookMask cooks) const;
  Urgency UrgencyOf(CookMask cooks, InstigatorCategory category) const;
  // The running cook for which a result of the package counts. Null: none.
  const Cook* FirstOf(PackageId package) const;
  bool IsAllSelected() const;
  bool IsPublishing(uint64_t request) const;
  // The counter of all cooks that want the package, or of all that run.
  void Count(PackageId package, uint64_t Counters::*counter, uint64_t by = 1) const;
  void CountForAll(uint64_t Counters::*counter, uint64_t by = 1) const;
  void CountRetry(PackageId package, RetryCause cause) const;
  void CountAttached() const;

  // The one with that number: one that runs, or whose claims are not let go yet.
  Cook& At(uint64_t request) const;
  // The one that began last; before the first one, one of nothing.
  Cook& last() const { return *last_; }
  // The packages that they want.
  Graph& graph() const { return *graph_; }
  // Files of packages that wait for their turn changed their names.
  template <typename Visit>
  void ForEachWaiting(Visit visit) {
    for (CookRequested& waiting : waiting_) visit(waiting);
  }
  uint64_t graphs() const { return graphs_; }  // made so far

 private:
  Cook* Find(uint64_t request) const;
  std::deque<CookRequested>::iterator FindWaiting(uint64_t request);
  bool CanBeginNext() const;
  void BeginNext();
  void EndUnbegun(const CookRequested& waiting, bool is_interrupted, const std::string& error);

  std::array<std::unique_ptr<Cook>, kCooksMax> cooks_;
  std::unique_ptr<Cook> nothing_;
  Cook* last_;
  std::unique_ptr<Graph> graph_;
  std::deque<CookRequested> waiting_;
  uint64_t graphs_ = 0;
  bool has_stopped_ = false;
  bool has_ended_ = false;  // a cook, in this step: the next one may take its graph
  CookMask running_ = 0, active_ = 0, open_ = 0, forcing_ = 0, fail_fast_ = 0, follow_soft_ = 0;
  CookMask with_standing_ = 0;
  uint32_t classes_ = 0;  // of active_: a bit for each
  CookMask over_ = 0;     // whose claims are not let go yet
};

}  // namespace galley::director
