#include "director/host/answered_variables.h"

#include <algorithm>
#include <vector>

#include "common/base/log.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {
namespace {

constexpr size_t kNamed = 5;

}  // namespace

std::map<std::string, std::string> AnsweredVariables(
    const project::Project& project, const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> answered;
  for (const std::string& name : project.farm.environment) {
    const auto found = environment.find(name);
    if (found != environment.end()) answered.insert(*found);
  }
  return answered;
}

std::string UnansweredText(const project::Project& project, const ObservedValues& observed,
                           const std::map<std::string, std::string>& environment) {
  const std::vector<std::string>& listed = project.farm.environment;
  std::vector<std::string> names;
  for (const auto& [name, value] : observed.environment()) {
    if (environment.contains(name) && std::ranges::find(listed, name) == listed.end())
      names.push_back(EscapeControl(name));
  }
  if (names.empty()) return "";
  const size_t shown = std::min(names.size(), kNamed);
  return fmt::format(
      "cooks asked for {} environment {} that [farm] env of galley.toml does not list, and that "
      "{} as unset: {}{}",
      names.size(), names.size() == 1 ? "variable" : "variables",
      names.size() == 1 ? "reads" : "read",
      fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "),
      names.size() > shown ? ", ..." : "");
}

}  // namespace galley::director
