// StageReport: the outcome of a stage or a checkout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galley::director {

struct StageReport {
  uint64_t written = 0;
  uint64_t removed = 0;
  uint64_t unchanged = 0;
  uint64_t bytes_written = 0;
  uint64_t linked = 0;               // written files that are hard links to the store's files
  uint64_t cloned = 0;               // written files that are clones of the store's files
  uint64_t symbolic_links = 0;       // of a session tree; no files
  uint64_t foreign_count = 0;        // by the book: number of files that Galley never put there
  std::vector<std::string> foreign;  // the first of these
};

}  // namespace galley::director
