// JobRunner: what an executor makes of a job, in this process: the same code (RunJob) by the
// cookers that the program is linked with.
//
// It is for tests on the director's machine: sources are read in their places, although the session
// says that it has none of the director's files. Generated packages, cooked inputs and programs are
// not for it: such a job fails by the machine's fault.
// Threads: one owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/content/snapshot.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/all_cookers.h"
#include "worker/session/blob_sink.h"
#include "worker/session/translate.h"

namespace galley::testing {

class JobRunner {
 public:
  // `sink`: where outputs are put; outlives it.
  JobRunner(std::string scratch, worker::BlobSink& sink)
      : scratch_(std::move(scratch)), sink_(sink), cookers_(worker::AllCookers()) {}

  // The reports of the job, without number and attempt; the last ends it. `slept`: what its
  // cooking took beside.
  std::vector<v1::Report> Run(const v1::ExecutorJob& job, const v1::Welcome& welcome,
                              const worker::Teller& teller, absl::Duration slept);

 private:
  class Sink;

  absl::StatusOr<worker::JobEnd> RunIt(const v1::ExecutorJob& job, const v1::Welcome& welcome,
                                       Sink& sink);
  absl::StatusOr<content::Snapshot*> Open(const std::string& table_file);

  const std::string scratch_;
  worker::BlobSink& sink_;
  const worker::Cookers cookers_;
  SystemClock clock_;
  std::string table_file_;
  std::unique_ptr<content::Snapshot> snapshot_;  // of that file
};

}  // namespace galley::testing
