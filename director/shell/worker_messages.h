// WorkerMessages: turns everything that workers send besides reports into events of the core. The
// simulation reads and writes messages by the same code.
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

// QuarantinedView: what people are told of a worker that gets no more jobs, with what to do.
struct QuarantinedView {
  std::string worker, machine, why;
  absl::Time since;                // nothing that this director committed of the worker is older
  std::set<std::string> unproven;  // packages
};
std::string QuarantineText(const QuarantinedView& view);

// Returns "worker far-1 on node7"; `machine` may be empty.
std::string HeldWorkerText(const std::string& worker, const std::string& machine);
// Returns the text for people about a worker, or all workers of a machine, without jobs for now.
std::string HeldText(const std::string& who, const std::string& why);

// Returns what jobs may ask of the worker's machine. INVALID_ARGUMENT: too much, or wrong names.
absl::StatusOr<record::WorkerOffer> OfferOf(const v1::Hello& hello);
// REQUIRES: a hello.
// Checks what a worker says of itself: a name of letters, digits and "._-:", and a number of slots
// that a machine may have. INVALID_ARGUMENT says what is expected.
absl::Status CheckHello(const std::string& worker_id, const v1::Hello& hello);

// REQUIRES: a hello for which OfferOf returns an offer.
WorkerAttached AttachedOf(WorkerId worker, const v1::FromWorker& message);
// Returns the cookers of `ours` that a worker with the cookers `theirs` does not have, or has
// otherwise. Sorted. INVALID_ARGUMENT: a description does not parse.
absl::StatusOr<std::vector<std::string>> LacksOf(const std::string& ours,
                                                 const std::string& theirs);
WorkerPending PendingOf(WorkerId worker, const v1::FromWorker& message);
WorkerUploads UploadsOf(WorkerId worker, const v1::FromWorker& message);

// Returns the message to a worker about a snapshot and the project file that was read with the
// snapshot.
v1::Snapshot SnapshotMessage(uint64_t number, const std::string& table_file,
                             const std::vector<project::Platform>& platforms);

// Fills in the part of a job that a worker is to leave out.
void FillPart(const Desire::Part& part, v1::JobPart& proto);

}  // namespace galley::director
