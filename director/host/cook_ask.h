// CookAsk: what somebody asks of one cook.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/project/project.h"
#include "director/core/ids.h"
#include "director/host/cook_class.h"
#include "director/host/environment_difference.h"

namespace galley::director {

// The packages that are asked for. Names and patterns are as a person writes them: virtual, or
// paths of the host.
struct SelectionAsk {
  std::vector<std::string> positional;  // PACKAGE | MAP | DIR
  std::vector<std::string> maps;
  std::vector<std::string> packages;
  std::vector<std::string> directories;
  std::vector<std::string> map_sections;
  std::vector<std::string> cultures;  // instead of those of galley.toml
  std::vector<std::string> never;     // globs, beside those of galley.toml
  bool no_soft_references = false;

  bool has_selection() const {
    return !positional.empty() || !maps.empty() || !packages.empty() || !directories.empty() ||
           !map_sections.empty();
  }
};

struct CookAsk {
  SelectionAsk selection;
  std::vector<std::string> platforms;  // names; none: all that galley.toml has, also later
  bool no_stage = false;
  bool adopt = false;
  bool exact = false;
  bool force = false;
  bool retry_failed = false;
  bool fail_fast = false;
  std::string output_directory;  // of the sandboxes, absolute; empty: the project's
  mode_t umask = 022;            // of who asks: decides the modes of what is staged
  DifferingVariables differing;  // of the environment of who asks; none: it is the director's
  CookClass urgency_class = CookClass::kNightly;
  // Virtual paths of files and folders: no others differ from what the last cook of the same saw,
  // says who asks. nullopt: all files are looked at.
  std::optional<std::vector<std::string>> changed;
  // A commit of git: no other files are looked at than those for which git cannot vouch
  // (git_files.h). Empty: git is not asked.
  std::string changed_since;
  bool repair = false;  // what the store lost, and nothing else; nothing is published or staged

  bool is_staged() const { return !no_stage && !repair; }
};

// The platforms that are asked for, by their places in `project`. INVALID_ARGUMENT: it has no such
// platform.
absl::StatusOr<PlatformMask> PlatformsIn(const project::Project& project,
                                         const std::vector<std::string>& asked);
// The same by name, in the order of galley.toml; what it has not is left out.
std::vector<std::string> PlatformNames(const project::Project& project,
                                       const std::vector<std::string>& asked);

}  // namespace galley::director
