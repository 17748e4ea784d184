#include "worker/session/translate.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"

namespace galley::worker {
namespace {

absl::StatusOr<wire::BlobAt> BlobAtPlace(std::span<const wire::BlobAt> blobs, uint64_t place) {
  if (place >= blobs.size()) {
    return InvalidArgumentError("blob {} is named, {} were sent", place, blobs.size());
  }
  return blobs[static_cast<size_t>(place)];
}

template <typename Message>
void AddBlobs(std::span<const wire::BlobAt> blobs, Message& message) {
  for (const wire::BlobAt& blob : blobs)
    wire::ToProto(blob.digest, blob.location, message.add_blobs());
}

absl::StatusOr<record::Result> ResultOf(const v1::ExecutorSaved& saved,
                                        std::span<const wire::BlobAt> blobs, const Teller& teller) {
  record::Result result;
  for (const v1::ExecutorOutput& output : saved.outputs()) {
    RETURN_IF_ERROR(record::ValidateSuffix(output.suffix()));
    ASSIGN_OR_RETURN(const wire::BlobAt blob, BlobAtPlace(blobs, output.blob()));
    result.outputs.push_back({.suffix = output.suffix(),
                              .digest = blob.digest,
                              .is_executable = output.is_executable()});
  }
  std::ranges::sort(result.outputs);
  ASSIGN_OR_RETURN(result.details, record::DecodeDetails(saved.details()));
  result.is_verdict = saved.is_verdict();
  result.error = saved.error();
  if (saved.log_blob() > 0) {
    ASSIGN_OR_RETURN(const wire::BlobAt blob, BlobAtPlace(blobs, saved.log_blob() - 1));
    result.log = blob.digest;
  }
  result.provenance = {.worker = teller.worker_id,
                       .machine = teller.machine,
                       .identity = saved.identity(),
                       .started = absl::FromUnixMicros(saved.started_us()),
                       .load_time = absl::Microseconds(saved.load_us()),
                       .save_time = absl::Microseconds(saved.save_us()),
                       .memory_peak_bytes = saved.memory_peak_bytes()};
  return result;
}

absl::StatusOr<std::vector<v1::Report>> SavedReports(const v1::ExecutorSaved& saved,
                                                     std::span<const wire::BlobAt> blobs,
                                                     const Teller& teller) {
  if (saved.platforms_size() == 0) return absl::InvalidArgumentError("a result for no platform");
  RETURN_IF_ERROR(wire::FromProto(saved.source()).status());
  RETURN_IF_ERROR(record::CheckObserved(saved.observed()));
  ASSIGN_OR_RETURN(const record::Result result, ResultOf(saved, blobs, teller));
  v1::Saved one;
  *one.mutable_source() = saved.source();
  one.set_observed(saved.observed());
  one.set_result(record::EncodeResult(result));
  AddBlobs(blobs, one);
  one.set_started_us(saved.started_us());
  one.set_save_us(saved.save_us());
  one.set_slot(teller.slot);
  std::vector<v1::Report> reports;
  reports.reserve(static_cast<size_t>(saved.platforms_size()));
  for (const uint32_t platform : saved.platforms()) {
    one.set_platform(platform);
    one.set_shared(!reports.empty());
    v1::Report& report = reports.emplace_back();
    v1::Saved* told = nullptr;
    if (saved.is_verdict()) {
      v1::Failed& failed = *report.mutable_failed();
      failed.set_cause(v1::Failed::VERDICT);
      failed.set_error(saved.error());
      failed.add_platforms(platform);
      told = failed.mutable_verdict();
    } else {
      told = report.mutable_saved();
    }
    const bool is_last = reports.size() == static_cast<size_t>(saved.platforms_size());
    *told = is_last ? std::move(one) : one;
  }
  return reports;
}

v1::Report LoadedReport(const v1::ExecutorLoaded& loaded, const record::Details& details,
                        std::span<const wire::BlobAt> blobs, const Teller& teller) {
  v1::Report report;
  v1::Loaded& one = *report.mutable_loaded();
  *one.mutable_platforms() = loaded.platforms();
  one.set_details(loaded.details());
  AddBlobs(blobs, one);
  one.set_started_us(loaded.started_us());
  one.set_load_us(loaded.load_us());
  one.set_slot(teller.slot);
  one.set_names_packages(!details.references.empty() || !details.generated.empty());
  return report;
}

absl::StatusOr<std::vector<v1::Report>> ToReports(const v1::FromExecutor& message,
                                                  std::span<const wire::BlobAt> blobs,
                                                  const Teller& teller) {
  std::vector<v1::Report> reports(1);
  switch (message.what_case()) {
    case v1::FromExecutor::kLoaded: {
      ASSIGN_OR_RETURN(const record::Details details,
                       record::DecodeDetails(message.loaded().details()));
      reports[0] = LoadedReport(message.loaded(), details, blobs, teller);
      return reports;
    }
    case v1::FromExecutor::kSaved:
      return SavedReports(message.saved(), blobs, teller);
    case v1::FromExecutor::kFailed:
      *reports[0].mutable_failed() = message.failed();
      return reports;
    case v1::FromExecutor::kNeeds:
      *reports[0].mutable_needs() = message.needs();
      return reports;
    case v1::FromExecutor::kStale:
      *reports[0].mutable_stale() = message.stale();
      return reports;
    case v1::FromExecutor::kDone:
      reports[0].mutable_ended();
      return reports;
    case v1::FromExecutor::kReady:
      return absl::InvalidArgumentError("it said a second time that it is ready");
    case v1::FromExecutor::kWant:
      return absl::InvalidArgumentError("it asked for bytes, and reads files in their places");
    case v1::FromExecutor::kCollected:
      return absl::InvalidArgumentError("it answered a collection that nobody asked for");
    case v1::FromExecutor::WHAT_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("an empty message");
}

}  // namespace

absl::StatusOr<std::vector<v1::Report>> ReportsOf(const v1::FromExecutor& message,
                                                  std::span<const wire::BlobAt> blobs,
                                                  const Teller& teller) {
  absl::StatusOr<std::vector<v1::Report>> reports = ToReports(message, blobs, teller);
  // Only the first report has the bytes: what serves several platforms was read and made once.
  if (reports.ok() && message.has_bytes()) *reports->front().mutable_bytes() = message.bytes();
  return reports;
}

}  // namespace galley::worker
