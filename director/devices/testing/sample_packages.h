// For tests: packages as worlds show them, and a store in memory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"
#include "director/devices/named_blob.h"
#include "director/devices/static_entry.h"

namespace galley::devices {

inline std::string LoweredPath(std::string_view path) {
  std::string text(path);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

// Stores blobs in the order in which they come: a folder is stored after its children.
class BlobsInMemory {
 public:
  // False: a blob has another digest than it says.
  bool Store(std::vector<NamedBlob> blobs) {
    bool is_right = true;
    for (NamedBlob& blob : blobs) {
      is_right = is_right && Digest::Of(blob.bytes) == blob.digest;
      blobs_.insert_or_assign(blob.digest, std::move(blob.bytes));
    }
    return is_right;
  }
  tree::ReadBlob Read() {
    return [this](const Digest& digest) -> absl::StatusOr<Blob> {
      ++reads_;
      const auto found = blobs_.find(digest);
      if (found == blobs_.end()) return absl::NotFoundError("no such blob");
      return MakeBlob(found->second);
    };
  }
  const std::string* Find(const Digest& digest) const {
    const auto found = blobs_.find(digest);
    return found == blobs_.end() ? nullptr : &found->second;
  }
  size_t size() const { return blobs_.size(); }
  int reads() const { return reads_; }

 private:
  std::map<Digest, std::string> blobs_;
  int reads_ = 0;
};

// A package that is staged at its virtual path.
inline ShownPackage SampleLink(const std::string& package, std::vector<std::string> suffixes,
                               bool has_more = false) {
  return {.package = package,
          .stage_path = package.substr(1),
          .outputs = {.always = std::move(suffixes), .has_more = has_more}};
}
inline ShownPackage SampleFile(const std::string& package, const std::string& text) {
  return {.package = package,
          .stage_path = package.substr(1),
          .outputs = {.always = {""}},
          .file = StaticFile{.digest = Digest::Of(text)}};
}

}  // namespace galley::devices
