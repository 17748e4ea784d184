#include "tests/testing/job_runner.h"

#include <map>
#include <utility>

#include "common/base/status_macros.h"
#include "worker/executor/files_in_place.h"
#include "worker/executor/job_messages.h"
#include "worker/executor/run_job.h"
#include "worker/executor/snapshot_inputs.h"

namespace galley::testing {
namespace {

// The peak that each job reports; the peak of this process says nothing.
constexpr uint64_t kPeakBytes = 1 << 20;

}  // namespace

class JobRunner::Sink final : public worker::JobSink {
 public:
  Sink(worker::BlobSink& blobs, const worker::Teller& teller, absl::Duration slept)
      : blobs_(blobs), teller_(teller), slept_(slept) {}

  absl::Status Loaded(const worker::LoadReport& report) override {
    std::vector<worker::OutgoingBlob> blobs;
    const v1::FromExecutor message = worker::LoadedMessage(report, blobs);
    return Add(message, blobs);
  }
  absl::Status Saved(const worker::SaveReport& report) override {
    std::vector<worker::OutgoingBlob> blobs;
    v1::FromExecutor message = worker::SavedMessage(report, kPeakBytes, blobs);
    v1::ExecutorSaved& saved = *message.mutable_saved();
    saved.set_save_us(saved.save_us() + absl::ToInt64Microseconds(slept_));
    return Add(message, blobs);
  }
  absl::Status Add(const v1::FromExecutor& message,
                   const std::vector<worker::OutgoingBlob>& blobs) {
    std::vector<wire::BlobAt> stored;
    for (const worker::OutgoingBlob& blob : blobs) {
      std::string pieces;
      if (blob.bytes == nullptr) {
        RETURN_IF_ERROR(blob.stream([&](std::string_view piece) {
          pieces += piece;
          return absl::OkStatus();
        }));
      }
      ASSIGN_OR_RETURN(stored.emplace_back(),
                       blobs_.Append(blob.bytes != nullptr ? std::string_view(*blob.bytes)
                                                           : std::string_view(pieces)));
    }
    ASSIGN_OR_RETURN(std::vector<v1::Report> reports, worker::ReportsOf(message, stored, teller_));
    for (v1::Report& report : reports) reports_.push_back(std::move(report));
    return absl::OkStatus();
  }
  std::vector<v1::Report> Take() { return std::move(reports_); }

 private:
  worker::BlobSink& blobs_;
  const worker::Teller& teller_;
  const absl::Duration slept_;
  std::vector<v1::Report> reports_;
};

absl::StatusOr<content::Snapshot*> JobRunner::Open(const std::string& table_file) {
  if (snapshot_ != nullptr && table_file == table_file_) return snapshot_.get();
  ASSIGN_OR_RETURN(std::unique_ptr<content::Snapshot> opened,
                   content::Snapshot::ReadTable(table_file, snapshot_.get()));
  snapshot_ = std::move(opened);
  table_file_ = table_file;
  return snapshot_.get();
}

absl::StatusOr<worker::JobEnd> JobRunner::RunIt(const v1::ExecutorJob& job,
                                                const v1::Welcome& welcome, Sink& sink) {
  ASSIGN_OR_RETURN(content::Snapshot* const snapshot, Open(job.snapshot_file()));
  ASSIGN_OR_RETURN(const worker::JobSpec spec, worker::SpecOf(job.job()));
  ASSIGN_OR_RETURN(worker::SnapshotInputsOptions options, worker::InputsOf(job.job()));
  const std::map<Digest, store::BlobLocation> no_blobs;
  const std::string no_store;
  worker::FilesInPlace in_place(*snapshot, no_store, no_blobs);
  std::vector<worker::PlatformInfo> platforms;
  for (const v1::Platform& platform : job.platforms())
    platforms.push_back(
        {.name = platform.name(),
         .parameters = {platform.parameters().begin(), platform.parameters().end()}});
  const std::map<std::string, std::string> environment(welcome.environment().begin(),
                                                       welcome.environment().end());
  options.snapshot = snapshot;
  options.bytes = &in_place;
  options.platforms = &platforms;
  options.environment = &environment;
  options.project_root = welcome.project_root();
  options.scratch_directory = scratch_;
  worker::SnapshotInputs inputs(std::move(options));
  return worker::RunJob(spec, inputs, cookers_, clock_, sink);
}

std::vector<v1::Report> JobRunner::Run(const v1::ExecutorJob& job, const v1::Welcome& welcome,
                                       const worker::Teller& teller, absl::Duration slept) {
  Sink sink(sink_, teller, slept);
  const auto fail = [&](const absl::Status& status) {
    return worker::EndMessage(worker::Trouble{
        .cause = worker::TroubleCause::kInfrastructure, .error = MessageOf(status), .log = ""});
  };
  const absl::StatusOr<worker::JobEnd> end = RunIt(job, welcome, sink);
  absl::Status told = sink.Add(end.ok() ? worker::EndMessage(*end) : fail(end.status()), {});
  if (!told.ok()) sink.Add(fail(told), {}).IgnoreError();  // this report names no blob
  return sink.Take();
}

}  // namespace galley::testing
