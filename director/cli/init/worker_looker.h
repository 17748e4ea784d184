// WorkerLooker: asks `galley-worker describe --look`, for files of a folder of this machine.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "director/cli/init/looker.h"

namespace galley::init {

class WorkerLooker final : public Looker {
 public:
  struct Options {
    std::string directory;  // absolute: the tree
    std::string program;    // galley-worker
    // Of all looks together. What is not looked at by then has no answer.
    absl::Duration time_max = absl::Minutes(2);
  };
  explicit WorkerLooker(Options options) : options_(std::move(options)) {}

  std::map<std::string, Look> LookAt(const LookAsk& ask) override;

  // What was not looked at, and why, for people; "": all was.
  const std::string& trouble() const { return trouble_; }

 private:
  void LookAtSome(const LookAsk& ask, size_t begin, size_t end, std::map<std::string, Look>& looks);

  const Options options_;
  absl::Duration used_;
  std::string trouble_;
};

}  // namespace galley::init
