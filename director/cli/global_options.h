// Options that every command takes, and the errors that every command prints.
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

struct GlobalOptions {
  std::string project;
  std::string store;
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  void AddTo(CLI::App& command);
};

// The director of another machine, and who asks it.
struct FarDirector {
  std::string address;  // empty: the director of the project here
  std::string tls_ca, tls_cert, tls_key;

  void AddTo(CLI::App& command);
};

// On one line of standard output; what is no UTF-8 (a folder's name, say) is replaced.
void PrintJson(const nlohmann::json& line);

// "galley: <text>" on standard error; with --json also an event. Returns `code`.
int Fail(const GlobalOptions& options, ExitCode code, std::string_view text);

// The process's environment.
std::map<std::string, std::string> Environment();

// The project at --project, or at or above the working directory.
absl::StatusOr<project::Project> OpenProject(
    const GlobalOptions& options, const std::map<std::string, std::string>& overrides = {});

// The store that --store names, else the project's.
absl::StatusOr<std::unique_ptr<store::StoreDirectory>> OpenStoreOf(
    const GlobalOptions& options, store::OpenMode mode = store::OpenMode::kMustExist);

// The id under which this project publishes; empty when it never cooked.
std::string ProjectId(const project::Project& project);

}  // namespace galley::cli
