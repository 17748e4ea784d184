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

#include "director/core/catalog.h"
#include "director/core/cooks/asking.h"
#include "director/core/cooks/beginning.h"
#include "director/core/cooks/changes.h"
#include "director/core/cooks/cook_table.h"
#include "director/core/cooks/exploring.h"
#include "director/core/cooks/judging.h"
#include "director/core/core_figures.h"
#include "director/core/jobs/accepting.h"
#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/explored.h"
#include "director/core/jobs/following.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/handing_back.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/judgements.h"
#include "director/core/jobs/looking_up.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/overruns.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/jobs/wait_cycles.h"
#include "director/core/jobs/waiting.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/core_counts.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/graph.h"
#include "director/core/packages/notes.h"
#include "director/core/packages/today.h"
#include "director/core/packages/urgencies.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"
#include "director/core/workers/aloneness.h"
#include "director/core/workers/balancing.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/dispatching.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/fleet.h"
#include "director/core/workers/handing_over.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/kept_worker.h"
#include "director/core/workers/large_jobs.h"
#include "director/core/workers/offers.h"
#include "director/core/workers/parking.h"
#include "director/core/workers/persisting.h"
#include "director/core/workers/placing.h"
#include "director/core/workers/proofs.h"
#include "director/core/workers/reports.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/shares.h"
#include "director/core/workers/splitting.h"
#include "director/core/workers/start_failures.h"
#include "director/core/workers/stragglers.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/suspects.h"
#include "director/core/workers/trust.h"
#include "director/core/workers/warmth.h"
#include "director/core/workers/worker_lives.h"
#include "director/core/workers/worker_loss.h"

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
  const RetryPolicy retry{options};
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
  const JobGround ground{{options, retry, today, packages, claimants, graph, notes, turn, counts},
                         workers};

  // Each receives parts that are above it in this list.
  Attempts attempts{ground, costs, machines, grants, overruns};
  ResumedAttempts resumed_attempts{ground, grants, attempts};
  Urgencies urgencies{ground};
  Following following{ground, resumed_attempts, urgencies};
  Waits waits{ground};
  Advancing advancing{ground, attempts, resumed_attempts, following, waits};
  PendingCommits commits{ground, following};
  Judgements judgements{ground, advancing};
  Warnings warnings{ground};
  Claims claims{ground, attempts,  resumed_attempts, urgencies,
                waits,  advancing, judgements,       warnings};
  WaitCycles wait_cycles{ground, urgencies, waits, advancing};
  Waiting waiting{ground, waits, advancing, judgements, claims, wait_cycles};
  Explored explored{ground, advancing, claims, waiting};
  LookingUp looking_up{ground,   costs,  waits,       advancing, commits,
                       warnings, claims, wait_cycles, waiting,   explored};
  Aloneness aloneness{ground, attempts, commits, looking_up};
  Acknowledgements acknowledgements{ground, attempts, resumed_attempts};
  HeldResults held_results{ground, acknowledgements};
  Offers offers{ground, grants, attempts, advancing, held_results};
  Reservations reservations{ground, grants, aloneness, offers};
  Suspects suspects{ground, attempts, aloneness};
  HandingBack handing_back{ground, attempts, advancing};
  Trust trust{ground, costs, machines, overruns, attempts, offers, handing_back};
  Placing placing{ground, costs, kept_worker, warmth, offers, reservations, suspects, trust};
  Accepting accepting{ground, costs, attempts, waits, commits, warnings, explored};
  WorkerLoss worker_loss{ground,    grants,       warmth,       attempts, resumed_attempts,
                         advancing, held_results, handing_back, trust};
  Proofs proofs{ground,           machines,     attempts, waits,     advancing,  commits,
                acknowledgements, held_results, offers,   accepting, worker_loss};
  Parking parking{ground, advancing, held_results, offers, reservations, placing, proofs};
  Asking asking{ground, grants, attempts, urgencies, parking};
  JobQueue job_queue{ground, costs, grants, shares, resumed_attempts, aloneness, reservations};
  Breakers breakers{ground, machines, commits, handing_back, trust, worker_loss, job_queue};
  HandingOver handing_over{ground,    costs, grants,       warmth,  attempts,  resumed_attempts,
                           following, waits, held_results, placing, job_queue, breakers};
  Balancing balancing{ground, costs, kept_worker, attempts,    advancing,
                      offers, trust, placing,     handing_over};
  Beginning beginning{ground, costs, grants, waits, advancing, claims, waiting, offers};
  Faults faults{ground, attempts, advancing, aloneness, placing, breakers};
  Culprits culprits{ground, machines, attempts, advancing, faults};
  Fleet fleet{ground, grants,      start_failures, held_results,
              offers, worker_loss, parking,        job_queue};
  Survivors survivors{ground,    costs,      grants, attempts,     resumed_attempts,
                      advancing, looking_up, offers, reservations, handing_over};
  WorkerLives worker_lives{ground,           machines,    start_failures, warmth,       attempts,
                           resumed_attempts, advancing,   commits,        held_results, offers,
                           handing_back,     worker_loss, parking,        breakers,     faults,
                           culprits,         fleet,       survivors};
  Judging judging{ground, judgements, warnings};
  CookTable cooks{
      ground,       {resumed_attempts, commits, advancing, judgements, warnings, claims, judging},
      kept_worker,  attempts,
      held_results, breakers,
      faults,       worker_lives};
  Exploring exploring{ground, claims, judging};
  Changes changes{ground, attempts, advancing, commits, claims, held_results, cooks, exploring};
  LargeJobs large_jobs{ground, costs,   kept_worker, aloneness,    offers, reservations,
                       trust,  placing, job_queue,   handing_over, faults, survivors};
  Stragglers stragglers{ground, machines, overruns, attempts, trust, placing, handing_over};
  Splitting splitting{ground, attempts, handing_over, stragglers};
  Dispatching dispatching{ground,     attempts,   resumed_attempts, aloneness, reservations,
                          trust,      placing,    parking,          job_queue, handing_over,
                          balancing,  faults,     culprits,         fleet,     survivors,
                          large_jobs, stragglers, splitting};
  Persisting persisting{ground,   attempts,         advancing, commits,
                        explored, acknowledgements, breakers,  faults};
  Reports reports{ground,      start_failures, attempts,         resumed_attempts, following,
                  waits,       advancing,      commits,          warnings,         claims,
                  wait_cycles, explored,       acknowledgements, held_results,     offers,
                  accepting,   proofs,         breakers,         faults,           culprits};

 private:
  void Apply(const Event& event);
  void HandOnNotes();
  void RunAgenda(size_t units);  // that the step has done already
  size_t RunNext();              // returns units
};

}  // namespace galley::director
