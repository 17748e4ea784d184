// For tests: the folders of trees in memory, with the number of reads.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"

namespace galley::tree {

class CountedBlobs {
 public:
  Digest Add(const std::string& bytes) {
    blobs_.emplace(Digest::Of(bytes), bytes);
    return Digest::Of(bytes);
  }
  void AddAll(const std::map<Digest, std::string>& blobs) {
    blobs_.insert(blobs.begin(), blobs.end());
  }
  void Forget(const Digest& digest) { blobs_.erase(digest); }

  // NOT_FOUND: there is no such blob.
  ReadBlob Read() {
    return [this](const Digest& digest) -> absl::StatusOr<Blob> {
      ++reads;
      const auto found = blobs_.find(digest);
      if (found == blobs_.end()) return absl::NotFoundError("no such blob");
      return MakeBlob(found->second);
    };
  }

  // Bytes by digest, of all trees so far.
  const std::map<Digest, std::string>& blobs() const { return blobs_; }

  int reads = 0;

 private:
  std::map<Digest, std::string> blobs_;
};

}  // namespace galley::tree
