// RetryPolicy: how often a package is tried again, and how long it waits before that. Faults
// decides whose fault it was; Blame counts.
//
// A few own faults quarantine a package until the cook ends or the package's inputs change: its
// executor crashed, or outgrew its memory or time. Faults of the infrastructure, such as I/O errors
// and lost workers, may be many, with a back-off that doubles. A fault of older content counts, but
// is never the last one: one attempt is left for the present content.
// Threads: none; a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "director/core/core_options.h"

namespace galley::director {

class RetryPolicy {
 public:
  explicit RetryPolicy(const CookOptions& options) : options_(options) {}

  // True: so many own faults quarantine the package.
  bool AreOwnFaultsEnough(uint32_t own_faults) const { return own_faults >= own_faults_max(); }
  // True: one more own fault quarantines the package.
  bool IsLastAttempt(uint32_t own_faults) const { return own_faults + 1 == own_faults_max(); }
  // The most own faults that count after the package's content changed.
  uint32_t OneChanceLeft() const { return own_faults_max() - 1; }
  // `is_orphan`: the package's source may be unreadable, and its generator does not make it again.
  bool AreInfrastructureFaultsEnough(uint32_t faults, bool is_orphan = false) const {
    return faults >= (is_orphan ? own_faults_max() : options_.infrastructure_attempts_max);
  }
  // True: the package began again too often for cooked inputs that its cook asked for.
  bool AreLateInputsEnough(uint32_t needs) const { return needs > options_.needs_max; }
  uint32_t late_inputs_max() const { return options_.needs_max; }
  // True: a file of the package changed too often while the package was cooked.
  bool AreChangesEnough(uint32_t changes) const { return changes >= options_.stale_max; }
  // True: the package may have one more attempt at the same time. Its attempts may all kill their
  // executors, so they are at most the own faults that it may have.
  bool MayHaveAnotherAtATime(size_t attempts) const { return attempts < own_faults_max(); }

 private:
  uint32_t own_faults_max() const { return options_.own_fault_attempts_max; }

  const CookOptions& options_;
};

// 100 ms, doubling with each failure in a row, at most 5 s. `failures` from 1.
absl::Duration BackOff(uint32_t failures);

}  // namespace galley::director
