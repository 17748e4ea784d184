#include "director/shell/instigator_notes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr size_t kPackagesPerPage = 1024;

using Records = std::vector<std::pair<std::string, std::vector<InstigatorRecord>>>;

absl::Status SetReasonsOf(Journal& journal, const std::string& reasons_of) {
  JournalMeta meta = journal.meta();
  if (std::exchange(meta.reasons_of, reasons_of) == reasons_of) return absl::OkStatus();
  return journal.SetMeta(meta);
}

}  // namespace

std::string ReasonsOf(std::vector<std::string> platforms) {
  std::ranges::sort(platforms);
  std::string text;
  for (const std::string& platform : platforms) text += (text.empty() ? "" : ",") + platform;
  return text;
}

absl::Status RecordInstigatorChanges(Journal& journal,
                                     const std::vector<InstigatorChange>& changes) {
  std::map<std::string_view, std::vector<InstigatorRecord>> records;
  for (const InstigatorChange& change : changes) {
    const auto [at, is_new] = records.try_emplace(change.package);
    if (is_new) {
      ASSIGN_OR_RETURN(at->second, journal.InstigatorsOf(change.package));
    }
    const InstigatorRecord reason{static_cast<uint8_t>(change.category), change.referencer};
    const bool is_known = std::ranges::find(at->second, reason) != at->second.end();
    if (change.holds && !is_known) at->second.push_back(reason);
    if (!change.holds) std::erase(at->second, reason);
  }
  Records page;
  for (auto& [package, reasons] : records) page.emplace_back(package, std::move(reasons));
  return page.empty() ? absl::OkStatus() : journal.RecordInstigators(page);
}

absl::Status InstigatorNotes::Record(Journal& journal) const {
  const bool is_of_others = of_ == Of::kWhole && journal.meta().reasons_of != reasons_of_;
  if (is_of_others || (of_ == Of::kPart && !reasons_.empty()))
    RETURN_IF_ERROR(SetReasonsOf(journal, ""));
  Records page;
  const std::string* last = nullptr;
  for (const Reason& reason : reasons_) {
    if (reason.package != last) {
      if (page.size() == kPackagesPerPage) {
        RETURN_IF_ERROR(journal.RecordInstigators(page));
        page.clear();
      }
      page.emplace_back(*reason.package, std::vector<InstigatorRecord>());
      last = reason.package;
    }
    page.back().second.push_back({static_cast<uint8_t>(reason.category),
                                  reason.referencer != nullptr ? *reason.referencer : ""});
  }
  if (!page.empty()) RETURN_IF_ERROR(journal.RecordInstigators(page));
  if (of_ != Of::kWhole) return absl::OkStatus();
  if (!journal.WasEmpty()) RETURN_IF_ERROR(ForgetOthers(journal));
  return SetReasonsOf(journal, reasons_of_);
}

// Packages of the last cook by the book that are not in this cook are in no cook any more.
absl::Status InstigatorNotes::ForgetOthers(Journal& journal) const {
  absl::flat_hash_set<std::string_view> noted;
  for (const Reason& reason : reasons_) noted.insert(*reason.package);
  Records gone;
  RETURN_IF_ERROR(journal.ForEach([&](std::string_view name, const PackageRecord& record) {
    if (!record.instigators.empty() && !noted.contains(name))
      gone.emplace_back(std::string(name), std::vector<InstigatorRecord>());
  }));
  return journal.RecordInstigators(gone);
}

}  // namespace galley::director
