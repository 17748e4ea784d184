// GlobalOptions: options that every command takes, and the errors that every command prints.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/store/interface/store_admin.h"
#include "common/store/owner/store_server.h"
#include "director/cli/exit_code.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

// An option, or an argument, with the type that its help shows: "--out DIR", "cook COOK".
template <typename T>
CLI::Option* AddOption(CLI::App& command, const std::string& name_and_type, T& target,
                       const std::string& help) {
  const size_t blank = name_and_type.find(' ');
  return command.add_option(name_and_type.substr(0, blank), target, help)
      ->type_name(name_and_type.substr(blank + 1));
}

struct GlobalOptions {
  std::string project;
  std::string store;
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  void AddTo(CLI::App& command);
};

// FarDirector: the director of another machine, and who asks it.
struct FarDirector {
  std::string address;  // empty: the director of the project here
  std::string tls_ca, tls_cert, tls_key;

  void AddTo(CLI::App& command);
};

// Prints one line on standard output; replaces bytes that are no UTF-8, for example in a folder's
// name.
void PrintJson(const nlohmann::json& line);

// Prints "galley: <text>" on standard error; with --json also an event. Returns `code`.
int Fail(const GlobalOptions& options, ExitCode code, std::string_view text);

// The process's environment.
std::map<std::string, std::string> Environment();

// Opens the project at --project, or at or above the working directory.
absl::StatusOr<project::Project> OpenProject(
    const GlobalOptions& options, const std::map<std::string, std::string>& overrides = {});

// Opens the store that --store names, or else the project's store.
absl::StatusOr<std::unique_ptr<store::StoreDirectory>> OpenStoreOf(
    const GlobalOptions& options, store::OpenMode mode = store::OpenMode::kMustExist);

// Returns the id under which this project publishes; empty: the project never cooked.
std::string ProjectId(const project::Project& project);

}  // namespace galley::cli
