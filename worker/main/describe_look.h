// `galley-worker describe --look FILE...`: what the cookers say about files, without cooking them.
// The answer for each file is a JSON object in a line, in the order of the files (docs/formats.md,
// "Looks").
//
// The looks are made in a child process. A file that crashes a codec, or exceeds the time of a
// look, costs only its own answer: its line says so, and a new child continues with the next file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "worker/executor/run_job.h"

namespace galley::worker {

struct LookFlags {
  std::vector<std::string> files;       // "-": standard input has the names, one a line
  std::string cooker;                   // empty: the cooker for files of this extension
  std::string settings = "{}";          // JSON, for a named cooker
  std::vector<std::string> parameters;  // "shader=spirv-1.5": parameters of the platform
  std::vector<std::string> mounts;      // "/Game=content"
  bool is_outline = false;              // LookDepth::kOutline
};

// Returns the exit code: 0, also when files were refused; kExitUsage; kExitOther.
int DescribeLooks(const LookFlags& flags);

struct LookOptions {
  absl::Duration time_max = absl::Seconds(20);  // for a single look
  uint64_t memory_bytes_max = 4ull << 30;       // RLIMIT_AS of the child; 0: no limit
};
// Calls `look` for each file in a child of this process; `look` returns a line without its end.
// Hands the lines to `print` in order. UNAVAILABLE: no child could be started. REQUIRES: this
// process has one thread.
absl::Status LookInChildren(const std::vector<std::string>& files,
                            const std::function<std::string(const std::string& file)>& look,
                            const LookOptions& options,
                            const std::function<absl::Status(std::string line)>& print);

}  // namespace galley::worker
