// RetryPolicy: how often a package is tried again, how long it waits before that, and when it is
// enough. Who is to blame for an attempt is for Blame and Faults to say.
//
// Its own faults (its executor crashed, outgrew its memory or its time) are few before the package
// is quarantined, until the cook ends or what it is made of changes. Faults of the infrastructure
// (I/O, lost workers) are many, with a back-off that doubles. A fault of older content counts, but
// is never the last one: one chance is left for the present content.
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

  // So many faults of its own quarantine the package.
  bool AreOwnFaultsEnough(uint32_t own_faults) const { return own_faults >= own_faults_max(); }
  // One more fault of its own quarantines it.
  bool IsLastAttempt(uint32_t own_faults) const { return own_faults + 1 == own_faults_max(); }
  // The most own faults that are told of content that changed since.
  uint32_t OneChanceLeft() const { return own_faults_max() - 1; }
  // `is_orphan`: its source may be what cannot be read, and nobody makes it again.
  bool AreInfrastructureFaultsEnough(uint32_t faults, bool is_orphan = false) const {
    return faults >= (is_orphan ? own_faults_max() : options_.infrastructure_attempts_max);
  }
  // The package was begun again so often for cooked inputs that it asked for late.
  bool AreLateInputsEnough(uint32_t needs) const { return needs > options_.needs_max; }
  uint32_t late_inputs_max() const { return options_.needs_max; }
  // A file changed so often while it was cooked.
  bool AreChangesEnough(uint32_t changes) const { return changes >= options_.stale_max; }
  // A package that may turn out to kill its executors has fewer attempts at a time than may kill
  // them in all.
  bool MayHaveAnotherAtATime(size_t attempts) const { return attempts < own_faults_max(); }

 private:
  uint32_t own_faults_max() const { return options_.own_fault_attempts_max; }

  const CookOptions& options_;
};

// 100 ms, doubling with each failure in a row, at most 5 s. `failures` from 1.
absl::Duration BackOff(uint32_t failures);

}  // namespace galley::director
