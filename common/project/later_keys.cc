#include "common/project/later_keys.h"

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

struct LaterKey {
  std::string_view section;
  std::string_view key;         // empty: the whole section
  std::string_view value = {};  // not empty: this value alone
};

// The sections `platform`, `rule` and `mount` are lists of tables, each of which is looked at.
constexpr LaterKey kLaterKeys[] = {
    {"chunk", ""},
    {"cook", "prove"},
    {"cook", "startup"},
    {"farm", "endpoint"},
    {"farm", "instance"},
    {"farm", "launcher", "reapi"},
    {"farm", "platform"},
    {"modify", ""},
    {"output", "containers"},
    {"platform", "profile"},
    {"platform", "texture", "bc7"},
    {"registry", ""},
    {"rule", "walls"},
};

absl::Status NotYet(std::string_view file, int line, const LaterKey& later) {
  std::string name = fmt::format("`{}`", later.section);
  if (!later.key.empty()) name = fmt::format("`{}.{}`", later.section, later.key);
  if (!later.value.empty()) name += fmt::format(" `{}`", later.value);
  return ErrorAt(file, line, name + ": not yet");
}

absl::Status CheckTable(const TomlValue& table, std::string_view file, const LaterKey& later) {
  const TomlValue* const found = table.Find(later.key);
  if (found == nullptr) return absl::OkStatus();
  if (!later.value.empty()) {
    const auto* const text = std::get_if<std::string>(&found->data);
    if (text == nullptr || *text != later.value) return absl::OkStatus();
  }
  return NotYet(file, found->line, later);
}

// A list of launchers; one of them is a text.
absl::Status CheckLaunchers(const TomlValue& document, std::string_view file) {
  const TomlValue* const farm = document.Find("farm");
  const TomlValue* const launcher = farm == nullptr ? nullptr : farm->Find("launcher");
  if (launcher == nullptr || launcher->array() == nullptr) return absl::OkStatus();
  return ErrorAt(file, launcher->line,
                 "`farm.launcher`: a list of launchers: not yet; give one, as a text");
}

}  // namespace

absl::Status RefuseLaterKeys(const TomlValue& document, std::string_view file) {
  for (const LaterKey& later : kLaterKeys) {
    const TomlValue* const section = document.Find(later.section);
    if (section == nullptr) continue;
    if (later.key.empty()) return NotYet(file, section->line, later);
    if (section->array() == nullptr) {
      RETURN_IF_ERROR(CheckTable(*section, file, later));
      continue;
    }
    for (const TomlValue& element : *section->array())
      RETURN_IF_ERROR(CheckTable(element, file, later));
  }
  return CheckLaunchers(document, file);
}

absl::Status RefuseLaterKeysOfSidecar(const TomlValue& document, std::string_view file) {
  for (const LaterKey& later : kLaterKeys) {
    if (later.section != "rule") continue;
    if (const TomlValue* const found = document.Find(later.key))
      return ErrorAt(file, found->line, fmt::format("`{}`: not yet", later.key));
  }
  return absl::OkStatus();
}

absl::Status RefuseLaterVariables(const std::map<std::string, std::string>& environment) {
  for (const LaterKey& later : kLaterKeys) {
    if (later.key.empty() || later.section == "platform" || later.section == "rule") continue;
    const std::string name =
        absl::AsciiStrToUpper(fmt::format("GALLEY_{}_{}", later.section, later.key));
    const auto found = environment.find(name);
    if (found == environment.end() || (!later.value.empty() && found->second != later.value))
      continue;
    return InvalidArgumentError("the environment's {}: not yet", name);
  }
  return absl::OkStatus();
}

}  // namespace galley::project
