#include "director/cli/cook_session.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/named_file.h"
#include "common/base/own_umask.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "director/cli/change_list.h"
#include "director/cli/director_of_project.h"
#include "director/cli/farm_check.h"
#include "director/cli/host_file.h"
#include "director/cli/package_place.h"
#include "director/host/cook_warnings.h"
#include "director/host/open_metrics.h"
#include "director/host/outcome_status.h"
#include "director/host/sandboxes.h"
#include "director/host/standing_cook.h"
#include "director/resident/cook_archive.h"
#include "director/resident/resident_director.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::WrongUse;

std::string WorkerProgram() { return JoinPath(ProgramDirectory(), "galley-worker"); }

}  // namespace

CookSession::CookSession(const CookCommandOptions& options, Report& report)
    : options_(options),
      report_(report),
      started_(absl::Now()),
      ask_(options.ask),
      interrupt_([this] { stop_.Cancel(); }) {
  ask_.set_wants_trace(!options_.trace.empty());
  ask_.set_umask(OwnUmask());
  if (options_.all_platforms) ask_.clear_platforms();
}

CookSession::~CookSession() = default;

int CookSession::Run() {
  using Step = absl::Status (CookSession::*)();
  for (const Step step : {&CookSession::LoadTheProject, &CookSession::Cook}) {
    if (stop_.is_cancelled()) return Finish(director::Interrupted());
    if (const absl::Status end = (this->*step)(); !end.ok()) return Finish(end);
  }
  return Finish(absl::OkStatus());
}

absl::Status CookSession::LoadTheProject() {
  if (options_.global.store.find("://") != std::string::npos) {
    return WrongUse(fmt::format("--store {}: remote stores are not supported yet; give a directory",
                                options_.global.store));
  }
  auto project =
      options_.attach ? ProjectOfDirector(options_.global) : options_.project.Open(options_.global);
  if (!project.ok()) return WrongUse(project.status());
  if (const absl::Status farm = CheckFarm(*project); !farm.ok()) return WrongUse(farm);
  if (const absl::Status metrics = metrics::CheckAddress(project->director.metrics); !metrics.ok())
    return WrongUse(metrics);
  project_ = std::make_shared<const project::Project>(*std::move(project));
  summary_.project = project_->name;
  if (ask_.urgency_class().empty()) {
    const bool is_narrow = director::HasSelection(ask_.selection()) || !options_.changed.empty() ||
                           !ask_.changed_since().empty();
    const auto urgency_class =
        is_narrow ? director::CookClass::kCommit : director::CookClass::kNightly;
    ask_.set_urgency_class(std::string(director::ClassName(urgency_class)));
  }
  const std::vector<std::string> platforms = director::ListOf(ask_.platforms());
  if (const auto known = director::PlatformsIn(*project_, platforms); !known.ok())
    return WrongUse(known.status());
  RETURN_IF_ERROR(CheckFilesToWrite());
  RETURN_IF_ERROR(FindChangedFiles());
  report_.platforms = director::PlatformNames(*project_, platforms);
  report_.warning_rules = project_->warnings;
  report_.choice_of = [this](const std::string& package) { return ChoiceOf(*project_, package); };
  report_.file_of_place = [this](const std::string& package, std::string_view name) {
    return FileOfPlace(*project_, package, name);
  };
  return absl::OkStatus();
}

absl::Status CookSession::FindChangedFiles() {
  if (options_.changed.empty()) return absl::OkStatus();
  auto read = ReadChangeLists(*project_, options_.changed);
  if (!read.ok()) return WrongUse(read.status());
  ChangeList list = *std::move(read);
  if (list.paths.empty() && list.elsewhere > 0) {
    // The paths may be relative to another folder.
    report_.SayAlways(fmt::format(
        "--changed: none of the {} paths lies under a mount, so all files are looked at",
        list.elsewhere));
    return absl::OkStatus();
  }
  if (list.elsewhere > 0)
    report_.Say(fmt::format("{} of the paths that changed lie under no mount", list.elsewhere));
  ask_.mutable_changed()->mutable_paths()->Assign(list.paths.begin(), list.paths.end());
  return absl::OkStatus();
}

absl::Status CookSession::CheckFilesToWrite() const {
  const bool has_files = !options_.summary.empty() || !options_.trace.empty();
  if (options_.detach && has_files && !options_.far.address.empty())
    return WrongUse(
        "--detach with --director: --summary and --trace name files of this machine, and the "
        "director is on another one; leave them out, and give them to `galley cook --attach` with "
        "the number that --detach prints");
  for (const std::string& file : {options_.summary, options_.trace}) {
    if (file.empty()) continue;
    const std::string path = AbsolutePath(file);
    const std::string folder = path.substr(0, std::max<size_t>(1, path.rfind('/')));
    if (::access(folder.c_str(), W_OK) != 0)
      return WrongUse(fmt::format("{} cannot be written: {} is no folder that can be written to",
                                  file, folder));
  }
  return absl::OkStatus();
}

absl::Status CookSession::Cook() {
  while (true) {
    ASSIGN_OR_RETURN(const bool is_done, CookRemotely());
    if (is_done) return cooked_.end;
    const absl::Status end = CookHere();
    // A resident director took the project while this command waited for it.
    if (!absl::IsAborted(end)) return end;
  }
}

absl::StatusOr<bool> CookSession::CookRemotely() {
  if (!IsForResident()) return false;
  const bool is_far = !options_.far.address.empty();
  ASSIGN_OR_RETURN(const std::unique_ptr<director::DirectorClient> client,
                   is_far ? ConnectDirector(options_.far) : FindDirector(*project_));
  if (options_.attach.has_value()) return Attach(client.get());
  if (client == nullptr && options_.detach) {
    return WrongUse(
        "--detach: no resident director serves this project; start one with `galley serve "
        "--detach`");
  }
  if (client == nullptr) return false;
  RemoteCook remote(report_, [this](const auto& begun) { return TakeBegun(begun); });
  const absl::Status end = remote.Cook(*client, AskOnWire(), stop_);
  RETURN_IF_ERROR(TakeRemote(remote, end));
  return true;
}

// A cook that has ended needs no director.
absl::StatusOr<bool> CookSession::Attach(director::DirectorClient* client) {
  RemoteCook remote(report_, [this](const v1::CookEvent::Begun& begun) {
    report_.platforms = director::ListOf(begun.platforms());
    return true;
  });
  absl::Status end;
  if (client != nullptr) {
    end = remote.Follow(*client, *options_.attach, stop_);
  } else {
    const director::CookArchive archive(project_->state_directory());
    if (archive.IsKept(*options_.attach)) {
      return director::Infrastructure(fmt::format(
          "cook {} is detached and not done, and no director serves this project: the next `galley "
          "serve` goes on with it",
          *options_.attach));
    }
    const auto log = archive.Find(*options_.attach);
    if (absl::IsNotFound(log.status())) return WrongUse(log.status());
    if (!log.ok()) return director::Infrastructure(log.status());
    end = remote.Read(*director::CookLog::Read(*log));
  }
  RETURN_IF_ERROR(TakeRemote(remote, end));
  return true;
}

bool CookSession::TakeBegun(const v1::CookEvent::Begun& begun) {
  is_detached_ = options_.detach;
  if (!is_detached_) return true;
  if (options_.global.json) {
    PrintJson({{"event", "detached"}, {"cook", begun.cook()}});
  } else {
    fmt::print("{}\n", begun.cook());
    report_.Say(fmt::format("`galley cook --attach {0}` follows it, `galley cancel {0}` ends it",
                            begun.cook()));
  }
  return false;
}

absl::Status CookSession::TakeRemote(const RemoteCook& remote, const absl::Status& end) {
  if (!remote.report().has_value()) return end;
  cooked_ = *remote.report();
  return absl::OkStatus();
}

v1::CookAsk CookSession::AskOnWire() const {
  v1::CookAsk ask = ask_;
  // The director has another working directory.
  const auto make_absolute = [](auto* list) {
    for (std::string& one : *list) {
      if (!one.starts_with('/')) one = AbsolutePath(one);
    }
  };
  v1::Selection& selection = *ask.mutable_selection();
  make_absolute(selection.mutable_positional());
  make_absolute(selection.mutable_maps());
  make_absolute(selection.mutable_packages());
  make_absolute(selection.mutable_directories());
  // A director of another machine uses the output folder of its own project.
  if (options_.far.address.empty() || !options_.project.out.empty())
    ask.set_output_directory(project_->output_directory);
  ask.set_is_detached(options_.detach);
  if (options_.detach) {
    if (!options_.summary.empty()) ask.set_summary_file(AbsolutePath(options_.summary));
    if (!options_.trace.empty()) ask.set_trace_file(AbsolutePath(options_.trace));
  }
  if (!options_.far.address.empty()) return ask;
  for (const auto& [name, value] : Environment()) {
    if (IsUtf8(name)) (*ask.mutable_environment())[name] = value;
  }
  for (const project::Origin& one : project_->origins) {
    v1::ConfiguredValue& value = *ask.add_configuration();
    value.set_key(one.key);
    value.set_value(one.value);
    value.set_source(one.source);
  }
  return ask;
}

// Returns true when nothing has changed, which is then the answer.
bool CookSession::StandsHere() {
  const std::string worker_program = WorkerProgram();
  director::StandingAnswer answer = director::AnswerCold({.ask = ask_,
                                                          .project = *project_,
                                                          .worker_program = worker_program,
                                                          .environment = Environment()},
                                                         report_, stop_);
  if (answer.report.has_value()) cooked_ = *std::move(answer.report);
  checked_ = std::move(answer.checked);
  if (options_.global.verbose && !answer.difference.empty())
    report_.Say(fmt::format("what is known does not stand: {}", answer.difference));
  return cooked_.outcome.has_value();
}

absl::Status CookSession::CookHere() {
  if (StandsHere()) return absl::OkStatus();
  const auto check = [this](const std::string& project_id) {
    if (!director::IsStaged(ask_)) return absl::OkStatus();
    return director::Sandboxes(*project_, {.adopt = ask_.adopt(), .exact = ask_.exact()})
        .CheckAll(report_.platforms, project_id);
  };
  const auto gives_way = [this] {
    if (!IsForResident()) return false;
    const auto found = FindDirector(*project_);
    return !found.ok() || *found != nullptr;
  };
  ASSIGN_OR_RETURN(const auto resident,
                   director::ResidentDirector::Open(
                       {.director = {.project = project_,
                                     .worker_program = WorkerProgram(),
                                     .environment = Environment(),
                                     .is_verbose = options_.global.verbose,
                                     .hold = {.waits = !options_.standalone,
                                              .gives_way = gives_way,
                                              .check = check}},
                        .load = [this] { return options_.project.Open(options_.global); },
                        .build = OwnBuild(),
                        .is_hosted = true},
                       report_, stop_));
  if (!project_->director.metrics.empty())
    report_.Say(fmt::format("metrics at {}", director::MetricsUrl(*project_)));
  v1::CookAsk ask = ask_;
  ask.set_asked_by(director::OwnCaller());
  cooked_ = resident->CookHosted(ask, {.sink = report_,
                                       .stop = stop_,
                                       .what = director::WhatIsAsked(AskOnWire()),
                                       .checked = std::move(checked_)});
  return cooked_.end;
}

int CookSession::Finish(const absl::Status& end) {
  if (end.ok() && is_detached_) return kDone;
  for (const std::string& text : TakeRepairs())
    report_.Tell(director::CookEvent::Warned{"", "", director::RepairWarning(text)});
  report_.TellMessages();
  ExitCode code = TellEnd(end);
  if (absl::IsInvalidArgument(end)) return code;
  FillSummary(code);
  code = WriteFiles(code);
  report_.Finish(summary_, cooked_.outcome.has_value());
  return code;
}

// Prints why the cook ended early.
ExitCode CookSession::TellEnd(const absl::Status& end) {
  cooked_.end = end;
  const auto code = static_cast<ExitCode>(director::ExitCodeOf(cooked_));
  if (!end.ok()) Fail(options_.global, code, MessageOf(end));
  if (code == kUsage) return code;
  if (code == kDone && report_.has_warning_errors()) return kFailed;
  if (cooked_.outcome.has_value() && !cooked_.outcome->ended.infrastructure_error.empty())
    Fail(options_.global, code, cooked_.outcome->ended.infrastructure_error);
  return stop_.is_cancelled() && !cooked_.is_published ? kInterrupted : code;
}

void CookSession::FillSummary(ExitCode code) {
  summary_.exit_code = code;
  if (cooked_.outcome.has_value()) {
    const director::ShellOutcome& outcome = *cooked_.outcome;
    summary_.counters = outcome.counters;
    summary_.bytes_stored = outcome.bytes_stored;
    summary_.bytes_deduplicated = outcome.bytes_deduplicated;
    summary_.bytes_fetched = cooked_.bytes_fetched;
    summary_.collections = outcome.collections;
    for (const auto& [platform, root] : outcome.roots) summary_.roots[platform] = root.ToString();
    summary_.sequences = cooked_.sequences;
    summary_.is_fail_fast = outcome.ended.is_fail_fast;
    summary_.is_interrupted = outcome.ended.is_interrupted;
  }
  summary_.snapshot = cooked_.snapshot.ToString();
  summary_.listed = cooked_.listed.has_value();
  summary_.warnings = report_.warnings;
  summary_.failures = report_.Failures();
  std::ranges::sort(summary_.warnings);
  summary_.scan_s = absl::ToDoubleSeconds(cooked_.scan);
  summary_.explore_s = absl::ToDoubleSeconds(cooked_.explore);
  summary_.cook_s = absl::ToDoubleSeconds(cooked_.cook);
  summary_.stage_s = absl::ToDoubleSeconds(cooked_.stage);
  summary_.total_s = absl::ToDoubleSeconds(absl::Now() - started_);
}

// Writes the files of --summary and --trace.
ExitCode CookSession::WriteFiles(ExitCode code) {
  const auto write = [&](std::string_view option, const std::string& file,
                         const std::string& bytes) {
    const absl::Status written = WriteNamedFile(file, bytes);
    if (written.ok()) return;
    code = kInfrastructure;
    Fail(options_.global, code, fmt::format("{}: {}", option, MessageOf(written)));
  };
  if (!options_.summary.empty()) write("--summary", options_.summary, summary_.ToText());
  // A cook that did nothing has nothing to trace.
  director::Trace nothing;
  if (!options_.trace.empty())
    write("--trace", options_.trace,
          cooked_.trace.empty() ? director::Trace::Recording(nothing).ToJson() : cooked_.trace);
  return code;
}

}  // namespace galley::cli
