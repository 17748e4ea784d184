// JobRunner: runs jobs in this process as an executor does: with the same code (RunJob) and the
// cookers that the program is linked with.
//
// JobRunner is for tests on the director's machine: it reads sources in their places, although the
// session says that it has none of the director's files. A job with generated packages, cooked
// inputs or programs fails by the machine's fault.
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
  // `sink`: takes the outputs; outlives the runner.
  JobRunner(std::string scratch, worker::BlobSink& sink)
      : scratch_(std::move(scratch)), sink_(sink), cookers_(worker::AllCookers()) {}

  // The reports of the job, without number and attempt; the last report ends the job. `slept`: time
  // that is added to the cook's.
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
  std::unique_ptr<content::Snapshot> snapshot_;  // of table_file_
};

}  // namespace galley::testing
