#include "director/core/cooks/judged_errors.h"

#include <utility>

#include "absl/container/btree_set.h"
#include "director/core/cooks/resolved_reference.h"

namespace galley::director {

record::Warning WarningOf(const Problem& problem) {
  return {problem.is_remark ? record::WarningKind::kReferenceCase
                            : record::WarningKind::kMissingSoftReference,
          problem.text};
}

bool IsError(const Problem& problem) {
  return problem.kind == record::ReferenceKind::kHard && !problem.is_remark;
}

void ApplyRules(const record::WarningRules& rules, Problem& problem) {
  const record::Warning warning = WarningOf(problem);
  if (!IsError(problem) && rules.IsError(warning.kind))
    problem = {record::ReferenceKind::kHard, problem.platforms, warning.ErrorText()};
}

absl::btree_map<std::string, PlatformMask> ErrorsOf(const std::vector<Problem>& problems) {
  absl::btree_map<std::string, PlatformMask> errors;
  PlatformMask all = 0;
  for (const Problem& problem : problems) all |= problem.platforms;
  for (; all != 0; all &= all - 1) {
    const PlatformMask platform = all & ~(all - 1);
    absl::btree_set<std::string> texts;
    for (const Problem& problem : problems) {
      if (IsError(problem) && (problem.platforms & platform) != 0) texts.insert(problem.text);
    }
    std::string error;
    if (texts.size() > 1) error = std::to_string(texts.size()) + " references lead nowhere:\n  ";
    for (const std::string& text : texts) error += (text == *texts.begin() ? "" : "\n  ") + text;
    if (!texts.empty()) errors[error] |= platform;
  }
  return errors;
}

std::string WarningErrorOf(const std::vector<std::string>& warnings,
                           const record::WarningRules& rules) {
  for (const std::string& kept : warnings) {
    const record::Warning warning = record::Warning::Parse(kept);
    if (rules.IsError(warning.kind)) return warning.ErrorText();
  }
  return "";
}

std::optional<JudgedError> JudgeResult(const Catalog& catalog, const std::string& name,
                                       const std::vector<record::Reference>& references,
                                       const std::vector<std::string>& warnings) {
  std::vector<Problem> problems;
  for (const record::Reference& reference : references) {
    if (reference.kind == record::ReferenceKind::kEditor) continue;
    const ReferenceTarget target = ResolveReference(catalog, name, reference);
    if (!target.warning.empty())
      problems.push_back({reference.kind, MaskOf(0), target.warning, /*is_remark=*/true});
    if (!target.error.empty())
      problems.push_back({reference.kind, MaskOf(0), NowhereText(reference, target)});
  }
  if (problems.empty() && warnings.empty()) return std::nullopt;
  const record::WarningRules rules = catalog.WarningRulesOf(name);
  for (Problem& problem : problems) ApplyRules(rules, problem);
  const absl::btree_map<std::string, PlatformMask> errors = ErrorsOf(problems);
  if (!errors.empty()) return JudgedError{Stage::kLoad, errors.begin()->first};
  std::string error = WarningErrorOf(warnings, rules);
  if (error.empty()) return std::nullopt;
  return JudgedError{Stage::kSave, std::move(error)};
}

}  // namespace galley::director
