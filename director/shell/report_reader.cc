#include "director/shell/report_reader.h"

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/action.h"
#include "common/record/programs.h"
#include "common/store/interface/named_blobs.h"
#include "common/wire/convert.h"
#include "director/core/packages/package_data.h"
#include "director/shell/quick_sources.h"
#include "director/shell/told_tools.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr int kTransfersMax = 16;  // of a report
constexpr size_t kLogTailBytesMax = 64 << 10;
constexpr int kLogsOfAnAttemptMax = 64;  // a failure of each platform, and some more
constexpr size_t kSettingsShownMax = 200;
// few, because an attempt that is asked for ran alone on its machine
constexpr size_t kOutgrownMax = 16;

absl::StatusOr<Digest> ReadDigest(const v1::Digest& digest) {
  return Digest::FromHex(digest.hash(), digest.size_bytes());
}

void FailInfrastructure(WorkerReport& report, std::string error) {
  report.what = WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                     .error = std::move(error)};
}

// Refuses a report that no worker sends if it keeps to the protocol.
void Refuse(WorkerReport& report, std::string error) {
  report.what =
      WorkerReport::Failed{.fault = WorkerReport::Fault::kProtocol, .error = std::move(error)};
}

}  // namespace

void ReportReader::Register(AttemptId attempt, std::shared_ptr<const AttemptInfo> info) {
  base::MutexLock lock(mutex_);
  std::shared_ptr<const AttemptInfo>& known = attempts_[attempt];
  if (known != nullptr) --attempts_of_[known->worker];
  ++attempts_of_[info->worker];
  known = std::move(info);
}

void ReportReader::ForgetUnless(absl::FunctionRef<bool(AttemptId)> is_known) {
  base::MutexLock lock(mutex_);
  absl::erase_if(attempts_, [&](const auto& one) { return !is_known(one.first); });
  absl::erase_if(logs_of_, [&](const auto& one) { return !attempts_.contains(one.first); });
  attempts_of_.clear();
  for (const auto& [attempt, info] : attempts_) ++attempts_of_[info->worker];
}

bool ReportReader::HasAttempts(std::string_view worker_id) const {
  base::MutexLock lock(mutex_);
  const auto found = attempts_of_.find(std::string(worker_id));
  return found != attempts_of_.end() && found->second > 0;
}

std::shared_ptr<const AttemptInfo> ReportReader::Find(AttemptId attempt) const {
  base::MutexLock lock(mutex_);
  const auto found = attempts_.find(attempt);
  return found == attempts_.end() ? nullptr : found->second;
}

bool ReportReader::IsOf(AttemptId attempt, std::string_view worker_id) const {
  const std::shared_ptr<const AttemptInfo> info = Find(attempt);
  return info != nullptr && info->worker == worker_id;
}

std::string ReportReader::PackageOf(AttemptId attempt, std::string_view worker_id) const {
  const std::shared_ptr<const AttemptInfo> info = Find(attempt);
  return info != nullptr && info->worker == worker_id ? info->name : "";
}

std::vector<GivenBlob> ReportReader::GivenTo(AttemptId attempt) const {
  std::vector<GivenBlob> blobs;
  const std::shared_ptr<const AttemptInfo> info = Find(attempt);
  if (info == nullptr) return blobs;
  if (info->generated_source)
    blobs.push_back({*info->generated_source, std::string(GeneratorName(info->name))});
  for (const CookedOutputs& cooked : info->cooked) {
    for (const auto& [package, outputs] : cooked) {
      for (const record::Output& output : outputs) blobs.push_back({output.digest, package});
    }
  }
  for (GivenBlob& blob : blobs) blob.reported_at = LocationOf(blob.digest);
  return blobs;
}

std::vector<std::string> ReportReader::ProgramsOf(AttemptId attempt) const {
  std::vector<std::string> programs;
  const std::shared_ptr<const AttemptInfo> info = Find(attempt);
  if (info == nullptr || info->recipes == nullptr) return programs;
  for (PlatformIndex platform = 0; platform < info->recipes->size(); ++platform) {
    if ((info->platforms & MaskOf(platform)) == 0) continue;
    std::string program = record::ProgramOf((*info->recipes)[platform].recipe);
    if (!program.empty()) programs.push_back(std::move(program));
  }
  return programs;
}

void ReportReader::TakeCommitted(const record::Result& result) {
  std::vector<Digest> named;
  store::AppendNamedBlobs(result, named);
  base::MutexLock lock(mutex_);
  for (const Digest& digest : named) locations_.erase(digest);
}

std::optional<store::BlobLocation> ReportReader::LocationOf(const Digest& digest) const {
  base::MutexLock lock(mutex_);
  const auto found = locations_.find(digest);
  if (found == locations_.end()) return std::nullopt;
  return found->second;
}

// Blobs that another machine uploaded are in the store.
void ReportReader::Remember(const google::protobuf::RepeatedPtrField<v1::BlobWritten>& blobs,
                            std::vector<std::pair<Digest, store::BlobLocation>>* list) {
  for (const v1::BlobWritten& blob : blobs) {
    const auto digest = ReadDigest(blob.digest());
    if (!digest.ok()) continue;
    const store::BlobLocation location{.segment = blob.segment(), .offset = blob.offset()};
    if (list != nullptr) list->emplace_back(*digest, location);
    base::MutexLock lock(mutex_);
    locations_[*digest] = location;
  }
}

WorkerReport ReportReader::Read(const std::string& worker_id, const v1::Report& wire) {
  WorkerReport report{
      .report = wire.report(), .attempt = wire.attempt(), .what = WorkerReport::Ended{}};
  const std::shared_ptr<const AttemptInfo> info = Find(wire.attempt());
  // The attempt is of another term, long over, or another worker's: the report is dropped.
  if (info == nullptr) return report;
  if (info->worker != worker_id) {
    LogWarning("worker={} reports on attempt {}, which {} was given: it is not believed", worker_id,
               wire.attempt(), info->worker);
    return report;
  }
  report.bytes = {
      .read = wire.bytes().read(), .warm = wire.bytes().warm(), .saved = wire.bytes().saved()};
  if (deps_.trace->is_on()) TraceTransfers(worker_id, *info, wire);
  switch (wire.what_case()) {
    case v1::Report::kLoaded:
      ReadLoaded(worker_id, *info, wire.loaded(), report);
      break;
    case v1::Report::kSaved:
      ReadSaved(worker_id, *info, wire.saved(), report);
      break;
    case v1::Report::kFailed:
      ReadFailed(worker_id, *info, wire.failed(), report);
      break;
    case v1::Report::kNeeds:
      if (const uint32_t platform = wire.needs().platform();
          platform >= 32 || (info->platforms & MaskOf(platform)) == 0 ||
          !content::ValidateVirtualPath(wire.needs().package()).ok()) {
        Refuse(report, fmt::format("{} is said to need a package or for a platform that cannot be",
                                   info->name));
        break;
      }
      report.what = WorkerReport::Needs{.package = wire.needs().package(),
                                        .platform = wire.needs().platform()};
      break;
    case v1::Report::kStale:
      if (const absl::Status path = content::ValidateVirtualPath(wire.stale().path()); !path.ok()) {
        Refuse(report, fmt::format("a source of {} is said to have changed: {}", info->name,
                                   MessageOf(path)));
        break;
      }
      report.what = WorkerReport::Stale{.path = wire.stale().path()};
      break;
    case v1::Report::kEnded:
      // The attempt stays in attempts_, for a late or doubled report of it must still be
      // understood.
      break;
    case v1::Report::WHAT_NOT_SET:
      Refuse(report, "the worker sent a report that says nothing");
      break;
  }
  return report;
}

void ReportReader::TraceSpan(const std::string& worker_id, Trace::Span span) const {
  span.worker = worker_id;
  if (deps_.to_our_clock != nullptr)
    span.started_us = deps_.to_our_clock(worker_id, span.started_us);
  deps_.trace->Add(std::move(span));
}

void ReportReader::TraceTransfers(const std::string& worker_id, const AttemptInfo& info,
                                  const v1::Report& report) const {
  const int count = std::min(report.transfers_size(), kTransfersMax);
  for (int i = 0; i < count; ++i) {
    const v1::Transfer& one = report.transfers(i);
    TraceSpan(worker_id, {.name = info.name,
                          .category = one.is_upload() ? "upload" : "fetch",
                          .slot = one.slot(),
                          .started_us = one.started_us(),
                          .duration_us = one.duration_us()});
  }
}

void ReportReader::ReadLoaded(const std::string& worker_id, const AttemptInfo& info,
                              const v1::Loaded& loaded, WorkerReport& report) {
  auto details = record::DecodeDetails(loaded.details());
  if (!details.ok())
    return Refuse(report, fmt::format("load of {}: {}", info.name, MessageOf(details.status())));
  if (std::string programs = ForeignPrograms(worker_id, info, details->generated);
      !programs.empty()) {
    report.what = WorkerReport::Failed{.fault = WorkerReport::Fault::kNeedsFiles,
                                       .error = std::move(programs)};
    return;
  }
  if (info.hashes_files) Remember(loaded.blobs(), nullptr);
  auto view = std::make_shared<ResultView>();
  view->references = std::move(details->references);
  view->generated = std::move(details->generated);
  PlatformMask platforms = 0;
  for (const uint32_t platform : loaded.platforms()) {
    if (platform < 32) platforms |= MaskOf(platform);
  }
  if (deps_.trace->is_on())
    TraceSpan(worker_id, {.name = info.name,
                          .category = "load",
                          .slot = loaded.slot(),
                          .started_us = loaded.started_us(),
                          .duration_us = loaded.load_us()});
  report.what = WorkerReport::Loaded{.platforms = platforms & info.platforms,
                                     .so_far = std::move(view),
                                     .load_time = absl::Microseconds(loaded.load_us())};
}

absl::StatusOr<std::shared_ptr<StoredResult>> ReportReader::ToStored(const std::string& worker_id,
                                                                     const AttemptInfo& info,
                                                                     const v1::Saved& saved) {
  if (saved.platform() >= info.numbering->size() ||
      (info.platforms & MaskOf(saved.platform())) == 0) {
    return InvalidArgumentError("a platform ({}) that the attempt does not have", saved.platform());
  }
  auto stored = std::make_shared<StoredResult>();
  stored->package = info.name;
  stored->platform = saved.platform();
  stored->platform_name = (*info.numbering)[saved.platform()].name;
  ASSIGN_OR_RETURN(stored->source, ReadDigest(saved.source()));
  ASSIGN_OR_RETURN(stored->observed, record::DecodeObserved(saved.observed()));
  ASSIGN_OR_RETURN(stored->result, record::DecodeResult(saved.result()));
  if (stored->result.is_disputed)
    return absl::InvalidArgumentError("a dispute, which is the store's to find");
  const project::ResolvedRecipe& recipe = (*info.recipes)[saved.platform()];
  stored->recipe = recipe.digest;
  stored->recipe_bytes = record::EncodeRecipe(recipe.recipe);
  stored->weak_key = record::WeakKey(stored->source, recipe.digest, trust_domain_);
  ASSIGN_OR_RETURN(stored->action_key, record::ActionKeyOf({.cooker = recipe.recipe.cooker,
                                                            .recipe = recipe.digest,
                                                            .source = stored->source,
                                                            .observed = stored->observed,
                                                            .encoded_observed = saved.observed(),
                                                            .trust_domain = trust_domain_}));
  record::Provenance& made = stored->result.provenance;
  made.weak_key = stored->weak_key;
  made.received_from.clear();
  // A worker that lies would lie about its name as well.
  made.worker = worker_id;
  if (deps_.machine_of != nullptr) {
    if (std::string machine = deps_.machine_of(worker_id); !machine.empty())
      made.machine = std::move(machine);
  }
  if (deps_.now != nullptr) made.taken = deps_.now();
  stored->encoded = record::EncodeResult(stored->result);
  if (info.hashes_files) Remember(saved.blobs(), &stored->blobs);
  return stored;
}

// Returns programs that a worker on another machine wants to run for a package, which may run on
// this machine. Empty: none. A worker on the machine of the package's files is believed, for the
// package may be made there.
std::string ReportReader::ForeignPrograms(const std::string& worker_id, const AttemptInfo& info,
                                          const std::vector<record::Generated>& generated) {
  if (info.hashes_files) return "";
  const auto found = std::ranges::find_if(generated, record::NamesPrograms);
  if (found == generated.end()) return "";
  return fmt::format(
      "{} on another machine says of {} that it generates {}/{}, for which a program of its choice "
      "would run (cooker \"{}\", settings {}): that is believed of workers of the director's "
      "machine "
      "only; let a rule of the project name the program",
      worker_id, info.name, info.name, found->name, found->cooker,
      found->settings.empty() ? "none" : found->settings.substr(0, kSettingsShownMax));
}

// Refuses tools that are not the director's tools. The worker compared the tools as well, so a tool
// that differs was changed meanwhile. INVALID_ARGUMENT: the worker names a tool that it may not
// name.
absl::Status ReportReader::CheckTools(const std::vector<std::string>& programs,
                                      const AttemptInfo& info, const Sources& sources,
                                      const std::vector<record::Observed>& observed) {
  for (const record::Observed& seen : observed) {
    if (seen.what.kind != record::ObservationKind::kTool) continue;
    // A program that is run can open other programs; the worker tells only of programs that it
    // names.
    if (!MayBeTold(seen.what.subject, programs))
      return InvalidArgumentError("{} is no tool that a job on another machine may name",
                                  seen.what.ToString());
    const absl::StatusOr<std::string> wanted = sources.Look(seen.what, info.name);
    if (!wanted.ok())
      return UnavailableError("{}: {}", seen.what.ToString(), MessageOf(wanted.status()));
    if (*wanted != seen.value)
      return UnavailableError("{} was another one: wanted {}, found {}", seen.what.ToString(),
                              *wanted, seen.value);
  }
  return absl::OkStatus();
}

void ReportReader::ReadSaved(const std::string& worker_id, const AttemptInfo& info,
                             const v1::Saved& saved, WorkerReport& report) {
  auto stored = ToStored(worker_id, info, saved);
  if (!stored.ok())
    return Refuse(report, fmt::format("result of {}: {}", info.name, MessageOf(stored.status())));
  if (std::string programs = ForeignPrograms(worker_id, info, (*stored)->result.details.generated);
      !programs.empty()) {
    report.what = WorkerReport::Failed{.fault = WorkerReport::Fault::kNeedsFiles,
                                       .error = std::move(programs)};
    return;
  }
  if (const std::string missing =
          record::MissingLook((*info.recipes)[saved.platform()].looks, (*stored)->observed,
                              (*stored)->result.is_verdict);
      !missing.empty()) {
    return Refuse(
        report,
        fmt::format("result of {}: {} did not look at {}, as the cooker {} always does: what this "
                    "worker says is not believed (`galley-worker describe` lists these looks)",
                    info.name, worker_id, missing,
                    (*info.recipes)[saved.platform()].recipe.cooker));
  }
  const auto quick = std::make_shared<QuickSources>(
      QuickSources::Options{.sources = deps_.sources(), .stop = cancellation_});
  const SourcesPtr sources = quick;
  if (!info.hashes_files) {
    const absl::Status tools =
        CheckTools(ProgramsOf(report.attempt), info, *sources, (*stored)->observed);
    std::string text = fmt::format("result of {}: {}", info.name, MessageOf(tools));
    if (absl::IsInvalidArgument(tools)) return Refuse(report, std::move(text));
    if (!tools.ok()) return FailInfrastructure(report, std::move(text));
  }
  bool is_current = false;
  if (info.generated_source) {
    is_current = *info.generated_source == (*stored)->source;
  } else if (info.hashes_files) {
    is_current = sources->LearnDigest(info.name, (*stored)->source).ok();
  } else {
    const absl::StatusOr<Digest> digest = sources->DigestOf(info.name);
    is_current = digest.ok() && *digest == (*stored)->source;
  }
  if (is_current) {
    std::string stale_path;
    const auto holds = StillHolds(*sources,
                                  {.package = info.name,
                                   .platform = (*info.numbering)[saved.platform()],
                                   .cooked = CookedFor(info.cooked, saved.platform()),
                                   .has_hashed = info.hashes_files},
                                  (*stored)->observed, &stale_path);
    if (!holds.ok() && !absl::IsAborted(holds.status()) && quick->wanted().empty()) {
      return FailInfrastructure(report, fmt::format("checking what {} looked at: {}", info.name,
                                                    MessageOf(holds.status())));
    }
    is_current = holds.ok() && *holds;
  }
  if (is_current) (*stored)->holds_in = sources->number();
  if (!saved.shared() && deps_.trace->is_on()) {
    TraceSpan(worker_id, {.name = info.name,
                          .category = "save",
                          .slot = saved.slot(),
                          .started_us = saved.started_us(),
                          .duration_us = saved.save_us(),
                          .platform = (*stored)->platform_name});
  }
  LastCook& last = (*stored)->last_cook;
  last.source = saved.shared() ? "cached" : "cooked";
  last.worker = worker_id;
  last.attempt = report.attempt;
  last.load_time = (*stored)->result.provenance.load_time;
  last.save_time = absl::Microseconds(saved.save_us());
  const uint64_t memory_peak_bytes = (*stored)->result.provenance.memory_peak_bytes;
  std::vector<std::string> read = PackagesRead(*sources, (*stored)->package, (*stored)->observed);
  report.what = WorkerReport::Saved{.platform = saved.platform(),
                                    .result = deps_.results->Add(std::move(*stored)),
                                    .save_time = absl::Microseconds(saved.save_us()),
                                    .memory_peak_bytes = memory_peak_bytes,
                                    .shared = saved.shared(),
                                    .is_current = is_current,
                                    .read = std::move(read)};
}

absl::StatusOr<KeptLimit> ReportReader::OutgrownBy(const AttemptInfo& info,
                                                   const v1::Failed& failed) const {
  const v1::Opened& opened = failed.opened();
  const bool is_memory = failed.cause() == v1::Failed::MEMORY;
  if (!failed.has_opened() || (!is_memory && failed.cause() != v1::Failed::TIMEOUT))
    return absl::NotFoundError("no limit, or what it had looked at is not known");
  if (info.recipes == nullptr || opened.platform() >= info.recipes->size() ||
      (info.platforms & MaskOf(opened.platform())) == 0)
    return absl::InvalidArgumentError("a platform that the attempt does not have");
  const project::ResolvedRecipe& recipe = (*info.recipes)[opened.platform()];
  ASSIGN_OR_RETURN(const Digest source, ReadDigest(opened.source()));
  KeptLimit limit{.weak_key = record::WeakKey(source, recipe.digest, trust_domain_),
                  .kind = is_memory ? KeptLimit::Kind::kMemory : KeptLimit::Kind::kTime,
                  .package = info.name};
  ASSIGN_OR_RETURN(std::vector<record::Observed> observed,
                   wire::ObservedFromProto(opened.observed()));
  ASSIGN_OR_RETURN(limit.observed, record::Canonical(std::move(observed)));
  limit.limit = LimitOf(limit.kind, recipe.needs, defaults_);
  return limit;
}

std::optional<KeptLimit> ReportReader::OutgrownIn(AttemptId attempt) const {
  base::MutexLock lock(mutex_);
  const auto found = outgrown_.find(attempt);
  if (found == outgrown_.end()) return std::nullopt;
  return found->second;
}

// Returns the digest as text; empty: there is no log. A worker of another machine that reports the
// same failed attempt again and again fills no disk.
std::string ReportReader::KeepLog(const AttemptInfo& info, AttemptId attempt,
                                  std::string_view tail) {
  if (tail.empty()) return "";
  if (tail.size() > kLogTailBytesMax) tail.remove_prefix(tail.size() - kLogTailBytesMax);
  if (!info.hashes_files) {
    base::MutexLock lock(mutex_);
    if (++logs_of_[attempt] > kLogsOfAnAttemptMax) return "";
  }
  const Digest digest = Digest::Of(tail);
  return deps_.store->Put(digest, tail).ok() ? digest.ToString() : "";
}

void ReportReader::ReadFailed(const std::string& worker_id, const AttemptInfo& info,
                              const v1::Failed& failed, WorkerReport& report) {
  if (failed.cause() == v1::Failed::VERDICT) {
    ReadSaved(worker_id, info, failed.verdict(), report);
    const auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
    if (saved != nullptr && !saved->result->is_verdict) {
      Refuse(report, fmt::format("result of {}: reported as a failure, but it is none", info.name));
    }
    return;
  }
  WorkerReport::Failed out{.error = failed.error(),
                           .executor_lost = failed.executor_lost(),
                           .is_loaded = failed.is_loaded()};
  switch (failed.cause()) {
    case v1::Failed::CRASHED:
      out.fault = WorkerReport::Fault::kCrashed;
      break;
    case v1::Failed::MEMORY:
      out.fault = WorkerReport::Fault::kMemory;
      break;
    case v1::Failed::TIMEOUT:
      out.fault = WorkerReport::Fault::kTimeout;
      break;
    case v1::Failed::OTHER_TOOL:
      out.fault = WorkerReport::Fault::kOtherTool;
      break;
    case v1::Failed::NEEDS_FILES:
      out.fault = WorkerReport::Fault::kNeedsFiles;
      break;
    case v1::Failed::NO_ROOM:
      out.fault = WorkerReport::Fault::kNoRoom;
      break;
    case v1::Failed::CAUSE_UNKNOWN:
      out.fault = WorkerReport::Fault::kRefused;
      break;
    default:
      out.fault = WorkerReport::Fault::kInfrastructure;
      out.is_killed = failed.killed();
      break;
  }
  out.log = KeepLog(info, report.attempt, failed.log_tail());
  for (const uint32_t platform : failed.platforms()) {
    if (platform < 32) out.platforms |= MaskOf(platform);
  }
  // A limit is kept for this machine only.
  if (absl::StatusOr<KeptLimit> outgrown = OutgrownBy(info, failed);
      outgrown.ok() && info.hashes_files) {
    out.outgrown = failed.opened().platform();
    base::MutexLock lock(mutex_);
    outgrown_[report.attempt] = *std::move(outgrown);
    if (outgrown_.size() > kOutgrownMax) outgrown_.erase(outgrown_.begin());
  }
  report.what = std::move(out);
}

}  // namespace galley::director
