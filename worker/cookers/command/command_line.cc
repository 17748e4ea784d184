#include "worker/cookers/command/command_line.h"

#include <algorithm>
#include <array>

#include "common/base/status_macros.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"input",  "output",   "depfile",
                                                    "result", "platform", "cooked"};

bool TakesArgument(std::string_view name) { return name == "output" || name == "cooked"; }

// The placeholder in "{...}", given without its braces; nullopt: `inside` is plain text.
std::optional<Placeholder> Parse(std::string_view inside) {
  const size_t colon = inside.find(':');
  const std::string_view name = inside.substr(0, colon);
  if (std::ranges::find(kNames, name) == kNames.end()) return std::nullopt;
  if (colon == std::string_view::npos) return Placeholder{.name = name, .argument = std::nullopt};
  return Placeholder{.name = name, .argument = inside.substr(colon + 1)};
}

}  // namespace

absl::StatusOr<std::string> Expand(
    std::string_view argument,
    const std::function<absl::StatusOr<std::string>(const Placeholder&)>& value) {
  std::string expanded;
  for (size_t at = 0; at < argument.size();) {
    const size_t close = argument[at] == '{' ? argument.find('}', at) : std::string_view::npos;
    std::optional<Placeholder> found;
    if (close != std::string_view::npos && (at == 0 || argument[at - 1] != '$')) {
      found = Parse(argument.substr(at + 1, close - at - 1));
    }
    if (!found.has_value()) {
      expanded += argument[at++];
      continue;
    }
    if (TakesArgument(found->name) != found->argument.has_value()) {
      return VerdictError(
          "{}: {{{}}} {}", argument, found->name,
          TakesArgument(found->name) ? "needs ':' and an argument" : "takes no argument");
    }
    ASSIGN_OR_RETURN(const std::string text, value(*found));
    expanded += text;
    at = close + 1;
  }
  return expanded;
}

CookedInput ParseCookedInput(std::string_view text) {
  const size_t colon = text.rfind(":.");
  if (colon == std::string_view::npos)
    return {.package = std::string(text), .suffix = std::nullopt};
  return {.package = std::string(text.substr(0, colon)),
          .suffix = std::string(text.substr(colon + 1))};
}

}  // namespace galley::worker
