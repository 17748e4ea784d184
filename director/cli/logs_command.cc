// LogsCommand: `galley logs`: what workers logged, from the files that directors keep
// (director/logs), whether a director runs or not; for a package also what the journal and the
// store know of its attempts.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/package_record.h"
#include "director/cli/package_story.h"
#include "director/cli/parse_time.h"
#include "director/cli/shown_command.h"
#include "director/host/director.h"
#include "director/host/near_names.h"
#include "director/logs/log_reader.h"
#include "director/logs/worker_logs.h"
#include "director/serve/socket_probe.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::LogRecord;

constexpr absl::Duration kFollowInterval = absl::Milliseconds(250);
constexpr size_t kLogLinesToldMax = 200;  // of one attempt's output in the store

std::string TextOfTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S", time, absl::LocalTimeZone());
}

nlohmann::json JsonOfTime(absl::Time time) {
  if (time == absl::InfinitePast()) return nullptr;
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

nlohmann::json JsonOf(const LogRecord& line) {
  return {{"time", JsonOfTime(line.time)},
          {"worker", line.worker},
          {"machine", line.machine},
          {"from", director::LogFromName(line.from)},
          {"level", director::LogLevelName(line.level)},
          {"attempt", line.attempt == 0 ? nlohmann::json() : nlohmann::json(line.attempt)},
          {"package", line.package.empty() ? nlohmann::json() : nlohmann::json(line.package)},
          {"text", line.text}};
}

// Returns lines fit for a terminal, without empty lines at the end.
std::vector<std::string> LinesIn(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = director::PrintableLine(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Returns who speaks: the worker itself is not named again.
std::string Speaker(const LogRecord& line) {
  return line.from == LogRecord::From::kWorker ? std::string(director::LogLevelName(line.level))
                                               : std::string(director::LogFromName(line.from));
}

void PrintLine(const GlobalOptions& options, const LogRecord& line) {
  if (options.json) return PrintJson(JsonOf(line));
  fmt::print("{} {} {}{}: {}\n", TextOfTime(line.time), line.worker, Speaker(line),
             line.package.empty() ? "" : " " + line.package, line.text);
}

class Logs {
 public:
  Logs(const GlobalOptions& options, const LogsOptions& logs, project::Project project,
       absl::Time since)
      : options_(options),
        logs_(logs),
        project_(std::move(project)),
        since_(since),
        reader_(JoinPath(project_.state_directory(), director::kWorkerLogsFolder),
                JoinPath(project_.state_directory(), "logs/director.log")) {}

  int Run() {
    std::vector<LogRecord> lines = reader_.Read({.since = since_});
    if (logs_.what.empty()) return Tell(std::move(lines));
    if (const std::vector<std::string> workers = reader_.Workers();
        std::ranges::find(workers, logs_.what) != workers.end()) {
      worker_ = logs_.what;
      return Tell(std::move(lines));
    }
    absl::StatusOr<OpenedPackage> opened = OpenEvenIfUnknown(options_, logs_.what);
    if (!opened.ok()) return FailUnknown(MessageOf(opened.status()), nullptr);
    const bool is_logged = std::ranges::any_of(
        lines, [&](const LogRecord& line) { return line.package == opened->package; });
    if (!opened->is_recorded && !is_logged)
      return FailUnknown(MessageOf(NotRecorded(*opened)), opened->journal.get());
    package_ = opened->package;
    TellPackage(StoryOf(package_, opened->record, lines));
    opened->journal.reset();
    return logs_.follow ? Follow() : kDone;
  }

 private:
  bool IsMeant(const LogRecord& line) const {
    return (worker_.empty() || line.worker == worker_) &&
           (package_.empty() || line.package == package_);
  }

  int Tell(std::vector<LogRecord> lines) {
    std::erase_if(lines, [this](const LogRecord& line) { return !IsMeant(line); });
    const size_t all = lines.size();
    const size_t first = logs_.lines == 0 ? 0 : all - std::min<size_t>(all, logs_.lines);
    if (first > 0 && !options_.quiet && !options_.json)
      fmt::print(stderr, "the last {} of {} lines; `-n 0` prints all\n", all - first, all);
    for (size_t i = first; i < all; ++i) PrintLine(options_, lines[i]);
    if (all == 0 && !options_.quiet)
      fmt::print(stderr, "nothing was logged{}\n",
                 since_ == absl::InfinitePast() ? " that is kept" : " since then");
    TellSkipped();
    return logs_.follow ? Follow() : kDone;
  }

  void TellSkipped() const {
    if (reader_.skipped() > 0 && !options_.quiet)
      fmt::print(stderr, "{} of the files could not be read, and {} left out\n",
                 Counted(reader_.skipped(), "line"), reader_.skipped() == 1 ? "was" : "were");
  }

  bool HasDirector() const {
    return director::ProbeSocket(director::SocketOf(project_)).listening ==
           director::Listening::kSomebody;
  }

  // Follows until the director ends, or Ctrl-C.
  int Follow() {
    std::fflush(stdout);
    const InterruptWatch interrupt([] {});
    bool has_director = HasDirector();
    if (!has_director && !options_.quiet)
      fmt::print(stderr, "no director runs here: there is nothing to follow\n");
    while (has_director && !interrupt.interrupted()) {
      std::this_thread::sleep_for(absl::ToChronoMilliseconds(kFollowInterval));
      has_director = HasDirector();  // asked before the look, so that its last lines are read
      for (const LogRecord& line : reader_.Read({.since = since_})) {
        if (IsMeant(line)) PrintLine(options_, line);
      }
      std::fflush(stdout);
    }
    return kDone;
  }

  int FailUnknown(const std::string& why, director::Journal* journal) const {
    std::vector<std::string> names = reader_.Workers();
    if (journal != nullptr) {
      journal
          ->ForEach([&](std::string_view package, const director::PackageRecord&) {
            names.emplace_back(package);
          })
          .IgnoreError();  // near names are only a help
    }
    // The reason why it is no package may name the nearest file already.
    const bool is_told = why.find("did you mean") != std::string::npos;
    const auto near = is_told ? std::vector<std::string>() : director::NearNames(logs_.what, names);
    return Fail(options_, kUsage,
                fmt::format("{} is no worker of which anything is kept, and no package ({}){}",
                            director::PrintableLine(logs_.what), why, director::NearText(near)));
  }

  // Returns the end of an attempt's log, in lines.
  std::vector<std::string> LogOf(const std::string& digest_text) {
    const auto digest = Digest::Parse(digest_text);
    if (!digest.ok()) return {};
    if (store_ == nullptr && store_error_.empty()) {
      auto opened = OpenStoreOf(options_);
      if (opened.ok()) {
        store_ = *std::move(opened);
      } else {
        store_error_ = MessageOf(opened.status());
      }
    }
    if (store_ == nullptr) return {fmt::format("(the store cannot be asked: {})", store_error_)};
    const auto blob = store_->Get(*digest);
    if (!blob.ok())
      return {fmt::format("(it is not there any more: {})", MessageOf(blob.status()))};
    std::vector<std::string> lines = LinesIn(std::string((*blob)->data(), (*blob)->size()));
    if (lines.size() > kLogLinesToldMax) {
      lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(kLogLinesToldMax));
      lines.insert(lines.begin(),
                   fmt::format("(its end; `galley store cat {}` prints all)", digest->ToString()));
    }
    return lines;
  }

  void TellPackage(const PackageStory& story) {
    if (options_.json) return PrintJson(JsonOf(story));
    fmt::print("{}\n", package_);
    for (const PlatformStory& one : story.platforms) TellPlatform(one);
    for (const AttemptStory& one : story.attempts) TellAttempt(one);
    TellSkipped();
  }

  void TellPlatform(const PlatformStory& one) {
    fmt::print(
        "{} {} in cook {} at {}{}{}\n", one.platform, one.has_failed ? "failed" : "is done",
        one.cook, TextOfTime(one.time), one.stage.empty() ? "" : fmt::format(" ({})", one.stage),
        one.worker.empty() ? "" : fmt::format(", on {}", director::PrintableLine(one.worker)));
    for (const std::string& line : LinesIn(one.error)) fmt::print("  {}\n", line);
    for (const std::string& warning : one.warnings)
      fmt::print("  warning: {}\n", director::PrintableLine(warning));
    if (one.log.empty() || one.log == last_log_) return;
    last_log_ = one.log;  // several platforms of one attempt share a log
    fmt::print("  it printed:\n");
    for (const std::string& line : LogOf(one.log)) fmt::print("    {}\n", line);
  }

  void TellAttempt(const AttemptStory& one) const {
    fmt::print("attempt {} on {}{}", one.attempt, director::PrintableLine(one.worker),
               one.machine.empty() ? "" : " (" + one.machine + ")");
    if (one.from != absl::InfinitePast()) fmt::print(", from {}", TextOfTime(one.from));
    if (one.to != absl::InfinitePast()) fmt::print(" to {}", TextOfTime(one.to));
    fmt::print("{}\n", one.lines.empty() ? ": nothing was logged" : "");
    const size_t first =
        logs_.lines == 0 ? 0 : one.lines.size() - std::min<size_t>(one.lines.size(), logs_.lines);
    for (size_t i = first; i < one.lines.size(); ++i)
      fmt::print("  {} {}: {}\n",
                 absl::FormatTime("%H:%M:%E3S", one.lines[i].time, absl::LocalTimeZone()),
                 Speaker(one.lines[i]), one.lines[i].text);
  }

  nlohmann::json JsonOf(const PackageStory& story) {
    nlohmann::json platforms = nlohmann::json::array(), attempts = nlohmann::json::array();
    for (const PlatformStory& one : story.platforms) {
      platforms.push_back(
          {{"platform", one.platform},
           {"state", one.has_failed ? "failed" : "done"},
           {"cook", one.cook},
           {"time", JsonOfTime(one.time)},
           {"stage", one.stage},
           {"error", one.error},
           {"worker", one.worker},
           {"attempt", one.attempt},
           {"warnings", one.warnings},
           {"log", one.log},
           {"printed", one.log.empty() ? std::vector<std::string>() : LogOf(one.log)}});
    }
    for (const AttemptStory& one : story.attempts) {
      nlohmann::json lines = nlohmann::json::array();
      for (const LogRecord& line : one.lines) lines.push_back(cli::JsonOf(line));
      attempts.push_back({{"attempt", one.attempt},
                          {"worker", one.worker},
                          {"machine", one.machine},
                          {"from", JsonOfTime(one.from)},
                          {"to", JsonOfTime(one.to)},
                          {"lines", std::move(lines)}});
    }
    return {{"package", package_},
            {"platforms", std::move(platforms)},
            {"attempts", std::move(attempts)}};
  }

  const GlobalOptions& options_;
  const LogsOptions& logs_;
  const project::Project project_;
  const absl::Time since_;
  director::LogReader reader_;
  std::string worker_, package_;  // the asked ones; empty: all
  std::unique_ptr<store::Store> store_;
  std::string store_error_, last_log_;
};

v1::ShowAsk AskOf(const LogsOptions& options) {
  v1::ShowAsk ask;
  v1::ShowAsk::Logs& logs = *ask.mutable_logs();
  logs.set_what(options.what);
  logs.set_since(options.since);
  logs.set_lines(options.lines);
  logs.set_follow(options.follow);
  return ask;
}

}  // namespace

int RunLogs(const GlobalOptions& options, const LogsOptions& logs) {
  if (!logs.far.address.empty()) return ShowFromAfar(options, logs.far, AskOf(logs));
  const auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  absl::Time since = absl::InfinitePast();
  if (!logs.since.empty()) {
    const auto parsed = ParseTime(logs.since, absl::Now());
    if (!parsed.ok()) return Fail(options, kUsage, "--since: " + MessageOf(parsed.status()));
    since = *parsed;
  }
  return Logs(options, logs, *project, since).Run();
}

}  // namespace galley::cli
