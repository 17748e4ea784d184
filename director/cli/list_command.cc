// ls: the packages of the project as they are on the disk now, with what the journal remembers of
// each; or the files that no rule matches. Beside a cook that runs, too.

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "director/cli/commands.h"
#include "director/core/package_data.h"
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

using director::PackageRecord;

constexpr size_t kExtensionsToldMax = 8;
// Names are padded so far: a longer one moves the rest of its own line only.
constexpr size_t kNameWidthMax = 60;

// The last outcome on one platform: "cooked", "failed"; empty: it was in no cook.
std::string OutcomeOf(const PackageRecord& record, const std::string& platform) {
  if (record.failures.contains(platform)) return "failed";
  const auto found = record.platforms.find(platform);
  if (found == record.platforms.end()) return "";
  const auto result = record::DecodeResult(found->second.result);
  return result.ok() && result->is_verdict ? "failed" : "cooked";
}

struct Row {
  std::string package;
  std::string rule;  // "galley.toml:12", "content/a.png.cook"
  std::string cooker;
  std::string generator;  // empty: it has a file
  bool is_never = false;
  std::string error;                            // of the file itself
  std::map<std::string, std::string> outcomes;  // by platform; OutcomeOf
};

// Lister: collects what is known of all packages.
// Threads: one.
class Lister {
 public:
  Lister(const director::ScannedProject& scanned, director::Journal* journal)
      : scanned_(scanned), journal_(journal) {}

  // `named`: empty: all.
  absl::StatusOr<std::vector<Row>> Rows(const std::set<std::string, std::less<>>& named) {
    for (const std::string& name : scanned_.table->names()) {
      if (named.empty() || named.contains(name)) rows_.emplace(name, RowOf(name));
    }
    if (journal_ != nullptr) {
      RETURN_IF_ERROR(journal_->ForEach([&](std::string_view name, const PackageRecord& record) {
        if (director::GeneratorName(name).empty()) return Remember(name, record);
        if (named.empty() || named.contains(name) || named.contains(director::GeneratorName(name)))
          AddGenerated(name, record);
      }));
    }
    std::vector<Row> rows;
    for (auto& [name, row] : rows_) {
      if (!row.generator.empty() && !IsListed(row)) continue;
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Row RowOf(const std::string& name) const {
    Row row{.package = name};
    const std::string sidecar = name + std::string(project::kSidecarSuffix);
    if (const content::FileEntry* file = scanned_.snapshot->Find(sidecar); file != nullptr) {
      row.rule = BelowProject(file->host_path);
    } else if (const int line = scanned_.table->resolver()->RuleLineOf(name); line > 0) {
      row.rule = fmt::format("{}:{}", project::kProjectFile, line);
    }
    if (const auto entry = scanned_.table->Find(name)) {
      row.cooker = entry->cooker;
      row.is_never = entry->never_cook;
      row.error = entry->error;
    }
    for (const project::Platform& platform : scanned_.project->platforms)
      row.outcomes[platform.name];
    return row;
  }

  std::string BelowProject(const std::string& path) const {
    const std::string below = scanned_.project->root + "/";
    return path.starts_with(below) ? path.substr(below.size()) : path;
  }

  void Remember(std::string_view name, const PackageRecord& record) {
    const auto found = rows_.find(name);
    if (found != rows_.end()) {
      for (auto& [platform, outcome] : found->second.outcomes)
        outcome = OutcomeOf(record, platform);
    }
    RememberList(name, record);
  }

  // The list of a generator is the same on every platform.
  void RememberList(std::string_view name, const PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      const auto result = record::DecodeResult(one.result);
      if (!result.ok() || result->is_verdict) continue;
      for (const record::Generated& generated : result->details.generated)
        generated_.insert(fmt::format("{}/{}", name, generated.name));
      return;
    }
  }

  void AddGenerated(std::string_view name, const PackageRecord& record) {
    Row row{.package = std::string(name), .generator = std::string(director::GeneratorName(name))};
    for (const auto& [platform, one] : record.platforms) {
      const auto recipe = record::DecodeRecipe(one.recipe_bytes);
      if (recipe.ok()) row.cooker = recipe->cooker;
    }
    for (const project::Platform& platform : scanned_.project->platforms)
      row.outcomes[platform.name] = OutcomeOf(record, platform.name);
    rows_.emplace(name, std::move(row));
    RememberList(name, record);
  }

  // True when the package's generator is there and made the package when it was cooked last.
  bool IsListed(const Row& row) const {
    return generated_.contains(row.package) &&
           scanned_.table->Find(row.package.substr(0, row.package.find("/_gen/"))).has_value();
  }

  const director::ScannedProject& scanned_;
  director::Journal* journal_;
  std::map<std::string, Row, std::less<>> rows_;
  std::set<std::string, std::less<>> generated_;
};

nlohmann::json ToJson(const Row& row) {
  nlohmann::json outcomes = nlohmann::json::object();
  nlohmann::json platforms = nlohmann::json::array();
  for (const auto& [platform, outcome] : row.outcomes) {
    outcomes[platform] = outcome.empty() ? nlohmann::json() : nlohmann::json(outcome);
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
          {"error", or_null(row.error)}};
}

// "cooked", "not cooked yet", or by platform where they differ: "android failed, windows cooked".
std::string OutcomeText(const Row& row) {
  const auto said = [](const std::string& outcome) {
    return outcome.empty() ? std::string("not cooked yet") : outcome;
  };
  std::set<std::string> different;
  for (const auto& [platform, outcome] : row.outcomes) different.insert(outcome);
  if (different.size() == 1) return said(*different.begin());
  std::string text;
  for (const auto& [platform, outcome] : row.outcomes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", platform, said(outcome));
  return text;
}

void PrintTable(const std::vector<Row>& rows) {
  std::vector<std::array<std::string, 5>> lines = {
      {"PACKAGE", "RULE", "COOKER", "PLATFORMS", "LAST"}};
  for (const Row& row : rows) {
    lines.push_back({row.package,
                     row.generator.empty() ? row.rule : fmt::format("by {}", row.generator),
                     row.cooker.empty() ? "-" : row.cooker, row.is_never ? "never" : "all",
                     row.error.empty() ? OutcomeText(row) : fmt::format("error: {}", row.error)});
  }
  std::array<size_t, 5> widths{};
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], std::min(line[i].size(), kNameWidthMax));
  }
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i + 1 < line.size(); ++i)
      text += fmt::format("{:<{}}  ", EscapeControl(line[i]), widths[i]);
    std::puts((text + EscapeControl(line.back())).c_str());
  }
}

// "300 .md, 12 .psd and 100 with 24 other extensions"
std::string ExtensionsText(const std::vector<const content::FileEntry*>& files) {
  std::map<std::string, size_t> counts;
  for (const content::FileEntry* file : files) ++counts[content::ExtensionOf(file->path)];
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [extension, count] : counts) sorted.emplace_back(count, extension);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
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

// The globs as patterns over virtual paths: a folder means all below it.
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
  // The patterns that matched nothing.
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
  std::vector<const content::FileEntry*> files =
      director::UnmatchedFiles(*scanned.project, *scanned.table);
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

int RunLs(const GlobalOptions& options, const std::vector<std::string>& patterns,
          bool is_unmatched) {
  auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  const auto scanned = director::ScanProject(*std::move(project));
  if (!scanned.ok()) {
    return Fail(options, absl::IsUnavailable(scanned.status()) ? kInfrastructure : kUsage,
                MessageOf(scanned.status()));
  }
  if (is_unmatched) return ListUnmatched(options, patterns, *scanned);
  if (const absl::Status recipes = director::CheckRecipes(*scanned->table); !recipes.ok())
    return Fail(options, kUsage, MessageOf(recipes));
  std::set<std::string, std::less<>> named;
  for (const std::string& pattern : patterns) {
    const auto found = director::PackagesNamedBy(pattern, *scanned->project, *scanned->table);
    if (!found.ok()) return Fail(options, kUsage, MessageOf(found.status()));
    named.insert(found->begin(), found->end());
  }
  // None: nothing was cooked yet, or not here.
  auto journal = director::Journal::Open(scanned->project->state_directory(), true);
  if (!journal.ok() && !absl::IsNotFound(journal.status()))
    return Fail(options, kInfrastructure, fmt::format("journal: {}", MessageOf(journal.status())));
  const auto rows = Lister(*scanned, journal.ok() ? journal->get() : nullptr).Rows(named);
  if (!rows.ok())
    return Fail(options, kInfrastructure, fmt::format("journal: {}", MessageOf(rows.status())));
  if (!options.json) PrintTable(*rows);
  for (const Row& row : *rows) {
    if (options.json) PrintJson(ToJson(row));
  }
  return kDone;
}

}  // namespace galley::cli
