#include "common/record/programs.h"

#include <algorithm>
#include <array>

#include "nlohmann/json.hpp"

namespace galley::record {
namespace {

constexpr std::array<std::string_view, 6> kSystemFolders = {"/usr/",  "/lib",  "/bin/",
                                                            "/sbin/", "/etc/", "/opt/"};

// Settings of kProgramCooker; no other cooker has one of these.
constexpr std::array<std::string_view, 5> kProgramSettings = {"argv", "outputs", "depfile",
                                                              "cooked_inputs", "env"};

}  // namespace

bool NamesPrograms(const Generated& generated) {
  if (generated.cooker == kProgramCooker) return true;
  if (!generated.cooker.empty() || generated.settings.empty()) return false;
  const auto settings =
      nlohmann::json::parse(generated.settings, nullptr, /*allow_exceptions=*/false);
  return !settings.is_object() || std::ranges::any_of(kProgramSettings, [&](std::string_view name) {
    return settings.contains(name);
  });
}

std::string ProgramOf(const Recipe& recipe) {
  if (recipe.cooker != kProgramCooker) return "";
  const auto settings = nlohmann::json::parse(recipe.settings, nullptr, /*allow_exceptions=*/false);
  if (!settings.is_object()) return "";
  const auto argv = settings.find("argv");
  if (argv == settings.end() || !argv->is_array() || argv->empty() || !argv->front().is_string())
    return "";
  return argv->front().get<std::string>();
}

bool IsSystemFile(std::string_view path) {
  return path.find("/../") == std::string_view::npos && !path.ends_with("/..") &&
         std::ranges::any_of(kSystemFolders,
                             [&](std::string_view folder) { return path.starts_with(folder); });
}

}  // namespace galley::record
