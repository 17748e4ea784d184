#include "director/cli/report.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstdio>

#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/record/source_names.h"
#include "director/core/conflict_text.h"
#include "director/shell/counter_table.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

constexpr absl::Duration kPlainInterval = absl::Seconds(10);
constexpr absl::Duration kPlainNewsInterval = absl::Seconds(3);
constexpr absl::Duration kToldIfLonger = absl::Seconds(2);

constexpr const char* kRed = "\x1b[31m";
constexpr const char* kYellow = "\x1b[33m";

// Returns "texture by galley.toml:52".
std::string ChoiceText(const project::CookerChoice& choice) {
  return choice.cooker.empty() ? choice.place
                               : fmt::format("{} by {}", choice.cooker, choice.place);
}

std::string_view SourceName(director::ResultSource source) {
  switch (source) {
    case director::ResultSource::kCooked:
      return "cooked";
    case director::ResultSource::kCached:
      return "cached";
    case director::ResultSource::kUpToDate:
      return "up_to_date";
  }
  return "cooked";
}

uint64_t Done(const director::Counters& c) {
  return c.results_cooked + c.results_cached + c.results_up_to_date + c.results_failed;
}

// Returns "12 s", "3 min 20 s", "2 h 5 min".
std::string DurationText(absl::Duration duration) {
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1)));
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

// A job that began just now tells nothing.
bool IsLong(const director::Progress& progress) {
  return !progress.longest.empty() && progress.longest_for >= kToldIfLonger;
}

// Returns ", 3 queued in Slurm, 1 starting"; empty: no worker is on its way.
std::string OnTheWayText(const director::WorkersOnTheWay& workers) {
  std::string text;
  if (workers.asked_for > 0) text += fmt::format(", {} asked for", workers.asked_for);
  if (workers.queued > 0) {
    const std::string system = workers.launcher == "slurm"        ? " in Slurm"
                               : workers.launcher == "kubernetes" ? " in Kubernetes"
                                                                  : "";
    text += fmt::format(", {} queued{}", workers.queued, system);
  }
  if (workers.starting > 0) text += fmt::format(", {} starting", workers.starting);
  return text;
}

std::string ProgressText(const director::Counters& c, const director::Progress& progress,
                         std::string_view remote) {
  const uint64_t done = Done(c);
  std::string text =
      fmt::format("{}/{} done, {} cached, {} failed, {}", done, std::max(done, c.results_wanted),
                  c.results_cached + c.results_up_to_date, c.results_failed,
                  Counted(c.workers_attached, "worker"));
  text += OnTheWayText(progress.on_the_way);
  if (progress.pending > 0) text += fmt::format(", {} pending", progress.pending);
  text += fmt::format(", {:.0f}/s", progress.results_per_second);
  if (progress.left && c.results_wanted > done)
    text += fmt::format(", {} left", DurationText(*progress.left));
  if (!remote.empty()) text += fmt::format(", remote {}", remote);
  if (IsLong(progress)) {
    text += fmt::format(", longest {} ({}{})", EscapeControl(progress.longest),
                        DurationText(progress.longest_for),
                        progress.is_alone ? ", the last attempt, alone on the machine" : "");
  }
  return text;
}

}  // namespace

nlohmann::json SummaryFailure::ToJson() const {
  return {{"package", package}, {"platform", platform}, {"stage", stage},
          {"error", error},     {"log", log},           {"rule", rule}};
}

nlohmann::json SummaryWarning::ToJson() const {
  return {{"package", package}, {"platform", platform}, {"text", text}, {"kind", kind}};
}

nlohmann::json Summary::ToJson() const {
  nlohmann::json warning_list = nlohmann::json::array();
  for (const SummaryWarning& one : warnings) warning_list.push_back(one.ToJson());
  nlohmann::json failure_list = nlohmann::json::array();
  for (const SummaryFailure& one : failures) {
    failure_list.push_back(one.ToJson());
  }
  nlohmann::json json = {{"schema", "galley.cook-summary.v1"},
                         {"exit_code", exit_code},
                         {"project", project},
                         {"roots", roots},
                         {"patch_roots", nlohmann::json::object()},
                         {"snapshot", snapshot},
                         {"seconds",
                          {{"total", total_s},
                           {"scan", scan_s},
                           {"explore", explore_s},
                           {"cook", cook_s},
                           {"stage", stage_s}}},
                         {"workers",
                          {{"collections",
                            {{"soft_limit", collections.soft_limit},
                             {"hard_limit", collections.hard_limit},
                             {"package_count", collections.package_count},
                             {"idle", collections.idle},
                             {"restarts", collections.restarts},
                             {"pauses", collections.pauses}}}}},
                         {"bytes",
                          {{"stored", bytes_stored},
                           {"deduplicated", bytes_deduplicated},
                           {"fetched", bytes_fetched}}},
                         {"warnings", std::move(warning_list)},
                         {"failures", std::move(failure_list)}};
  for (const director::CounterRow& row : director::kCounterTable) {
    if (row.group != nullptr) json[row.group][row.key] = counters.*row.value;
  }
  if (listed) json["files"] = "listed";
  return json;
}

std::string Summary::ToText() const {
  return ToJson().dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Report::Report(const GlobalOptions& options)
    : options_(options),
      told_failures_({.is_verbose = options.verbose, .alike = "failed alike"}),
      told_warnings_({.is_verbose = options.verbose, .named_max = 1, .alike = "are warned alike"}),
      started_(absl::Now()),
      last_plain_(started_) {
  if (!options.json && !options.quiet) terminal_ = TerminalOfStandardError();
}

Report::~Report() { TellMessages(); }

void Report::Event(const nlohmann::json& event) {
  PrintJson(event);
  std::fflush(stdout);
}

void Report::ClearLine() {
  if (!line_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  line_shown_ = false;
}

void Report::TakeEvent(const director::CookEvent& event) {
  std::visit([this](const auto& what) { Take(what); }, event.what);
}

// A line that is always told is printed with --quiet and --json as well.
void Report::Take(const director::CookEvent::Said& said) {
  if (!said.is_always_told && (options_.quiet || options_.json)) return;
  TellMessages();
  ClearLine();
  std::fputs(fmt::format("{}\n", EscapeControl(said.text)).c_str(), stderr);
}

void Report::Take(const director::CookEvent::Scanned& scan) {
  if (options_.json) {
    nlohmann::json event = {{"event", "scanned"},
                            {"files", scan.files},
                            {"packages", scan.packages},
                            {"unmatched", scan.unmatched},
                            {"seconds", scan.seconds}};
    if (scan.listed) event["listed"] = *scan.listed;
    return Event(event);
  }
  if (scan.listed) {
    Say(fmt::format("looked at {} of {}, which may have changed; {} ({:.2f} s)", *scan.listed,
                    Counted(scan.files, "file"), Counted(scan.packages, "package"), scan.seconds));
  } else {
    Say(fmt::format("scanned {}, {} ({:.2f} s)", Counted(scan.files, "file"),
                    Counted(scan.packages, "package"), scan.seconds));
  }
  if (scan.unmatched == 0) return;
  Say(fmt::format("{} {} no rule (galley ls --unmatched lists {})", scan.unmatched,
                  scan.unmatched == 1 ? "file matches" : "files match",
                  scan.unmatched == 1 ? "it" : "them"));
}

void Report::Take(const director::CookEvent::Stands& counts) {
  if (options_.json) {
    return Event({{"event", "stands"},
                  {"packages", counts.packages},
                  {"failed", counts.failed},
                  {"results", counts.results},
                  {"rest", counts.is_rest},
                  {"seconds", counts.seconds}});
  }
  const std::string failed =
      counts.failed == 0 ? "" : fmt::format(", {} of them failed", counts.failed);
  const std::string stand = counts.packages == 1 ? "stands" : "stand";
  if (counts.is_rest)
    return Say(fmt::format("{} {}{}", Counted(counts.packages, "other package"), stand, failed));
  Say(fmt::format("nothing changed: {} {}{} ({:.2f} s)", Counted(counts.packages, "package"), stand,
                  failed, counts.seconds));
}

void Report::Print(const std::vector<std::string>& paragraphs, const char* title,
                   const char* colour) {
  if (!paragraphs.empty()) ClearLine();
  for (const std::string& one : paragraphs) {
    std::fputs(fmt::format("{}{}:{} {}\n", terminal_.has_colour ? colour : "", title,
                           terminal_.has_colour ? "\x1b[0m" : "", EscapeControlInLines(one))
                   .c_str(),
               stderr);
  }
}

void Report::TellMessages() {
  Print(told_failures_.TakeNew(platforms), "error", kRed);
  Print(told_warnings_.TakeNew(platforms), "warning", kYellow);
}

std::string Report::WithFileNames(const std::string& package, const std::string& text) const {
  return record::NameSources(text,
                             [&](std::string_view name) { return file_of_place(package, name); });
}

void Report::Take(const director::CookEvent::Failed& failed) {
  const auto& [package, platform, told] = failed;
  const std::string stage(director::StageName(told.stage));
  const std::string error = WithFileNames(package, told.error);
  const bool has_choice = told.cause == director::FailureCause::kVerdict ||
                          director::ReadConflict(told.error).has_value();
  const std::optional<project::CookerChoice> choice =
      has_choice ? choice_of(package) : std::nullopt;
  const std::string rule = choice ? choice->place : "";
  const bool is_of_all = platform.empty() && !package.empty();
  bool is_new = false;
  for (const std::string& one : is_of_all ? platforms : std::vector<std::string>{platform}) {
    const SummaryFailure failure{package, one, stage, error, told.log, rule};
    failures_.insert(failure);
    taken_back_.erase(failure);
    // The failure was judged again, with what was made again since.
    if (!told_.insert(failure).second) continue;
    is_new = true;
    if (!options_.json) continue;
    nlohmann::json event = failure.ToJson();
    event["event"] = "failure";
    Event(event);
  }
  if (options_.json || !is_new) return;
  told_failures_.Add({package, platform, stage, error, choice ? ChoiceText(*choice) : ""});
}

void Report::Take(const director::CookEvent::Warned& warned) {
  const auto& [package, platform, told, is_passing] = warned;
  if (package.empty() && warning_rules.IsOff(told.kind)) return;
  if (package.empty() && warning_rules.IsError(told.kind)) {
    has_warning_errors_ = true;
    return Take(director::CookEvent::Failed{
        package, platform, {.stage = director::Stage::kRequest, .error = told.ErrorText()}});
  }
  const record::Warning named{told.kind, WithFileNames(package, told.text)};
  const SummaryWarning warning{package, platform, named.text,
                               std::string(record::WarningKindName(told.kind))};
  warnings.push_back(warning);
  if (options_.json) {
    nlohmann::json event = warning.ToJson();
    event["event"] = "warning";
    return Event(event);
  }
  if (options_.quiet || KeepNote(warning, told.kind)) return;
  told_warnings_.Add({package, platform, "", named.ToText(), ""});
}

bool Report::KeepNote(const SummaryWarning& warning, record::WarningKind kind) {
  if (options_.verbose || warning.package.empty() || record::NoteText(kind).empty()) return false;
  Notes& notes = notes_[kind];
  if (notes.packages.emplace(warning.package, warning.text).second)
    noted_[warning.package].push_back(kind);
  return true;
}

void Report::TellNotes() {
  uint64_t old = 0;
  for (const auto& [kind, notes] : notes_) {
    old += notes.packages.size() - notes.fresh.size();
    if (notes.fresh.empty()) continue;
    const std::string& first = *notes.fresh.begin();
    if (notes.fresh.size() == 1) {
      const record::Warning only{kind, notes.packages.at(first)};
      Print({fmt::format("{}: {}", first, only.ToText())}, "warning", kYellow);
    } else {
      Print({fmt::format("{} {}, for example {}; --verbose, or the summary, names all [{}]",
                         Counted(notes.fresh.size(), "package"), record::NoteText(kind), first,
                         record::WarningKindName(kind))},
            "warning", kYellow);
    }
  }
  if (old > 0)
    Say(fmt::format("{} as before; --verbose, or the summary, names {}",
                    old == 1 ? "1 note is" : fmt::format("{} notes are", old),
                    old == 1 ? "it" : "them"));
  notes_.clear();
}

template <typename Is>
void Report::TakeBackIf(std::set<SummaryFailure>::iterator at, Is is) {
  while (at != failures_.end() && is(*at)) {
    taken_back_.insert(*at);
    at = failures_.erase(at);
  }
}

void Report::Take(const director::CookEvent::Left& left) {
  const std::string& package = left.package;
  TakeBackIf(failures_.lower_bound({.package = package}),
             [&](const SummaryFailure& one) { return one.package == package; });
  if (options_.json) Event({{"event", "left"}, {"package", package}});
}

// The event before the first package names the platforms that the command itself read.
void Report::Take(const director::CookEvent::Platforms& told) {
  const std::vector<std::string>& now = told.names;
  for (auto at = failures_.begin(); at != failures_.end();) {
    const bool is_other =
        !at->platform.empty() && std::ranges::find(now, at->platform) == now.end();
    if (is_other) taken_back_.insert(*at);
    at = is_other ? failures_.erase(at) : std::next(at);
  }
  if (now == platforms) return;
  platforms = now;
  if (options_.json) return Event({{"event", "platforms"}, {"platforms", now}});
  Say(fmt::format("galley.toml was edited: the cook is for {} now", fmt::join(now, ", ")));
}

void Report::Take(const director::CookEvent::Done& done) {
  const director::StoredResult& result = *done.result;
  const director::ResultSource source = done.source;
  TakeBackIf(failures_.lower_bound({.package = result.package, .platform = result.platform_name}),
             [&](const SummaryFailure& one) {
               return one.package == result.package && one.platform == result.platform_name;
             });
  if (const auto noted = noted_.find(result.package);
      noted != noted_.end() && source != director::ResultSource::kUpToDate) {
    for (const record::WarningKind kind : noted->second) notes_[kind].fresh.insert(result.package);
  }
  if (options_.json) {
    Event({{"event", "done"},
           {"package", result.package},
           {"platform", result.platform_name},
           {"source", SourceName(source)}});
  } else if (options_.verbose && !options_.quiet) {
    Say(fmt::format("{} {} ({})", SourceName(source), result.package, result.platform_name));
  }
}

std::string Report::TextOf(const director::Counters& counters, const director::Progress& progress,
                           std::string_view remote) {
  return ProgressText(counters, progress, remote);
}

void Report::Take(const director::CookEvent::Progressed& progressed) {
  const auto& [counters, progress, remote_down] = progressed;
  TellMessages();
  const absl::Time now = absl::Now();
  if (terminal_.can_redraw) {
    std::string line = ProgressText(counters, progress, remote_down);
    winsize window{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
        line.size() >= window.ws_col)
      line.resize(window.ws_col - 1u);
    std::fputs(fmt::format("\r\x1b[K{}", line).c_str(), stderr);
    std::fflush(stderr);
    line_shown_ = true;
    return;
  }
  // A user without a worker wants to know why nothing happens.
  const std::string on_the_way =
      counters.workers_attached == 0 ? OnTheWayText(progress.on_the_way) : "";
  const bool has_news = !on_the_way.empty() && on_the_way != told_on_the_way_;
  if (now - last_plain_ < (has_news ? kPlainNewsInterval : kPlainInterval)) return;
  last_plain_ = now;
  told_on_the_way_ = on_the_way;
  if (options_.json) {
    Event({{"event", "progress"},
           {"done", Done(counters)},
           {"wanted", counters.results_wanted},
           {"cached", counters.results_cached + counters.results_up_to_date},
           {"failed", counters.results_failed},
           {"workers", counters.workers_attached},
           {"asked_for", progress.on_the_way.asked_for},
           {"queued", progress.on_the_way.queued},
           {"starting", progress.on_the_way.starting},
           {"pending", progress.pending},
           {"per_second", progress.results_per_second},
           {"remote", remote_down},
           {"longest", IsLong(progress) ? nlohmann::json(progress.longest) : nlohmann::json()},
           {"seconds_left", progress.left ? nlohmann::json(absl::ToDoubleSeconds(*progress.left))
                                          : nlohmann::json()}});
  } else {
    Say(ProgressText(counters, progress, remote_down));
  }
}

void Report::Finish(const Summary& summary, bool has_cooked) {
  if (options_.json) {
    nlohmann::json event = summary.ToJson();
    event["event"] = "summary";
    return Event(event);
  }
  Print(told_failures_.TakeRest(platforms), "error", kRed);
  Print(told_warnings_.TakeRest(platforms), "warning", kYellow);
  TellNotes();
  if (options_.quiet || !has_cooked) return ClearLine();
  const director::Counters& c = summary.counters;
  Say(fmt::format("{} in the cook, {}: {} cooked, {} cached, {} up to date, {} failed ({:.2f} s)",
                  Counted(c.in_cook, "package"), Counted(Done(c), "result"), c.results_cooked,
                  c.results_cached, c.results_up_to_date, c.results_failed, summary.total_s));
  if (c.bytes_saved > 0)
    Say(fmt::format("  loaded {}, {} of it warm, to save {}",
                    HumanBytes(c.bytes_read + c.bytes_warm), HumanBytes(c.bytes_warm),
                    HumanBytes(c.bytes_saved)));
  for (const auto& [platform, root] : summary.roots) {
    const auto sequence = summary.sequences.find(platform);
    Say(fmt::format("  {:<12} {}",
                    sequence == summary.sequences.end()
                        ? platform
                        : fmt::format("{}#{}", platform, sequence->second),
                    root));
  }
  if (summary.roots.empty() && summary.exit_code == kFailed && !summary.is_fail_fast) {
    Say("no root was published: nothing of the cook came to an output");
  } else if (summary.roots.empty()) {
    Say(fmt::format(
        "{}; no root was published, the sandboxes are as they were, what was finished is kept",
        summary.exit_code == kInterrupted ? "interrupted"
        : summary.is_fail_fast            ? "stopped at the first failure (--fail-fast)"
                                          : "stopped early"));
  } else if (summary.is_interrupted) {
    Say("interrupted while what the store lost was made again; the roots above are published, "
        "`galley cook` makes and stages what is left");
  }
  if (summary.is_fail_fast && c.skipped > 0)
    Say(fmt::format("{} of the {} known by then {} not tried", c.skipped,
                    Counted(c.in_cook, "package"), c.skipped == 1 ? "was" : "were"));
  const auto over =
      std::ranges::count_if(taken_back_, [](const auto& one) { return !one.package.empty(); });
  if (over > 0) {
    Say(
        fmt::format("{} of the failures that were told {} over: what {} of changed while the cook "
                    "ran",
                    over, over == 1 ? "is" : "are", over == 1 ? "it was" : "they were"));
  }
  const auto failed = std::ranges::count_if(
      summary.failures, [](const SummaryFailure& one) { return !one.package.empty(); });
  if (failed == 0) return;
  const auto logged = std::ranges::find_if(
      summary.failures, [](const SummaryFailure& one) { return !one.log.empty(); });
  Say(fmt::format("{} failed; `galley why PACKAGE` explains{}",
                  Counted(static_cast<uint64_t>(failed), "result"),
                  logged == summary.failures.end()
                      ? ""
                      : fmt::format(", `galley store cat {}` prints {}", logged->log,
                                    failed == 1 ? "the log" : "a log")));
}

}  // namespace galley::cli
