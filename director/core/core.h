// Core: the parts of CookCore and what they share. The step is in core.cc; each family of events
// and decisions is a part of its own.
//
// Core outlives cooks; all that begins anew with each is in Cook.
// Threads: none.
#pragma once

#include <memory>
#include <vector>

#include "director/core/advancing.h"
#include "director/core/asking.h"
#include "director/core/attempts.h"
#include "director/core/balancing.h"
#include "director/core/breakers.h"
#include "director/core/catalog.h"
#include "director/core/cook.h"
#include "director/core/cook_core.h"
#include "director/core/cook_table.h"
#include "director/core/core_figures.h"
#include "director/core/costs.h"
#include "director/core/dispatching.h"
#include "director/core/exploring.h"
#include "director/core/fleet.h"
#include "director/core/following.h"
#include "director/core/grants.h"
#include "director/core/looking_up.h"
#include "director/core/offers.h"
#include "director/core/overruns.h"
#include "director/core/pending_commits.h"
#include "director/core/placing.h"
#include "director/core/platforms.h"
#include "director/core/proofs.h"
#include "director/core/reports.h"
#include "director/core/reservations.h"
#include "director/core/shares.h"
#include "director/core/splitting.h"
#include "director/core/stragglers.h"
#include "director/core/survivors.h"
#include "director/core/trust.h"
#include "director/core/waiting.h"
#include "director/core/warmth.h"
#include "director/core/worker_lives.h"

namespace galley::director {

struct Core {
  Core(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Step(absl::Time time, const Event& event, std::vector<Effect>& effects);
  bool HasAgenda() const;
  bool HasJobs() const;
  Progress ViewProgress(const Cook& cook) const;
  // The counts of the package's cooker.
  CookerFigures& CountsOf(PackageId package);
  CoreFigures ViewFigures();
  void CheckInvariants() const;

  const CookOptions options;
  std::shared_ptr<const Catalog> catalog;
  uint32_t epoch = 1;  // of the catalog
  uint32_t platform_count;
  PlatformSets platform_sets;
  absl::Time now = absl::InfinitePast();
  // The time that this process lived through: a pause of the whole machine is no silence of its
  // workers.
  absl::Duration awake;
  uint64_t looks_for_lost = 0;  // LookForLost sent so far
  CoreFigures counted;          // `cookers` by CostTraits::cooker; nothing of what waits

  PackageTable packages;
  WorkerTable workers;
  Turn turn;
  Grants grants;
  Costs costs;
  Overruns overruns;
  Shares shares;
  Warmth warmth;

  Advancing advancing{*this};
  Asking asking{*this};
  Attempts attempts{*this};
  Balancing balancing{*this};
  Breakers breakers{*this};
  PendingCommits commits{*this};
  CookTable cooks{*this};
  Dispatching dispatching{*this};
  Exploring exploring{*this};
  Fleet fleet{*this};
  Following following{*this};
  LookingUp looking_up{*this};
  Offers offers{*this};
  Placing placing;
  Proofs proofs{*this};
  Reports reports{*this};
  Reservations reservations{*this};
  Splitting splitting{*this};
  Stragglers stragglers{*this};
  Survivors survivors{*this};
  Trust trust{*this};
  Waiting waiting{*this};
  WorkerLives worker_lives{*this};

 private:
  void Apply(const Event& event);
  void RunAgenda(size_t units);  // that the step has done already
  size_t RunNext();              // returns units
};

inline Part::Part(Core& core)
    : core_(core),
      options_(core.options),
      packages_(core.packages),
      workers_(core.workers),
      turn_(core.turn) {}
inline Graph& Part::graph() const { return core_.cooks.graph(); }
inline Lifecycle& Part::lifecycle() const { return core_.cooks.graph().lifecycle; }

}  // namespace galley::director
