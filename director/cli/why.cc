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
#include "director/cli/shown_command.h"
#include "director/cli/why_text.h"
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
    by["is_listed"] = std::ranges::any_of(list, [&](const record::Generated& one) {
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
    const auto observed =
        std::ranges::find_if(record.observed, [&](const record::Observed& seen_then) {
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
    return Fail(
        options, kInfrastructure,
        fmt::format("a cook runs, and does not answer: {}", now["error"].get<std::string>()));
  if (!opened->is_recorded && (now.is_null() || !now["is_in_cook"].get<bool>()))
    return Fail(options, kUsage, MessageOf(NotRecorded(*opened)));
  if (options.json) {
    PrintJson(why);
  } else {
    for (const std::string& line :
         WhyText(why, asked.paths(), asked.paths_shown(), options.verbose))
      std::puts(line.c_str());
  }
  return kDone;
}

}  // namespace galley::cli
