// SimDirector's side of the workers: streams, and what is reported on them.

#include <bit>

#include "common/record/action.h"
#include "common/wire/convert.h"
#include "director/shell/worker_messages.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

// How long a job may take; a poison that hangs takes it each time.
constexpr absl::Duration kTimeout = absl::Seconds(2);

// As ReportReader.
WorkerReport::Fault FaultOf(v1::Failed::Cause cause) {
  switch (cause) {
    case v1::Failed::CRASHED:
      return WorkerReport::Fault::kCrashed;
    case v1::Failed::MEMORY:
      return WorkerReport::Fault::kMemory;
    case v1::Failed::TIMEOUT:
      return WorkerReport::Fault::kTimeout;
    case v1::Failed::CAUSE_UNKNOWN:
      return WorkerReport::Fault::kRefused;
    default:
      return WorkerReport::Fault::kInfrastructure;
  }
}

// The words of the core for a fault.
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
  // A stream that another one replaced is hung up: its worker says the same again on the other.
  if (const auto present = streams_.find(worker);
      !message.has_hello() && (present == streams_.end() || present->second != stream))
    return callbacks_.hang_up(stream);
  if (message.has_hello()) {
    // (One that does not know yet that it was overtaken may have one left.)
    const absl::StatusOr<uint64_t> segment =
        is_overtaken_ ? absl::StatusOr<uint64_t>(1) : store_.AllocateSegment();
    if (!segment.ok()) return callbacks_.hang_up(stream);
    streams_[worker] = stream;
    v1::ToWorker welcome;
    welcome.mutable_welcome()->set_protocol(1);
    welcome.mutable_welcome()->set_term(term());
    welcome.mutable_welcome()->set_timeout_us_default(absl::ToInt64Microseconds(kTimeout));
    welcome.mutable_snapshot()->set_number(snapshot_->number);
    welcome.mutable_snapshot()->set_table_file(snapshot_->file);
    welcome.add_segments(*segment);
    Send(worker, std::move(welcome));
    const WorkerAttached attached = AttachedOf(id, message);
    deps_.checks.Trace("attach", id.value(), attached.in_hand.size());
    own_faults_->Attach(worker);
    Step(attached);
  } else if (message.has_pending()) {
    Step(PendingOf(id, message));
  }
  if (message.memory_limit_bytes() > 0) Step(WorkerAlive{id, message.memory_limit_bytes()});
  if (!message.unfit().empty()) {
    own_faults_->Lose(worker);
    Step(WorkerUnfit{id, message.unfit()});
  }
  if (message.reports().empty()) return Step(WorkerAlive{id});
  WorkerReported reported{.worker = id};
  for (const v1::Report& report : message.reports()) {
    reported.reports.push_back(Read(report));
    if (heard_.emplace(report.attempt(), report.report()).second)
      bytes_heard_ += reported.reports.back().bytes.read;
    TellOwnFaults(worker, reported.reports.back());
    if (const auto* saved = std::get_if<WorkerReport::Saved>(&reported.reports.back().what)) {
      reported_[{worker, report.report()}] = saved->result->id;
    } else {
      reported_.erase({worker, report.report()});  // a process that has its name numbers anew
    }
  }
  notes_.NoteOver(reported);
  Step(reported);
  if (core_->counters().bytes_read > bytes_heard_)
    deps_.checks.Break("safety: what a job read is counted twice");
}

void SimDirector::TellOwnFaults(const std::string& worker, const WorkerReport& report) {
  const auto* failed = std::get_if<WorkerReport::Failed>(&report.what);
  if (failed != nullptr && failed->fault != WorkerReport::Fault::kRefused &&
      failed->fault != WorkerReport::Fault::kInfrastructure)
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

WorkerReport SimDirector::Read(const v1::Report& wire) {
  WorkerReport report{
      .report = wire.report(), .attempt = wire.attempt(), .what = WorkerReport::Ended{}};
  const auto found = given_.find(wire.attempt());
  if (found == given_.end()) return report;
  const Given& given = found->second;
  report.bytes = {
      .read = wire.bytes().read(), .warm = wire.bytes().warm(), .saved = wire.bytes().saved()};
  if (wire.has_loaded()) {
    auto details = record::DecodeDetails(wire.loaded().details());
    auto view = std::make_shared<ResultView>();
    view->references = std::move(details->references);
    view->generated = std::move(details->generated);
    PlatformMask platforms = 0;
    for (const uint32_t platform : wire.loaded().platforms()) platforms |= MaskOf(platform);
    for (const v1::BlobWritten& blob : wire.loaded().blobs())
      locations_[*wire::FromProto(blob.digest())] = {blob.segment(), blob.offset()};
    report.what = WorkerReport::Loaded{.platforms = platforms & given.platforms,
                                       .so_far = std::move(view),
                                       .load_time = absl::Microseconds(wire.loaded().load_us())};
  } else if (wire.has_saved()) {
    ReadSaved(given, wire.saved(), report);
  } else if (wire.has_needs()) {
    report.what = WorkerReport::Needs{wire.needs().package(), wire.needs().platform()};
  } else if (wire.has_stale()) {
    report.what = WorkerReport::Stale{wire.stale().path()};
  } else if (wire.has_failed() && wire.failed().cause() == v1::Failed::VERDICT) {
    ReadSaved(given, wire.failed().verdict(), report);
  } else if (wire.has_failed()) {
    const v1::Failed& failed = wire.failed();
    if (failed.cause() == v1::Failed::INFRASTRUCTURE && !failed.executor_lost())
      LookAtInputs(given);
    WorkerReport::Failed out{.error = failed.error(), .executor_lost = failed.executor_lost()};
    out.fault = FaultOf(failed.cause());
    // The content alone makes a package poison here, whatever runs beside it.
    const bool is_limit =
        out.fault == WorkerReport::Fault::kMemory || out.fault == WorkerReport::Fault::kTimeout;
    if (is_limit && given.platforms != 0)
      out.outgrown = static_cast<PlatformIndex>(std::countr_zero(given.platforms));
    for (const uint32_t platform : failed.platforms()) out.platforms |= MaskOf(platform);
    report.what = std::move(out);
  }
  return report;
}

// As ReportReader: the key is computed here, and what does not fit is a failure of the machine.
void SimDirector::ReadSaved(const Given& given, const v1::Saved& saved, WorkerReport& report) {
  const auto refuse = [&](const std::string& why) {
    report.what = WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure, .error = why};
  };
  if (saved.platform() >= given.platform_names.size() ||
      (given.platforms & MaskOf(saved.platform())) == 0)
    return refuse("a platform that the attempt does not have");
  auto stored = std::make_shared<StoredResult>();
  stored->package = given.name;
  stored->platform = saved.platform();
  const std::string& platform_name = given.platform_names[saved.platform()];
  stored->platform_name = platform_name;
  stored->source = *wire::FromProto(saved.source());
  stored->observed = *record::Canonical(*wire::ObservedFromProto(saved.observed()));
  auto result = record::DecodeResult(saved.result());
  if (!result.ok()) return refuse("a result that is none");
  stored->result = *std::move(result);
  stored->encoded = saved.result();
  stored->recipe = World::recipe_digest();
  stored->recipe_bytes = record::EncodeRecipe(World::recipe());
  stored->weak_key = record::WeakKey(stored->source, stored->recipe, World::kTrustDomain);
  stored->action_key = *record::ActionKey({.recipe = World::recipe(),
                                           .source = stored->source,
                                           .observed = stored->observed,
                                           .trust_domain = World::kTrustDomain});
  for (const v1::BlobWritten& blob : saved.blobs()) {
    const store::BlobLocation location{blob.segment(), blob.offset()};
    stored->blobs.emplace_back(*wire::FromProto(blob.digest()), location);
    locations_[stored->blobs.back().first] = location;
  }
  LastCook& last = stored->last_cook;
  last.source = saved.shared() ? "cached" : "cooked";
  last.load_time = stored->result.provenance.load_time;
  last.save_time = absl::Microseconds(saved.save_us());
  const Inputs inputs{.cooked = given.cooked, .generated_source = given.generated_source};
  bool is_current = stored->source == SourceOf(*snapshot_, given.name, inputs);
  for (const record::Observed& one : stored->observed) {
    std::string need;
    is_current = is_current && ValueOf(*snapshot_, given.name, one.what, saved.platform(),
                                       platform_name, inputs, &need) == one.value;
  }
  const bool is_lie = stored->source == Digest::Of(kFalseSource);
  const uint64_t memory_peak_bytes = stored->result.provenance.memory_peak_bytes;
  const ResultViewPtr view = results_.Add(std::move(stored));
  told_by_[view->id] = {report.attempt, saved.platform()};
  const bool is_survivors = report.attempt >> 40 != term();
  if (is_survivors || is_lie) excused_.insert(view->id);
  report.what = WorkerReport::Saved{.platform = static_cast<PlatformIndex>(saved.platform()),
                                    .result = view,
                                    .save_time = absl::Microseconds(saved.save_us()),
                                    .memory_peak_bytes = memory_peak_bytes,
                                    .shared = saved.shared(),
                                    .is_current = is_current};
}

}  // namespace galley::simulation
