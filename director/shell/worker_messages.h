// Worker messages: all that they say besides reports becomes events of the core. The simulation
// reads and writes them by the same code.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/project/project.h"
#include "common/record/worker_offer.h"
#include "director/core/events.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// What people are told of a worker that gets no more jobs, with what to do.
struct QuarantinedView {
  std::string worker, machine, why;
  absl::Time since;                // nothing that this director committed of it is older
  std::set<std::string> unproven;  // packages
};
std::string QuarantineText(const QuarantinedView& view);

// "worker far-1 on node7"; `machine` may be empty.
std::string HeldWorkerText(const std::string& worker, const std::string& machine);
// What people are told of a worker, or of all workers of a machine, that get no jobs for now.
std::string HeldText(const std::string& who, const std::string& why);

// What jobs may ask of the worker's machine. INVALID_ARGUMENT: too much, or wrong names.
absl::StatusOr<record::WorkerOffer> OfferOf(const v1::Hello& hello);
// REQUIRES: a hello.
// What a worker says of itself: a name of letters, digits and "._-:", and a number of slots that a
// machine may have. INVALID_ARGUMENT says what is expected.
absl::Status CheckHello(const std::string& worker_id, const v1::Hello& hello);

// REQUIRES: a hello; OfferOf is one.
WorkerAttached AttachedOf(WorkerId worker, const v1::FromWorker& message);
// The cookers that a worker which describes its cookers so lacks, for a director that knows
// `ours`: those that it does not have, or has otherwise. Sorted. INVALID_ARGUMENT: they do not
// parse.
absl::StatusOr<std::vector<std::string>> LacksOf(const std::string& ours,
                                                 const std::string& theirs);
WorkerPending PendingOf(WorkerId worker, const v1::FromWorker& message);
WorkerUploads UploadsOf(WorkerId worker, const v1::FromWorker& message);

// What a worker is told of a snapshot and of the project file that was read with it.
v1::Snapshot SnapshotMessage(uint64_t number, const std::string& table_file,
                             const std::vector<project::Platform>& platforms);

// Fills in the part of a job that a worker is told to leave out.
void FillPart(const Desire::Part& part, v1::JobPart& proto);

}  // namespace galley::director
