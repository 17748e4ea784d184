// ProjectOptions: values of galley.toml that a command that directs cooks may replace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/cli/global_options.h"

namespace galley::cli {

struct ProjectOptions {
  std::optional<uint32_t> workers;
  // Empty: galley.toml decides. `http` is an option of serve alone, which adds it.
  std::string launcher, out, metrics, http;

  // `metrics_help`: the help of --metrics.
  void AddTo(CLI::App& command, const char* metrics_help);
  // Opens the project with these values.
  absl::StatusOr<project::Project> Open(const GlobalOptions& global) const;
  // Returns the options for another `galley`, whatever its working directory.
  std::vector<std::string> Arguments() const;
};

}  // namespace galley::cli
