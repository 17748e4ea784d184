// DirectorOfProject: how commands find the resident director of a project.
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

// The version of this program.
inline constexpr const char* kVersion = "galley 0.1.0";
v1::BuildIdentity OwnBuild();

// Returns the project that `options` mean, for commands that only ask its director. If galley.toml
// is gone or has an error, and there is a director's socket, the returned project has only `root`.
absl::StatusOr<project::Project> ProjectOfDirector(const GlobalOptions& options);

// Null: no director serves the project. UNAVAILABLE: the director cannot be asked: it is another
// user's, silent, or of another build of Galley, and the text says what to do.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> FindDirector(
    const project::Project& project);
// Also finds directors of other builds, for commands that only stop the director.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> FindDirectorOfAnyBuild(
    const project::Project& project);
// Finds a command that hosts the director for its own cook. Null: there is none. UNAVAILABLE: the
// command is of another build of Galley, and the text says what to do.
absl::StatusOr<std::unique_ptr<director::HostedClient>> FindHostedCook(
    const project::Project& project);

// Connects to the director of another machine. INVALID_ARGUMENT: the options, or their files, do
// not fit; or the director does not let this certificate ask, and the text says why. UNAVAILABLE:
// the director cannot be asked.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> ConnectDirector(const FarDirector& far);
// Also connects to directors of other builds, for commands that only stop the director.
absl::StatusOr<std::unique_ptr<director::DirectorClient>> ConnectDirectorOfAnyBuild(
    const FarDirector& far);
// Reads the TLS files of the options.
absl::StatusOr<wire::ClientTls> TlsOf(const FarDirector& far);

// Returns "process 123".
std::string NameOf(const director::DirectorClient& client);

}  // namespace galley::cli
