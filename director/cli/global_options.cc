#include "director/cli/global_options.h"

#include <unistd.h>

#include <cstdio>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/owner/store_server.h"
#include "director/journal/journal.h"
#include "director/journal/project_home.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

extern char** environ;

namespace galley::cli {

void GlobalOptions::AddTo(CLI::App& command) {
  AddOption(command, "--project DIR", project,
            "Folder of galley.toml (default: at or above the working directory)");
  AddOption(command, "--store DIR", store, "Store directory instead of the project's");
  command.add_flag("--json", json, "Print JSON, one object a line, on standard output");
  command.add_flag("--quiet", quiet, "Print errors only");
  command.add_flag("--verbose", verbose,
                   "One line for every result of a cook; debug lines in the log");
}

void FarDirector::AddTo(CLI::App& command) {
  CLI::Option* const director =
      AddOption(command, "--director HOST:PORT", address,
                "Ask the director of another machine, where `galley serve --listen` says");
  const std::string with = "With --director: ";
  AddOption(command, "--tls-ca FILE", tls_ca, with + "authority of its certificate")
      ->needs(director);
  AddOption(command, "--tls-cert FILE", tls_cert, with + "our certificate, which has a role")
      ->needs(director);
  AddOption(command, "--tls-key FILE", tls_key, with + "its key")->needs(director);
}

void PrintJson(const nlohmann::json& line) {
  std::puts(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int Fail(const GlobalOptions& options, ExitCode code, std::string_view text) {
  if (options.json) {
    const nlohmann::json event = {
        {"event", "error"}, {"exit_code", static_cast<int>(code)}, {"text", text}};
    PrintJson(event);
    std::fflush(stdout);
  }
  std::fputs(fmt::format("galley: {}\n", text).c_str(), stderr);
  return code;
}

std::map<std::string, std::string> Environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

absl::StatusOr<project::Project> OpenProject(const GlobalOptions& options,
                                             const std::map<std::string, std::string>& overrides) {
  std::string directory = options.project;
  if (directory.empty()) {
    ASSIGN_OR_RETURN(directory, project::FindProject(AbsolutePath(".")));
  } else if (directory.ends_with(project::kProjectFile)) {
    directory = AbsolutePath(directory).substr(0, AbsolutePath(directory).rfind('/'));
  }
  project::LoadOptions load{
      .directory = AbsolutePath(directory), .environment = Environment(), .overrides = overrides};
  if (!options.store.empty()) load.overrides["store.dir"] = AbsolutePath(options.store);
  return project::LoadProject(load);
}

absl::StatusOr<std::unique_ptr<store::StoreDirectory>> OpenStoreOf(const GlobalOptions& options,
                                                                   store::OpenMode mode) {
  std::string directory = options.store;
  if (directory.find("://") != std::string::npos) {
    return InvalidArgumentError(
        "--store {}: it takes a directory; a remote store is set in galley.toml, in "
        "addition to the "
        "store of this machine: [store] remote = \"{}\"",
        directory, directory);
  }
  if (directory.empty()) {
    const absl::StatusOr<project::Project> project = OpenProject(options);
    // NOT_FOUND has another meaning for the store.
    if (absl::IsNotFound(project.status()))
      return absl::InvalidArgumentError(MessageOf(project.status()));
    RETURN_IF_ERROR(project.status());
    directory = project->store.directory;
  }
  return store::OpenOrConnect(AbsolutePath(directory), mode);
}

std::string ProjectId(const project::Project& project) {
  if (std::string id = director::ReadProjectId(project.state_directory()); !id.empty()) return id;
  // An older Galley kept the id only in the journal.
  if (!FileExists(JoinPath(project.state_directory(), "journal"))) return {};
  auto journal = director::Journal::Open(project.state_directory(), true);
  return journal.ok() ? (*journal)->meta().project_id : std::string();
}

}  // namespace galley::cli
