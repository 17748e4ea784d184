// CookCommandOptions: the command line of `galley cook`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "director/cli/global_options.h"
#include "director/cli/project_options.h"
#include "galley/v1/director.pb.h"

namespace galley::cli {

struct CookCommandOptions {
  GlobalOptions global;
  FarDirector far;
  v1::CookAsk ask;             // paths as typed; no class: the selection decides
  bool all_platforms = false;  // overrides the platforms of the ask
  ProjectOptions project;
  bool standalone = false;
  bool detach = false;
  std::optional<uint64_t> attach;  // number of a cook
  std::string summary;
  std::string trace;
  bool is_dry_run = false;
  std::vector<std::string> changed;  // lists of files; "-": standard input
};

}  // namespace galley::cli
