// MountSource: the tree that a mount shows: a platform that is followed, or a root that is pinned.
//
// Paths are plain, or empty for the top. Faults are those of common/vfs; `stop` ends a call when it
// becomes true.
// Threads: any.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"
#include "common/vfs/result.h"
#include "common/vfs/session_tree.h"

namespace galley::mount {

struct OpenedFile {
  std::shared_ptr<vfs::OpenFile> file;
  vfs::BlobId blob;
  bool is_executable = false;
};

class MountSource {
 public:
  virtual ~MountSource() = default;
  // Cooks nothing. kNotCached: the answer is not here, and Look has to be asked.
  virtual vfs::Result<vfs::ShownPath> LookHere(const std::string& path) = 0;
  // Cooks nothing. Blocks while folders of the tree are fetched.
  virtual vfs::Result<vfs::ShownPath> Look(const std::string& path,
                                           const std::atomic<bool>& stop) = 0;
  // Cooks the packages of a folder of which only a cook tells what it has. Blocks.
  virtual vfs::Result<std::vector<vfs::ShownEntry>> List(const std::string& path,
                                                         const std::atomic<bool>& stop) = 0;
  // Cooks what a vfs::NotCookedAt asks for. Blocks.
  virtual vfs::Outcome Cook(const std::string& ask, const std::atomic<bool>& stop) = 0;
  // Cooks the file if need be. Blocks.
  virtual vfs::Result<OpenedFile> Open(const std::string& path, const std::atomic<bool>& stop) = 0;
  // A file that was opened before. Blocks while it is fetched.
  virtual vfs::Result<std::shared_ptr<vfs::OpenFile>> OpenBlob(const vfs::BlobId& blob,
                                                               const std::atomic<bool>& stop) = 0;
  // Ends all calls.
  virtual void Cancel() = 0;
};

}  // namespace galley::mount
