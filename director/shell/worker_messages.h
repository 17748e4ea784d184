// WorkerMessages: converts messages of workers, except reports, to events of the core, and makes
// messages to workers. The simulation uses the same code.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/project/project.h"
#include "common/record/worker_offer.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// QuarantinedView: the values in the text for people about a quarantined worker.
struct QuarantinedView {
  std::string worker, machine, why;
  absl::Time since;                // this director committed nothing of the worker before
  std::set<std::string> unproven;  // packages whose results no other machine has proven
};
std::string QuarantineText(const QuarantinedView& view);

// Returns "worker far-1 on node7"; `machine` may be empty.
std::string HeldWorkerText(const std::string& worker, const std::string& machine);
// Returns the text for people about a worker, or all workers of a machine, without jobs for now.
std::string HeldText(const std::string& who, const std::string& why);

// Returns the offer of the worker's machine. INVALID_ARGUMENT: too long, or invalid names.
absl::StatusOr<record::WorkerOffer> OfferOf(const v1::Hello& hello);
// REQUIRES: a hello.
// Checks a worker's hello: its name must consist of letters, digits and "._-:", and its number of
// slots must be possible for a machine. INVALID_ARGUMENT: the text says what is expected.
absl::Status CheckHello(const std::string& worker_id, const v1::Hello& hello);

// REQUIRES: a hello for which OfferOf returns an offer.
WorkerAttached AttachedOf(WorkerId worker, const v1::FromWorker& message);
// Returns the cookers of `ours` that are missing or different in `theirs`, sorted.
// INVALID_ARGUMENT: a description does not parse.
absl::StatusOr<std::vector<std::string>> LacksOf(const std::string& ours,
                                                 const std::string& theirs);
WorkerPending PendingOf(WorkerId worker, const v1::FromWorker& message);
WorkerUploads UploadsOf(WorkerId worker, const v1::FromWorker& message);

// Returns the message to a worker about a snapshot and its platforms.
v1::Snapshot SnapshotMessage(uint64_t number, const std::string& table_file,
                             const std::vector<project::Platform>& platforms);

// Fills in the part of a job that the worker must leave out.
void FillPart(const Desire::Part& part, v1::JobPart& proto);

}  // namespace galley::director
