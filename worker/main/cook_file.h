// `galley-worker cook FILE`: cooks a single file by hand, with no project, director or store, for
// people who tune settings. The code is the executor's, over a snapshot of the file's folder and of
// the mounts that the flags name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker {

struct CookFileFlags {
  std::string file;
  std::string cooker;                   // empty: the cooker for files of this extension
  std::string settings = "{}";          // JSON, over the cooker's defaults
  std::vector<std::string> parameters;  // "texture=astc": parameters of the platform
  std::vector<std::string> mounts;      // "/Game=content": shown to the cooker at that virtual path
  std::string out = ".";                // outputs are <out>/<file name><suffix>
  std::string preview;                  // a PNG of the first .ktx2; empty: no preview
  bool json = false;
};

// The parts of "KEY=VALUE". INVALID_ARGUMENT: one is empty; the error names `option` and `example`.
absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const std::string& text,
                                                              std::string_view option,
                                                              std::string_view example);

// Prints the looks and the outputs. Returns the exit code: 0, kExitVerdict, kExitUsage, kExitOther.
int CookFile(const CookFileFlags& flags);

}  // namespace galley::worker
