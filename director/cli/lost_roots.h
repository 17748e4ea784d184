// LostRoots: the roots that lack something because the store lost it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"

namespace galley::cli {

struct LostRoot {
  store::PublishedRoot root;
  uint64_t lost = 0;  // files and folders that are gone; contents of a lost folder do not count
  bool lacks_folder = false;  // a lost path is a folder
  std::string example;        // one lost path; empty: the root itself
};

// Returns the lost roots among the kept roots (store/interface/kept_roots.h), newest first, and
// among pins; of all projects when `project_id` is empty.
absl::StatusOr<std::vector<LostRoot>> FindLostRoots(store::Store& store,
                                                    const std::string& project_id);

}  // namespace galley::cli
