#include "director/cli/project_options.h"

#include <map>

#include "common/base/file.h"

namespace galley::cli {

void ProjectOptions::AddTo(CLI::App& command, const char* metrics_help) {
  command.add_option("--workers", workers, "Start exactly this many workers")
      ->check(CLI::Range(1u, 4096u));
  AddOption(command, "--launcher NAME", launcher,
            "Where workers come from: local, ssh, slurm, kubernetes, command (docs/farm.md), or "
            "none (they come by themselves)");
  AddOption(command, "--out DIR", out,
            "Put the sandboxes into DIR/<platform>, instead of [output] dir");
  AddOption(command, "--metrics HOST:PORT", metrics, metrics_help);
}

absl::StatusOr<project::Project> ProjectOptions::Open(const GlobalOptions& global) const {
  std::map<std::string, std::string> overrides;
  if (!out.empty()) overrides["output.dir"] = AbsolutePath(out);
  if (workers) overrides["farm.workers"] = std::to_string(*workers);
  if (!launcher.empty()) overrides["farm.launcher"] = launcher;
  if (!metrics.empty()) overrides["director.metrics"] = metrics;
  if (!http.empty()) overrides["director.http"] = http;
  return OpenProject(global, overrides);
}

std::vector<std::string> ProjectOptions::Arguments() const {
  std::vector<std::string> arguments;
  if (workers) arguments.insert(arguments.end(), {"--workers", std::to_string(*workers)});
  if (!launcher.empty()) arguments.insert(arguments.end(), {"--launcher", launcher});
  if (!out.empty()) arguments.insert(arguments.end(), {"--out", AbsolutePath(out)});
  if (!metrics.empty()) arguments.insert(arguments.end(), {"--metrics", metrics});
  if (!http.empty()) arguments.insert(arguments.end(), {"--http", http});
  return arguments;
}

}  // namespace galley::cli
