#include "director/host/named_programs.h"

#include <set>
#include <sstream>

#include "common/base/file.h"
#include "common/record/programs.h"
#include "common/record/recipe.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// No cooker but `command` has a setting `argv`, so a rule without a cooker may name programs, too.
void AddPlaces(const std::string& settings, const std::string& root,
               std::set<std::string>& places) {
  record::Recipe recipe;
  recipe.cooker = std::string(record::kProgramCooker);
  recipe.settings = settings;
  const std::string program = record::ProgramOf(recipe);
  if (program.empty()) return;
  if (program.find('/') != std::string::npos) {
    places.insert(AbsolutePath(program, root));
    return;
  }
  std::istringstream folders{std::string(record::kSearchPath)};
  for (std::string folder; std::getline(folders, folder, ':');)
    places.insert(JoinPath(folder, program));
}

}  // namespace

std::string TextOfNamedPrograms(const project::Project& project, ToolDigests& tools) {
  std::set<std::string> places;
  for (const project::Rule& rule : project.rules) {
    AddPlaces(rule.body.settings, project.root, places);
    for (const auto& [platform, settings] : rule.body.platform_settings)
      AddPlaces(settings, project.root, places);
  }
  std::string text;
  for (const std::string& place : places)
    text += fmt::format("{} {}\n", place, tools.ValueOf(place).value_or("unreadable"));
  return text;
}

}  // namespace galley::director
