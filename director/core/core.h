// Core: the parts of CookCore and what they share. The step is in core.cc; each family of events
// and decisions is a part of its own.
//
// A part calls the parts that it needs; what parts above it must do about something it leaves as a
// note (notes.h), which Core hands on.
// Threads: none.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "director/core/accepting.h"
#include "director/core/acknowledgements.h"
#include "director/core/advancing.h"
#include "director/core/aloneness.h"
#include "director/core/asking.h"
#include "director/core/attempts.h"
#include "director/core/balancing.h"
#include "director/core/beginning.h"
#include "director/core/breakers.h"
#include "director/core/catalog.h"
#include "director/core/changes.h"
#include "director/core/claimants.h"
#include "director/core/claims.h"
#include "director/core/cook_core.h"
#include "director/core/cook_table.h"
#include "director/core/core_counts.h"
#include "director/core/core_figures.h"
#include "director/core/costs.h"
#include "director/core/culprits.h"
#include "director/core/dispatching.h"
#include "director/core/explored.h"
#include "director/core/exploring.h"
#include "director/core/faults.h"
#include "director/core/fleet.h"
#include "director/core/following.h"
#include "director/core/grants.h"
#include "director/core/graph.h"
#include "director/core/handing_back.h"
#include "director/core/handing_over.h"
#include "director/core/held_results.h"
#include "director/core/job_costs.h"
#include "director/core/job_queue.h"
#include "director/core/judgements.h"
#include "director/core/judging.h"
#include "director/core/kept_worker.h"
#include "director/core/large_jobs.h"
#include "director/core/looking_up.h"
#include "director/core/machine_table.h"
#include "director/core/notes.h"
#include "director/core/offers.h"
#include "director/core/overruns.h"
#include "director/core/parking.h"
#include "director/core/pending_commits.h"
#include "director/core/persisting.h"
#include "director/core/placing.h"
#include "director/core/proofs.h"
#include "director/core/reports.h"
#include "director/core/reservations.h"
#include "director/core/resumed_attempts.h"
#include "director/core/shares.h"
#include "director/core/splitting.h"
#include "director/core/start_failures.h"
#include "director/core/stragglers.h"
#include "director/core/survivors.h"
#include "director/core/suspects.h"
#include "director/core/today.h"
#include "director/core/trust.h"
#include "director/core/urgencies.h"
#include "director/core/wait_cycles.h"
#include "director/core/waiting.h"
#include "director/core/waits.h"
#include "director/core/warmth.h"
#include "director/core/warnings.h"
#include "director/core/worker_lives.h"
#include "director/core/worker_loss.h"

namespace galley::director {

struct Core {
  Core(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Step(absl::Time time, const Event& event, std::vector<Effect>& effects);
  bool HasAgenda() const;
  bool HasJobs() const;
  Progress ViewProgress(const Claimant& cook) const;
  CoreFigures ViewFigures();
  void CheckInvariants() const;

  const CookOptions options;
  Today today;
  Costs costs;
  CoreCounts counts{costs};
  PackageTable packages;
  Notes notes;
  Claimants claimants{packages, counts, notes};
  Graph graph{options, today, packages, claimants};
  WorkerTable workers;
  MachineTable machines;
  Turn turn;
  Grants grants;
  Overruns overruns;
  Shares shares;
  StartFailures start_failures;
  std::optional<KeptWorker> kept_worker;
  Warmth warmth;

  Advancing advancing{*this};
  Aloneness aloneness{*this};
  Asking asking{*this};
  Attempts attempts{*this};
  Balancing balancing{*this};
  Beginning beginning{*this};
  Breakers breakers{*this};
  Changes changes{*this};
  Claims claims{*this};
  PendingCommits commits{*this};
  CookTable cooks{*this};
  Culprits culprits{*this};
  Dispatching dispatching{*this};
  Exploring exploring{*this};
  Faults faults{*this};
  Explored explored{*this};
  HandingBack handing_back{*this};
  Acknowledgements acknowledgements{*this};
  WorkerLoss worker_loss{*this};
  Accepting accepting{*this};
  Persisting persisting{*this};
  JobQueue job_queue{*this};
  HandingOver handing_over{*this};
  Suspects suspects{*this};
  ResumedAttempts resumed_attempts{*this};
  HeldResults held_results{*this};
  Parking parking{*this};
  Fleet fleet{*this};
  Following following{*this};
  Judgements judgements{*this};
  Judging judging{*this};
  LargeJobs large_jobs{*this};
  LookingUp looking_up{*this};
  Offers offers{*this};
  Placing placing{*this};
  Proofs proofs{*this};
  Reports reports{*this};
  Reservations reservations{*this};
  Splitting splitting{*this};
  Stragglers stragglers{*this};
  Survivors survivors{*this};
  Trust trust{*this};
  Urgencies urgencies{*this};
  WaitCycles wait_cycles{*this};
  Waiting waiting{*this};
  Waits waits{*this};
  Warnings warnings{*this};
  WorkerLives worker_lives{*this};

 private:
  void Apply(const Event& event);
  void HandOnNotes();
  void RunAgenda(size_t units);  // that the step has done already
  size_t RunNext();              // returns units
};

inline Part::Part(Core& core)
    : core_(core),
      options_(core.options),
      today_(core.today),
      packages_(core.packages),
      graph_(core.graph),
      claimants_(core.claimants),
      counts_(core.counts),
      notes_(core.notes),
      workers_(core.workers),
      turn_(core.turn) {}

}  // namespace galley::director
