// CommitInOrder: the order of steps that makes a commit durable, on which the promises of the store
// rest. LocalStore and the simulation's store run the same code.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::store {

struct CommitSteps {
  std::function<absl::Status()> raise_mark;    // sync_doubt.h
  std::function<absl::Status()> sync_named;    // the bytes of the commit's blobs
  std::function<absl::Status()> sync_folders;  // the folders of new files and segments
  std::function<absl::Status()> append;        // the records of the commit, to the log
  std::function<absl::Status()> sync_log;
  std::function<absl::Status()> lower_mark;
  std::function<absl::Status()> index;  // only now readers see the commit
};

inline absl::Status CommitInOrder(const CommitSteps& steps) {
  RETURN_IF_ERROR(steps.raise_mark());
  RETURN_IF_ERROR(steps.sync_named());
  if (!IsSabotaged(Sabotage::kNoFolderSync)) RETURN_IF_ERROR(steps.sync_folders());
  RETURN_IF_ERROR(steps.append());
  // A failure is final: a second sync would succeed and hide the loss.
  absl::Status synced = IsSabotaged(Sabotage::kAckBeforeSync) ? absl::OkStatus() : steps.sync_log();
  if (!synced.ok() && IsSabotaged(Sabotage::kRetrySync)) synced = steps.sync_log();
  RETURN_IF_ERROR(synced);
  RETURN_IF_ERROR(steps.lower_mark());
  return steps.index();
}

}  // namespace galley::store
