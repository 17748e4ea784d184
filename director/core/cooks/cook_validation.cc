#include "director/core/cooks/cook_validation.h"

#include <algorithm>
#include <utility>

namespace galley::director {
namespace {

// Gathers all hard references that lead nowhere, in one error for the platforms with the same
// errors.
absl::btree_map<std::string, PlatformMask> ErrorsOf(const std::vector<Problem>& problems) {
  absl::btree_map<std::string, PlatformMask> errors;
  PlatformMask all = 0;
  for (const Problem& problem : problems) all |= problem.platforms;
  for (; all != 0; all &= all - 1) {
    const PlatformMask platform = all & ~(all - 1);
    absl::btree_set<std::string> texts;
    for (const Problem& problem : problems) {
      if (problem.kind == record::ReferenceKind::kHard && !problem.is_remark &&
          (problem.platforms & platform) != 0)
        texts.insert(problem.text);
    }
    std::string error;
    if (texts.size() > 1) error = std::to_string(texts.size()) + " references lead nowhere:\n  ";
    for (const std::string& text : texts) error += (text == *texts.begin() ? "" : "\n  ") + text;
    if (!texts.empty()) errors[error] |= platform;
  }
  return errors;
}

// The warnings of the package's results that fail it: the first of each platform.
absl::btree_map<std::string, PlatformMask> ErrorsOfResults(const PackageData& package,
                                                           const record::WarningRules& rules) {
  absl::btree_map<std::string, PlatformMask> errors;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const ResultViewPtr& result = package.slots[p].result;
    if (result == nullptr || result->is_verdict || result->warnings == nullptr) continue;
    for (const std::string& kept : *result->warnings) {
      const record::Warning warning = record::Warning::Parse(kept);
      if (!rules.IsError(warning.kind)) continue;
      errors[warning.ErrorText()] |= MaskOf(p);
      break;
    }
  }
  return errors;
}

bool HasWarnings(const PackageData& package) {
  return std::ranges::any_of(package.slots, [](const Slot& slot) {
    return slot.result != nullptr && slot.result->warnings != nullptr;
  });
}

}  // namespace

// References are judged by the last snapshot. Exploring may bring packages into the cook that other
// cooks had explored before: these packages are looked at when the cook is quiet again.
bool CookValidation::Reexplore(Claimant& cook) {
  if (cook.judged_epoch != step_.epoch) {
    cook.judged_epoch = step_.epoch;
    if (cook.was_widened) cook_only_failures_.TakeBack(cook);  // judgements of the difference
  }
  for (const PackageId id : cook.Wanted()) {
    if (packages_[id].explored_epoch != step_.epoch) graph_.PushExploreAnew(id);
  }
  return cook.tally.on_agenda > 0;
}

// A hard reference that leads nowhere fails the package, though its results stand; a soft one is a
// warning.
void CookValidation::Judge(Claimant& cook, PackageId id) {
  PackageData& package = packages_[id];
  // The problems stay with the package: platforms that are added before the roots are published may
  // share them.
  std::vector<Problem> problems(package.problems.begin(), package.problems.end());
  graph_.edges().ForEachReference(id, [&](const Edge& edge) {
    const PackageData& target = packages_[edge.target];
    // The target was asked for, but its generator does not list it.
    if (!cook.Follows(edge) || cook.Wants(edge.target) || cook.Stands(edge.target) ||
        GeneratorName(target.name).empty() || target.generated != nullptr)
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
  const record::WarningRules rules = problems.empty() && !HasWarnings(package)
                                         ? record::WarningRules()
                                         : step_.catalog->WarningRulesOf(package.name);
  absl::btree_set<record::Warning> warnings;
  for (Problem& problem : problems) {
    problem.platforms &= cook.request.platforms;
    const bool is_warning = problem.is_remark || (problem.kind != record::ReferenceKind::kHard &&
                                                  cook.request.follow_soft);
    if (!is_warning || problem.platforms == 0) continue;
    const record::Warning warning{problem.is_remark ? record::WarningKind::kReferenceCase
                                                    : record::WarningKind::kMissingSoftReference,
                                  problem.text};
    if (rules.IsError(warning.kind)) {
      problem = {record::ReferenceKind::kHard, problem.platforms, warning.ErrorText()};
    } else {
      warnings.insert(warning);
    }
  }
  warnings_.NoteJudged(cook, id, std::move(warnings));
  for (const auto& [error, platforms] : ErrorsOf(problems))
    cook_only_failures_.Fail(cook, id, platforms, Stage::kLoad, error);
  if (rules.error.none()) return;
  for (const auto& [error, platforms] : ErrorsOfResults(package, rules))
    cook_only_failures_.Fail(cook, id, platforms, Stage::kSave, error);
}

}  // namespace galley::director
