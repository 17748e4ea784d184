// MakePlan: makes a galley.toml that fits a tree, and a table that says what is done with each kind
// of file and why. `galley init` writes the one and prints the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/decision.h"
#include "director/cli/init/looker.h"
#include "director/cli/init/tree.h"

namespace galley::init {

// Above kFilesMax files, the rules follow from the files that were seen, and init says so. A row
// names at most kGuessesMax guesses.
inline constexpr size_t kFilesMax = 1'000'000;

inline constexpr size_t kGuessesMax = 10'000;

struct Row {
  std::string extension;  // ".png", "(none)", "(folder)", "(odd)"
  size_t files = 0;
  Decision decision;
  std::vector<std::string> examples;  // a few paths; for a guess about use, all
};

struct MountPlan {
  Root root;
  size_t packages = 0;
};

// Growth: the size of the textures when they are cooked for a platform with BC.
struct Growth {
  uint64_t source_bytes = 0;
  uint64_t cooked_bytes = 0;
  size_t images = 0;
  uint32_t max_size = 0;              // a bound of the sides that would shrink them; 0: none
  uint64_t cooked_bytes_bounded = 0;  // with max_size
};

struct Plan {
  std::vector<MountPlan> mounts;
  std::vector<Row> rows;  // cooked files first, files that are left out last
  std::string toml;
  size_t lfs_pointers = 0;               // files whose contents Git LFS has elsewhere
  std::string lfs_example;               // the path of a pointer
  std::vector<std::string> named_only;   // named like normal maps, but other pixels
  std::vector<std::string> may_be_data;  // cooked as textures, but may be data
  size_t images = 0;                     // images for the texture cooker
  size_t images_decoded = 0;             // images that were decoded to guess their use
  std::optional<Growth> growth;          // set if it is large
  size_t not_ignored = 0;                // SuggestedRules
  std::string not_ignored_example;
  std::string not_looked_at;  // why some files have no look; "": all have a look
  bool is_cut = false;        // there are more than kFilesMax files
  bool is_empty = false;      // no file could be a package
};

// `name`: the project's. `looker` may be null: then texts and names decide alone.
Plan MakePlan(const Tree& tree, const std::string& name, size_t files_max = kFilesMax,
              Looker* looker = nullptr);

}  // namespace galley::init
