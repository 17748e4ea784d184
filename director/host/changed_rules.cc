#include "director/host/changed_rules.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/content/glob.h"

namespace galley::director {

std::vector<StandingRule> RulesOf(const project::Project& project) {
  std::vector<StandingRule> rules;
  for (const project::Rule& rule : project.rules)
    rules.push_back({rule.match.pattern(), rule.ignore_case, rule.digest});
  return rules;
}

std::vector<StandingRule> DifferingRules(const std::vector<StandingRule>& before,
                                         const std::vector<StandingRule>& now) {
  size_t begin = 0;
  const size_t least = std::min(before.size(), now.size());
  while (begin < least && before[begin] == now[begin]) ++begin;
  size_t end = 0;
  while (end < least - begin && before[before.size() - 1 - end] == now[now.size() - 1 - end]) ++end;
  std::vector<StandingRule> differing;
  for (const auto* rules : {&before, &now}) {
    differing.insert(differing.end(), rules->begin() + static_cast<ptrdiff_t>(begin),
                     rules->end() - static_cast<ptrdiff_t>(end));
  }
  return differing;
}

absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<StandingRule>& rules,
                                                 const content::Snapshot& files,
                                                 const Members& members) {
  std::set<std::string> names;
  ASSIGN_OR_RETURN(const content::Glob all, content::Glob::Parse("**"));
  for (const StandingRule& rule : rules) {
    ASSIGN_OR_RETURN(const content::Glob glob, content::Glob::Parse(rule.match));
    const auto matches = [&](std::string_view name) {
      return glob.Matches(rule.ignore_case ? absl::AsciiStrToLower({name.data(), name.size()})
                                           : std::string(name));
    };
    for (const std::string_view name : members.Names()) {
      if (name.find("/_gen/") != std::string_view::npos && matches(name)) {
        return FailedPreconditionError(
            "a rule that matches the generated package {} is another one", name);
      }
    }
    const std::string folder = rule.ignore_case ? "/" : glob.LiteralFolder();
    for (const std::string& relative : files.Matches(folder.empty() ? "/" : folder, all)) {
      std::string name = (folder.ends_with('/') ? folder : folder + "/") + relative;
      if (matches(name)) names.insert(std::move(name));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace galley::director
