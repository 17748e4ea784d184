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
  uint64_t linked = 0;               // of `written`: share the store's file
  uint64_t cloned = 0;               // of `written`: share the file's bytes until somebody writes
  uint64_t foreign_count = 0;        // by the book: files that Galley never put there
  std::vector<std::string> foreign;  // first such files
};

}  // namespace galley::director
