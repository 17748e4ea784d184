// MountView: the mounts of a snapshot as a folder that external programs can read, at their virtual
// paths without the leading slash.
//
// The view is made once for a snapshot, when it is first needed. A mount with no other mount at,
// above or under its path is a single link to its folder; other mounts are a tree of links to
// single files, overlays merged. A job's folder holds links to the view's top entries.
// Threads: one owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/base/read_pieces.h"
#include "common/content/snapshot.h"

namespace galley::worker {

// Whether the mount is a single link to its folder.
bool IsShownAsAWhole(const std::vector<content::Mount>& mounts, const content::Mount& mount);

class MountView {
 public:
  // `parent`: the folder in which the view's folder is made. The snapshot outlives the view.
  MountView(const content::Snapshot* snapshot, std::string parent)
      : snapshot_(snapshot), parent_(std::move(parent)) {}
  ~MountView();
  MountView(const MountView&) = delete;
  MountView& operator=(const MountView&) = delete;

  // Links the view's top entries into `directory`. REQUIRES: `directory` has none of their names
  // yet.
  absl::Status ShowUnder(const std::string& directory);

  // Puts a real file at `virtual_path` under `directory`. Links on the way are replaced by folders
  // of links to their entries, so that nothing is written through a link. A file on the way (a
  // generator's source) gives way to a folder.
  static absl::Status PutFile(const std::string& directory, std::string_view virtual_path,
                              std::string_view bytes);
  // PutFile for a file in pieces. An error leaves a part of the file.
  static absl::Status PutFile(const std::string& directory, std::string_view virtual_path,
                              const PieceStream& stream);

 private:
  absl::Status Build();

  const content::Snapshot* snapshot_;
  std::string parent_;
  std::string root_;  // empty: not made yet
};

}  // namespace galley::worker
