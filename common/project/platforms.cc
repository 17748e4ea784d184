#include "common/project/platforms.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

constexpr size_t kNameBytesMax = 64;
// The parameters that cookers ask a platform for.
const std::vector<std::string> kKnownParameters = {"profile", "shader", "texture"};

bool IsName(std::string_view name) {
  const auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kNameBytesMax && is_first(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_first(c) || c == '_' || c == '-'; });
}

// "spirv-1.0".."spirv-1.6", "msl-2.0".."msl-2.4", "essl-300", "essl-310", "essl-320".
bool IsShaderTarget(std::string_view target) {
  const auto is_version = [&](std::string_view family, char last) {
    return target.size() == family.size() + 1 && target.starts_with(family) &&
           target.back() >= '0' && target.back() <= last;
  };
  return target == "essl-300" || target == "essl-310" || target == "essl-320" ||
         is_version("spirv-1.", '6') || is_version("msl-2.", '4');
}

}  // namespace

absl::StatusOr<Platform> ReadPlatform(const TomlValue& value, std::string_view file) {
  ASSIGN_OR_RETURN(const TableReader table, TableReader::Create(value, file, "platform", {}));
  Platform platform;
  ASSIGN_OR_RETURN(platform.name, table.Required("name"));
  if (!IsName(platform.name)) {
    return table.Error(
        "name",
        fmt::format("a platform's name is [a-z0-9][a-z0-9_-]* of at most {} characters, not `{}`",
                    kNameBytesMax, platform.name));
  }
  for (const char* reserved : {"root", "blob", "record"}) {
    if (platform.name == reserved) {
      return table.Error("name", fmt::format("`{}` is reserved and names no platform", reserved));
    }
  }
  for (const auto& [key, item] : *value.table()) {
    if (key == "name") continue;
    // A platform may have parameters of its own, but not in the place of one that cookers need.
    const std::string nearest = record::Nearest(key, kKnownParameters);
    if (!nearest.empty() && nearest != key && table.Find(nearest) == nullptr)
      return table.Error(key,
                         fmt::format("`{}` is no parameter that a cooker asks for; did you mean "
                                     "`{}`?",
                                     key, nearest));
    ASSIGN_OR_RETURN(const std::optional<std::string> text, table.String(key));
    platform.parameters[key] = *text;
  }
  if (const auto texture = platform.parameters.find("texture");
      texture != platform.parameters.end()) {
    const std::string& family = texture->second;
    if (family != "bc" && family != "astc" && family != "rgba8") {
      return table.Error("texture",
                         fmt::format("`texture` is bc, astc or rgba8, not `{}`", family));
    }
  }
  if (const auto shader = platform.parameters.find("shader"); shader != platform.parameters.end()) {
    if (!IsShaderTarget(shader->second)) {
      return table.Error(
          "shader",
          fmt::format(
              "`shader` is spirv-1.0 to spirv-1.6, essl-300, essl-310, essl-320, or msl-2.0 to "
              "msl-2.4, not `{}`",
              shader->second));
    }
  }
  return platform;
}

}  // namespace galley::project
