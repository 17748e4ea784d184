// MakePlan: from a tree to the galley.toml that fits it, and a table that says what is done with
// each kind of file and why. `galley init` prints and writes them.
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

// Beyond these, init goes by what it saw and says so.
inline constexpr size_t kFilesMax = 1'000'000;

inline constexpr size_t kGuessesMax = 10'000;

struct Row {
  std::string extension;  // ".png", "(none)", "(folder)", "(odd)"
  size_t files = 0;
  Decision decision;
  std::vector<std::string> examples;  // a few paths; all, up to kGuessesMax, of a guess about use
};

struct MountPlan {
  Root root;
  size_t packages = 0;
};

// Growth: what the textures take when they are cooked for a platform with BC.
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
  std::string lfs_example;               // the path of one
  std::vector<std::string> named_only;   // like normal maps, and their pixels are none
  std::vector<std::string> may_be_data;  // images that are textures, and may be data
  size_t images = 0;                     // taken by the texture cooker
  size_t images_decoded = 0;             // decoded for the guess about their use
  std::optional<Growth> growth;          // when it is much
  size_t not_ignored = 0;                // SuggestedRules
  std::string not_ignored_example;
  std::string not_looked_at;  // why some files have no look of a cooker; "": all have
  bool is_cut = false;        // there are more than kFilesMax files
  bool is_empty = false;      // nothing was found that could be a package
};

// `name`: of the project. `looker` may be null: then texts and names decide alone.
Plan MakePlan(const Tree& tree, const std::string& name, size_t files_max = kFilesMax,
              Looker* looker = nullptr);

}  // namespace galley::init
