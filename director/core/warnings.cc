#include "director/core/warnings.h"

#include <algorithm>

#include "director/core/core.h"

namespace galley::director {
namespace {

// Names that are kept for warnings: a cook of a million packages that all read what nobody asked
// for has one mistake, not as many.
constexpr size_t kUnsolicitedMax = 10'000;

}  // namespace

void Warnings::TellOnce(PackageId id, const record::Warning& warning) {
  if (told_.emplace(id, warning).second)
    Note(PackageWarned{id, std::nullopt, warning.kind, warning.text}, cook_.bit());
}

void Warnings::NoteJudged(PackageId id, absl::btree_set<record::Warning> warnings) {
  if (warnings.empty()) {
    judged_.erase(id);
  } else {
    judged_[id] = std::move(warnings);
  }
}

void Warnings::TellJudged() const {
  std::vector<PackageId> warned;
  for (const auto& [id, warnings] : judged_) {
    if (cook_.Wants(id)) warned.push_back(id);
  }
  std::sort(warned.begin(), warned.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  for (const PackageId id : warned) {
    for (const record::Warning& one : judged_.at(id))
      Note(PackageWarned{id, std::nullopt, one.kind, one.text}, cook_.bit());
  }
}

void Warnings::TellFailedTargets() const {
  for (const auto& [referencer, text] : failed_targets_)
    Note(PackageWarned{referencer, std::nullopt, record::WarningKind::kFailedReference, text},
         cook_.bit());
}

void Warnings::NoteFailedTargets() {
  failed_targets_.clear();
  const auto by_name = [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); };
  const auto has_own = [&](PackageId id) {  // whether others skip it or not
    return cook_.judging.JudgedOf(id) != 0 ||
           (core_.advancing.InPhase(id, Phase::kFailed) & cook_.request().platforms) != 0;
  };
  const auto has_failed = [&](PackageId id) {
    return cook_.Wants(id) && (packages_[id].is_skipped || has_own(id));
  };
  // Only the packages that get a warning are sorted, few as a rule: sorting all would take long.
  std::vector<PackageId> referencers;
  const std::vector<PackageId> wanted = cook_.Wanted();
  for (const PackageId id : wanted) {
    bool is_one = false;
    graph().edges.ForEachReference(
        id, [&](const Edge& edge) { is_one |= cook_.Follows(edge) && has_failed(edge.target); });
    if (is_one) referencers.push_back(id);
  }
  std::sort(referencers.begin(), referencers.end(), by_name);
  for (const PackageId id : referencers) {
    std::vector<PackageId> targets;
    graph().edges.ForEachReference(id, [&](const Edge& edge) {
      if (cook_.Follows(edge) && has_failed(edge.target) &&
          (targets.empty() || targets.back() != edge.target))
        targets.push_back(edge.target);
    });
    std::sort(targets.begin(), targets.end(), by_name);
    for (const PackageId target : targets) {
      const bool is_skipped = packages_[target].is_skipped && !has_own(target);
      failed_targets_.emplace_back(id,
                                   "refers to " + NameOf(target) +
                                       (is_skipped ? ", which was not cooked" : ", which failed"));
    }
  }
}

// Warns of packages that a cook read and that nobody asked for: their outputs are not in the
// root. No warning where a rule says that the package is never cooked.
void Warnings::TellUnsolicited() {
  std::vector<PackageId> readers;
  for (const auto& [reader, read] : unsolicited_) readers.push_back(reader);
  std::sort(readers.begin(), readers.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  for (const PackageId reader : readers) {
    if (!cook_.Wants(reader)) continue;
    for (const std::string& name : unsolicited_.at(reader)) {
      const std::optional<CatalogEntry> entry = core_.catalog->Find(name);
      if (cook_.Holds(name) || !entry.has_value() || entry->never_cook) continue;
      Note(PackageWarned{reader, std::nullopt, record::WarningKind::kUnsolicitedRead,
                         "reads " + name +
                             ", a package that is not in the cook (Unsolicited): expected a hard "
                             "reference to it, or that it is never cooked"},
           cook_.bit());
    }
  }
  if (unsolicited_dropped_ == 0 || readers.empty()) return;
  Note(PackageWarned{readers.back(), std::nullopt, record::WarningKind::kUnsolicitedRead,
                     "and other packages read " + std::to_string(unsolicited_dropped_) +
                         " more names that were not in the cook then: they are not told one by "
                         "one",
                     /*is_passing=*/true},
       cook_.bit());
}

// A package that the reader refers to with a hard reference joins the cook through that reference;
// the other packages that it read are judged at the end.
void Warnings::NoteRead(PackageId reader, const std::vector<std::string>& read) {
  for (const std::string& name : read) {
    const PackageId package = packages_.Find(name);
    if (package.valid() && cook_.Wants(package)) continue;
    if (unsolicited_count_ >= kUnsolicitedMax) {
      ++unsolicited_dropped_;
    } else if (unsolicited_[reader].insert(name).second) {
      ++unsolicited_count_;
    }
  }
}

void Warnings::ForgetRead(PackageId id) {
  const auto read = unsolicited_.find(id);
  if (read == unsolicited_.end()) return;
  unsolicited_count_ -= read->second.size();
  unsolicited_.erase(read);
}

}  // namespace galley::director
