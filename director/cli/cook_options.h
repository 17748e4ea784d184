// CookCommandOptions: the command line of `galley cook`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "director/cli/global_options.h"
#include "director/host/cook_ask.h"

namespace galley::cli {

struct CookCommandOptions {
  GlobalOptions global;
  FarDirector far;
  director::CookAsk ask;               // its platforms are still to be found
  std::vector<std::string> platforms;  // their names; empty: all
  bool all_platforms = false;
  std::optional<uint32_t> workers;
  std::string launcher;
  std::string placement;
  std::string out;
  std::string metrics;  // empty: as galley.toml says
  bool standalone = false;
  std::string urgency_class;  // empty: by what is asked for
  bool detach = false;
  std::optional<uint64_t> attach;  // the number of a cook
  std::string summary;
  std::string trace;
  bool is_dry_run = false;
  std::vector<std::string> changed;  // lists of files; "-": standard input
};

}  // namespace galley::cli
