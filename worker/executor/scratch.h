// Scratch: an empty folder for a job, made when it is first needed and removed with its owner.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace galley::worker {

class Scratch {
 public:
  // `parent`: the folder in which the scratch folder is made.
  explicit Scratch(std::string parent) : parent_(std::move(parent)) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  absl::StatusOr<std::string> Directory();

 private:
  std::string parent_;
  std::string directory_;
};

}  // namespace galley::worker
