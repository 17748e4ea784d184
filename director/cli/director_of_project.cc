#include "director/cli/director_of_project.h"

#include <algorithm>
#include <utility>

#include "common/base/build_id.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "common/wire/tls_pair.h"
#include "director/host/director.h"
#include "director/host/outcome_status.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::DirectorClient;

std::string HolderOf(const project::Project& project) {
  const auto text = ReadFile(JoinPath(project.state_directory(), "lock"), 64);
  const std::string process =
      text.ok() ? text->substr(0, text->find_first_not_of("0123456789")) : "";
  return process.empty() ? "another process" : fmt::format("process {}", process);
}

std::string TextOf(const v1::BuildIdentity& build) {
  return fmt::format("{} (build {})", build.version(), build.build().substr(0, 12));
}

bool IsOwn(const v1::BuildIdentity& build) {
  const v1::BuildIdentity own = OwnBuild();
  return own.version() == build.version() && own.build() == build.build();
}

}  // namespace

v1::BuildIdentity OwnBuild() {
  v1::BuildIdentity build;
  build.set_version(kVersion);
  build.set_build(BuildId());
  return build;
}

absl::StatusOr<project::Project> ProjectOfDirector(const GlobalOptions& options) {
  absl::StatusOr<project::Project> project = OpenProject(options);
  if (project.ok()) return project;
  std::string folder = AbsolutePath(options.project.empty() ? "." : options.project);
  if (folder.ends_with(project::kProjectFile)) folder.resize(folder.rfind('/'));
  while (true) {
    project::Project of_folder;
    of_folder.root = folder;
    if (FileExists(director::SocketOf(of_folder))) return of_folder;
    if (!options.project.empty() || folder.size() <= 1) return project;
    folder.resize(std::max<size_t>(1, folder.rfind('/')));
  }
}

absl::StatusOr<std::unique_ptr<DirectorClient>> FindDirectorOfAnyBuild(
    const project::Project& project) {
  const std::string socket = director::SocketOf(project);
  auto found = DirectorClient::Find(socket, OwnBuild());
  if (absl::IsPermissionDenied(found.status())) {
    return director::Infrastructure(
        fmt::format("{} has this project, and this user may not connect to {}: ask as the user "
                    "that runs the director",
                    HolderOf(project), socket));
  }
  if (absl::IsDeadlineExceeded(found.status())) {
    return director::Infrastructure(
        fmt::format("{} has this project, and {}", HolderOf(project), MessageOf(found.status())));
  }
  if (!found.ok()) return director::Infrastructure(found.status());
  return found;
}

absl::StatusOr<wire::ClientTls> TlsOf(const FarDirector& far) {
  if (listen::IsUnixAddress(far.address) || !listen::HostOf(far.address).has_value())
    return director::WrongUse(
        fmt::format("--director {}: expected HOST:PORT, the address that `galley serve --listen` "
                    "of that machine names",
                    far.address));
  if (far.tls_ca.empty() || far.tls_cert.empty() || far.tls_key.empty())
    return director::WrongUse(
        "--director: who asks the director of another machine is known by a certificate: expected "
        "--tls-ca, --tls-cert and --tls-key");
  const auto texts =
      wire::ReadTlsFiles({.certificate = far.tls_cert, .key = far.tls_key, .ca = far.tls_ca});
  if (!texts.ok()) return director::WrongUse(texts.status());
  return wire::ClientTls{.ca = texts->ca, .certificate = texts->certificate, .key = texts->key};
}

absl::StatusOr<std::unique_ptr<DirectorClient>> ConnectDirectorOfAnyBuild(const FarDirector& far) {
  ASSIGN_OR_RETURN(const wire::ClientTls tls, TlsOf(far));
  auto client = DirectorClient::Connect(far.address, tls, OwnBuild());
  if (absl::IsUnauthenticated(client.status()) || absl::IsPermissionDenied(client.status()))
    return director::WrongUse(client.status());
  if (!client.ok()) return director::Infrastructure(client.status());
  return client;
}

absl::StatusOr<std::unique_ptr<DirectorClient>> ConnectDirector(const FarDirector& far) {
  ASSIGN_OR_RETURN(std::unique_ptr<DirectorClient> client, ConnectDirectorOfAnyBuild(far));
  const v1::BuildIdentity& other = client->director().director();
  if (IsOwn(other)) return client;
  return director::Infrastructure(
      fmt::format("the director at {} is {}, and this is {}: use a galley of the same build",
                  far.address, TextOf(other), TextOf(OwnBuild())));
}

absl::StatusOr<std::unique_ptr<DirectorClient>> FindDirector(const project::Project& project) {
  ASSIGN_OR_RETURN(std::unique_ptr<DirectorClient> client, FindDirectorOfAnyBuild(project));
  if (client == nullptr) return client;
  const v1::BuildIdentity& other = client->director().director();
  if (IsOwn(other)) return client;
  return director::Infrastructure(
      fmt::format("the director of this project ({}) is {}, and this is {}: stop it with `galley "
                  "serve --stop`, "
                  "and start it again with `galley serve --detach`",
                  NameOf(*client), TextOf(other), TextOf(OwnBuild())));
}

absl::StatusOr<std::unique_ptr<director::HostedClient>> FindHostedCook(
    const project::Project& project) {
  auto hosted = director::HostedClient::Find(director::SocketOf(project));
  if (hosted == nullptr) return hosted;
  const auto status = hosted->Status();
  if (!status.ok()) return std::unique_ptr<director::HostedClient>();
  if (IsOwn(status->director())) return hosted;
  return director::Infrastructure(
      fmt::format("a cook runs here (process {}), and is of {}; this is {}: use a galley of the "
                  "same build",
                  status->process(), TextOf(status->director()), TextOf(OwnBuild())));
}

std::string NameOf(const DirectorClient& client) {
  return fmt::format("process {}", client.director().process());
}

}  // namespace galley::cli
