// SampleTree: folders of a tree in memory.
//
// Threads: none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/testing/tree_folder.h"
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
    TreeFolder encoded;
    for (const auto& [name, blob] : folder.files) encoded.files.push_back({name, blob});
    for (const auto& [name, blob] : folder.folders) encoded.directories.push_back({name, blob});
    for (const auto& [name, target] : folder.links) encoded.links.push_back({name, target});
    return Put(encoded.Encode());
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
  std::map<BlobId, std::string> blobs_;
};

}  // namespace galley::vfs
