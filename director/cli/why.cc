// Why: why a package is in the cook, why it was cooked or not, and what its time was spent on. Uses
// the journal and the director of a running cook; reads from the store only the tail of a failure's
// log.

#include <algorithm>
#include <cstdio>
#include <set>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/result.h"
#include "common/record/source_names.h"
#include "director/cli/commands.h"
#include "director/cli/host_file.h"
#include "director/cli/package_place.h"
#include "director/cli/package_record.h"
#include "director/cli/path_text.h"
#include "director/cli/shown_command.h"
#include "director/core/packages/instigators.h"
#include "director/core/packages/package_data.h"
#include "director/core/root_paths.h"
#include "director/host/cook_numbers.h"
#include "director/serve/package_query_client.h"
#include "director/shell/sources.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::ChangedObservation;
using director::FailureRecord;
using director::InstigatorCategory;
using director::LastCook;
using director::PackageQueryClient;
using director::PackageRecord;
using director::PlatformRecord;
using nlohmann::json;
using record::ObservationKind;

// Cooked inputs of cooked inputs are followed to this depth.
constexpr size_t kReasonsDepthMax = 16;
// A running cook is asked about each package by a question of its own, at most this many times.
constexpr size_t kAskedPackagesMax = 10'000;
constexpr size_t kReasonsAskedMax = 10'000;
// Chains of reasons: for a person, for a page of --json, and how many are counted.
constexpr size_t kPathsForPeople = 3, kPathsOfAPage = 20, kPathsCounted = 1'000;
constexpr size_t kPathsMax = 100'000;
constexpr size_t kLogTailLines = 20;
constexpr size_t kLogTailBytes = 4096;

std::string CategoryText(InstigatorCategory category) {
  return category <= InstigatorCategory::kUnsolicited
             ? std::string(director::CategoryName(category))
             : "unknown";
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone());
}

uint32_t LastCookOf(const OpenedPackage& opened) {
  const uint64_t last = director::LastCookNumber(opened.project.state_directory());
  return last != 0 ? static_cast<uint32_t>(last) : opened.journal->meta().term;
}

class Why {
 public:
  // `running` may be null.
  Why(OpenedPackage& opened, PackageQueryClient* running, const GlobalOptions& global,
      const WhyOptions& options)
      : opened_(opened), running_(running), global_(global), options_(options) {}

  json ToJson() {
    json why = {{"package", opened_.package}, {"cook", cook_}};
    const std::string not_cooked = WhyNotCooked(opened_.project, opened_.package);
    why["not_cooked"] = not_cooked.empty() ? json() : json(not_cooked);
    AddRunning(why);
    AddPaths(why);
    AddGenerated(why);
    auto& failures = why["failures"] = json::array();
    for (const auto& [platform, failure] : opened_.record.failures) {
      if (IsAskedFor(platform)) failures.push_back(FailureJson(platform, failure));
    }
    auto& platforms = why["platforms"] = json::object();
    for (const auto& [platform, record] : opened_.record.platforms) {
      if (IsAskedFor(platform)) platforms[platform] = PlatformJson(platform, record);
    }
    return why;
  }

  // The paths of the JSON, once it is made; for people more paths than are shown, to be counted.
  const std::vector<director::RootPath>& paths() const { return paths_; }
  size_t paths_shown() const { return PathsShown(); }

 private:
  size_t PathsShown() const {
    if (options_.all) return kPathsMax;
    if (options_.limit > 0) return options_.limit;
    return global_.json ? kPathsOfAPage : kPathsForPeople;
  }
  size_t NamesShown() const { return options_.limit > 0 ? options_.limit : kPathsOfAPage; }

  bool IsAskedFor(const std::string& platform) const {
    return options_.platform.empty() || options_.platform == platform;
  }

  // Null: no cook runs.
  void AddRunning(json& why) {
    why["running"] = nullptr;
    if (running_ == nullptr) return;
    const auto answer = running_->Ask(opened_.package, 1);
    if (absl::IsFailedPrecondition(answer.status())) {  // a resident director without a cook
      running_ = nullptr;
      return;
    }
    json& running = why["running"] = {{"is_in_cook", answer.ok()}};
    if (!answer.ok()) {
      if (!absl::IsNotFound(answer.status())) running["error"] = MessageOf(answer.status());
      running_ = nullptr;
      return;
    }
    running["state"] = answer->state();
    running["urgency"] = answer->urgency();
    running["worker"] = answer->worker();
    running["attempt"] = answer->attempt();
    running["attempts"] = answer->attempts();
    running["own_faults"] = answer->own_faults();
    running["infrastructure_faults"] = answer->infrastructure_faults();
  }

  // Returns the package's instigators in the running cook, if that cook has the package of the
  // question; otherwise the instigators in the last cook.
  std::vector<director::NamedInstigator> InstigatorsOf(const std::string& package) {
    std::vector<director::NamedInstigator> named;
    if (running_ != nullptr) {
      const auto answer = running_->Ask(package, kReasonsAskedMax);
      if (answer.ok()) {
        for (const v1::PackageAnswer::Reason& one : answer->reasons())
          named.push_back({static_cast<InstigatorCategory>(one.category()), one.referencer()});
        are_reasons_cut_ |= answer->next_cook() != 0;
      }
      if (answer.ok() || absl::IsNotFound(answer.status())) return named;
      // The cook has ended meanwhile: the journal knows, and answers for the whole.
      running_ = nullptr;
    }
    const auto records = opened_.journal->InstigatorsOf(package);
    if (!records.ok()) return named;
    for (const director::InstigatorRecord& one : *records)
      named.push_back({static_cast<InstigatorCategory>(one.category), one.referencer});
    return named;
  }

  void AddPaths(json& why) {
    director::RootPaths found;
    PackageQueryClient* asked = nullptr;
    do {
      asked = running_;
      director::RootPathsOptions bounds{.skip = options_.cursor, .limit = PathsShown()};
      if (!global_.json && options_.limit == 0)
        bounds.limit = std::max(bounds.limit, kPathsCounted);
      if (asked != nullptr) bounds.packages_max = kAskedPackagesMax;
      found = director::FindRootPaths(
          opened_.package, [this](const std::string& package) { return InstigatorsOf(package); },
          bounds);
    } while (running_ != asked);
    auto& paths = why["instigators"] = json::array();
    paths_ = found.paths;
    for (const director::RootPath& path : found.paths) {
      json& steps = paths.emplace_back(json::array());
      for (const director::RootPathStep& step : path)
        steps.push_back({{"package", step.package}, {"category", CategoryText(step.category)}});
    }
    why["next"] = found.has_more ? json(options_.cursor + found.paths.size()) : json();
    why["is_cut"] = found.is_cut || are_reasons_cut_;
  }

  // Returns the packages that `record` generates, by name below it; the same for every platform.
  static std::vector<record::Generated> ListOf(const PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      auto result = record::DecodeResult(one.result);
      if (result.ok() && !result->is_verdict) return std::move(result->details.generated);
    }
    return {};
  }

  json ListJson(const std::vector<record::Generated>& list) const {
    json names = json::array();
    for (size_t i = 0; i < std::min(list.size(), NamesShown()); ++i) names.push_back(list[i].name);
    return {{"count", list.size()}, {"names", std::move(names)}};
  }

  void AddGenerated(json& why) {
    if (const auto list = ListOf(opened_.record); !list.empty()) why["generates"] = ListJson(list);
    const std::string generator(director::GeneratorName(opened_.package));
    if (generator.empty()) return;
    json& by = why["generated_by"] = {{"package", generator}};
    const auto record = opened_.journal->Find(generator);
    if (!record.ok() || !*record) return;
    const auto list = ListOf(**record);
    by["list"] = ListJson(list);
    by["is_listed"] = std::any_of(list.begin(), list.end(), [&](const record::Generated& one) {
      return generator + "/" + one.name == opened_.package;
    });
  }

  std::string LogTail(const std::string& log) {
    const auto digest = Digest::Parse(log);
    if (!digest.ok()) return {};
    if (!store_) {
      auto store = OpenStoreOf(global_);
      if (store.ok()) store_ = std::move(*store);
    }
    if (!store_) return {};
    const auto blob = store_->Get(*digest);
    if (!blob.ok()) return {};
    std::string_view text(**blob);
    while (text.ends_with('\n')) text.remove_suffix(1);
    size_t begin = text.size(), lines = 0;
    while (begin > 0 && text.size() - begin < kLogTailBytes) {
      if (text[begin - 1] == '\n' && ++lines == kLogTailLines) break;
      --begin;
    }
    return std::string(text.substr(begin));
  }

  json FailureJson(const std::string& platform, const FailureRecord& failure) {
    json one = {{"package", opened_.package},
                {"platform", platform},
                {"cook", failure.cook},
                {"time", TimeText(failure.time)},
                {"stage", failure.stage},
                {"error", WithFileNames(failure.error)},
                {"blame", failure.cause},
                {"worker", failure.worker},
                {"attempt", failure.attempt},
                {"attempts", failure.attempts},
                {"own_faults", failure.own_faults},
                {"infrastructure_faults", failure.infrastructure_faults},
                {"log", failure.log},
                {"log_tail", LogTail(failure.log)}};
    // A failure by a verdict: its result names the worker and the attempt.
    if (const auto found = opened_.record.platforms.find(platform);
        failure.worker.empty() && found != opened_.record.platforms.end() &&
        failure.cause == director::FailureCauseName(director::FailureCause::kVerdict)) {
      one["worker"] = found->second.last_cook.worker;
      one["attempt"] = found->second.last_cook.attempt;
    }
    return one;
  }

  std::string StateOf(const std::string& platform, const PlatformRecord& record) const {
    if (opened_.record.failures.contains(platform)) return "failed";
    if (const auto result = record::DecodeResult(record.result); result.ok() && result->is_verdict)
      return "failed";
    if (record.last_cook.cook == cook_) return record.last_cook.source;
    return record.is_trusted ? "up_to_date" : "outdated";
  }

  json PlatformJson(const std::string& platform, const PlatformRecord& record) {
    const LastCook& last = record.last_cook;
    const double load = absl::ToDoubleSeconds(last.load_time);
    const double save = absl::ToDoubleSeconds(last.save_time);
    const double in_hand = absl::ToDoubleSeconds(last.in_hand_time);
    std::set<std::string> seen = {opened_.package};
    json one = ReasonsJson(opened_.package, platform, record, seen);
    one["state"] = StateOf(platform, record);
    one["time"] = TimeText(last.time);
    one["worker"] = last.worker;
    one["attempt"] = last.attempt;
    one["attempts"] = last.attempts;
    one["seconds"] = {{"request", absl::ToDoubleSeconds(last.request_time)},
                      {"queue", absl::ToDoubleSeconds(last.queue_time)},
                      {"wait", std::max(0.0, in_hand - load - save)},
                      {"load", load},
                      {"save", save}};
    one["load_seconds"] = load;
    one["save_seconds"] = save;
    one["slowest"] = SlowestOf(one["seconds"]);
    one["action_key"] = record.action_key.ToString();
    one["published"] = nullptr;
    if (record.published_key && record.published_in) {
      one["published"] = {{"root", record.published_in->root.ToString()},
                          {"sequence", record.published_in->sequence},
                          {"is_this", *record.published_key == record.action_key}};
    }
    const auto result = record::DecodeResult(record.result);
    if (result.ok()) one["provenance"] = ProvenanceJson(result->provenance);
    if (result.ok() && result->is_verdict) one["error"] = WithFileNames(result->error);
    return one;
  }

  static json SlowestOf(const json& seconds) {
    json slowest;
    double most = 0;
    for (const auto& [stage, time] : seconds.items()) {
      if (time.get<double>() <= most) continue;
      most = time.get<double>();
      slowest = stage;
    }
    return slowest;
  }

  // Says why the present result of `package` was made or taken; inputs from other packages are
  // followed to the reasons of these packages.
  json ReasonsJson(const std::string& package, const std::string& platform,
                   const PlatformRecord& record, std::set<std::string>& seen) {
    const LastCook& last = record.last_cook;
    json reasons = {{"source", last.source},
                    {"cook", last.cook},
                    {"first", last.is_first},
                    {"forced", last.is_forced},
                    {"changed", json::array()}};
    for (const ChangedObservation& change : last.changed)
      reasons["changed"].push_back(ChangeJson(package, platform, record, change, seen));
    return reasons;
  }

  json ChangeJson(const std::string& package, const std::string& platform,
                  const PlatformRecord& record, const ChangedObservation& change,
                  std::set<std::string>& seen) {
    json one = {{"what", change.what}, {"before", change.before}, {"after", change.after}};
    if (change.what == "source") {
      const std::string generator(director::GeneratorName(package));
      one["path"] = package;
      if (generator.empty()) {
        one["file"] = HostFile(opened_.project, package);
      } else {
        AddBecause(one, generator, platform, seen);
      }
      return one;
    }
    const auto observed = std::find_if(record.observed.begin(), record.observed.end(),
                                       [&](const record::Observed& seen_then) {
                                         return seen_then.what.ToString() == change.what;
                                       });
    if (observed == record.observed.end()) return one;
    switch (observed->what.kind) {
      case ObservationKind::kFile:
      case ObservationKind::kExists:
      case ObservationKind::kList:
      case ObservationKind::kGlob:
        if (const auto path = content::ResolveAsked(package, observed->what.subject); path.ok()) {
          one["path"] = *path;
          one["file"] = HostFile(opened_.project, *path);
        }
        break;
      case ObservationKind::kCooked:
        if (const auto name = director::AskedName(package, observed->what.subject); name.ok())
          AddBecause(one, *name, platform, seen);
        break;
      case ObservationKind::kPlatform:
      case ObservationKind::kTool:
      case ObservationKind::kEnv:
      case ObservationKind::kName:
        break;
    }
    return one;
  }

  void AddBecause(json& change, const std::string& package, const std::string& platform,
                  std::set<std::string>& seen) {
    change["path"] = package;
    if (seen.size() >= kReasonsDepthMax || !seen.insert(package).second) return;
    const auto record = opened_.journal->Find(package);
    if (!record.ok() || !*record) return;
    const auto found = (*record)->platforms.find(platform);
    if (found == (*record)->platforms.end()) return;
    change["because"] = ReasonsJson(package, platform, found->second, seen);
    change["because"]["package"] = package;
  }

  // Returns the error with file names in place of the names that a cook uses for its source and
  // included files.
  std::string WithFileNames(const std::string& error) const {
    return record::NameSources(error, [&](std::string_view name) {
      return FileOfPlace(opened_.project, opened_.package, name);
    });
  }

  OpenedPackage& opened_;
  const uint32_t cook_ = LastCookOf(opened_);  // number of the last cook
  std::vector<director::RootPath> paths_;
  PackageQueryClient* running_;
  bool are_reasons_cut_ = false;
  const GlobalOptions& global_;
  const WhyOptions& options_;
  std::unique_ptr<store::Store> store_;
};

// ------------------------------------------------------------------ for people

std::string Text(const json& value) { return value.get<std::string>(); }

void Line(std::string_view text) { std::puts(EscapeControl(text).c_str()); }

std::string Short(const std::string& value) {
  if (const auto digest = Digest::Parse(value); digest.ok())
    return fmt::format("{}.. ({} bytes)", digest->hex().substr(0, 12), digest->size_bytes());
  return value.size() > 60 ? value.substr(0, 57) + "..." : value;
}

std::vector<std::string> LinesOf(const std::string& value) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end = 0; begin < value.size(); begin = end + 1) {
    end = std::min(value.find('\n', begin), value.size());
    lines.push_back(value.substr(begin, end - begin));
  }
  return lines;
}

// Returns the names that were added to the list (+), and the names that were removed (-).
std::string ListChange(const std::string& before, const std::string& after) {
  constexpr size_t kNamesMax = 5;
  const std::vector<std::string> before_lines = LinesOf(before), after_lines = LinesOf(after);
  const std::set<std::string> was(before_lines.begin(), before_lines.end());
  const std::set<std::string> is(after_lines.begin(), after_lines.end());
  std::string text;
  size_t count = 0;
  const auto add = [&](const std::string& name, char sign) {
    if (++count <= kNamesMax) text += fmt::format("{}{}{}", text.empty() ? "" : " ", sign, name);
  };
  for (const std::string& name : is) {
    if (!was.contains(name)) add(name, '+');
  }
  for (const std::string& name : was) {
    if (!is.contains(name)) add(name, '-');
  }
  return count > kNamesMax ? fmt::format("{} and {} more", text, count - kNamesMax) : text;
}

void PrintReasons(const json& reasons, const std::string& indent);

// Says how often a job was handed over; the numbers of attempts are for readers of logs.
std::string AttemptText(const json& one, bool is_verbose) {
  const auto attempts = one["attempts"].get<uint32_t>();
  std::string text;
  if (is_verbose && one["attempt"].get<uint64_t>() != 0)
    text = fmt::format(", attempt {}", one["attempt"].get<uint64_t>());
  if (attempts > 1) text += fmt::format(", handed over {} times", attempts);
  return text;
}

void PrintChange(const json& change, const std::string& indent) {
  const std::string what = Text(change["what"]), before = Text(change["before"]),
                    after = Text(change["after"]);
  const bool is_list = what.starts_with("list(") || what.starts_with("glob(");
  Line(fmt::format(
      "{}because {} changed: {}", indent, what,
      is_list ? ListChange(before, after) : fmt::format("{} -> {}", Short(before), Short(after))));
  if (change.contains("file")) {
    Line(fmt::format("{}  {} ({})", indent, Text(change["path"]), Text(change["file"])));
  }
  if (!change.contains("because")) return;
  const json& because = change["because"];
  Line(fmt::format("{}  {} was {} in cook {}", indent, Text(because["package"]),
                   Text(because["source"]), because["cook"].get<uint32_t>()));
  PrintReasons(because, indent + "    ");
}

void PrintReasons(const json& reasons, const std::string& indent) {
  if (reasons["first"].get<bool>()) Line(indent + "because it was never seen before");
  if (reasons["forced"].get<bool>()) Line(indent + "because the cook was forced (--force)");
  for (const json& change : reasons["changed"]) PrintChange(change, indent);
  if (!reasons["first"].get<bool>() && !reasons["forced"].get<bool>() &&
      reasons["changed"].empty()) {
    Line(indent +
         "nothing that it had looked at was otherwise: its result was gone, or a failure was tried "
         "again");
  }
}

void PrintFailure(const json& failure, uint32_t last_cook, bool is_verbose) {
  const uint32_t cook = failure["cook"].get<uint32_t>();
  const std::vector<std::string> error = LinesOf(Text(failure["error"]));
  Line(fmt::format("failed in {} ({}, {}): {}",
                   cook == last_cook ? "the last cook" : fmt::format("cook {}", cook),
                   Text(failure["platform"]), Text(failure["stage"]),
                   error.empty() ? "" : error[0]));
  for (size_t i = 1; i < error.size(); ++i) Line("  " + error[i]);
  const std::string blame = Text(failure["blame"]);
  std::string line = blame == "verdict"    ? "  its cooker's verdict on its inputs"
                     : blame == "package"  ? "  blamed on the package: it is quarantined for a cook"
                     : blame == "refused"  ? "  not a verdict: the next cook tries it again"
                     : blame == "machine"  ? "  blamed on the machine"
                     : blame == "unread"   ? "  not a verdict: the next cook reads it again"
                     : blame == "unproven" ? "  not a verdict: machines made different things of it"
                                           : "  it does not fit the project: no cooker is to blame";
  if (failure["own_faults"].get<uint32_t>() > 0)
    line += fmt::format(", {} of its attempts crashed or met a limit",
                        failure["own_faults"].get<uint32_t>());
  if (failure["infrastructure_faults"].get<uint32_t>() > 0)
    line += fmt::format(", {} were lost without its fault",
                        failure["infrastructure_faults"].get<uint32_t>());
  if (const std::string worker = Text(failure["worker"]); !worker.empty())
    line += fmt::format("; {}{}", worker, AttemptText(failure, is_verbose));
  Line(line);
  const std::string log = Text(failure["log"]);
  if (log.empty()) return;
  Line(fmt::format("  its log: galley store cat {}", log));
  for (const std::string& text : LinesOf(Text(failure["log_tail"]))) Line("    " + text);
}

// The cook that made the result may not be the last cook: a shared result names its maker itself.
void PrintProvenance(const json& one) {
  if (!one.contains("provenance")) return;
  const json& by = one["provenance"];
  const std::string machine = Text(by["machine"]);
  Line(fmt::format(
      "  made by {}{} at {} ({}){}", Text(by["worker"]), machine.empty() ? "" : " on " + machine,
      Text(by["started"]), Text(by["identity"]),
      by.contains("received_from") ? fmt::format(", received from {}", Text(by["received_from"]))
                                   : ""));
}

// `cook`: the last cook.
void PrintPlatform(uint32_t cook, const std::string& platform, const json& one, bool is_verbose) {
  const std::string state = Text(one["state"]);
  std::string source = Text(one["source"]);
  const std::string worker =
      Text(one["worker"]).empty() ? "" : fmt::format(" by {}", Text(one["worker"]));
  // A worker's cook of another platform whose recipe and values are the same served this platform.
  if (source == "cached" && one["attempt"].get<uint64_t>() != 0)
    source = "made by another platform's run";
  const std::string made =
      fmt::format("{} in cook {} at {}{}{}", source, one["cook"].get<uint32_t>(), Text(one["time"]),
                  worker, AttemptText(one, is_verbose));
  if (state == "up_to_date") {
    Line(fmt::format(
        "{}: up to date in cook {}: nothing that it looked at had changed since it was {}",
        platform, cook, made));
  } else if (state == "outdated") {
    Line(
        fmt::format("{}: something that it looked at changed, and no cook has looked at it since; "
                    "last {}",
                    platform, made));
  } else {
    Line(fmt::format("{}: last {}", platform, made));
  }
  if (const json& in = one["published"]; in.is_object()) {
    Line(fmt::format("  {} {}#{}, {}",
                     in["is_this"].get<bool>() ? "in the roots since" : "an older result is in",
                     platform, in["sequence"].get<uint64_t>(), Text(in["root"])));
  }
  PrintProvenance(one);
  if (one.contains("error")) Line(fmt::format("  it failed: {}", Text(one["error"])));
  PrintReasons(one, "  ");
  const json& seconds = one["seconds"];
  Line(
      fmt::format("  load {:.3f} s, save {:.3f} s; waited {:.3f} s for its look-up, {:.3f} s for a "
                  "worker, {:.3f} s there",
                  seconds["load"].get<double>(), seconds["save"].get<double>(),
                  seconds["request"].get<double>(), seconds["queue"].get<double>(),
                  seconds["wait"].get<double>()));
}

void PrintList(const json& list, const std::string& what) {
  Line(fmt::format("{} {}:", what, list["count"].get<size_t>()));
  for (const json& name : list["names"]) Line("  " + Text(name));
  if (const size_t shown = list["names"].size(); shown < list["count"].get<size_t>())
    Line(fmt::format("  and {} more (--limit)", list["count"].get<size_t>() - shown));
}

void PrintRunning(const json& running, bool is_verbose) {
  if (running.is_null()) return;
  if (running.contains("error"))
    return Line(fmt::format("a cook runs, and does not answer: {}", Text(running["error"])));
  if (!running["is_in_cook"].get<bool>())
    return Line("a cook runs; it has not come to this package");
  std::string line =
      fmt::format("now: {}, urgency {}", Text(running["state"]), Text(running["urgency"]));
  if (const std::string worker = Text(running["worker"]); !worker.empty())
    line += fmt::format("; {}{}", worker, AttemptText(running, is_verbose));
  if (const auto faults = running["own_faults"].get<uint32_t>(); faults > 0)
    line += fmt::format("; {} of its attempts crashed or met a limit", faults);
  if (const auto faults = running["infrastructure_faults"].get<uint32_t>(); faults > 0)
    line += fmt::format("; {} were lost without its fault", faults);
  Line(line);
}

// `shown`: how many paths are shown. The rest is counted.
void PrintPaths(const json& why, const std::vector<director::RootPath>& paths, size_t shown,
                bool is_verbose) {
  Line("in the cook because");
  if (paths.empty()) Line("  (it was not in the last cook)");
  for (size_t i = 0; i < std::min(paths.size(), shown); ++i) {
    for (const std::string& line : PathLines(paths[i], is_verbose)) Line("  " + line);
  }
  const bool has_more = !why["next"].is_null();
  if (paths.size() > shown) {
    Line(
        fmt::format("  and {}{} more (--all)", has_more ? "more than " : "", paths.size() - shown));
  } else if (has_more) {
    Line(fmt::format("  there is more: --cursor {}", why["next"].get<size_t>()));
  }
  if (why["is_cut"].get<bool>()) Line("  there may be more: the search was cut short");
}

v1::ShowAsk AskOf(const WhyOptions& options) {
  v1::ShowAsk ask;
  v1::ShowAsk::Why& why = *ask.mutable_why();
  why.set_package(options.package);
  why.set_platform(options.platform);
  why.set_limit(options.limit);
  why.set_cursor(options.cursor);
  why.set_all(options.all);
  return ask;
}

void PrintWhy(const json& why, const std::vector<director::RootPath>& paths, size_t paths_shown,
              bool is_verbose) {
  Line(Text(why["package"]));
  if (why["not_cooked"].is_string())
    Line(fmt::format("no cook takes it any more: {}", Text(why["not_cooked"])));
  PrintRunning(why["running"], is_verbose);
  for (const json& failure : why["failures"])
    PrintFailure(failure, why["cook"].get<uint32_t>(), is_verbose);
  PrintPaths(why, paths, paths_shown, is_verbose);
  if (why.contains("generated_by")) {
    const json& by = why["generated_by"];
    Line(fmt::format("generated by {}{}", Text(by["package"]),
                     by.value("is_listed", true) ? "" : ", which lists it no longer"));
    if (by.contains("list")) PrintList(by["list"], "  its list has");
  }
  if (why.contains("generates")) PrintList(why["generates"], "generates");
  for (const auto& [platform, one] : why["platforms"].items())
    PrintPlatform(why["cook"].get<uint32_t>(), platform, one, is_verbose);
}

}  // namespace

int RunWhy(const GlobalOptions& options, const WhyOptions& why_options) {
  if (!why_options.far.address.empty())
    return ShowFromAfar(options, why_options.far, AskOf(why_options));
  auto opened = OpenEvenIfUnknown(options, why_options.package);
  if (absl::IsDataLoss(opened.status()) || absl::IsUnavailable(opened.status()))
    return Fail(options, kInfrastructure, MessageOf(opened.status()));
  if (!opened.ok()) return Fail(options, kUsage, MessageOf(opened.status()));
  if (const std::string unknown = UnknownPlatform(opened->project, why_options.platform);
      !unknown.empty())
    return Fail(options, kUsage, unknown);
  const auto running =
      PackageQueryClient::Find(JoinPath(opened->project.root, ".galley/director.sock"));
  Why asked(*opened, running.get(), options, why_options);
  const json why = asked.ToJson();
  const json& now = why["running"];
  if (!opened->is_recorded && now.is_object() && now.contains("error"))
    return Fail(options, kInfrastructure,
                fmt::format("a cook runs, and does not answer: {}", Text(now["error"])));
  if (!opened->is_recorded && (now.is_null() || !now["is_in_cook"].get<bool>()))
    return Fail(options, kUsage, MessageOf(NotRecorded(*opened)));
  if (options.json) {
    PrintJson(why);
  } else {
    PrintWhy(why, asked.paths(), asked.paths_shown(), options.verbose);
  }
  return kDone;
}

}  // namespace galley::cli
