// SeenFiles: which blob each path had that was noted, for a process without a director: the file
// that was opened there, or the root in which a folder was listed. A tree grows after it was read,
// and then the cache may lack folders of its newest root; what a path leads to in one world never
// changes, nor do the entries of a folder.
//
//   <folder>/<64 hex of the file `world`>   a line for each path, in the order of the calls:
//     <16 hex> <64 hex>/<size> <path>\n       seen_lines.h
//
// At most kWorldsMax lists are kept, the newest; a
// list that would have more than kListBytesMax bytes forgets its older half. A path that is
// forgotten is noted again when it is opened again. Several processes may note at the same time:
// then a list may forget some of their lines.
//
// Threads: any. Memory: 32 bytes for each line of one list, and 16 more after a Find: up to 3 MiB.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"
#include "common/vfs/hash_set.h"
#include "common/vfs/result.h"
#include "common/vfs/seen_lines.h"

namespace galley::vfs {

class SeenFiles {
 public:
  static constexpr size_t kWorldsMax = 16;
  static constexpr size_t kListBytesMax = 4 << 20;

  // `folder`: of the lists, which nobody else keeps anything in. `disk` outlives this object.
  SeenFiles(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  // Makes the folder, and removes old lists. Called before everything else.
  Outcome Begin();
  // The path, which is plain or empty, leads to this blob in the world. Faults: the disk's. Cost:
  // linear in the list, for the first path of a world.
  Outcome Note(const BlobId& world, const std::string& path, const BlobId& blob);
  // nullopt: nobody noted it. Cost: linear in the list, for the first path of a world.
  std::optional<BlobId> Find(const BlobId& world, const std::string& path);

 private:
  std::string ListOf(const BlobId& world) const { return folder_ + "/" + ToHex(world.hash); }
  void EnterWorld(const BlobId& world);
  Outcome Append(const std::string& line);
  Outcome Forget();
  void RemoveOldLists(const std::string& kept) const;

  Disk& disk_;
  const std::string folder_;
  std::mutex mutex_;    // held while a list is written, too
  BlobId world_;        // of noted_, of no bytes: none; guarded by mutex_
  HashSet noted_;       // texts of lines, in this process or before it; guarded by mutex_
  BlobId index_world_;  // of index_; guarded by mutex_
  SeenIndex index_;     // guarded by mutex_
};

}  // namespace galley::vfs
