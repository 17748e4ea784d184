// The order in which a store makes a commit durable: the promise of the whole store, and the same
// code in LocalStore and in the simulation's store.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::store {

struct CommitSteps {
  std::function<absl::Status()> raise_mark;    // sync_doubt.h
  std::function<absl::Status()> sync_named;    // the bytes that results name
  std::function<absl::Status()> sync_folders;  // their names
  std::function<absl::Status()> append;        // what the log says of them
  std::function<absl::Status()> sync_log;
  std::function<absl::Status()> lower_mark;
  std::function<absl::Status()> index;  // only now anybody is told
};

inline absl::Status CommitInOrder(const CommitSteps& steps) {
  RETURN_IF_ERROR(steps.raise_mark());
  RETURN_IF_ERROR(steps.sync_named());
  if (!IsSabotaged(Sabotage::kNoFolderSync)) RETURN_IF_ERROR(steps.sync_folders());
  RETURN_IF_ERROR(steps.append());
  // A failure is final: a second sync would succeed and say nothing of what the first lost.
  absl::Status synced = IsSabotaged(Sabotage::kAckBeforeSync) ? absl::OkStatus() : steps.sync_log();
  if (!synced.ok() && IsSabotaged(Sabotage::kRetrySync)) synced = steps.sync_log();
  RETURN_IF_ERROR(synced);
  RETURN_IF_ERROR(steps.lower_mark());
  return steps.index();
}

}  // namespace galley::store
