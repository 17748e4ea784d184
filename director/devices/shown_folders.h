// ShownFolders: the folders of a StaticTree that an edit looks at, read once, and found by folded
// names.
//
// Cost: a read and a decode for each folder that is looked at.
// Threads: none.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/linked_directory.h"
#include "common/tree/tree.h"
#include "director/devices/static_entry.h"

namespace galley::devices {

class ShownFolders {
 public:
  // An entry of the tree, and where it is, seen from the path that was looked for.
  enum class Place { kAbove, kEqual, kBelow };
  struct Seen {
    StaticEntry entry;
    Place place = Place::kEqual;
  };

  // The arguments outlive this object. `outputs_named_more`: StaticTree::outputs_named_more.
  ShownFolders(const Digest& root, const std::set<std::string>& outputs_named_more,
               const tree::ReadBlob& read, const FoldPath& fold)
      : root_(root), outputs_named_more_(outputs_named_more), read_(read), fold_(fold) {}

  // The folder `digest`; the digest of no bytes is a folder without entries. Errors as `read`.
  absl::StatusOr<const tree::LinkedDirectory*> Read(const Digest& digest);
  // The entry of the file or link `name` of the folder at `folder_path` ("" or "a/b/").
  // NOT_FOUND: there is none; DATA_LOSS: a link that leads elsewhere than to a node.
  absl::StatusOr<StaticEntry> EntryOf(const tree::LinkedDirectory& folder,
                                      const std::string& folder_path, std::string_view name) const;
  // Appends the entries whose folded paths are `folded`, above it, or below it. Ends before what is
  // below if `below_max` entries below were found.
  absl::Status Find(std::string_view folded, size_t below_max, std::vector<Seen>& found);

 private:
  struct Folder {
    tree::LinkedDirectory directory;
    // Folded names, made when they are first needed.
    std::multimap<std::string, std::string> files_and_links;
    std::multimap<std::string, size_t> folders;  // indexes into directory.directories
    bool is_folded = false;
  };
  struct Search {
    std::string_view rest;  // of the folded path, below the folder
    size_t below_left = 0;
    std::vector<Seen>& found;
  };

  absl::StatusOr<Folder*> FolderOf(const Digest& digest);
  absl::StatusOr<Folder*> FoldedFolderOf(const Digest& digest);
  absl::Status FindIn(const Digest& digest, const std::string& folder_path, Search& search);
  absl::Status ListBelow(const Digest& digest, const std::string& folder_path, Search& search);

  const Digest root_;
  const std::set<std::string>& outputs_named_more_;
  const tree::ReadBlob& read_;
  const FoldPath& fold_;
  absl::flat_hash_map<Digest, std::unique_ptr<Folder>> folders_;  // look-up only
};

}  // namespace galley::devices
