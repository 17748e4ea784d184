// why, records, clean: what the journal knows of a package.

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <map>
#include <set>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/action.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "director/cli/commands.h"
#include "director/cli/cook_session.h"
#include "director/cli/virtual_path.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::InstigatorCategory;
using director::Journal;
using director::PackageRecord;
using director::PlatformRecord;

constexpr size_t kChainsMax = 20;

std::string_view CategoryName(uint8_t category) {
  static constexpr std::string_view kNames[] = {"StartupPackage",
                                                "CommandLinePackage",
                                                "CommandLineDirectory",
                                                "CookMap",
                                                "IniMapSection",
                                                "AlwaysCookMap",
                                                "HardDependency",
                                                "SoftDependency",
                                                "BuildDependency",
                                                "GeneratedPackage",
                                                "Culture",
                                                "AssetManagerModifyCook",
                                                "IterativeCook",
                                                "CookOnTheFly",
                                                "Speculative",
                                                "Unsolicited"};
  return category < std::size(kNames) ? kNames[category] : "unknown";
}

struct Opened {
  project::Project project;
  std::unique_ptr<Journal> journal;
  std::string package;  // virtual
  PackageRecord record;
};

// What the last cook said of it (CookSession::Remember).
nlohmann::json FailuresOf(const project::Project& project, const std::string& package) {
  nlohmann::json found = nlohmann::json::array();
  const auto text = ReadFile(JoinPath(project.state_directory(), kFailuresFile), 256 << 20);
  const nlohmann::json all = nlohmann::json::parse(text.ok() ? *text : "[]", nullptr, false);
  if (!all.is_array()) return found;
  for (const nlohmann::json& one : all) {
    if (one.is_object() && one.value("package", "") == package) found.push_back(one);
  }
  return found;
}

absl::StatusOr<Opened> Open(const GlobalOptions& options, const std::string& argument) {
  Opened opened;
  ASSIGN_OR_RETURN(opened.project, OpenProject(options));
  ASSIGN_OR_RETURN(opened.package, ToVirtual(opened.project, argument));
  if (!FileExists(JoinPath(opened.project.state_directory(), "journal"))) {
    return absl::InvalidArgumentError("nothing was cooked yet in this project: run `galley cook`");
  }
  ASSIGN_OR_RETURN(opened.journal, Journal::Open(opened.project.state_directory(), true));
  ASSIGN_OR_RETURN(auto record, opened.journal->Find(opened.package));
  if (!record && !FailuresOf(opened.project, opened.package).empty()) return opened;
  if (!record) {
    return absl::InvalidArgumentError(
        fmt::format("{} was in no cook of this project yet (a package is named with its extension: "
                    "/Game/x.png)",
                    opened.package));
  }
  opened.record = std::move(*record);
  return opened;
}

// Chains from the package back to root causes, shortest first: breadth-first over the reverse
// edges.
std::vector<std::vector<std::pair<std::string, uint8_t>>> ChainsOf(Journal& journal,
                                                                   const std::string& package) {
  std::vector<std::vector<std::pair<std::string, uint8_t>>> chains;
  std::deque<std::vector<std::pair<std::string, uint8_t>>>
      open;  // (package, category that it is in for)
  std::set<std::string> seen = {package};
  open.push_back({{package, 0}});
  while (!open.empty() && chains.size() < kChainsMax) {
    const auto chain = open.front();
    open.pop_front();
    const auto record = journal.Find(chain.back().first);
    if (!record.ok() || !*record) continue;
    for (const director::InstigatorRecord& instigator : (*record)->instigators) {
      auto longer = chain;
      longer.back().second = instigator.category;
      if (instigator.referencer.empty()) {
        chains.push_back(std::move(longer));
      } else if (seen.insert(instigator.referencer).second || chain.size() == 1) {
        longer.push_back({instigator.referencer, 0});
        open.push_back(std::move(longer));
      }
    }
  }
  std::stable_sort(chains.begin(), chains.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return chains;
}

nlohmann::json WhyJson(Opened& opened, const std::string& platform) {
  nlohmann::json json = {{"package", opened.package}};
  auto& chains = json["instigators"] = nlohmann::json::array();
  for (const auto& chain : ChainsOf(*opened.journal, opened.package)) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, category] : chain)
      list.push_back({{"package", name}, {"category", CategoryName(category)}});
    chains.push_back(std::move(list));
  }
  json["failures"] = FailuresOf(opened.project, opened.package);
  auto& platforms = json["platforms"] = nlohmann::json::object();
  for (const auto& [name, record] : opened.record.platforms) {
    if (!platform.empty() && name != platform) continue;
    const director::LastCook& last = record.last_cook;
    nlohmann::json changed = nlohmann::json::array();
    for (const director::ChangedObservation& one : last.changed) {
      changed.push_back({{"what", one.what}, {"before", one.before}, {"after", one.after}});
    }
    const auto result = record::DecodeResult(record.result);
    platforms[name] = {
        {"source", last.source},
        {"time", absl::FormatTime(absl::RFC3339_sec, last.time, absl::UTCTimeZone())},
        {"worker", last.worker},
        {"attempt", last.attempt},
        {"load_seconds", absl::ToDoubleSeconds(last.load_time)},
        {"save_seconds", absl::ToDoubleSeconds(last.save_time)},
        {"first", last.is_first},
        {"changed", std::move(changed)},
        {"action_key", record.action_key.ToString()}};
    if (result.ok() && result->is_verdict) platforms[name]["error"] = result->error;
  }
  return json;
}

std::string Short(const std::string& value) {
  if (const auto digest = Digest::Parse(value); digest.ok()) {
    return fmt::format("{}.. ({} bytes)", digest->hex().substr(0, 12), digest->size_bytes());
  }
  return value.size() > 60 ? value.substr(0, 57) + "..." : value;
}

void PrintWhy(const nlohmann::json& why) {
  std::puts(why["package"].get<std::string>().c_str());
  for (const auto& failure : why["failures"]) {
    const std::string log = failure.value("log", "");
    std::puts(fmt::format("failed in the last cook ({}, {}): {}{}", failure.value("platform", ""),
                          failure.value("stage", ""), failure.value("error", ""),
                          log.empty() ? "" : fmt::format("\n  its log: galley store cat {}", log))
                  .c_str());
  }
  std::puts("in the cook because");
  if (why["instigators"].empty()) std::puts("  (it was not in the last cook)");
  for (const auto& chain : why["instigators"]) {
    std::string line = " ";
    for (size_t i = 0; i < chain.size(); ++i) {
      line +=
          fmt::format("{}{} [{}]", i == 0 ? " " : " <- ", chain[i]["package"].get<std::string>(),
                      chain[i]["category"].get<std::string>());
    }
    std::puts(line.c_str());
  }
  for (const auto& [platform, one] : why["platforms"].items()) {
    std::puts(fmt::format("{}: last {} at {}{}", platform, one["source"].get<std::string>(),
                          one["time"].get<std::string>(),
                          one["worker"].get<std::string>().empty()
                              ? ""
                              : " by " + one["worker"].get<std::string>())
                  .c_str());
    if (one.contains("error"))
      std::puts(fmt::format("  it failed: {}", one["error"].get<std::string>()).c_str());
    if (one["first"].get<bool>()) std::puts("  because it was never seen before");
    for (const auto& change : one["changed"]) {
      std::puts(fmt::format("  because {} changed: {} -> {}", change["what"].get<std::string>(),
                            Short(change["before"]), Short(change["after"]))
                    .c_str());
    }
    if (!one["first"].get<bool>() && one["changed"].empty()) {
      std::puts("  nothing that it looked at had changed (forced, or its result was gone)");
    }
    std::puts(fmt::format("  load {:.3f} s, save {:.3f} s", one["load_seconds"].get<double>(),
                          one["save_seconds"].get<double>())
                  .c_str());
  }
}

nlohmann::json RecordJson(const PlatformRecord& record) {
  nlohmann::json json = {{"action_key", record.action_key.ToString()},
                         {"weak_key", record.weak_key.ToString()},
                         {"source", record.source.ToString()},
                         {"recipe", record.recipe.ToString()}};
  if (const auto recipe = record::DecodeRecipe(record.recipe_bytes); recipe.ok()) {
    json["cooker"] = recipe->cooker;
    json["identity"] = recipe->identity;
    json["settings"] = nlohmann::json::parse(recipe->settings, nullptr, false);
  }
  auto& observations = json["observations"] = nlohmann::json::array();
  for (const record::Observed& seen : record.observed) {
    observations.push_back({{"observation", seen.what.ToString()}, {"value", seen.value}});
  }
  const auto result = record::DecodeResult(record.result);
  if (!result.ok()) return json;
  auto& outputs = json["outputs"] = nlohmann::json::array();
  for (const record::Output& output : result->outputs)
    outputs.push_back({{"suffix", output.suffix}, {"digest", output.digest.ToString()}});
  auto& references = json["references"] = nlohmann::json::array();
  for (const record::Reference& one : result->details.references) {
    references.push_back({{"path", one.path}, {"kind", record::ReferenceKindName(one.kind)}});
  }
  auto& tags = json["tags"] = nlohmann::json::object();
  for (const record::Tag& tag : result->details.tags) {
    std::visit([&](const auto& value) { tags[tag.name] = value; }, tag.value);
  }
  json["warnings"] = result->details.warnings;
  if (result->is_verdict) json["error"] = result->error;
  json["provenance"] = {{"worker", result->provenance.worker},
                        {"machine", result->provenance.machine},
                        {"identity", result->provenance.identity},
                        {"started", absl::FormatTime(absl::RFC3339_sec, result->provenance.started,
                                                     absl::UTCTimeZone())},
                        {"load_seconds", absl::ToDoubleSeconds(result->provenance.load_time)},
                        {"save_seconds", absl::ToDoubleSeconds(result->provenance.save_time)}};
  return json;
}

// Bytes of a source: from the tree if it is still what was cooked, else from the store.
class SourceReader {
 public:
  SourceReader(const project::Project& project, store::Store& store)
      : project_(project), store_(store) {}

  absl::StatusOr<std::string> Read(const std::string& path, const Digest& digest) {
    if (!snapshot_) {
      ASSIGN_OR_RETURN(snapshot_, content::Snapshot::Scan(
                                      {.mounts = project_.mounts,
                                       .ignore = project_.scan_ignore,
                                       .excluded_directories = {JoinPath(project_.root, ".galley"),
                                                                project_.store.directory,
                                                                project_.output_directory}}));
    }
    if (auto content = snapshot_->Read(path); content.ok() && content->digest == digest)
      return *content->bytes;
    return FromStore(digest, path);
  }
  absl::StatusOr<std::string> FromStore(const Digest& digest, const std::string& what) {
    auto blob = store_.Get(digest);
    if (!blob.ok()) {
      return absl::NotFoundError(
          fmt::format("{} is no longer what was cooked, and {} is not in the store; cook again, or "
                      "set [store] keep_sources = true",
                      what, digest.ToString()));
    }
    return **blob;
  }
  const project::Project& project() const { return project_; }

 private:
  const project::Project& project_;
  store::Store& store_;
  std::unique_ptr<content::Snapshot> snapshot_;
};

// Bytes of the input file `path` of an Action (record/action.h), found by what was observed.
absl::StatusOr<std::string> InputBytes(SourceReader& sources, const std::string& package,
                                       const PlatformRecord& record,
                                       const record::InputFile& file) {
  if (file.bytes) return *file.bytes;
  if (file.path == "source") {
    if (package.find("/_gen/") != std::string::npos) return sources.FromStore(file.digest, package);
    return sources.Read(package, file.digest);
  }
  for (size_t i = 0; i < record.observed.size(); ++i) {
    const record::Observation& what = record.observed[i].what;
    if (record::InputPath(what, i) != file.path) continue;
    if (what.kind == record::ObservationKind::kCooked)
      return sources.FromStore(file.digest, what.ToString());
    if (what.kind == record::ObservationKind::kTool)
      return ReadFile(AbsolutePath(what.subject, sources.project().root));
    ASSIGN_OR_RETURN(const std::string path, content::ResolveAsked(package, what.subject));
    return sources.Read(path, file.digest);
  }
  return absl::InternalError(
      fmt::format("the Action's input {} was observed by nothing", file.path));
}

absl::Status MakeExecutable(const std::string& path) {
  return ::chmod(path.c_str(), 0755) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "chmod", path);
}

absl::Status ExportAction(const Opened& opened, store::Store& store, const PlatformRecord& record,
                          const std::string& directory) {
  ASSIGN_OR_RETURN(const record::Recipe recipe, record::DecodeRecipe(record.recipe_bytes));
  ASSIGN_OR_RETURN(const record::Action action,
                   record::BuildAction({.recipe = recipe,
                                        .source = record.source,
                                        .observed = record.observed,
                                        .trust_domain = opened.project.store.trust}));
  if (FileExists(JoinPath(directory, "action"))) {
    return absl::InvalidArgumentError(
        fmt::format("{} already holds an Action; give a new folder", directory));
  }
  RETURN_IF_ERROR(CreateDirectories(JoinPath(directory, "input")));
  SourceReader sources(opened.project, store);
  for (const record::InputFile& file : action.files) {
    ASSIGN_OR_RETURN(const std::string bytes, InputBytes(sources, opened.package, record, file));
    if (Digest::Of(bytes) != file.digest) {
      return absl::FailedPreconditionError(
          fmt::format("{} is no longer what was cooked; cook again", file.path));
    }
    const std::string path = JoinPath(directory, "input/" + file.path);
    RETURN_IF_ERROR(CreateDirectories(path.substr(0, path.rfind('/'))));
    RETURN_IF_ERROR(WriteFileAtomic(path, bytes));
    if (file.is_executable) RETURN_IF_ERROR(MakeExecutable(path));
  }
  RETURN_IF_ERROR(WriteFileAtomic(JoinPath(directory, "action"), action.action));
  return WriteFileAtomic(JoinPath(directory, "command"), action.command);
}

std::string UnknownPlatform(const project::Project& project, const std::string& platform) {
  std::string known;
  for (const project::Platform& one : project.platforms) {
    if (one.name == platform) return {};
    known += (known.empty() ? "" : ", ") + one.name;
  }
  return platform.empty()
             ? ""
             : fmt::format("--platform {}: galley.toml has no such platform (it has {})", platform,
                           known);
}

}  // namespace

int RunWhy(const GlobalOptions& options, const std::string& package, const std::string& platform) {
  auto opened = Open(options, package);
  if (!opened.ok()) return Fail(options, kUsage, MessageOf(opened.status()));
  if (const std::string unknown = UnknownPlatform(opened->project, platform); !unknown.empty())
    return Fail(options, kUsage, unknown);
  const nlohmann::json why = WhyJson(*opened, platform);
  if (options.json) {
    std::puts(why.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    PrintWhy(why);
  }
  return kDone;
}

int RunRecords(const GlobalOptions& options, const std::string& package,
               const std::string& platform, const std::string& export_directory) {
  auto opened = Open(options, package);
  if (!opened.ok()) return Fail(options, kUsage, MessageOf(opened.status()));
  std::map<std::string, PlatformRecord>& platforms = opened->record.platforms;
  if (!platform.empty() && !platforms.contains(platform)) {
    return Fail(options, kUsage,
                fmt::format("{} has no record for platform {}", opened->package, platform));
  }
  if (!export_directory.empty()) {
    if (platforms.empty())
      return Fail(options, kUsage, fmt::format("{} has no record to export", opened->package));
    auto store = OpenStoreOf(options);
    if (!store.ok()) return Fail(options, kInfrastructure, MessageOf(store.status()));
    const PlatformRecord& record =
        platform.empty() ? platforms.begin()->second : platforms.at(platform);
    const absl::Status exported =
        ExportAction(*opened, **store, record, AbsolutePath(export_directory));
    if (!exported.ok())
      return Fail(options, absl::IsInvalidArgument(exported) ? kUsage : kFailed,
                  MessageOf(exported));
    if (!options.quiet) {
      std::fputs(fmt::format("{}: run it with `galley-worker exec-action {}`\n", export_directory,
                             export_directory)
                     .c_str(),
                 stderr);
    }
    return kDone;
  }
  nlohmann::json json = {{"package", opened->package}};
  for (const auto& [name, record] : platforms) {
    if (platform.empty() || name == platform) json["platforms"][name] = RecordJson(record);
  }
  std::puts(json.dump(options.json ? -1 : 2, ' ', false, nlohmann::json::error_handler_t::replace)
                .c_str());
  return kDone;
}

int RunClean(const GlobalOptions& options, const std::vector<std::string>& packages) {
  auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  auto lock = director::ProjectLock::TryAcquire(project->state_directory());
  if (!lock.ok())
    return Fail(options, kUsage, fmt::format("a cook is running: {}", MessageOf(lock.status())));
  auto journal = Journal::Open(project->state_directory());
  if (!journal.ok()) return Fail(options, kInfrastructure, MessageOf(journal.status()));
  auto store = OpenStoreOf(options);
  if (!store.ok()) return Fail(options, kInfrastructure, MessageOf(store.status()));
  std::vector<std::string> names;
  std::vector<Digest> keys;
  for (const std::string& argument : packages) {
    const auto name = ToVirtual(*project, argument);
    if (!name.ok()) return Fail(options, kUsage, MessageOf(name.status()));
    const auto record = (*journal)->Find(*name);
    if (!record.ok()) return Fail(options, kInfrastructure, MessageOf(record.status()));
    if (!*record)
      return Fail(options, kUsage, fmt::format("{} was in no cook of this project", *name));
    names.push_back(*name);
    for (const auto& [platform, one] : (*record)->platforms) keys.push_back(one.action_key);
  }
  if (absl::Status forgotten = (*store)->Forget(keys); !forgotten.ok())
    return Fail(options, kInfrastructure, MessageOf(forgotten));
  if (absl::Status forgotten = (*journal)->Forget(names); !forgotten.ok())
    return Fail(options, kInfrastructure, MessageOf(forgotten));
  if (!options.quiet)
    std::fputs(
        fmt::format("forgot {} packages; the next cook cooks them again\n", names.size()).c_str(),
        stderr);
  return kDone;
}

}  // namespace galley::cli
