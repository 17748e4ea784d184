#include "director/core/judging.h"

#include <algorithm>
#include <utility>

#include "director/core/core.h"

namespace galley::director {
namespace {

// Names that are kept for warnings: a cook of a million packages that all read what nobody asked
// for has one mistake, not as many.
constexpr size_t kUnsolicitedMax = 10'000;

// All hard references that lead nowhere, in one error for the platforms that have the same ones.
absl::btree_map<std::string, PlatformMask> ErrorsOf(const std::vector<Problem>& problems) {
  absl::btree_map<std::string, PlatformMask> errors;
  PlatformMask all = 0;
  for (const Problem& problem : problems) all |= problem.platforms;
  for (; all != 0; all &= all - 1) {
    const PlatformMask platform = all & ~(all - 1);
    absl::btree_set<std::string> texts;
    for (const Problem& problem : problems) {
      if (problem.kind == record::ReferenceKind::kHard && (problem.platforms & platform) != 0)
        texts.insert(problem.text);
    }
    std::string error;
    if (texts.size() > 1) error = std::to_string(texts.size()) + " references lead nowhere:\n  ";
    for (const std::string& text : texts) error += (text == *texts.begin() ? "" : "\n  ") + text;
    if (!texts.empty()) errors[error] |= platform;
  }
  return errors;
}

}  // namespace

Judging::Judging(Core& core, Cook& cook) : CookPart(core, cook), judged_epoch_(core.epoch) {}

// References are judged by the last snapshot, all of them.
bool Judging::ReexploreIfChanged() {
  if (judged_epoch_ == core_.epoch) return false;
  judged_epoch_ = core_.epoch;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageData& package = packages_[PackageId(i)];
    if (!package.is_in_cook || package.explored_epoch == core_.epoch) continue;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (package.slots[p].explored == nullptr) continue;
      graph().agenda.Push(package.urgency, {AgendaItem::Kind::kExplore, PackageId(i), p});
      break;  // it sees to the other platforms
    }
  }
  return !graph().agenda.empty();
}

std::vector<PackageId> Judging::InCookByName() const {
  std::vector<PackageId> sorted;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    if (packages_[PackageId(i)].is_in_cook) sorted.push_back(PackageId(i));
  }
  std::sort(sorted.begin(), sorted.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  return sorted;
}

// A hard reference that leads nowhere fails the package, though its results stand; a soft one is a
// warning.
void Judging::Judge(PackageId id) {
  PackageData& package = packages_[id];
  // The problems stay with the package: platforms that are added before the roots are published may
  // share them.
  std::vector<Problem> problems(package.problems.begin(), package.problems.end());
  graph().edges.ForEachReference(id, [&](const Edge& edge) {
    const PackageData& target = packages_[edge.target];
    // The target was asked for, but its generator does not list it.
    if (target.is_in_cook || GeneratorName(target.name).empty() || target.generated != nullptr)
      return;
    const record::ReferenceKind kind = edge.category == InstigatorCategory::kHardDependency
                                           ? record::ReferenceKind::kHard
                                           : record::ReferenceKind::kSoft;
    problems.push_back({kind, edge.platforms,
                        "refers to '" + target.name + "' (" +
                            std::string(record::ReferenceKindName(kind)) +
                            "): expected a package: " + std::string(GeneratorName(target.name)) +
                            " does not generate it"});
  });
  for (const Problem& problem : problems) {
    if (problem.kind != record::ReferenceKind::kHard) WarnOnce(id, problem.text);
  }
  const absl::btree_map<std::string, PlatformMask> errors = ErrorsOf(problems);
  if (errors.empty()) return;
  for (const auto& [error, platforms] : errors) FailJudged(id, platforms, Stage::kLoad, error);
}

void Judging::FailJudged(PackageId id, PlatformMask platforms, Stage stage,
                         const std::string& error) {
  const PlatformMask done = core_.advancing.InPhase(id, Phase::kDone);
  const PlatformMask fresh = done & platforms & ~JudgedOf(id);
  if (fresh != 0) {
    SetJudged(id, JudgedOf(id) | fresh);
    core_.advancing.NoteFailed(id, fresh, stage, error);
    if (cook_.FailsFast()) cook_.Stop(Cook::Ending::kFailFast);
  }
  // With fail_fast packages are judged before they are done: they are not cooked any further.
  core_.advancing.FailPlatforms(id, platforms & ~done, stage, error, "");
  core_.advancing.Advance(id);
}

PlatformMask Judging::JudgedOf(PackageId id) const {
  const auto found = judged_.find(id);
  return found == judged_.end() ? 0 : found->second;
}

void Judging::SetJudged(PackageId id, PlatformMask platforms) {
  lifecycle().Recount(id, [&] {
    if (platforms == 0) {
      judged_.erase(id);
    } else {
      judged_[id] = platforms;
    }
  });
}

// Another platform, or the next judgement of the package, has the same warning.
void Judging::WarnOnce(PackageId id, const std::string& text) {
  if (warned_.emplace(id, text).second) Note(PackageWarned{id, std::nullopt, text});
}

void Judging::WarnOfFailedTargets() {
  const auto by_name = [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); };
  const auto has_failed = [&](PackageId id) {
    return packages_[id].outcome == Outcome::kFailed || packages_[id].is_skipped ||
           JudgedOf(id) != 0;
  };
  // Only the packages that get a warning are sorted, few as a rule: sorting all would take long.
  std::vector<PackageId> referencers;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    bool is_one = false;
    graph().edges.ForEachReference(PackageId(i),
                                   [&](const Edge& edge) { is_one |= has_failed(edge.target); });
    if (is_one && packages_[PackageId(i)].is_in_cook) referencers.push_back(PackageId(i));
  }
  std::sort(referencers.begin(), referencers.end(), by_name);
  for (const PackageId id : referencers) {
    std::vector<PackageId> targets;
    graph().edges.ForEachReference(id, [&](const Edge& edge) {
      if (has_failed(edge.target) && (targets.empty() || targets.back() != edge.target))
        targets.push_back(edge.target);
    });
    std::sort(targets.begin(), targets.end(), by_name);
    for (const PackageId target : targets) {
      const bool is_skipped = packages_[target].is_skipped;
      Note(PackageWarned{id, std::nullopt,
                         "refers to " + NameOf(target) +
                             (is_skipped ? ", which was not cooked" : ", which failed")});
    }
  }
}

// Warns of packages that a worker read and that nobody asked for: their outputs are not in the
// root. No warning where a rule says that the package is never cooked.
void Judging::WarnOfUnsolicited() {
  std::vector<PackageId> readers;
  for (const auto& [reader, read] : unsolicited_) readers.push_back(reader);
  std::sort(readers.begin(), readers.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  for (const PackageId reader : readers) {
    if (!packages_[reader].is_in_cook) continue;
    for (const std::string& name : unsolicited_.at(reader)) {
      const PackageId package = packages_.Find(name);
      const std::optional<CatalogEntry> entry = core_.catalog->Find(name);
      if ((package.valid() && packages_[package].is_in_cook) || !entry.has_value() ||
          entry->never_cook)
        continue;
      Note(PackageWarned{reader, std::nullopt,
                         "reads " + name +
                             ", a package that is not in the cook (Unsolicited): expected a hard "
                             "reference to it, or that it is never cooked"});
    }
  }
  if (unsolicited_dropped_ == 0 || readers.empty()) return;
  Note(PackageWarned{readers.back(), std::nullopt,
                     "and other packages read " + std::to_string(unsolicited_dropped_) +
                         " more names that were not in the cook then: they are not told one by "
                         "one"});
}

// A package that the reader refers to with a hard reference joins the cook through that reference;
// the other packages that it read are judged at the end.
void Judging::NoteRead(PackageId reader, const std::vector<std::string>& read) {
  for (const std::string& name : read) {
    const PackageId package = packages_.Find(name);
    if (package.valid() && packages_[package].is_in_cook) continue;
    if (unsolicited_count_ >= kUnsolicitedMax) {
      ++unsolicited_dropped_;
    } else if (unsolicited_[reader].insert(name).second) {
      ++unsolicited_count_;
    }
  }
}

void Judging::Forget(PackageId id) {
  if (JudgedOf(id) == 0) return;
  for (const auto& [other, platforms] : absl::btree_map<PackageId, PlatformMask>(judged_)) {
    SetJudged(other, 0);
    if (other == id) continue;
    // The failure is taken back; the next judgement may tell it again.
    const PackageData& package = packages_[other];
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const Slot& slot = package.slots[p];
      if ((platforms & MaskOf(p)) != 0 && slot.phase == Phase::kDone)
        Note(PackageDone{other, p, slot.result->id, slot.source});
    }
  }
}

void Judging::ForgetRead(PackageId id) {
  const auto read = unsolicited_.find(id);
  if (read == unsolicited_.end()) return;
  unsolicited_count_ -= read->second.size();
  unsolicited_.erase(read);
}

void Judging::Remap(const PlatformMap& map) {
  for (auto& [package, platforms] : judged_) platforms = map.Mask(platforms);
  judged_epoch_ = 0;
}

}  // namespace galley::director
