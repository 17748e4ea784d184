// The resident director of a project, as commands find it.
//
// Threads: none.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/cli/global_options.h"
#include "director/serve/director_client.h"

namespace galley::cli {

// This program.
inline constexpr const char* kVersion = "galley 0.1.0";
v1::BuildIdentity OwnBuild();

// The project that `options` mean, for those who only ask its director. Where galley.toml is gone
// or has an error, and there is a director's socket, only `root` of the project is known.
absl::StatusOr<project::Project> ProjectOfDirector(const GlobalOptions& options);

// Null: none serves the project. UNAVAILABLE: there is one that cannot be asked: it is another
// user's, silent, or of another build of Galley, and the text says what to do.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> FindDirector(
    const project::Project& project);
// Likewise, but of any build, for those who only stop it.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> FindDirectorOfAnyBuild(
    const project::Project& project);
// A command that hosts the director for its own cook. Null: none does. UNAVAILABLE: it is of
// another build of Galley, and the text says what to do.
absl::StatusOr<std::unique_ptr<director::HostedClient>> FindHostedCook(
    const project::Project& project);

// The director of another machine. INVALID_ARGUMENT: the options do not fit, or what their files
// hold; or it does not let this certificate ask, and the text says why. UNAVAILABLE: it cannot be
// asked.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> ConnectDirector(const FarDirector& far);
// Likewise, but of any build, for those who only stop it.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> ConnectDirectorOfAnyBuild(
    const FarDirector& far);
// The files of its options, read.
absl::StatusOr<wire::ClientTls> TlsOf(const FarDirector& far);

// "process 123"
std::string NameOf(const director::DirectorClient& client);

}  // namespace galley::cli
