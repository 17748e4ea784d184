#include "common/record/check_outputs.h"

#include <algorithm>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "common/record/output_names.h"
#include "common/record/result.h"
#include "fmt/format.h"

namespace galley::record {
namespace {

// Suffixes in an error, so that the error stays readable.
constexpr size_t kToldMax = 10;

std::string Declared(const OutputNames& names) {
  std::vector<std::string> told;
  for (const std::string& suffix : names.always) {
    if (told.size() < kToldMax) told.push_back(fmt::format("\"{}\"", suffix));
  }
  if (names.always.size() > kToldMax)
    told.push_back(fmt::format("{} more", names.always.size() - kToldMax));
  if (names.has_more) told.push_back(fmt::format("further ones below \"{}\"", kFurtherOutputs));
  return told.empty() ? "none" : fmt::format("{}", fmt::join(told, ", "));
}

// The parameters that were looked at; an unset parameter is left out.
PlatformParameters SetParameters(std::span<const Observed> observed) {
  PlatformParameters parameters;
  for (const Observed& one : observed) {
    if (one.what.kind == ObservationKind::kPlatform && one.value != kUnset && !one.value.empty())
      parameters.emplace(one.what.subject, one.value.substr(1));  // after '='
  }
  return parameters;
}

absl::Status CheckLooks(const CookerDescription& cooker, std::span<const Observed> observed) {
  for (const OutputRule& rule : cooker.outputs) {
    if (rule.when_parameter.empty()) continue;
    const Observation look{ObservationKind::kPlatform, rule.when_parameter, ""};
    if (std::ranges::any_of(observed, [&](const Observed& one) { return one.what == look; }))
      continue;
    return FailedPreconditionError(
        "cooker `{}` made its outputs without a look at {}, on which its description says that "
        "they depend",
        cooker.name, look.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOutputs(const CookerDescription& cooker, std::string_view settings_json,
                          std::span<const Observed> observed,
                          std::span<const std::string> suffixes) {
  RETURN_IF_ERROR(CheckLooks(cooker, observed));
  const OutputNames names = OutputNamesOf(cooker, settings_json, SetParameters(observed));
  for (const std::string& suffix : suffixes) {
    if (MayHaveOutput(names, suffix)) continue;
    return FailedPreconditionError(
        "cooker `{}` made the output \"{}\", which its description does not declare; declared: {}",
        cooker.name, suffix, Declared(names));
  }
  for (const std::string& suffix : names.always) {
    if (std::binary_search(suffixes.begin(), suffixes.end(), suffix)) continue;
    return FailedPreconditionError(
        "cooker `{}` did not make the output \"{}\", which its description declares; declared: {}",
        cooker.name, suffix, Declared(names));
  }
  return absl::OkStatus();
}

absl::Status CheckGenerated(const CookerDescription& cooker, std::string_view name) {
  if (cooker.may_generate) return absl::OkStatus();
  return FailedPreconditionError(
      "cooker `{}` generated the package `{}`; its description says that it generates none",
      cooker.name, name);
}

}  // namespace galley::record
