// CookCore: the director's decisions as a deterministic state machine. Same options and events give
// the same effects, byte for byte.
//
// Cost: a step does at most CookOptions::units_per_step units of work; what is left stays on the
// agenda and goes on with the next event (the shell sends Tick at once while has_agenda()).
// Threads: none; the shell's loop owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "director/core/core_figures.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/monitor.h"

namespace galley::director {

// Workers that a launcher brings up on other machines, as many as the work is worth (fleet.h).
struct FleetOptions {
  uint32_t max = 0;  // 0: there is no such launcher
  uint32_t min = 0;  // while there is work
  uint32_t slots = 1;
  // What it takes as a rule from asking for a worker until it has its first job.
  absl::Duration start = absl::Seconds(2);
  absl::Duration idle_max = absl::Seconds(60);  // then one that nobody needs ends
  uint32_t helpers_max = 0;        // workers of this machine, for what those cannot cook
  std::vector<std::string> lacks;  // cookers for which nobody is asked for there
  record::WorkerOffer offer = {};  // what each of them has
  // So often in a row none of those that were asked for at a time started, while none is attached
  // or waits in a queue: exit 3.
  uint32_t failures_max = 5;
};

// Which jobs of workers on other machines are made again on another one (proofs.h).
struct ProofOptions {
  double share = 0;   // of them; 0: none
  uint64_t seed = 0;  // that no worker knows
  // So long a result waits for a second machine where none of the director's is to be had, and for
  // one otherwise, or for a third.
  absl::Duration second_max = absl::Seconds(5), third_max = absl::Seconds(30);
};

// How ready packages are spread over the workers: see policy.h.
enum class PlacementPolicy : uint8_t { kCost, kStriped };

struct CookOptions {
  uint32_t platform_count = 1;
  uint32_t workers = 1;  // on this machine: exactly so many are kept running while there is work
  FleetOptions fleet;    // on others
  ProofOptions proofs;
  uint32_t term = 1;  // of this director
  uint32_t units_per_step = 4096;
  uint32_t look_ups_per_batch = 128;
  uint32_t rank_visits_max = 10'000;  // edges, to place one reference in the order of ranks
  uint32_t own_fault_attempts_max = 3;
  absl::Duration alone_max = absl::Minutes(10);  // so long a cook's last attempts run alone
  uint32_t infrastructure_attempts_max = 100;
  uint32_t needs_max = 256;              // restarts of one package for late cooked inputs
  uint32_t generators_max = 16;          // one that another one generated that ...
  uint32_t stale_max = 3;                // changes of one file in a cook
  uint32_t lost_rounds_max = 3;          // how often a package is made again that the store loses
  uint32_t lost_rounds_in_all_max = 16;  // how often roots are built again, whatever was lost
  uint32_t spawn_failures_max = 5;       // in a row, while none is attached: exit 3
  // Likewise, of launched ones that say that others would fare the same.
  uint32_t unfit_max = 2;
  // Workers lost in a row before they had done anything, and so many for each worker: exit 3.
  uint32_t losses_max = 20, losses_of_each_max = 5;
  // A worker that holds jobs is lost after this silence; sessions speak once a second.
  absl::Duration silence_max = absl::Seconds(60);
  // From Spawn, its delay over, to the first WorkerAttached.
  absl::Duration start_max = absl::Seconds(120);
  absl::Duration survivor_max = absl::Seconds(10);  // from WorkersSurvived to its WorkerAttached
  // So long a worker that was lost may come back with results, and one that is there may bring
  // those of attempts that it said nothing of when it attached.
  absl::Duration unheard_max = absl::Minutes(10);
  absl::Duration window = absl::Seconds(2);  // work in a worker's hands, in expected time
  uint32_t window_jobs_max = 1024;
  uint32_t blocking_jobs_max = 16;  // Blocking ones that wait at one worker, beyond its window
  PlacementPolicy policy = PlacementPolicy::kCost;
  absl::Duration unoffered_max = absl::Seconds(30);    // while no worker has a cooker (offers.h)
  absl::Duration suspect_after = absl::Seconds(3);     // of silence: others are preferred
  absl::Duration straggler_min = absl::Seconds(2);     // no job is one before
  absl::Duration split_min = absl::Milliseconds(100);  // so much sooner a package must be done
  record::ResourceCounts resources = {};               // of the whole farm
  record::WorkerOffer local_offer = {};                // what workers of this machine have
  // So long a job that wants several resources is overtaken by others that want fewer, and by such
  // as are more urgent (reservations.h).
  absl::Duration overtaken_max = absl::Seconds(5), overtaken_by_urgent_max = absl::Minutes(1);
  uint32_t query_limit_max = 1024;  // entries of one Reply
  uint32_t cooks_max = 1;  // that run at once, at most kCooksMax; others wait for their turn
};

struct Counters {
  uint64_t in_cook = 0, loaded = 0, up_to_date = 0, failed = 0, skipped = 0;  // packages
  // These count pairs (package, platform).
  uint64_t results_cooked = 0, results_cached = 0, results_up_to_date = 0, results_failed = 0;
  uint64_t results_wanted = 0;
  uint64_t workers_started = 0, workers_lost = 0, executors_lost = 0, jobs_retried = 0,
           jobs_retracted = 0, jobs_resumed = 0, jobs_pending = 0;  // the last: became pending
  uint64_t backups_started = 0, backups_won = 0;
  uint64_t jobs_split = 0;       // platforms of what ran went to an idle worker
  uint64_t results_dropped = 0;  // a second time, or too late
  uint64_t workers_attached = 0;
  // Made again on another machine; were to be, and there was none; came out different.
  uint64_t results_proven = 0, results_unproven = 0, proofs_failed = 0;
  // Bytes moved by all attempts, each report counted once: retried, doubled and late ones as well.
  uint64_t bytes_read = 0, bytes_warm = 0, bytes_saved = 0;
};

// How much the core holds beside its packages: nothing of this grows with the number of cooks.
struct Holdings {
  size_t attempts = 0;       // on which somebody may still report
  size_t workers = 0;        // those among them that are lost and may come back
  size_t commits = 0;        // on their way
  size_t changed_files = 0;  // that changed while they were cooked
  size_t job_kinds = 0;      // Offers::kinds
};

struct Core;

class CookCore {
 public:
  CookCore(const CookOptions& options, std::shared_ptr<const Catalog> catalog);
  ~CookCore();

  // Applies one event and appends what the shell must now do. Never blocks.
  // REQUIRES: now >= every `now` given before.
  void Step(absl::Time now, const Event& event, std::vector<Effect>& effects);
  bool has_agenda() const;
  // Jobs are in the workers' hands, or ready for them; in a cook that is ending there are none.
  bool has_jobs() const;

  // The numbers of the cook that began last.
  const Counters& counters() const;
  Progress progress() const;
  // The same of the cook with that number: one that runs, or that ended since no other step.
  // REQUIRES: there is one (CookBegan).
  const Counters& counters(uint64_t request) const;
  Progress progress(uint64_t request) const;
  // Over all cooks. Cost: O(cookers + cooks), and what left the line of those that wait since the
  // call before.
  CoreFigures figures();
  // The attached workers that get no jobs for now (Breakers).
  uint64_t held_workers() const;
  // The cook's roots are being published or staged: it is over but for that. Any number may be
  // asked.
  bool is_publishing(uint64_t request) const;
  size_t package_count() const;
  const std::string& NameOf(PackageId package) const;
  // Finds a package by its name or by that of its file. Invalid when unknown.
  PackageId Find(std::string_view name_or_file) const;
  // All of them, in the order found.
  std::vector<InstigatorView> InstigatorsOf(PackageId package) const;
  // Visits the reasons why packages are in this cook, package by package, each in the order found.
  // REQUIRES: as for counters(request).
  void ForEachReasonIn(uint64_t request,
                       absl::FunctionRef<void(PackageId, const InstigatorView&)> visit) const;
  // Set for a generated package: its listing in the generator's result.
  const record::Generated* GeneratedOf(PackageId package) const;
  // "Save", "Save, pending", "Idle, cooked": for dumps and why.
  std::string StateText(PackageId package) const;
  // Somebody may still report on the attempt.
  bool Knows(AttemptId attempt) const;
  // For tests and the simulation.
  Holdings holdings() const;
  Urgency UrgencyOf(PackageId package) const;
  // The package waits for nothing but a worker with room.
  bool IsReady(PackageId package) const;
  // CHECKs that state and containers agree (tests, simulation).
  void CheckInvariants() const;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace galley::director
