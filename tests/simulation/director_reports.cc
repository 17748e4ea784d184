// SimDirector's side of the workers: streams, and the reports on them.

#include "common/wire/worker_protocol.h"
#include "director/shell/worker_messages.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

// The time limit of a job; a poison that hangs takes all of it.
constexpr absl::Duration kTimeout = absl::Seconds(2);

// In an attempt's id, the director's term is above these bits (director/core/jobs/attempts.cc).
constexpr int kTermShift = 40;

// The core's words for a fault.
std::string_view WhatItDid(WorkerReport::Fault fault) {
  if (fault == WorkerReport::Fault::kMemory) return "outgrew its memory limit";
  return fault == WorkerReport::Fault::kTimeout ? "ran out of time" : "crashed its executor";
}

}  // namespace

void SimDirector::Send(const std::string& worker, v1::ToWorker message) {
  const auto stream = streams_.find(worker);
  if (stream == streams_.end()) return;
  message.set_sequence(conversations_[stream->second].Send(deps_.schedule.now()));
  callbacks_.send(stream->second, std::move(message));
}

void SimDirector::OnMessage(const std::string& worker, uint64_t stream,
                            const v1::FromWorker& message) {
  const auto heard = conversations_[stream].Receive(message.sequence(), message.acknowledged(),
                                                    deps_.schedule.now());
  if (heard == wire::Conversation::Heard::kDoubled) return;
  if (heard == wire::Conversation::Heard::kBroken) {
    if (const auto present = streams_.find(worker);
        present != streams_.end() && present->second == stream)
      streams_.erase(present);
    return callbacks_.hang_up(stream);
  }
  const WorkerId id = WorkerOf(worker);
  // A stream that another one replaced is hung up: its worker repeats its messages on the other.
  if (const auto present = streams_.find(worker);
      !message.has_hello() && (present == streams_.end() || present->second != stream))
    return callbacks_.hang_up(stream);
  // The service does the same for workers that it expects.
  if (message.has_hello() && PoolOf(id) != Pool::kForeign &&
      !replaced_.Take(worker, message.hello().session()))
    return callbacks_.hang_up(stream);
  if (message.has_hello()) {
    // A director that does not know yet that it was overtaken may have a segment left.
    const bool is_remote = message.hello().is_without_files();
    if (is_remote) remote_.insert(worker);
    const absl::StatusOr<uint64_t> segment =
        is_overtaken_ || is_remote ? absl::StatusOr<uint64_t>(1) : store_.AllocateSegment();
    if (!segment.ok()) return callbacks_.hang_up(stream);
    streams_[worker] = stream;
    v1::ToWorker welcome;
    welcome.mutable_welcome()->set_protocol(wire::kWorkerProtocol);
    welcome.mutable_welcome()->set_term(term());
    welcome.mutable_welcome()->set_timeout_us_default(absl::ToInt64Microseconds(kTimeout));
    welcome.mutable_snapshot()->set_number(snapshot_->number());
    welcome.mutable_snapshot()->set_table_file(snapshot_->table());
    if (!is_remote) welcome.add_segments(*segment);
    Send(worker, std::move(welcome));
    WorkerAttached attached = AttachedOf(id, message);
    attached.lacks = *LacksOf(World::CookersJson(false), message.hello().cookers_json());
    attached.machine = message.hello().machine();
    offers_[worker] = attached.offer;
    deps_.checks.Trace("attach", id.value(), attached.in_hand.size());
    draining_.erase(worker);
    // If programs have other tools, or want files, the worker may turn out to be unable to do
    // them.
    const bool may_refuse = PoolOf(id) != Pool::kLocal && (deps_.faults.Has(Fault::kToolDiffers) ||
                                                           deps_.faults.Has(Fault::kFilesNeeded));
    if (!quarantined_.contains(worker))
      own_faults_->Attach(worker, may_refuse || !attached.lacks.empty());
    Step(attached);
  } else if (message.has_pending()) {
    Step(PendingOf(id, message));
  }
  if (!message.uploading().empty() && !message.has_hello()) Step(UploadsOf(id, message));
  if (message.memory_limit_bytes() > 0) Step(WorkerAlive{id, message.memory_limit_bytes()});
  if (!message.unfit().empty()) {
    own_faults_->Lose(worker);
    Step(WorkerUnfit{id, message.unfit()});
  }
  if (message.reports().empty()) return Step(WorkerAlive{id});
  WorkerReported reported{.worker = id};
  for (const v1::Report& report : message.reports()) {
    reported.reports.push_back(Read(worker, report));
    // A report about another worker's attempt is not believed, and neither are its bytes.
    if (reports_.IsOf(report.attempt(), worker) &&
        heard_.emplace(report.attempt(), report.report()).second)
      bytes_heard_ += reported.reports.back().bytes.read;
    TellOwnFaults(worker, reported.reports.back());
    if (const auto* saved = std::get_if<WorkerReport::Saved>(&reported.reports.back().what)) {
      reported_[{worker, report.report()}] = saved->result->id;
    } else {
      reported_.erase({worker, report.report()});  // a process of the same name numbers anew
    }
  }
  own_->commits.notes().NoteOver(reported);
  Step(reported);
  if (core_->counters().bytes_read > bytes_heard_)
    deps_.checks.Break("safety: what a job read is counted twice");
}

absl::StatusOr<std::vector<Digest>> SimDirector::OnFindMissing(const std::vector<Digest>& blobs) {
  absl::StatusOr<std::vector<Digest>> missing = fenced_.FindMissing(blobs);
  if (!missing.ok()) return missing;
  told_.insert(blobs.begin(), blobs.end());
  for (const Digest& blob : *missing) told_.erase(blob);
  return missing;
}

absl::Status SimDirector::OnUpload(std::span<const std::pair<Digest, std::string>> blobs) {
  for (const auto& [digest, bytes] : blobs) {
    RETURN_IF_ERROR(fenced_.Put(digest, bytes));
    told_.insert(digest);
  }
  return absl::OkStatus();
}

std::optional<std::string> SimDirector::OnFetch(const Digest& blob) {
  const absl::StatusOr<Blob> bytes = fenced_.Get(blob);
  if (bytes.ok()) return **bytes;
  // Does what WorkerBytes does.
  const std::optional<store::BlobLocation> reported_at = reports_.LocationOf(blob);
  if (!absl::IsNotFound(bytes.status()) || !reported_at.has_value()) return std::nullopt;
  absl::StatusOr<std::string> written = ReadVerified(deps_.disk, blob, *reported_at);
  if (!written.ok()) return std::nullopt;
  return *std::move(written);
}

void SimDirector::TellOwnFaults(const std::string& worker, const WorkerReport& report) {
  const auto* failed = std::get_if<WorkerReport::Failed>(&report.what);
  const PackageId package = core_->Find(own_faults_->PackageOf(report.attempt));
  const bool is_wanted = package.valid() && !core_->InstigatorsOf(package).empty();
  const bool is_earlier = report.attempt >> kTermShift != term();
  // An attempt is nobody's if its director died before it wrote the attempt down.
  if (failed != nullptr && !quarantined_.contains(worker) &&
      reports_.IsOf(report.attempt, worker) && (is_wanted || is_earlier) &&
      failed->fault != WorkerReport::Fault::kRefused &&
      failed->fault != WorkerReport::Fault::kInfrastructure &&
      failed->fault != WorkerReport::Fault::kOtherTool &&
      failed->fault != WorkerReport::Fault::kNeedsFiles &&
      failed->fault != WorkerReport::Fault::kProtocol)
    own_faults_->Tell(report.attempt, worker, WhatItDid(failed->fault));
  if (std::holds_alternative<WorkerReport::Stale>(report.what))
    own_faults_->TellStale(report.attempt, worker);
}

void SimDirector::OnWorkerGone(WorkerId worker, const std::string& reason, bool never_started) {
  own_faults_->Lose(NameOf(worker));
  streams_.erase(NameOf(worker));
  if (never_started) return Step(LauncherReported{worker, reason});
  Step(WorkerLost{worker, reason, true});
}

WorkerReport SimDirector::Read(const std::string& worker, const v1::Report& wire) {
  WorkerReport report = reports_.Read(worker, wire);
  own_->repair.LookAtReport(report);
  const auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
  if (saved == nullptr) return report;
  const ResultId result = saved->result->id;
  told_by_[result] = {report.attempt, saved->platform};
  const bool is_survivors = report.attempt >> 40 != term();
  const bool is_lie = results_.Get(result)->source == Digest::Of(kFalseSource);
  if (is_survivors || is_lie) excused_.insert(result);
  return report;
}

}  // namespace galley::simulation
