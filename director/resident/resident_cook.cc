#include "director/resident/resident_cook.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/healed.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/host/cook_run.h"
#include "director/host/outcome_status.h"
#include "director/host/sandboxes.h"
#include "fmt/format.h"

namespace galley::director {

ResidentCook::ResidentCook(const Deps& deps, v1::CookAsk ask, uint64_t number,
                           std::shared_ptr<CookLog> log)
    : deps_(deps),
      ask_(std::move(ask)),
      class_(ClassOfName(ask_.urgency_class()).value_or(CookClass::kNightly)),
      number_(number),
      log_(std::move(log)),
      started_(absl::Now()),
      listener_({.event =
                     [this](const v1::CookEvent& event) {
                       if (event.has_scanned()) state_ = State::kCooking;
                       log_->Append(event);
                     },
                 .progress =
                     [this](v1::CookProgress progress) { log_->SetProgress(std::move(progress)); },
                 .remote_down = [this] { return deps_.director.RemoteDown(); }}) {
  TellBegun();
  thread_ = std::thread([this] { Run(); });
}

ResidentCook::~ResidentCook() {
  Cancel();
  thread_.join();
}

void ResidentCook::TellBegun() {
  v1::CookEvent event;
  v1::CookEvent::Begun& begun = *event.mutable_begun();
  const SetupPtr setup = deps_.director.setup();
  begun.set_cook(number_);
  begun.set_project(setup->project->name);
  begun.mutable_platforms()->CopyFrom(ask_.platforms());
  if (ask_.platforms().empty()) {
    for (const project::Platform& platform : setup->project->platforms)
      begun.add_platforms(platform.name);
  }
  begun.set_urgency_class(std::string(ClassName(class_)));
  begun.set_started_us(absl::ToUnixMicros(started_));
  begun.set_is_detached(ask_.is_detached());
  begun.set_what(WhatIsAsked(ask_));
  log_->Append(event);
}

void ResidentCook::Run() {
  LogInfo("cook={} class={} asked: {}", number_, ClassName(class_), WhatIsAsked(ask_));
  std::optional<Trace::Recording> recording;
  if (ask_.wants_trace()) recording.emplace(deps_.trace);
  const uint64_t fetched_before = deps_.director.stores().BytesFetched();
  CookReport report = Cook();
  if (report.outcome.has_value()) deps_.director.Settle(report, listener_, stop_);
  for (const std::string& text : TakeHealed()) listener_.Warn(text);
  LogInfo(
      "cook={} ended: {}", number_,
      report.end.ok() ? (report.has_failures ? "with failures" : "well") : MessageOf(report.end));
  v1::CookReport out;
  ToWire({.report = std::move(report),
          .total = absl::Now() - started_,
          .bytes_fetched = deps_.director.stores().BytesFetched() - fetched_before},
         out);
  log_->End(out, recording ? recording->ToJson() : "");
  state_ = State::kEnded;
}

CookReport ResidentCook::Cook() {
  CookAsk ask;
  const auto place = Enter(ask);
  if (!place.ok()) return {.end = place.status()};
  state_ = State::kScanning;
  return CookRun(std::move(ask), {.director = deps_.director,
                                  .place = **place,
                                  .listener = listener_,
                                  .trace = deps_.trace,
                                  .stop = stop_})
      .Run();
}

// Where the cook had to wait, the project file may be another by now.
absl::StatusOr<std::unique_ptr<Kitchen::Place>> ResidentCook::Enter(CookAsk& ask) {
  ASSIGN_OR_RETURN(Taken taken, TakeAsk());
  while (true) {
    bool has_waited = false;
    ASSIGN_OR_RETURN(
        std::unique_ptr<Kitchen::Place> place,
        deps_.kitchen.Enter(number_, class_, taken.needs, stop_, [&] {
          has_waited = true;
          listener_.Say(fmt::format("cook {} waits for others of this director", number_));
        }));
    if (has_waited) {
      ASSIGN_OR_RETURN(taken, TakeAsk());
    }
    if (taken.needs.GoWith(place->needs())) {
      ask = std::move(taken.ask);
      return place;
    }
  }
}

absl::StatusOr<ResidentCook::Taken> ResidentCook::TakeAsk() {
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
  ASSIGN_OR_RETURN(CookAsk ask, FromWire(ask_, **project));
  Kitchen::Needs needs{.setup = std::move(setup), .table = TableOptionsOf(ask, **project)};
  if (!ask.is_staged()) return Taken{std::move(ask), std::move(needs)};
  project::Project of_cook = **project;
  if (!ask.output_directory.empty()) of_cook.output_directory = ask.output_directory;
  RETURN_IF_ERROR(
      Sandboxes(of_cook, {.adopt = ask.adopt, .exact = ask.exact})
          .CheckAll(PlatformNames(of_cook, ask.platforms), deps_.director.project_id()));
  return Taken{std::move(ask), std::move(needs)};
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
  view.set_what(WhatIsAsked(ask_));
  view.set_started_us(absl::ToUnixMicros(started_));
  view.set_is_detached(ask_.is_detached());
  view.set_readers(log_->readers());
  *view.mutable_progress() = log_->progress();
  view.mutable_platforms()->CopyFrom(ask_.platforms());
  return view;
}

}  // namespace galley::director
