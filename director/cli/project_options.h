// ProjectOptions: what a command that directs cooks says instead of galley.toml.
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
  std::string launcher, out, metrics;  // empty: as galley.toml says

  // `metrics_help`: of --metrics.
  void AddTo(CLI::App& command, const char* metrics_help);
  // The project, with these values.
  absl::StatusOr<project::Project> Open(const GlobalOptions& global) const;
  // The options as another `galley` is given them, whatever its working directory.
  std::vector<std::string> Arguments() const;
};

}  // namespace galley::cli
