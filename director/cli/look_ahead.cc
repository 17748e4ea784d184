// LookAhead: impact, cook --dry-run: what a change would cost. Reads the journal, and writes
// nothing.

#include <algorithm>
#include <cstdio>
#include <set>

#include "common/base/counted.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "director/cli/commands.h"
#include "director/host/cook_ask.h"
#include "director/host/dry_run.h"
#include "director/host/impact.h"
#include "director/host/near_names.h"
#include "director/host/scanned_project.h"
#include "director/host/virtual_path.h"
#include "director/journal/journal.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::DryRun;
using director::Impact;
using director::ImpactedPackage;
using director::PackageToCook;

constexpr size_t kLinesMax = 50;  // of packages; --json has all lines

std::string SecondsText(absl::Duration time) {
  return fmt::format("{:.2f} s", absl::ToDoubleSeconds(time));
}

// Null: the project was never cooked.
absl::StatusOr<std::unique_ptr<director::Journal>> OpenJournal(const project::Project& project) {
  const std::string state = project.state_directory();
  if (!FileExists(JoinPath(state, "journal"))) return nullptr;
  return director::Journal::Open(state, /*read_only=*/true);
}

// ImpactReader: reads the arguments of `impact`: files under the mounts, galley.toml, and programs
// that packages were made with.
class ImpactReader {
 public:
  ImpactReader(const director::ScannedProject& scanned, director::Journal& journal)
      : scanned_(scanned), journal_(journal) {
    ask_.project_root = scanned.project->root;
  }

  absl::StatusOr<director::ImpactAsk> Read(const std::vector<std::string>& arguments) {
    ASSIGN_OR_RETURN(tools_, director::ToolsOf(journal_, scanned_.project->root));
    before_ = director::BaseTable(scanned_.project->state_directory(), journal_.meta());
    for (const std::string& argument : arguments) RETURN_IF_ERROR(Add(argument));
    std::ranges::sort(ask_.changes, [](const auto& a, const auto& b) { return a.path < b.path; });
    return std::move(ask_);
  }

 private:
  absl::Status Add(const std::string& argument) {
    const std::string& root = scanned_.project->root;
    for (const std::string& host : {AbsolutePath(argument), AbsolutePath(argument, root)}) {
      if (host == JoinPath(root, project::kProjectFile)) {
        ask_.of_rules = true;
        return absl::OkStatus();
      }
      if (!tools_.contains(host)) continue;
      ask_.tools.insert(host);
      return absl::OkStatus();
    }
    const absl::StatusOr<std::string> path = director::ToVirtual(*scanned_.project, argument);
    if (!path.ok())
      return InvalidArgumentError("{}; and no package was made with such a program",
                                  MessageOf(path.status()));
    return AddFile(argument, *path);
  }

  // A file that exists is edited; a file that the last cook saw and that no longer exists is gone;
  // any other file appears.
  absl::Status AddFile(const std::string& argument, const std::string& path) {
    const content::EntryKind kind = scanned_.snapshot->Kind(path);
    if (kind == content::EntryKind::kFolder) {
      return InvalidArgumentError("{} is a folder: name the files that would change", argument);
    }
    const bool is_there = kind == content::EntryKind::kFile;
    const bool was_there = before_ != nullptr && before_->Find(path) != nullptr;
    ask_.changes.push_back(
        {.path = path, .was_there = is_there || was_there, .is_there = is_there || !was_there});
    return absl::OkStatus();
  }

  const director::ScannedProject& scanned_;
  director::Journal& journal_;
  std::set<std::string> tools_;
  std::unique_ptr<content::Snapshot> before_;  // null: unknown
  director::ImpactAsk ask_;
};

nlohmann::json LinkJson(const ImpactedPackage& one) {
  return {{"package", one.package},
          {"reason", director::NameOfReason(one.reason)},
          {"via", one.via},
          {"observation", one.observation}};
}

std::string_view NameOf(const content::Change& change) {
  return !change.was_there ? "appears" : change.is_there ? "edited" : "gone";
}

nlohmann::json ImpactJson(const Impact& impact, const director::ImpactAsk& ask) {
  nlohmann::json json = {{"schema", "galley.impact.v1"},
                         {"expected_seconds", absl::ToDoubleSeconds(impact.expected())},
                         {"output_bytes", impact.output_bytes()},
                         {"unseen", impact.unseen}};
  json["files"] = nlohmann::json::array();
  for (const content::Change& change : ask.changes)
    json["files"].push_back({{"path", change.path},
                             {"is_there", change.was_there && change.is_there},
                             {"change", NameOf(change)}});
  for (const std::string& tool : ask.tools)
    json["files"].push_back({{"path", tool}, {"is_there", FileExists(tool)}, {"change", "tool"}});
  if (ask.of_rules)
    json["files"].push_back(
        {{"path", project::kProjectFile}, {"is_there", true}, {"change", "rules"}});
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

// Returns the files that may be meant instead of a file that does not exist.
std::string NearFiles(const content::Snapshot& files, const std::string& path) {
  if (files.Find(path) != nullptr || !path.starts_with('/')) return "";
  std::vector<std::string> names;
  for (const content::FileEntry& file : files.files()) names.push_back(file.path);
  return director::NearText(director::NearNames(path, names));
}

void PrintImpact(const Impact& impact, const content::Snapshot& files) {
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
    std::puts(EscapeControl(fmt::format("{}: no package of the last cooks looked at it{}", path,
                                        NearFiles(files, path)))
                  .c_str());
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

nlohmann::json DryRunJson(const DryRun& run) {
  const Totals totals = TotalsOf(run);
  nlohmann::json json = {{"schema", "galley.dry-run.v1"},
                         {"to_cook", totals.sure},
                         {"perhaps", totals.perhaps},
                         {"unknown", totals.fresh},
                         {"up_to_date", run.up_to_date},
                         {"is_at_least", run.is_at_least},
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
  for (const director::FailingPackage& one : run.failing)
    json["failing"].push_back(
        {{"package", one.package}, {"platform", one.platform}, {"error", one.error}});
  json["removed"] = nlohmann::json::array();
  for (const director::RemovedFile& one : run.removed)
    json["removed"].push_back({{"platform", one.platform}, {"path", one.path}});
  json["unmatched"] = run.unmatched;
  json["warnings"] = nlohmann::json::array();
  for (const director::ForeseenWarning& one : run.warnings)
    json["warnings"].push_back({{"package", one.package},
                                {"platform", one.platform},
                                {"text", one.warning.text},
                                {"kind", record::WarningKindName(one.warning.kind)}});
  return json;
}

std::string OnPlatform(const std::string& platform) {
  return platform.empty() ? "" : fmt::format(" ({})", platform);
}

template <typename One, typename Text>
void PrintLines(const std::vector<One>& all, const Text& text) {
  for (size_t i = 0; i < std::min(all.size(), kLinesMax); ++i)
    std::puts(EscapeControlInLines(text(all[i])).c_str());
  if (all.size() > kLinesMax) fmt::print("and {} more (--json has all)\n", all.size() - kLinesMax);
}

size_t CountFailing(const DryRun& run) {
  std::set<std::string> packages;
  for (const director::FailingPackage& one : run.failing) packages.insert(one.package);
  return packages.size();
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
  PrintLines(run.failing, [](const director::FailingPackage& one) {
    return fmt::format("{}{} fails: {}", one.package, OnPlatform(one.platform), one.error);
  });
  PrintLines(run.removed, [](const director::RemovedFile& one) {
    return fmt::format("{}/{} goes", one.platform, one.path);
  });
  PrintLines(run.warnings, [](const director::ForeseenWarning& one) {
    return fmt::format("warning: {}{}{}{}", one.package, OnPlatform(one.platform),
                       one.package.empty() ? "" : ": ", one.warning.ToText());
  });
  if (!run.unmatched.empty())
    fmt::print(
        "{} {} no rule (galley ls --unmatched lists {})\n", Counted(run.unmatched.size(), "file"),
        run.unmatched.size() == 1 ? "matches" : "match", run.unmatched.size() == 1 ? "it" : "them");
  const Totals totals = TotalsOf(run);
  std::string line = fmt::format("{}{} to cook", run.is_at_least ? "at least " : "",
                                 Counted(totals.sure, "package"));
  if (totals.perhaps > 0) line += fmt::format(", {} perhaps", totals.perhaps);
  line += fmt::format(", {} up to date", run.up_to_date);
  if (const size_t failing = CountFailing(run); failing > 0)
    line += fmt::format(", {} failing", failing);
  if (!run.removed.empty()) line += fmt::format(", {} to go", Counted(run.removed.size(), "file"));
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

// Returns the exit code of a command that ended with `status`, and prints an error.
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
    ASSIGN_OR_RETURN(const director::ImpactAsk ask, ImpactReader(scanned, *journal).Read(files));
    ASSIGN_OR_RETURN(const Impact impact, director::FindImpact(*journal, ask));
    if (options.json) {
      PrintJson(ImpactJson(impact, ask));
    } else {
      PrintImpact(impact, *scanned.snapshot);
    }
    return absl::OkStatus();
  };
  return ExitOf(options, run());
}

int RunDryCook(const CookCommandOptions& options) {
  const GlobalOptions& global = options.global;
  const auto run = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(project::Project project, OpenProject(global));
    v1::CookAsk ask = options.ask;
    if (options.all_platforms) ask.clear_platforms();
    RETURN_IF_ERROR(director::PlatformsIn(project, director::ListOf(ask.platforms())).status());
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
    if (global.json) {
      PrintJson(DryRunJson(dry_run));
    } else {
      PrintDryRun(dry_run);
    }
    return absl::OkStatus();
  };
  return ExitOf(global, run());
}

}  // namespace galley::cli
