// CookCommandOptions: the command line of `galley cook`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "director/cli/global_options.h"

namespace galley::cli {

struct CookCommandOptions {
  GlobalOptions global;
  std::vector<std::string> positional;  // PACKAGE | MAP | DIR
  std::vector<std::string> platforms;
  bool all_platforms = false;
  std::vector<std::string> maps;
  std::vector<std::string> packages;
  std::vector<std::string> directories;
  std::vector<std::string> map_sections;
  std::vector<std::string> cultures;
  std::vector<std::string> never;
  bool no_soft_references = false;
  std::optional<uint32_t> workers;
  std::string launcher;
  std::string placement;
  std::string out;
  bool no_stage = false;
  bool adopt = false;
  bool exact = false;
  bool force = false;
  bool retry_failed = false;
  bool fail_fast = false;
  bool standalone = false;
  bool repair = false;  // what the store lost, and nothing else; nothing is published or staged
  std::string summary;
  std::string trace;

  bool has_selection() const {
    return !positional.empty() || !maps.empty() || !packages.empty() || !directories.empty() ||
           !map_sections.empty();
  }
};

}  // namespace galley::cli
