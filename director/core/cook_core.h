// CookCore: the director's decisions as a deterministic state machine. The same options and events
// give the same effects, byte for byte.
//
// Cost: a step does at most CookOptions::units_per_step units of work. The rest stays on the agenda
// until the next event; the shell sends Tick at once while has_agenda().
// Threads: none; the shell's loop owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "director/core/core_figures.h"
#include "director/core/core_options.h"
#include "director/core/counters.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/monitor.h"

namespace galley::director {

// Holdings: how much the core holds beside its packages. None of these numbers grows with the
// number of cooks that have run.
struct Holdings {
  size_t attempts = 0;       // attempts on which some worker may still report
  size_t workers = 0;        // workers, with lost workers that may come back
  size_t attached = 0;       // of `workers`, the attached ones
  size_t commits = 0;        // commits on their way
  size_t changed_files = 0;  // files that changed while they were cooked
  size_t job_kinds = 0;      // Eligibility::kinds
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
  // True: some job is in a worker's hands, or ready or waiting to be handed over. False when all
  // running cooks are ending.
  bool has_jobs() const;

  // The counters and the progress of the cook that began last.
  const Counters& counters() const;
  Progress progress() const;
  // The same for the cook `request`. REQUIRES: the cook is running, or ended in the last step.
  const Counters& counters(uint64_t request) const;
  Progress progress(uint64_t request) const;
  // The figures over all cooks. O(cookers + cooks + packages that stopped waiting since the last
  // call).
  CoreFigures figures();
  // The number of attached workers that are held or on trial (Breakers).
  uint64_t held_workers() const;
  // True: the cook's roots are being published or staged, and nothing else of the cook is left.
  // False for a number that no running cook has.
  bool is_publishing(uint64_t request) const;
  size_t package_count() const;
  // Ids are below this number. An id may be of a forgotten package, whose name is empty.
  uint32_t package_ids() const;
  const std::string& NameOf(PackageId package) const;
  // Finds a package by its name or by the name of its file. Invalid when unknown.
  PackageId Find(std::string_view name_or_file) const;
  // The reasons why the package is in some cook, in the order found.
  std::vector<InstigatorView> InstigatorsOf(PackageId package) const;
  // Visits the reasons why packages are in this cook, package by package; the reasons of a package
  // come in the order found. REQUIRES: as for counters(request).
  void ForEachReasonIn(uint64_t request,
                       absl::FunctionRef<void(PackageId, const InstigatorView&)> visit) const;
  // How the generator lists the package; nullptr: the package is not generated.
  const record::Generated* GeneratedOf(PackageId package) const;
  // "Save", "Save, pending", "Idle, cooked": for dumps and why.
  std::string StateText(PackageId package) const;
  // True: some worker may still report on the attempt.
  bool Knows(AttemptId attempt) const;
  // For tests and the simulation.
  Holdings holdings() const;
  Urgency UrgencyOf(PackageId package) const;
  // True: the package waits for nothing but a worker with room.
  bool IsReady(PackageId package) const;
  // CHECKs that state and containers agree (tests, simulation).
  void CheckInvariants() const;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace galley::director
