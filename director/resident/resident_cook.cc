#include "director/resident/resident_cook.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "director/host/cook_numbers.h"
#include "director/host/cook_run.h"
#include "director/host/cook_warnings.h"
#include "director/host/outcome_status.h"
#include "director/host/sandboxes.h"
#include "director/host/standing_cook.h"
#include "director/resident/asked_environment.h"
#include "director/resident/event_wire.h"
#include "fmt/format.h"

namespace galley::director {

namespace {

// Says why the project was refused; empty: it was not, though the ask may have been.
std::string RefusalOf(const CookReport& report) {
  if (!absl::IsInvalidArgument(report.end)) return "";
  const std::string text = MessageOf(report.end);
  const bool is_of_project =
      text.find(project::kProjectFile) != std::string::npos ||
      text.find(fmt::format("{}:", project::kSidecarSuffix)) != std::string::npos;
  return is_of_project ? text : "";
}

v1::CookAsk WithoutEnvironment(v1::CookAsk ask) {
  ask.clear_environment();
  ask.clear_environment_salt();
  ask.clear_environment_digests();
  return ask;
}

// Returns the text for the log.
std::string TextOfEnd(const CookReport& report) {
  if (!report.end.ok()) return std::string(MessageOf(report.end));
  if (report.outcome.has_value() && !report.outcome->ended.infrastructure_error.empty())
    return report.outcome->ended.infrastructure_error;
  return report.has_failures ? "with failures" : "well";
}

}  // namespace

ResidentCook::ResidentCook(const Deps& deps, v1::CookAsk ask, uint64_t number,
                           std::shared_ptr<CookLog> log)
    : deps_(deps),
      differing_(ask.is_from_afar() ? decltype(differing_)()
                                    : DifferingOf(deps.director.environment(), ask)),
      ask_(WithoutEnvironment(std::move(ask))),
      class_(ClassOf(ask_)),
      what_(WhatIsAsked(ask_)),
      number_(number),
      log_(std::move(log)),
      started_(absl::Now()) {
  TellBegun();
  thread_ = std::thread([this] { Run(); });
}

ResidentCook::ResidentCook(const Deps& deps, v1::CookAsk ask, Host host)
    : deps_(deps),
      ask_(std::move(ask)),
      class_(ClassOf(ask_)),
      what_(host.what),
      number_(0),
      host_(std::move(host)),
      started_(absl::Now()),
      state_(State::kScanning) {}

ResidentCook::~ResidentCook() {
  stop_.Cancel();
  if (thread_.joinable()) thread_.join();
}

void ResidentCook::TakeEvent(const CookEvent& event) {
  if (std::holds_alternative<CookEvent::Scanned>(event.what)) state_ = State::kCooking;
  if (const auto* const progressed = std::get_if<CookEvent::Progressed>(&event.what))
    return TakeProgress(*progressed);
  const auto* const done = std::get_if<CookEvent::Done>(&event.what);
  if (done != nullptr && deps_.note_result) deps_.note_result(done->result);
  host_.has_value() ? host_->sink.TakeEvent(event) : log_->Append(ToWire(event));
}

void ResidentCook::TakeProgress(CookEvent::Progressed progressed) {
  progressed.remote_down = deps_.director.RemoteDown();
  const CookEvent event{std::move(progressed)};
  v1::CookProgress progress = ToWire(event).progress();
  {
    base::MutexLock lock(mutex_);
    progress_ = progress;
  }
  host_.has_value() ? host_->sink.TakeEvent(event) : log_->SetProgress(std::move(progress));
}

void ResidentCook::Cancel() {
  is_cancelled_ = true;
  stop_.Cancel();
}

void ResidentCook::Stop(const std::string& why) {
  {
    base::MutexLock lock(mutex_);
    stopped_ = why;
  }
  stop_.Cancel();
}

void ResidentCook::Abandon(const std::string& why) {
  {
    base::MutexLock lock(mutex_);
    stopped_ = why;
  }
  TellEnd({.end = Stopped(), .total = absl::Now() - started_});
}

// Returns the status for the report of a cook that the director's end cut short.
absl::Status ResidentCook::Stopped() {
  base::MutexLock lock(mutex_);
  const v1::CookCounters& counters = progress_.counters();
  const uint64_t done = counters.results_cooked() + counters.results_cached() +
                        counters.results_up_to_date() + counters.results_failed();
  return Infrastructure(fmt::format(
      "{}; cook {} was at {} of {} results, and what was finished is kept: {}", stopped_, number(),
      done, counters.results_wanted(),
      ask_.is_detached()
          ? fmt::format("the next `galley serve` goes on with it (`galley cook --attach {}`)",
                        number())
          : "ask again"));
}

// Says whether only the director's end cut the cook short.
bool ResidentCook::IsLeft(const CookReport& report) {
  base::MutexLock lock(mutex_);
  return !stopped_.empty() && !is_cancelled_ && !report.is_published &&
         (report.is_cut_short() || absl::IsUnavailable(report.end));
}

// Tells the end once; only the first caller is heard. False: another caller was first.
bool ResidentCook::TellEnd(const CookReport& report) {
  {
    base::MutexLock lock(mutex_);
    if (std::exchange(has_told_end_, true)) return false;
  }
  NoteAmongLast(report);
  v1::CookReport out;
  ToWire(report, out);
  log_->End(out, report.trace);
  return true;
}

void ResidentCook::NoteAmongLast(const CookReport& report) {
  v1::EndedCook ended;
  ended.set_cook(number_);
  ended.set_urgency_class(std::string(ClassName(class_)));
  ended.set_what(what_);
  ended.set_asked_by(ask_.asked_by());
  ended.set_started_us(absl::ToUnixMicros(started_));
  SetEnd(report, report.total, ended);
  deps_.last.Add(ended);
}

void ResidentCook::TellBegun() {
  v1::CookEvent event;
  v1::CookEvent::Begun& begun = *event.mutable_begun();
  const SetupPtr setup = deps_.director.setup();
  begun.set_cook(number_);
  begun.set_project(setup->project->name);
  for (const std::string& name : PlatformNames(*setup->project, ListOf(ask_.platforms())))
    begun.add_platforms(name);
  begun.set_urgency_class(std::string(ClassName(class_)));
  begun.set_started_us(absl::ToUnixMicros(started_));
  begun.set_is_detached(ask_.is_detached());
  begun.set_what(what_);
  log_->Append(event);
}

void ResidentCook::Run() {
  LogInfo("cook={} class={} asked: {}; by {}", number(), ClassName(class_), what_, ask_.asked_by());
  CookReport report = CookAndSettle();
  const bool is_left = IsLeft(report);
  if (is_left) {
    report = {.end = Stopped(),
              .total = report.total,
              .bytes_fetched = report.bytes_fetched,
              .trace = std::move(report.trace)};
  }
  LogInfo("cook={} ended: {}", number(), TextOfEnd(report));
  NoteEnd(report);
  const bool is_told = TellEnd(report);
  if (ask_.is_detached() && is_told && !is_left) {
    // Before the ask is dropped: a director that dies in between leaves the cook to the next
    // director.
    const bool has_files = !ask_.summary_file().empty() || !ask_.trace_file().empty();
    if (has_files && deps_.write_files) deps_.write_files(number_, ask_);
    deps_.archive.Drop(number_);
  }
  state_ = State::kEnded;
}

CookReport ResidentCook::RunHosted() {
  const Cancellation::Hook on_stop(&host_->stop, [this] { Cancel(); });
  CookReport report = CookAndSettle();
  NoteEnd(report);
  return report;
}

CookReport ResidentCook::CookAndSettle() {
  std::optional<Trace::Recording> recording;
  if (ask_.wants_trace()) recording.emplace(deps_.trace);
  const uint64_t fetched_before = deps_.director.stores().BytesFetched();
  CookReport report = Cook();
  if (host_.has_value()) {  // the cook is over, and nobody asks for another
    report.total = absl::Now() - started_;
    NoteAmongLast(report);
    state_ = State::kEnded;
    deps_.admission.Close();
  }
  deps_.project.NoteEnd(RefusalOf(report));
  if (report.outcome.has_value()) deps_.director.Settle(report, *this, stop_);
  if (host_.has_value() && report.outcome.has_value()) deps_.director.Close(*this, stop_);
  for (const std::string& text : TakeRepairs())
    Tell(CookEvent::Warned{"", "", RepairWarning(text)});
  report.total = absl::Now() - started_;
  report.bytes_fetched = deps_.director.stores().BytesFetched() - fetched_before;
  if (recording) report.trace = recording->ToJson();
  return report;
}

void ResidentCook::NoteEnd(const CookReport& report) {
  DirectorMeter::EndedCook ended{.urgency_class = class_,
                                 .by_the_book = by_the_book_,
                                 .exit_code = ExitCodeOf(report),
                                 .took = absl::Now() - started_};
  if (report.outcome.has_value()) {
    for (const auto& [platform, root] : report.outcome->roots) ended.platforms.push_back(platform);
  }
  deps_.meter.NoteEnd(ended);
}

CookReport ResidentCook::Cook() {
  auto taken = TakeAsk();
  if (!taken.ok()) return {.end = taken.status()};
  by_the_book_ = IsByTheBook(ask_);
  // A host has asked before it made the director.
  if (!host_.has_value()) {
    if (std::optional<CookReport> standing = AskStanding(*taken)) return *std::move(standing);
  }
  const auto permit = Enter(*taken);
  if (!permit.ok()) return {.end = permit.status()};
  state_ = State::kScanning;
  return CookRun(ask_, {.director = deps_.director,
                        .permit = **permit,
                        .sink = *this,
                        .trace = deps_.trace,
                        .stop = stop_,
                        .differing = std::move(taken->differing),
                        .watched = deps_.watched,
                        .checked = host_.has_value() ? std::move(host_->checked) : std::nullopt})
      .Run();
}

// The answer needs no permit, and waits for nobody.
std::optional<CookReport> ResidentCook::AskStanding(const Taken& taken) {
  Director& director = deps_.director;
  const Setup& setup = *taken.needs.setup;
  StandingAnswer answer = AnswerFromStanding(
      {.ask = ask_,
       .project = *ProjectOf(ask_, setup),
       .cookers = setup.cookers,
       .environment = director.environment(),
       .differing = taken.differing,
       .project_id = director.project_id(),
       .store = [&director]() -> absl::StatusOr<store::Store*> {
         if (director.IsStoreAnother().value_or(false))
           return absl::FailedPreconditionError("the store was deleted or replaced");
         return &director.stores().store();
       },
       .watched = deps_.watched},
      *this, stop_);
  if (!answer.difference.empty()) LogInfo("cook={} looks at all: {}", number(), answer.difference);
  return std::move(answer.report);
}

// The project file may have changed while the cook waited.
absl::StatusOr<std::unique_ptr<CookPermit>> ResidentCook::Enter(Taken& taken) {
  while (true) {
    bool has_waited = false;
    ASSIGN_OR_RETURN(std::unique_ptr<CookPermit> permit,
                     deps_.admission.Enter(number_, class_, taken.needs, stop_, [&] {
                       has_waited = true;
                       Say(fmt::format("cook {} waits for others of this director", number()));
                     }));
    if (has_waited) {
      ASSIGN_OR_RETURN(taken, TakeAsk());
    }
    if (!taken.needs.GoWith(permit->needs())) continue;
    permit->SetNumbering([this] {
      number_ = TakeCookNumber(deps_.director.project().state_directory(), deps_.director.term());
      return number();
    });
    return permit;
  }
}

absl::StatusOr<ResidentCook::Taken> ResidentCook::TakeAsk() {
  if (host_.has_value()) {  // the host has read the project, and looked at the sandboxes
    return Taken{.needs = {.setup = deps_.director.setup()}};
  }
  auto project = deps_.project.Read();
  if (!project.ok()) return WrongUse(project.status());
  ASSIGN_OR_RETURN(SetupPtr setup, deps_.director.TakeUp(*project));
  std::vector<project::Origin> theirs;
  for (const v1::ConfiguredValue& one : ask_.configuration())
    theirs.push_back({one.key(), one.value(), one.source()});
  if (const std::string differs = DifferenceThatMatters((*project)->origins, theirs);
      !differs.empty()) {
    return WrongUse(fmt::format(
        "{}: give both the same value, or ask for the cook with --standalone when no director "
        "serves this project (`galley serve --stop`)",
        differs));
  }
  RETURN_IF_ERROR(CheckAsk(ask_, **project));
  if (ask_.repair()) return WrongUse("a director that stays does not cook again what a store lost");
  Taken taken{.needs = {.setup = std::move(setup)}};
  for (const std::string& name : (*project)->farm.environment) {
    if (const auto found = differing_.find(name); found != differing_.end())
      taken.differing.insert(*found);
  }
  if (!IsStaged(ask_)) return taken;
  project::Project of_cook = **project;
  if (!ask_.output_directory().empty()) of_cook.output_directory = ask_.output_directory();
  RETURN_IF_ERROR(
      Sandboxes(of_cook, {.adopt = ask_.adopt(), .exact = ask_.exact()})
          .CheckAll(PlatformNames(of_cook, ListOf(ask_.platforms())), deps_.director.project_id()));
  return taken;
}

v1::StatusAnswer::Cook ResidentCook::View() const {
  v1::StatusAnswer::Cook view;
  view.set_cook(number_);
  const auto state_name = [](State state) {
    switch (state) {
      case State::kWaiting:
        return "waiting";
      case State::kScanning:
        return "scanning";
      case State::kCooking:
        return "cooking";
      case State::kEnded:
        return "ended";
    }
    return "";
  };
  view.set_state(state_name(state_));
  view.set_urgency_class(std::string(ClassName(class_)));
  view.set_what(what_);
  view.set_started_us(absl::ToUnixMicros(started_));
  view.set_is_detached(ask_.is_detached());
  view.set_readers(log_ == nullptr ? 0 : log_->readers());
  {
    base::MutexLock lock(mutex_);
    *view.mutable_progress() = progress_;
  }
  view.mutable_platforms()->CopyFrom(ask_.platforms());
  view.set_asked_by(ask_.asked_by());
  return view;
}

}  // namespace galley::director
