#include "director/core/cooks/cook_validation.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "director/core/cooks/judged_errors.h"
#include "director/core/cooks/resolved_reference.h"
#include "director/core/packages/barred_generator.h"
#include "director/core/packages/failure_texts.h"

namespace galley::director {
namespace {

// The warnings of the package's results that fail it: the first of each platform.
absl::btree_map<std::string, PlatformMask> ErrorsOfResults(const PackageData& package,
                                                           const record::WarningRules& rules) {
  absl::btree_map<std::string, PlatformMask> errors;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const ResultViewPtr& result = package.slots[p].result;
    if (result == nullptr || result->is_verdict || result->warnings == nullptr) continue;
    if (const std::string error = WarningErrorOf(*result->warnings, rules); !error.empty())
      errors[error] |= MaskOf(p);
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

// Looks at the results of `wanted`, and at the results of which these were made. A result that an
// earlier director asked for may have been made of a package that is not heard of here.
CookValidation::ReadersOf CookValidation::FindReaders(const Claimant& cook,
                                                      const std::vector<PackageId>& wanted) const {
  ReadersOf readers;
  std::vector<bool> is_seen(packages_.size(), false);
  for (const PackageId id : wanted) is_seen[id.index()] = true;
  std::vector<PackageId> to_do = wanted;
  for (size_t i = 0; i < to_do.size(); ++i) {
    const PackageData& package = packages_[to_do[i]];
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const ResultViewPtr& result = package.slots[p].result;
      if ((cook.request.platforms & MaskOf(p)) == 0 || result == nullptr ||
          result->inputs == nullptr)
        continue;
      for (const std::string& name : *result->inputs) {
        const PackageId input = cook.IsNever(name) ? graph_.FindOrAdd(name) : packages_.Find(name);
        if (!input.valid()) continue;
        readers[input].push_back({to_do[i], p});
        if (is_seen.size() <= input.index()) is_seen.resize(packages_.size(), false);
        if (!is_seen[input.index()]) to_do.push_back(input);
        is_seen[input.index()] = true;
      }
    }
  }
  return readers;
}

// Readers of readers fail as well, and readers of packages that readers generate: alone, the cook
// would have had no output for them to read.
void CookValidation::JudgeInputs(Claimant& cook, const std::vector<PackageId>& wanted) {
  if (!cook.has_never()) return;
  const ReadersOf readers = FindReaders(cook, wanted);
  absl::btree_map<PackageId, PlatformMask> barred;
  std::vector<PackageId> to_do;
  const auto fail_readers = [&](PackageId input, PlatformMask platforms, const std::string& error) {
    const auto found = readers.find(input);
    if (found == readers.end()) return;
    for (const Reader& reader : found->second) {
      const PlatformMask bit = MaskOf(reader.platform);
      PlatformMask& known = barred[reader.package];
      if ((platforms & bit) == 0 || (known & bit) != 0) continue;
      known |= bit;
      if (cook.Wants(reader.package))
        cook_only_failures_.FailForInput(cook, reader.package, bit, error);
      to_do.push_back(reader.package);
    }
  };
  for (const auto& [input, of_input] : readers) {
    // The result of the reader may have been made for another cook, when the input had not failed.
    if (cook.Wants(input))
      fail_readers(input, InPhase(packages_[input], Phase::kFailed),
                   InputFailedText(packages_.NameOf(input)));
    if (!cook.IsNever(input)) continue;
    const std::string& name = packages_.NameOf(input);
    fail_readers(
        input, ~PlatformMask{0},
        GeneratorName(name).empty() ? NoInputText(name, kIsNeverCooked) : InputFailedText(name));
  }
  while (!to_do.empty()) {
    const PackageId input = to_do.back();
    to_do.pop_back();
    const PlatformMask platforms = barred.at(input);
    fail_readers(input, platforms, InputFailedText(packages_.NameOf(input)));
    for (const PackageId child : packages_[input].generates) {
      if ((platforms & ~barred[child]) == 0) continue;
      barred[child] |= platforms;
      to_do.push_back(child);
    }
  }
}

// Adds the references to generated packages that were asked for, and that their generators do not
// list in this cook.
void CookValidation::AddUnlisted(const Claimant& cook, PackageId id,
                                 std::vector<Problem>& problems) const {
  graph_.edges().ForEachReference(id, [&](const Edge& edge) {
    const std::string& target = packages_.NameOf(edge.target);
    const std::string_view generator = GeneratorName(target);
    if (!cook.Follows(edge) || cook.Wants(edge.target) || cook.Stands(edge.target) ||
        generator.empty() || HasBarredGenerator(cook, edge.target) ||
        (packages_[edge.target].generated != nullptr && !cook.IsNever(generator)))
      return;
    const record::ReferenceKind kind = edge.category == InstigatorCategory::kHardDependency
                                           ? record::ReferenceKind::kHard
                                           : record::ReferenceKind::kSoft;
    problems.push_back(
        {kind, edge.platforms,
         "refers to '" + target + "' (" + std::string(record::ReferenceKindName(kind)) +
             "): expected a package: " + std::string(generator) + " does not generate it"});
  });
}

// Adds the references to packages that this cook leaves out, and that other cooks may have.
void CookValidation::AddNever(const Claimant& cook, PackageId id,
                              std::vector<Problem>& problems) const {
  if (!cook.has_never()) return;
  const PackageData& package = packages_[id];
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const ResultViewPtr& explored = package.slots[p].explored;
    if ((cook.request.platforms & MaskOf(p)) == 0 || explored == nullptr) continue;
    for (const record::Reference& reference : explored->references) {
      if (reference.kind == record::ReferenceKind::kEditor) continue;
      ReferenceTarget target = ResolveReference(*step_.catalog, package.name, reference);
      if (!target.error.empty() || !GeneratorName(target.name).empty() ||
          !cook.IsNever(target.name))
        continue;
      target.error = kIsNeverCooked;
      problems.push_back({reference.kind, MaskOf(p), NowhereText(reference, target)});
    }
  }
}

// A hard reference that leads nowhere fails the package, though its results stand; a soft one is a
// warning.
void CookValidation::Judge(Claimant& cook, PackageId id) {
  PackageData& package = packages_[id];
  // The problems stay with the package: platforms that are added before the roots are published may
  // share them.
  std::vector<Problem> problems(package.problems.begin(), package.problems.end());
  AddUnlisted(cook, id, problems);
  AddNever(cook, id, problems);
  const record::WarningRules rules = problems.empty() && !HasWarnings(package)
                                         ? record::WarningRules()
                                         : step_.catalog->WarningRulesOf(package.name);
  absl::btree_set<record::Warning> warnings;
  for (Problem& problem : problems) {
    problem.platforms &= cook.request.platforms & ~cook.BarredOf(id);
    const bool is_warning = problem.is_remark || (problem.kind != record::ReferenceKind::kHard &&
                                                  cook.request.follow_soft);
    if (!is_warning || problem.platforms == 0) continue;
    ApplyRules(rules, problem);
    if (!IsError(problem)) warnings.insert(WarningOf(problem));
  }
  warnings_.NoteJudged(cook, id, std::move(warnings));
  for (const auto& [error, platforms] : ErrorsOf(problems))
    cook_only_failures_.Fail(cook, id, platforms, Stage::kLoad, error);
  if (rules.error.none()) return;
  for (const auto& [error, platforms] : ErrorsOfResults(package, rules))
    cook_only_failures_.Fail(cook, id, platforms, Stage::kSave, error);
}

}  // namespace galley::director
