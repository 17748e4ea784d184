// ListCommand: ls: the packages of the project on the disk now, with what the journal remembers of
// each package; or the files that no rule matches. Also works beside a running cook.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "director/cli/commands.h"
#include "director/cli/package_rows.h"
#include "director/cli/print_table.h"
#include "director/host/left_out.h"
#include "director/host/near_names.h"
#include "director/host/scanned_project.h"
#include "director/host/selection.h"
#include "director/host/virtual_path.h"
#include "director/journal/journal.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

constexpr size_t kExtensionsToldMax = 8;
constexpr size_t kNameWidthMax = 60;

nlohmann::json ToJson(const PackageRow& row) {
  nlohmann::json outcomes = nlohmann::json::object(), sizes = nlohmann::json::object(),
                 warnings = nlohmann::json::object();
  nlohmann::json platforms = nlohmann::json::array();
  for (const auto& [platform, one] : row.platforms) {
    const bool is_known = !one.outcome.empty();
    outcomes[platform] = is_known ? nlohmann::json(one.outcome) : nlohmann::json();
    sizes[platform] = is_known ? nlohmann::json(one.bytes) : nlohmann::json();
    warnings[platform] = one.warnings;
    if (!row.is_never) platforms.push_back(platform);
  }
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
  };
  return {{"package", row.package},
          {"rule", or_null(row.rule)},
          {"generated_by", or_null(row.generator)},
          {"cooker", row.cooker},
          {"platforms", std::move(platforms)},
          {"outcomes", std::move(outcomes)},
          {"bytes", std::move(sizes)},
          {"warnings", std::move(warnings)},
          {"error", or_null(row.error)}};
}

nlohmann::json ToJson(const std::vector<CookerTotal>& totals) {
  nlohmann::json list = nlohmann::json::array();
  for (const CookerTotal& total : totals)
    list.push_back(
        {{"cooker", total.cooker}, {"packages", total.packages}, {"bytes", total.bytes}});
  return {{"totals", std::move(list)}};
}

// Returns the text of `said`, once if it is the same on all platforms: "cooked", or "android
// failed, windows cooked".
std::string ByPlatform(
    const PackageRow& row,
    const std::function<std::string(const PackageRow::OnPlatform& platform)>& said) {
  std::set<std::string> different;
  for (const auto& [platform, one] : row.platforms) different.insert(said(one));
  if (different.size() == 1) return *different.begin();
  std::string text;
  for (const auto& [platform, one] : row.platforms)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", platform, said(one));
  return text;
}

std::string OutcomeText(const PackageRow& row) {
  if (!row.error.empty()) return fmt::format("error: {}", row.error);
  return ByPlatform(row, [](const PackageRow::OnPlatform& one) {
    if (one.outcome.empty()) return std::string("not cooked yet");
    return one.outcome + (one.warnings > 0 ? " with warnings" : "");
  });
}

std::string SizeText(const PackageRow& row) {
  return ByPlatform(row, [](const PackageRow::OnPlatform& one) {
    return one.outcome == "cooked" ? HumanBytes(one.bytes) : std::string("-");
  });
}

void PrintRows(const std::vector<PackageRow>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"PACKAGE", "RULE", "COOKER", "PLATFORMS", "SIZE", "LAST"}};
  for (const PackageRow& row : rows) {
    lines.push_back({row.package,
                     row.generator.empty() ? row.rule : fmt::format("by {}", row.generator),
                     row.cooker.empty() ? "-" : row.cooker, row.is_never ? "never" : "all",
                     SizeText(row), OutcomeText(row)});
  }
  PrintTable(lines, kNameWidthMax);
}

// Prints "texture: 12 packages, android 1.0 MiB, windows 2.0 MiB".
void PrintTotals(const std::vector<CookerTotal>& totals) {
  std::fflush(stdout);
  for (const CookerTotal& total : totals) {
    std::string text = fmt::format("{}: {} {}", total.cooker.empty() ? "no cooker" : total.cooker,
                                   total.packages, total.packages == 1 ? "package" : "packages");
    for (const auto& [platform, bytes] : total.bytes)
      text += fmt::format(", {} {}", platform, HumanBytes(bytes));
    std::fputs((EscapeControl(text) + "\n").c_str(), stderr);
  }
}

// Returns "300 .md, 12 .psd and 100 with 24 other extensions".
std::string ExtensionsText(const std::vector<const content::FileEntry*>& files) {
  std::map<std::string, size_t> counts;
  for (const content::FileEntry* file : files) ++counts[content::ExtensionOf(file->path)];
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [extension, count] : counts) sorted.emplace_back(count, extension);
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  size_t others = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [count, extension] = sorted[i];
    if (i >= kExtensionsToldMax) {
      others += count;
    } else {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                          extension.empty() ? "without extension" : "." + extension);
    }
  }
  if (others > 0) text += fmt::format(" and {} of other extensions", others);
  return text;
}

// PathFilter: the globs as patterns over virtual paths: a folder means everything below it.
class PathFilter {
 public:
  static absl::StatusOr<PathFilter> Create(const project::Project& project,
                                           const std::vector<std::string>& patterns) {
    PathFilter filter;
    for (const std::string& pattern : patterns) {
      const auto name = director::ToVirtual(project, pattern);
      if (!name.ok() && !pattern.starts_with("**/")) return name.status();
      const std::string text = name.ok() ? *name : pattern;
      ASSIGN_OR_RETURN(content::Glob glob, content::Glob::Parse(text));
      filter.patterns_.push_back({text, std::move(glob)});
    }
    return filter;
  }
  bool Matches(const std::string& path) {
    bool matches = patterns_.empty();
    for (Pattern& pattern : patterns_) {
      const bool is_one = content::IsUnder(path, pattern.text) || pattern.glob.Matches(path);
      pattern.is_used |= is_one;
      matches |= is_one;
    }
    return matches;
  }
  // Returns the patterns that matched nothing.
  std::vector<std::string> Unused() const {
    std::vector<std::string> unused;
    for (const Pattern& pattern : patterns_) {
      if (!pattern.is_used) unused.push_back(pattern.text);
    }
    return unused;
  }

 private:
  struct Pattern {
    std::string text;
    content::Glob glob;
    bool is_used = false;
  };
  std::vector<Pattern> patterns_;
};

int ListUnmatched(const GlobalOptions& options, const std::vector<std::string>& patterns,
                  const director::ScannedProject& scanned) {
  auto filter = PathFilter::Create(*scanned.project, patterns);
  if (!filter.ok()) return Fail(options, kUsage, MessageOf(filter.status()));
  const auto journal = director::Journal::Open(scanned.project->state_directory(), true);
  std::vector<const content::FileEntry*> files = director::UnmatchedFiles(
      *scanned.project, *scanned.table, journal.ok() ? journal->get() : nullptr);
  std::vector<std::string> all;
  for (const content::FileEntry* file : files) all.push_back(file->path);
  std::erase_if(files, [&](const auto* file) { return !filter->Matches(file->path); });
  if (const auto unused = filter->Unused(); !unused.empty() && !all.empty()) {
    return Fail(options, kUsage,
                fmt::format("no file without a rule matches {}{}", unused[0],
                            director::NearText(director::NearNames(unused[0], all))));
  }
  for (const content::FileEntry* file : files) {
    if (options.json) {
      PrintJson({{"file", file->path}, {"path", file->host_path}});
    } else {
      std::puts(EscapeControl(file->path).c_str());
    }
  }
  if (options.json || options.quiet) return kDone;
  std::fflush(stdout);
  const std::string text = files.empty() ? "every file has a rule or a sidecar"
                           : files.size() == 1
                               ? fmt::format(
                                     "1 file matches no rule: {}; no cook looks at it "
                                     "unless another package reads it",
                                     ExtensionsText(files))
                               : fmt::format(
                                     "{} files match no rule: {}; no cook looks at them unless "
                                     "another package reads them",
                                     files.size(), ExtensionsText(files));
  std::fputs((text + "\n").c_str(), stderr);
  return kDone;
}

}  // namespace

int RunLs(const GlobalOptions& options, const ListOptions& list) {
  const std::vector<std::string>& patterns = list.patterns;
  auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  const auto scanned = director::ScanProject(*std::move(project));
  if (!scanned.ok()) {
    return Fail(options, absl::IsUnavailable(scanned.status()) ? kInfrastructure : kUsage,
                MessageOf(scanned.status()));
  }
  if (list.is_unmatched) return ListUnmatched(options, patterns, *scanned);
  if (const absl::Status recipes = director::CheckRecipes(*scanned->table); !recipes.ok())
    return Fail(options, kUsage, MessageOf(recipes));
  std::set<std::string, std::less<>> named;
  for (const std::string& pattern : patterns) {
    const auto found = director::PackagesNamedBy(pattern, *scanned->project, *scanned->table);
    if (!found.ok()) return Fail(options, kUsage, MessageOf(found.status()));
    named.insert(found->begin(), found->end());
  }
  // Without a journal nothing was cooked yet, or not here.
  auto journal = director::Journal::Open(scanned->project->state_directory(), true);
  if (!journal.ok() && !absl::IsNotFound(journal.status()))
    return Fail(options, kInfrastructure, fmt::format("journal: {}", MessageOf(journal.status())));
  auto rows = RowsOf(*scanned, journal.ok() ? journal->get() : nullptr, named);
  if (!rows.ok())
    return Fail(options, kInfrastructure, fmt::format("journal: {}", MessageOf(rows.status())));
  const std::vector<PackageRow> chosen = ChosenRows(*std::move(rows), list.choice);
  const std::vector<CookerTotal> totals = TotalsOf(chosen);
  if (options.json) {
    for (const PackageRow& row : chosen) PrintJson(ToJson(row));
    if (list.totals) PrintJson(ToJson(totals));
    return kDone;
  }
  PrintRows(chosen);
  if (list.totals || !options.quiet) PrintTotals(totals);
  return kDone;
}

}  // namespace galley::cli
