// SampleTree: folders of a tree in memory, encoded by hand, so that tests of other systems need
// nothing else of Galley.
//
// Source: build.bazel.remote.execution.v2.Directory; protobuf.dev, "Encoding". Threads: none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/tree_path.h"

namespace galley::vfs {

struct SampleFolder {
  // Sorted by name.
  std::vector<std::pair<std::string, BlobId>> files, folders;
  std::vector<std::pair<std::string, std::string>> links;  // name, target
};

class SampleTree {
 public:
  BlobId Put(const std::string& bytes) {
    const BlobId blob = BlobId::Of(bytes);
    blobs_[blob] = bytes;
    return blob;
  }
  BlobId Put(const SampleFolder& folder) {
    std::string bytes;
    for (const auto& [name, blob] : folder.files) bytes += Field(1, Node(name, Digest(blob)));
    for (const auto& [name, blob] : folder.folders) bytes += Field(2, Node(name, Digest(blob)));
    for (const auto& [name, target] : folder.links) bytes += Field(3, Node(name, target));
    return Put(bytes);
  }
  // Puts a folder with one folder in it, for each name, the outermost first.
  BlobId PutBelow(const std::vector<std::string>& names, BlobId inner) {
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      inner = Put(SampleFolder{.files = {}, .folders = {{*name, inner}}, .links = {}});
    return inner;
  }
  void Drop(const BlobId& blob) { blobs_.erase(blob); }
  ReadFolder Read() const {
    return [this](const BlobId& blob) -> Result<FolderBytes> {
      const auto found = blobs_.find(blob);
      if (found == blobs_.end()) return Fault{GALLEY_VFS_OFFLINE, "no folder"};
      return FolderBytes(found->second);
    };
  }

 private:
  static std::string Varint(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
    return bytes + static_cast<char>(value);
  }
  static std::string Field(uint64_t number, std::string_view bytes) {
    return Varint(number << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
  }
  static std::string Digest(const BlobId& blob) {
    return Field(1, ToHex(blob.hash)) + Varint(2 << 3) + Varint(blob.size);
  }
  static std::string Node(const std::string& name, const std::string& second) {
    return Field(1, name) + Field(2, second);
  }

  std::map<BlobId, std::string> blobs_;
};

}  // namespace galley::vfs
