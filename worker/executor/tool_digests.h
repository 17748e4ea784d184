// ToolDigests: digests of programs, remembered by their stat. The digest of a file that changed so
// lately that a further change may leave its times unchanged is not remembered.
// Errors: NOT_FOUND: the file is absent, or no regular file; others as ReadFile.
// Threads: one owner.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"

namespace galley::worker {

class ToolDigests {
 public:
  absl::StatusOr<Digest> DigestOf(const std::string& host_path);

 private:
  struct Known {
    FileStat stat;
    Digest digest;
  };
  std::map<std::string, Known> known_;
};

}  // namespace galley::worker
