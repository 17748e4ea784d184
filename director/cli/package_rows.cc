#include "director/cli/package_rows.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "director/core/packages/package_data.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::PackageRecord;

PackageRow::OnPlatform KnownOf(const PackageRecord& record, const std::string& platform) {
  PackageRow::OnPlatform known;
  if (record.failures.contains(platform)) known.outcome = "failed";
  const auto found = record.platforms.find(platform);
  if (found == record.platforms.end()) return known;
  const auto result = record::DecodeResult(found->second.result);
  if (known.outcome.empty())
    known.outcome = result.ok() && result->is_verdict ? "failed" : "cooked";
  if (!result.ok() || result->is_verdict) return known;
  for (const record::Output& output : result->outputs) known.bytes += output.digest.size_bytes();
  known.warnings = result->details.warnings.size();
  return known;
}

// Lister: collects what is known of all packages. Threads: one.
class Lister {
 public:
  Lister(const director::ScannedProject& scanned, director::Journal* journal)
      : scanned_(scanned), journal_(journal) {}

  // `named`: empty: all packages.
  absl::StatusOr<std::vector<PackageRow>> Rows(const std::set<std::string, std::less<>>& named) {
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
    std::vector<PackageRow> rows;
    for (auto& [name, row] : rows_) {
      if (!row.generator.empty() && !IsListed(row)) continue;
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  PackageRow RowOf(const std::string& name) const {
    PackageRow row{.package = name};
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
      row.platforms[platform.name];
    return row;
  }

  std::string BelowProject(const std::string& path) const {
    const std::string below = scanned_.project->root + "/";
    return path.starts_with(below) ? path.substr(below.size()) : path;
  }

  void Remember(std::string_view name, const PackageRecord& record) {
    const auto found = rows_.find(name);
    if (found != rows_.end()) {
      for (auto& [platform, one] : found->second.platforms) one = KnownOf(record, platform);
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
    PackageRow row{.package = std::string(name),
                   .generator = std::string(director::GeneratorName(name))};
    for (const auto& [platform, one] : record.platforms) {
      const auto recipe = record::DecodeRecipe(one.recipe_bytes);
      if (recipe.ok()) row.cooker = recipe->cooker;
    }
    for (const project::Platform& platform : scanned_.project->platforms)
      row.platforms[platform.name] = KnownOf(record, platform.name);
    rows_.emplace(name, std::move(row));
    RememberList(name, record);
  }

  // Returns true when the package's generator exists and made the package in its last cook.
  bool IsListed(const PackageRow& row) const {
    return generated_.contains(row.package) &&
           scanned_.table->Find(row.package.substr(0, row.package.find("/_gen/"))).has_value();
  }

  const director::ScannedProject& scanned_;
  director::Journal* journal_;
  std::map<std::string, PackageRow, std::less<>> rows_;
  std::set<std::string, std::less<>> generated_;
};

}  // namespace

bool PackageRow::has_failed() const {
  return !error.empty() || std::ranges::any_of(platforms, [](const auto& one) {
    return one.second.outcome == "failed";
  });
}

bool PackageRow::is_warned() const {
  return std::ranges::any_of(platforms, [](const auto& one) { return one.second.warnings > 0; });
}

uint64_t PackageRow::bytes() const {
  uint64_t sum = 0;
  for (const auto& [platform, one] : platforms) sum += one.bytes;
  return sum;
}

absl::StatusOr<std::vector<PackageRow>> RowsOf(const director::ScannedProject& scanned,
                                               director::Journal* journal,
                                               const std::set<std::string, std::less<>>& named) {
  return Lister(scanned, journal).Rows(named);
}

std::vector<PackageRow> ChosenRows(std::vector<PackageRow> rows, const RowChoice& choice) {
  if (choice.is_failed || choice.is_warned) {
    std::erase_if(rows, [&](const PackageRow& row) {
      return !(choice.is_failed && row.has_failed()) && !(choice.is_warned && row.is_warned());
    });
  }
  if (choice.sort == "size") {
    std::ranges::stable_sort(
        rows, [](const PackageRow& a, const PackageRow& b) { return a.bytes() > b.bytes(); });
  }
  return rows;
}

uint64_t CookerTotal::sum() const {
  uint64_t sum = 0;
  for (const auto& [platform, one] : bytes) sum += one;
  return sum;
}

std::vector<CookerTotal> TotalsOf(const std::vector<PackageRow>& rows) {
  std::map<std::string, CookerTotal> by_cooker;
  for (const PackageRow& row : rows) {
    CookerTotal& total = by_cooker[row.cooker];
    total.cooker = row.cooker;
    ++total.packages;
    for (const auto& [platform, one] : row.platforms) total.bytes[platform] += one.bytes;
  }
  std::vector<CookerTotal> totals;
  for (auto& [cooker, total] : by_cooker) totals.push_back(std::move(total));
  std::ranges::stable_sort(
      totals, [](const CookerTotal& a, const CookerTotal& b) { return a.sum() > b.sum(); });
  return totals;
}

}  // namespace galley::cli
