// MakePlan: from a tree to the galley.toml that fits it, and a table that says what is done with
// each kind of file and why. `galley init` prints and writes them.
#pragma once

#include <string>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/decision.h"
#include "director/cli/init/tree.h"

namespace galley::init {

// Beyond these, init goes by what it saw and says so.
inline constexpr size_t kFilesMax = 1'000'000;

struct Row {
  std::string extension;  // ".png", "(none)", "(folder)", "(odd)"
  size_t files = 0;
  Decision decision;
  std::vector<std::string> examples;  // a few paths
};

struct MountPlan {
  Root root;
  size_t packages = 0;
};

struct Plan {
  std::vector<MountPlan> mounts;
  std::vector<Row> rows;  // what is cooked first, what is left out last
  std::string toml;
  size_t lfs_pointers = 0;  // files whose contents Git LFS has elsewhere
  std::string lfs_example;  // the path of one
  bool is_cut = false;      // there are more than kFilesMax files
  bool is_empty = false;    // nothing was found that could be a package
};

// `name`: of the project.
Plan MakePlan(const Tree& tree, const std::string& name, size_t files_max = kFilesMax);

}  // namespace galley::init
