#include "common/record/always_looks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/record/cooker_description.h"

namespace galley::record {
namespace {

bool HoldsFor(const LookDescription& look, std::string_view extension,
              const nlohmann::json& settings) {
  if (!look.extensions.empty() &&
      std::ranges::find(look.extensions, extension) == look.extensions.end())
    return false;
  if (look.unless_setting.empty() || !settings.is_object()) return true;
  const auto setting = settings.find(look.unless_setting);
  return setting == settings.end() || setting->is_null();
}

}  // namespace

std::vector<AlwaysLook> AlwaysLooksOf(const CookerDescription& cooker, std::string_view extension,
                                      std::string_view settings_json) {
  std::vector<AlwaysLook> looks;
  if (cooker.looks.empty()) return looks;
  const nlohmann::json settings =
      nlohmann::json::parse(settings_json, nullptr, /*allow_exceptions=*/false);
  for (const LookDescription& look : cooker.looks) {
    if (HoldsFor(look, extension, settings))
      looks.push_back(
          {.kind = look.kind, .subject = look.subject, .in_verdicts = look.in_verdicts});
  }
  return looks;
}

std::string MissingLook(std::span<const AlwaysLook> looks, std::span<const Observed> observed,
                        bool is_verdict) {
  for (const AlwaysLook& look : looks) {
    const bool is_made = std::ranges::any_of(observed, [&](const Observed& one) {
      return one.what.kind == look.kind &&
             (look.subject.empty() || one.what.subject == look.subject);
    });
    if (is_made || (is_verdict && !look.in_verdicts)) continue;
    return Observation{look.kind, look.subject.empty() ? "..." : look.subject, ""}.ToString();
  }
  return "";
}

}  // namespace galley::record
