// CookTable: the running cooks, each in a slot, and the cooks that wait for their turn.
// Threads: none; owned by its layer.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "director/core/cooks/cook.h"
#include "director/core/cooks/unneeded_packages.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/worker_lifecycle.h"

namespace galley::director {

class CookTable : PackagePart {
 public:
  struct Deps {
    Reservations& reservations;
    Attempts& attempts;
    HeldResults& held_results;
    Breakers& breakers;
    Faults& faults;
    WorkerLifecycle& worker_lifecycle;
    UnneededPackages& unneeded_packages;
  };
  CookTable(const JobGround& ground, const CookParts& parts, const Deps& deps)
      : PackagePart(ground), ground_(ground), parts_(parts), deps_(deps) {}

  void OnCookRequested(const CookRequested& event);
  void OnCancelRequested(const CancelRequested& event);
  void OnCookUnfit(const CookUnfit& event);
  // Forgets all packages if nobody cooks or asks, and else, while no cook runs, those that nobody
  // needs.
  void OnMemoryShort();
  void OnPackagesDiscovered(const PackagesDiscovered& event);
  // OnPackagesDiscovered for new files, except for cooks that are ending. Settled cooks take the
  // files when they are opened again.
  void Discover(const std::vector<PackagesDiscovered>& all);
  void OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  void OnLossSeen(const LossSeen& event);
  void OnLostFound(const LostFound& event);
  void OnLossSuspected(const LossSuspected& note);
  // Ends all running cooks with this error.
  void EndAll(const std::string& infrastructure_error);

  // Runs at the beginning of a step.
  void Advance();
  // Releases claims of cooks that are over, if other cooks run. Returns the units of work.
  size_t ReleaseClaims(size_t units_max);
  // Gives up the packages that only stopped cooks want. Does nothing if no cook stopped since the
  // last call.
  void GiveUp();
  // Returns the units of work.
  size_t SelectSome(size_t units_max);
  // Runs Cook::GoOn for each running cook, at the end of a step.
  void GoOn();
  // Begins the next cook and, if other cooks run, as many as there are free slots. REQUIRES: GoOn
  // was called in this step.
  void BeginNext();
  bool HasAgenda() const;
  void CheckTallies() const;

  // visit(Cook&) for each running cook among `cooks`, by slot.
  template <typename Visit>
  void ForEachOf(CookMask cooks, Visit visit) const {
    claimants_.ForEachOf(cooks, [&](const Claimant& one) { visit(*cooks_[one.slot]); });
  }
  // visit(CookRequested&) for each cook that waits for its turn.
  template <typename Visit>
  void ForEachWaiting(Visit visit) {
    for (CookRequested& waiting : waiting_) visit(waiting);
  }

 private:
  Cook* Find(uint64_t request) const;
  std::deque<CookRequested>::iterator FindWaiting(uint64_t request);
  bool CanBeginNext() const;
  void BeginOne();
  void BeginRound();

  const JobGround& ground_;
  const CookParts parts_;
  const Deps deps_;
  std::array<std::unique_ptr<Cook>, kCooksMax> cooks_;  // by slot
  std::deque<CookRequested> waiting_;
};

}  // namespace galley::director
