// Functions of v1::CookAsk (director.proto), the one value that says what somebody asks for, from
// the command line to the director that cooks, in this process or elsewhere.
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/core/ids.h"
#include "director/host/cook_class.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// Names of a message, as a list.
std::vector<std::string> ListOf(const google::protobuf::RepeatedPtrField<std::string>& names);

// It names packages, maps or folders.
bool HasSelection(const v1::Selection& selection);
// It asks for all that the project file says, and leaves nothing out.
bool IsByTheBook(const v1::Selection& selection);
inline bool IsByTheBook(const v1::CookAsk& ask) {
  return IsByTheBook(ask.selection()) && !ask.repair();
}
inline bool IsStaged(const v1::CookAsk& ask) { return !ask.no_stage() && !ask.repair(); }
// kNightly when the ask names no class, or one that there is not.
CookClass ClassOf(const v1::CookAsk& ask);
// A few words for people: "by the book", "/Game/a.png and 3 more".
std::string WhatIsAsked(const v1::CookAsk& ask);

// INVALID_ARGUMENT: the ask names a platform or a class that there is not.
absl::Status CheckAsk(const v1::CookAsk& ask, const project::Project& project);

// The platforms that are asked for, by their places in `project`; none: all that it has.
// INVALID_ARGUMENT: it has no such platform.
absl::StatusOr<PlatformMask> PlatformsIn(const project::Project& project,
                                         const std::vector<std::string>& asked);
// The same by name, in the order of galley.toml; what it has not is left out.
std::vector<std::string> PlatformNames(const project::Project& project,
                                       const std::vector<std::string>& asked);

}  // namespace galley::director
