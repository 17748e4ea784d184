// CookAsk: functions of v1::CookAsk (director.proto), the value of everything that a person asks of
// a cook. It goes from the command line to the director, in this process or in another.
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/core/ids.h"
#include "director/host/cook_class.h"
#include "director/shell/glob_filter.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// Returns the names of a message as a list.
std::vector<std::string> ListOf(const google::protobuf::RepeatedPtrField<std::string>& names);

// Says whether the selection names packages, maps or folders.
bool HasSelection(const v1::Selection& selection);
// Says whether the selection is exactly the selection of the project file.
bool IsByTheBook(const v1::Selection& selection);
inline bool IsByTheBook(const v1::CookAsk& ask) {
  return IsByTheBook(ask.selection()) && !ask.repair();
}
inline bool IsStaged(const v1::CookAsk& ask) { return !ask.no_stage() && !ask.repair(); }
// Returns kNightly when the ask names no class, or an unknown class.
CookClass ClassOf(const v1::CookAsk& ask);
// Returns the packages that the cook leaves out, and its cultures (--never, --culture); null: the
// ask says nothing of either. INVALID_ARGUMENT: a glob is malformed.
absl::StatusOr<GlobFilterPtr> FilterOf(const v1::CookAsk& ask);
// Returns a few words for people: "by the book", "/Game/a.png and 3 more".
std::string WhatIsAsked(const v1::CookAsk& ask);

// INVALID_ARGUMENT: the ask names a platform or a class that does not exist, or has a glob that is
// malformed.
absl::Status CheckAsk(const v1::CookAsk& ask, const project::Project& project);

// Returns the platforms with these names, as bits of their indexes in `project`; no names: all.
// INVALID_ARGUMENT: the project has no such platform.
absl::StatusOr<PlatformMask> PlatformsIn(const project::Project& project,
                                         const std::vector<std::string>& asked);
// Returns the names of these platforms in the order of galley.toml, without unknown platforms.
std::vector<std::string> PlatformNames(const project::Project& project,
                                       const std::vector<std::string>& asked);

}  // namespace galley::director
