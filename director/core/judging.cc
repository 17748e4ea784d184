#include "director/core/judging.h"

#include <algorithm>
#include <utility>

#include "director/core/core.h"

namespace galley::director {
namespace {

// All hard references that lead nowhere, in one error for the platforms that have the same ones.
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
  return std::any_of(package.slots.begin(), package.slots.end(), [](const Slot& slot) {
    return slot.result != nullptr && slot.result->warnings != nullptr;
  });
}

}  // namespace

Judging::Judging(Core& core, Cook& cook) : CookPart(core, cook), judged_epoch_(0) {}

// References are judged by the last snapshot, all of them. What is explored may bring packages into
// the cook that other cooks had explored before: these are looked at when the cook is quiet again.
bool Judging::Reexplore() {
  if (judged_epoch_ != core_.epoch) {
    judged_epoch_ = core_.epoch;
    if (cook_.was_widened()) TakeBack();  // what it judged of the difference
  }
  for (const PackageId id : cook_.Wanted()) {
    if (packages_[id].explored_epoch != core_.epoch) core_.exploring.ExploreAnew(id);
  }
  return cook_.tally.on_agenda > 0;
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
    if (!cook_.Follows(edge) || cook_.Wants(edge.target) || cook_.Stands(edge.target) ||
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
                                         : core_.catalog->WarningRulesOf(package.name);
  absl::btree_set<record::Warning> warnings;
  for (Problem& problem : problems) {
    problem.platforms &= cook_.request().platforms;
    const bool is_warning = problem.is_remark || (problem.kind != record::ReferenceKind::kHard &&
                                                  cook_.request().follow_soft);
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
  cook_.warnings.NoteJudged(id, std::move(warnings));
  for (const auto& [error, platforms] : ErrorsOf(problems))
    FailJudged(id, platforms, Stage::kLoad, error);
  if (rules.error.none()) return;
  for (const auto& [error, platforms] : ErrorsOfResults(package, rules))
    FailJudged(id, platforms, Stage::kSave, error);
}

void Judging::FailJudged(PackageId id, PlatformMask platforms, Stage stage,
                         const std::string& error) {
  // Others may go on with a package that this cook does not want so.
  const bool is_shared = (packages_[id].cooks & core_.cooks.active()) != cook_.bit();
  const PlatformMask kept = is_shared ? ~core_.advancing.InPhase(id, Phase::kFailed)
                                      : core_.advancing.InPhase(id, Phase::kDone);
  const PlatformMask fresh = kept & platforms & cook_.request().platforms & ~JudgedOf(id);
  if (fresh != 0) {
    const PlatformMask before = MaskIn(judged_, id);
    core_.advancing.NoteFailed(id, fresh, stage, error, cook_.bit());
    Set(judged_, id, before | fresh);
    if (cook_.FailsFast()) cook_.Stop(Cook::Ending::kFailFast);
  }
  if (is_shared) return;
  // With fail_fast packages are judged before they are done: they are not cooked any further.
  core_.advancing.FailPlatforms(id, platforms & ~kept, stage, error, "");
  core_.advancing.Advance(id);
}

PlatformMask Judging::JudgedOf(PackageId id) const {
  return MaskIn(judged_, id) | MaskIn(settled_, id);
}

void Judging::Settle(PackageId id, PlatformMask platforms) {
  platforms &= cook_.request().platforms;
  if (platforms != 0) Set(settled_, id, MaskIn(settled_, id) | platforms);
}

PlatformMask Judging::MaskIn(const Map& map, PackageId id) {
  const auto found = map.find(id);
  return found == map.end() ? 0 : found->second;
}

void Judging::Set(Map& map, PackageId id, PlatformMask platforms) {
  lifecycle().Recount(id, [&] {
    if (platforms == 0) {
      map.erase(id);
    } else {
      map[id] = platforms;
    }
  });
}

void Judging::Forget(PackageId id) {
  if (settled_.contains(id)) Set(settled_, id, 0);
  if (!judged_.contains(id)) return;
  Set(judged_, id, 0);
  TakeBack();
}

// The next judgement may tell it again.
void Judging::TakeBack() {
  for (const auto& [other, platforms] : Map(judged_)) {
    const PlatformMask done = core_.advancing.InPhase(other, Phase::kDone) & platforms;
    Set(judged_, other, platforms & ~done);
    const PackageData& package = packages_[other];
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if ((done & MaskOf(p)) != 0) core_.advancing.TellDone(other, p, cook_.bit());
    }
  }
}

void Judging::Remap(const PlatformMap& map) {
  for (auto& [package, platforms] : judged_) platforms = map.Mask(platforms);
  for (auto& [package, platforms] : settled_) platforms = map.Mask(platforms);
  judged_epoch_ = 0;
}

}  // namespace galley::director
