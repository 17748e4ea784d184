// Command lines: the placeholders in a command's arguments, {input} {output:SUFFIX} {depfile}
// {result} {platform} {cooked:PACKAGE} {cooked:PACKAGE:SUFFIX}.
//
// Any other brace is text, and so is a placeholder right after '$': "${input}" is the shell's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::worker {

struct Placeholder {
  std::string_view name;                     // "output"
  std::optional<std::string_view> argument;  // ".mesh"
};

// Returns `argument` with every placeholder replaced by its `value`, or the first error of `value`.
absl::StatusOr<std::string> Expand(
    std::string_view argument,
    const std::function<absl::StatusOr<std::string>(const Placeholder&)>& value);

// A cooked input as written: "/Game/a.png" or "/Game/a.png:.ktx2".
struct CookedInput {
  std::string package;
  std::optional<std::string> suffix;
  auto operator<=>(const CookedInput&) const = default;
};
CookedInput ParseCookedInput(std::string_view text);

}  // namespace galley::worker
