// `galley-worker describe --look FILE...`: what the cookers say about files, without cooking them.
// The answer is one JSON object a line, in the order of the files (docs/formats.md, "Looks").
//
// The looks are made in a child. A file that crashes a codec, or takes longer than a look may,
// costs its own answer alone: the line says so, and a new child goes on with the next file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "worker/executor/run_job.h"

namespace galley::worker {

struct LookFlags {
  std::vector<std::string> files;       // "-": their names come from standard input, one a line
  std::string cooker;                   // empty: the one that takes files of this extension
  std::string settings = "{}";          // JSON, for a cooker that is named
  std::vector<std::string> parameters;  // "shader=spirv-1.5": of the platform
  std::vector<std::string> mounts;      // "/Game=content"
  bool is_outline = false;              // LookDepth::kOutline
};

// The exit code: 0, also when files were refused; kExitUsage; kExitOther.
int DescribeLooks(const LookFlags& flags);

struct LookOptions {
  absl::Duration time_max = absl::Seconds(20);  // of one look
  uint64_t memory_bytes_max = 4ull << 30;       // RLIMIT_AS of the child; 0: none
};
// Calls `look`, which answers one line without its end, for each file in a child of this process,
// and hands the lines to `print` in order. UNAVAILABLE: no child could be started.
// REQUIRES: this process has one thread.
absl::Status LookInChildren(const std::vector<std::string>& files,
                            const std::function<std::string(const std::string& file)>& look,
                            const LookOptions& options,
                            const std::function<absl::Status(std::string line)>& print);

}  // namespace galley::worker
