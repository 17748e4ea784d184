// WorkerLooker: asks `galley-worker describe --look`, for files of a folder of this machine.
//
// Files go to a few programs at a time, in batches; an answer is read as it is printed. A file that
// crashes a cooker has no answer, and the others have theirs.
// Threads: one caller; LookAt has threads of its own, which end with it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "director/cli/init/looker.h"

namespace galley::init {

class WorkerLooker final : public Looker {
 public:
  struct Options {
    std::string directory;  // absolute: the tree
    std::string program;    // galley-worker
    // The time for all looks except outlines. Files that are left then have no answer.
    absl::Duration time_max = absl::Minutes(2);
    size_t programs_max = 4;  // at a time, but at most one for each processor
  };
  explicit WorkerLooker(Options options) : options_(std::move(options)) {}

  std::map<std::string, Look> LookAt(const LookAsk& ask) override;

  // The files without an answer, and why, for people; "": all have one.
  std::string trouble() const;

 private:
  class Run;

  const Options options_;
  absl::Duration used_;
  size_t failed_count_ = 0;
  std::string failed_;   // the first file without an answer, by path, and why
  std::string stopped_;  // why some files were not tried
};

}  // namespace galley::init
