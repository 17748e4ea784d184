// impact, cook --dry-run: what a change would cost. The journal is read, nothing is written.

#include <algorithm>
#include <cstdio>

#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "director/cli/commands.h"
#include "director/host/dry_run.h"
#include "director/host/idle_names.h"
#include "director/host/impact.h"
#include "director/host/scanned_project.h"
#include "director/host/virtual_path.h"
#include "director/journal/journal.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::DryRun;
using director::Impact;
using director::ImpactedPackage;
using director::PackageToCook;

constexpr size_t kLinesMax = 50;  // of packages; --json has all

std::string SecondsText(absl::Duration time) {
  return fmt::format("{:.2f} s", absl::ToDoubleSeconds(time));
}

// Null: the project was never cooked.
absl::StatusOr<std::unique_ptr<director::Journal>> OpenJournal(const project::Project& project) {
  const std::string state = project.state_directory();
  if (!FileExists(JoinPath(state, "journal"))) return nullptr;
  return director::Journal::Open(state, /*read_only=*/true);
}

// A file that is there is edited, one that is not appears.
absl::StatusOr<content::Change> ChangeOf(const director::ScannedProject& scanned,
                                         const std::string& argument) {
  ASSIGN_OR_RETURN(const std::string path, director::ToVirtual(*scanned.project, argument));
  const content::EntryKind kind = scanned.snapshot->Kind(path);
  if (kind == content::EntryKind::kFolder) {
    return absl::InvalidArgumentError(
        fmt::format("{} is a folder: name the files that would change", argument));
  }
  return content::Change{
      .path = path, .was_there = kind == content::EntryKind::kFile, .is_there = true};
}

nlohmann::json LinkJson(const ImpactedPackage& one) {
  return {{"package", one.package},
          {"reason", director::NameOfReason(one.reason)},
          {"via", one.via},
          {"observation", one.observation}};
}

nlohmann::json ImpactJson(const Impact& impact, const std::vector<content::Change>& changes) {
  nlohmann::json json = {{"schema", "galley.impact.v1"},
                         {"expected_seconds", absl::ToDoubleSeconds(impact.expected())},
                         {"output_bytes", impact.output_bytes()},
                         {"unseen", impact.unseen}};
  json["files"] = nlohmann::json::array();
  for (const content::Change& change : changes)
    json["files"].push_back({{"path", change.path}, {"is_there", change.was_there}});
  json["packages"] = nlohmann::json::array();
  for (const ImpactedPackage& one : impact.packages) {
    nlohmann::json package = LinkJson(one);
    package["expected_seconds"] = absl::ToDoubleSeconds(one.expected);
    package["output_bytes"] = one.output_bytes;
    package["platforms"] = one.platforms;
    package["chain"] = nlohmann::json::array();
    for (const ImpactedPackage* link : impact.ChainOf(one.package))
      package["chain"].push_back(LinkJson(*link));
    json["packages"].push_back(std::move(package));
  }
  return json;
}

void PrintImpact(const Impact& impact) {
  for (size_t i = 0; i < std::min(impact.packages.size(), kLinesMax); ++i) {
    const ImpactedPackage& one = impact.packages[i];
    std::string chain;
    for (const ImpactedPackage* link : impact.ChainOf(one.package))
      chain += (chain.empty() ? "" : "; that ") + director::TextOfReason(*link);
    std::puts(
        EscapeControl(fmt::format("{}  {}  {}", one.package, SecondsText(one.expected), chain))
            .c_str());
  }
  if (impact.packages.size() > kLinesMax)
    fmt::print("and {} more (--json has all)\n", impact.packages.size() - kLinesMax);
  for (const std::string& path : impact.unseen)
    std::puts(
        EscapeControl(fmt::format("{}: no package of the last cooks looked at it", path)).c_str());
  fmt::print("{} may be cooked: {} the last time, {} of outputs\n",
             Counted(impact.packages.size(), "package"), SecondsText(impact.expected()),
             HumanBytes(impact.output_bytes()));
}

struct Totals {
  uint64_t sure = 0, perhaps = 0, fresh = 0;
  absl::Duration expected;
  uint64_t output_bytes = 0;
};
Totals TotalsOf(const DryRun& run) {
  Totals totals;
  for (const PackageToCook& one : run.packages) {
    ++(one.is_sure ? totals.sure : totals.perhaps);
    totals.fresh += one.is_new;
    totals.expected += one.expected;
    totals.output_bytes += one.output_bytes;
  }
  return totals;
}

// The warnings about galley.toml that the cook would tell.
std::vector<record::Warning> WarningsOf(const director::ScannedProject& scanned,
                                        director::Journal* journal) {
  const director::ProjectCatalog& table = *scanned.table;
  const auto generated = director::GeneratedIn(table, journal);
  std::vector<record::Warning> warnings = director::IdleNames(*scanned.project, table, generated);
  for (record::Warning& one : director::IdleNever(table, generated))
    warnings.push_back(std::move(one));
  const record::WarningRules& rules = scanned.project->warnings;
  std::erase_if(warnings, [&](const auto& one) { return rules.IsOff(one.kind); });
  return warnings;
}

nlohmann::json DryRunJson(const DryRun& run, const std::vector<record::Warning>& warnings) {
  const Totals totals = TotalsOf(run);
  nlohmann::json json = {{"schema", "galley.dry-run.v1"},
                         {"to_cook", totals.sure},
                         {"perhaps", totals.perhaps},
                         {"unknown", totals.fresh},
                         {"up_to_date", run.up_to_date},
                         {"expected_seconds", absl::ToDoubleSeconds(totals.expected)},
                         {"expected_patch_bytes", totals.output_bytes},
                         {"nothing_holds", run.nothing_holds},
                         {"may_lack", run.may_lack}};
  json["packages"] = nlohmann::json::array();
  for (const PackageToCook& one : run.packages) {
    json["packages"].push_back({{"package", one.package},
                                {"why", one.why},
                                {"is_sure", one.is_sure},
                                {"is_new", one.is_new},
                                {"expected_seconds", absl::ToDoubleSeconds(one.expected)},
                                {"output_bytes", one.output_bytes}});
  }
  json["failing"] = nlohmann::json::array();
  for (const auto& [package, error] : run.failing)
    json["failing"].push_back({{"package", package}, {"error", error}});
  json["warnings"] = nlohmann::json::array();
  for (const record::Warning& one : warnings)
    json["warnings"].push_back(
        {{"text", one.text}, {"kind", record::WarningKindName(one.kind)}});
  return json;
}

void PrintDryRun(const DryRun& run) {
  size_t lines = 0;
  for (const PackageToCook& one : run.packages) {
    if (++lines > kLinesMax) break;
    std::puts(EscapeControl(fmt::format("{}  {}  {}{}", one.package,
                                        one.is_new ? "unknown" : SecondsText(one.expected),
                                        one.is_sure ? "" : "perhaps: ", one.why))
                  .c_str());
  }
  if (run.packages.size() > kLinesMax)
    fmt::print("and {} more (--json has all)\n", run.packages.size() - kLinesMax);
  for (const auto& [package, error] : run.failing)
    std::puts(EscapeControl(fmt::format("{} fails: {}", package, error)).c_str());
  const Totals totals = TotalsOf(run);
  std::string line = fmt::format("{} to cook", Counted(totals.sure, "package"));
  if (totals.perhaps > 0) line += fmt::format(", {} perhaps", totals.perhaps);
  line += fmt::format(", {} up to date", run.up_to_date);
  if (!run.failing.empty()) line += fmt::format(", {} failing", run.failing.size());
  line += fmt::format("; {} the last time, a patch of about {}", SecondsText(totals.expected),
                      HumanBytes(totals.output_bytes));
  std::puts(line.c_str());
  if (!run.may_lack.empty())
    fmt::print("{}: packages whose outputs are gone are cooked as well\n", run.may_lack);
  if (totals.fresh > 0) {
    fmt::print("{} never cooked: the time and bytes of these, and what they lead to, are unknown\n",
               totals.fresh == 1 ? "1 package was" : fmt::format("{} packages were", totals.fresh));
  }
}

// The exit code of a command that ended with `status`; an error is told.
int ExitOf(const GlobalOptions& options, const absl::Status& status) {
  if (status.ok()) return kDone;
  return Fail(
      options,
      absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kUsage : kInfrastructure,
      MessageOf(status));
}

}  // namespace

int RunImpact(const GlobalOptions& options, const std::vector<std::string>& files) {
  const auto run = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(project::Project project, OpenProject(options));
    ASSIGN_OR_RETURN(const auto journal, OpenJournal(project));
    if (journal == nullptr)
      return absl::InvalidArgumentError(
          "nothing was cooked yet in this project: run `galley cook`");
    ASSIGN_OR_RETURN(const director::ScannedProject scanned,
                     director::ScanProject(std::move(project)));
    std::vector<content::Change> changes;
    for (const std::string& file : files) {
      ASSIGN_OR_RETURN(content::Change change, ChangeOf(scanned, file));
      changes.push_back(std::move(change));
    }
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    ASSIGN_OR_RETURN(const Impact impact, director::FindImpact(*journal, changes));
    if (options.json) {
      PrintJson(ImpactJson(impact, changes));
    } else {
      PrintImpact(impact);
    }
    return absl::OkStatus();
  };
  return ExitOf(options, run());
}

int RunDryCook(const CookCommandOptions& options) {
  const GlobalOptions& global = options.global;
  const auto run = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(project::Project project, OpenProject(global));
    director::CookAsk ask = options.ask;
    if (!options.all_platforms) ask.platforms = options.platforms;
    RETURN_IF_ERROR(director::PlatformsIn(project, ask.platforms).status());
    ASSIGN_OR_RETURN(const auto journal, OpenJournal(project));
    const std::string project_store = project.store.directory;
    const std::string store_id = store::StoreIdIn(project_store);
    ASSIGN_OR_RETURN(const director::ScannedProject scanned,
                     director::ScanProject(std::move(project)));
    RETURN_IF_ERROR(director::CheckRecipes(*scanned.table));
    const std::map<std::string, std::string> environment = Environment();
    ASSIGN_OR_RETURN(const DryRun dry_run,
                     director::LookAhead({.ask = ask,
                                          .scanned = scanned,
                                          .journal = journal.get(),
                                          .store_id = store_id,
                                          .store_epoch = store::LossEpochIn(project_store),
                                          .environment = environment}));
    const std::vector<record::Warning> warnings = WarningsOf(scanned, journal.get());
    if (global.json) {
      PrintJson(DryRunJson(dry_run, warnings));
    } else {
      for (const record::Warning& one : warnings)
        std::fputs(fmt::format("warning: {}\n", EscapeControl(one.ToText())).c_str(), stderr);
      PrintDryRun(dry_run);
    }
    return absl::OkStatus();
  };
  return ExitOf(global, run());
}

}  // namespace galley::cli
