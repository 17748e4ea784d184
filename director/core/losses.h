// Losses: what a cook knows of bytes that the store lost under it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "director/core/ids.h"

namespace galley::director {

struct Losses {
  uint32_t rounds = 0;          // in which roots had to be built again
  bool is_interrupted = false;  // since roots are published: told when staging lacks something
  uint32_t fruitless = 0;  // of these, those before which no package was found to have lost a thing
  absl::btree_map<PackageId, uint32_t> made_again;  // how often
  bool is_looking = false;                          // LookForLost is not answered
  bool is_seen_again = false;                       // since it was sent
  std::string from_staging;  // what the last StageRoots lacked; empty: nothing
};

}  // namespace galley::director
