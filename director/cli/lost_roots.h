// Which roots lack something that the store lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"

namespace galley::cli {

struct LostRoot {
  store::PublishedRoot root;
  uint64_t lost = 0;  // files and folders that are gone; of a folder, what it held is not counted
  bool lacks_folder = false;  // one of them is a folder
  std::string example;        // the path of one; empty: the root itself
};

// The lost roots among those that are kept (store/interface/kept_roots.h), newest first, and among
// pins; of all projects when `project_id` is empty.
absl::StatusOr<std::vector<LostRoot>> FindLostRoots(store::Store& store,
                                                    const std::string& project_id);

}  // namespace galley::cli
