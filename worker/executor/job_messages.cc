#include "worker/executor/job_messages.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/wire/convert.h"

namespace galley::worker {
namespace {

uint64_t Put(OutgoingBlob blob, std::vector<OutgoingBlob>& blobs) {
  blobs.push_back(std::move(blob));
  return blobs.size() - 1;
}

v1::Failed::Cause CauseOf(TroubleCause cause) {
  switch (cause) {
    case TroubleCause::kUnknown:
      return v1::Failed::CAUSE_UNKNOWN;
    case TroubleCause::kMemory:
      return v1::Failed::MEMORY;
    case TroubleCause::kTimeout:
      return v1::Failed::TIMEOUT;
    case TroubleCause::kInfrastructure:
      return v1::Failed::INFRASTRUCTURE;
    case TroubleCause::kOtherTool:
      return v1::Failed::OTHER_TOOL;
    case TroubleCause::kNeedsFiles:
      return v1::Failed::NEEDS_FILES;
  }
  return v1::Failed::CAUSE_UNKNOWN;
}

}  // namespace

absl::StatusOr<JobSpec> SpecOf(const v1::Job& job) {
  JobSpec spec;
  for (const v1::Target& target : job.targets()) {
    absl::StatusOr<record::Recipe> recipe = record::DecodeRecipe(target.recipe());
    if (!recipe.ok()) return Annotate(recipe.status(), "recipe of the job");
    spec.targets.push_back({.platform = target.platform(), .recipe = *std::move(recipe)});
  }
  spec.memory_bytes_max = job.memory_bytes();
  return spec;
}

absl::StatusOr<SnapshotInputsOptions> InputsOf(const v1::Job& job) {
  SnapshotInputsOptions options;
  RETURN_IF_ERROR(content::ValidateVirtualPath(job.package()));
  options.package = job.package();
  if (job.has_generated_source()) {
    ASSIGN_OR_RETURN(options.generated_source, wire::FromProto(job.generated_source()));
  }
  for (const v1::CookedInput& input : job.cooked()) {
    auto& outputs = options.cooked[{input.package(), input.platform()}];
    for (const v1::CookedOutput& output : input.outputs()) {
      ASSIGN_OR_RETURN(outputs[output.suffix()], wire::FromProto(output.digest()));
    }
  }
  if (job.memory_bytes() > 0) options.read_bytes_max = job.memory_bytes();
  return options;
}

absl::StatusOr<std::map<Digest, store::BlobLocation>> BlobsOf(const v1::Job& job) {
  std::map<Digest, store::BlobLocation> blobs;
  for (const v1::BlobWritten& blob : job.blobs()) {
    ASSIGN_OR_RETURN(const wire::BlobAt at, wire::FromProto(blob));
    blobs[at.digest] = at.location;
  }
  return blobs;
}

v1::FromExecutor LoadedMessage(const LoadReport& report, std::vector<OutgoingBlob>& blobs) {
  v1::FromExecutor message;
  v1::ExecutorLoaded& loaded = *message.mutable_loaded();
  for (const uint32_t platform : report.platforms) loaded.add_platforms(platform);
  loaded.set_details(record::EncodeDetails(report.details));
  for (const Blob& blob : report.generated) loaded.add_blobs(Put({blob}, blobs));
  loaded.set_started_us(absl::ToUnixMicros(report.started));
  loaded.set_load_us(absl::ToInt64Microseconds(report.load_time));
  return message;
}

v1::FromExecutor SavedMessage(const SaveReport& report, uint64_t memory_peak_bytes,
                              std::vector<OutgoingBlob>& blobs) {
  v1::FromExecutor message;
  v1::ExecutorSaved& saved = *message.mutable_saved();
  for (const uint32_t platform : report.platforms) saved.add_platforms(platform);
  wire::ToProto(report.source, saved.mutable_source());
  saved.set_observed(record::EncodeObserved(report.observed));
  saved.set_details(record::EncodeDetails(report.details));
  for (const CookedFile& file : report.outputs) {
    v1::ExecutorOutput& output = *saved.add_outputs();
    output.set_suffix(file.suffix);
    output.set_is_executable(file.is_executable);
    output.set_blob(Put({file.bytes, file.stream}, blobs));
  }
  for (const Blob& blob : report.generated) Put({blob}, blobs);
  if (!report.log.empty()) saved.set_log_blob(Put({MakeBlob(report.log)}, blobs) + 1);
  saved.set_is_verdict(report.is_verdict);
  saved.set_error(report.error);
  saved.set_identity(report.identity);
  saved.set_started_us(absl::ToUnixMicros(report.started));
  saved.set_load_us(absl::ToInt64Microseconds(report.load_time));
  saved.set_save_us(absl::ToInt64Microseconds(report.save_time));
  saved.set_memory_peak_bytes(memory_peak_bytes);
  return message;
}

v1::FromExecutor EndMessage(const JobEnd& end) {
  v1::FromExecutor message;
  if (const auto* needs = std::get_if<JobNeeds>(&end)) {
    message.mutable_needs()->set_package(needs->package);
    message.mutable_needs()->set_platform(needs->platform);
  } else if (const auto* stale = std::get_if<JobStale>(&end)) {
    message.mutable_stale()->set_path(stale->path);
  } else if (const auto* trouble = std::get_if<Trouble>(&end)) {
    message.mutable_failed()->set_cause(CauseOf(trouble->cause));
    message.mutable_failed()->set_error(trouble->error);
    message.mutable_failed()->set_killed(trouble->was_killed);
    const size_t left_out = trouble->log.size() - std::min(trouble->log.size(), kLogTailBytesMax);
    message.mutable_failed()->set_log_tail(trouble->log.substr(left_out));
  } else {
    message.mutable_done();
  }
  return message;
}

void ByteMeter::Count(const SaveReport& report) {
  for (const CookedFile& file : report.outputs) saved_ += file.size_bytes();
}

void ByteMeter::TellIn(v1::FromExecutor& message) {
  const BytesLoaded before = std::exchange(told_, inputs_.bytes_loaded());
  v1::JobBytes& bytes = *message.mutable_bytes();
  bytes.set_read(told_.cold - before.cold);
  bytes.set_warm(told_.warm - before.warm);
  bytes.set_saved(std::exchange(saved_, 0));
}

}  // namespace galley::worker
