// The resident director of a project, as commands find it.
//
// Threads: none.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/serve/director_client.h"

namespace galley::cli {

// This program.
inline constexpr const char* kVersion = "galley 0.1.0";
v1::BuildIdentity OwnBuild();

// Null: none serves the project. UNAVAILABLE: there is one that cannot be asked: it is another
// user's, silent, or of another build of Galley, and the text says what to do.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> FindDirector(
    const project::Project& project);
// Likewise, but of any build, for those who only stop it.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> FindDirectorOfAnyBuild(
    const project::Project& project);

// "process 123"
std::string NameOf(const director::DirectorClient& client);

}  // namespace galley::cli
