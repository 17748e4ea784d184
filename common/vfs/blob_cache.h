// BlobCache: whole blobs in a folder, within a quota.
//
//   blobs/<2 hex>/<64 hex>-<size>   a blob; its modification time is when it was last used
//   part/<64 hex>-<size>            the beginning of a blob that is being fetched, or was
//
// A blob is hashed when it is first opened in this process. One with wrong bytes is removed, and
// counted: whoever opens it hears that it is not cached. Nothing is synced to the disk: a torn file
// has the wrong hash. A link, a pipe or an empty folder in place of a blob or a part is removed,
// and never followed.
//
// Several processes may use a folder: blobs are renamed into place, and what one of them removes
// another finds absent. The quota is of what this process finds when it begins and puts; it removes
// the blobs that were used the longest ago, down to nine tenths.
//
// Threads: any. A BlobPart: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"
#include "common/vfs/hash_set.h"
#include "common/vfs/result.h"
#include "common/vfs/sha256.h"

namespace galley::vfs {

// BlobPart: a blob that is being fetched.
class BlobPart {
 public:
  BlobPart(std::unique_ptr<OpenFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  // How many bytes are there: from an earlier process, or from an earlier try.
  uint64_t size() const { return size_; }
  Outcome Append(std::string_view bytes);

 private:
  friend class BlobCache;

  std::unique_ptr<OpenFile> file_;
  const std::string path_;
  Sha256 hash_;
  uint64_t size_ = 0;
};

struct BlobCacheCounts {
  uint64_t blobs = 0, bytes = 0;  // that lie there
  uint64_t damaged = 0;           // blobs that had wrong bytes, since the process began
  uint64_t evicted = 0;           // and that were removed for want of room
};

class BlobCache {
 public:
  static constexpr int64_t kTouchS = 60;  // a use is noted once in so long
  static constexpr int64_t kPartAgeS =
      7 * 86'400;  // parts that nobody has gone on with are removed

  struct Options {
    Disk& disk;
    std::string folder;
    uint64_t bytes_max = 0;
    std::function<int64_t()> now_s;  // seconds since 1970
  };
  explicit BlobCache(Options options) : options_(std::move(options)) {}

  // Makes the folder, and looks at what it has. Called before everything else.
  Outcome Begin();
  // kNotCached: it is not there, or was damaged. GALLEY_VFS_IO: the disk cannot read it, and it
  // stays; or it was damaged, and cannot be removed.
  Result<std::shared_ptr<OpenFile>> Open(const BlobId& blob);
  // Returns the whole bytes of a small blob. Faults as Open.
  Result<std::string> Read(const BlobId& blob);
  // True: there is a file of its name and size.
  bool Has(const BlobId& blob);

  // Begins to fetch a blob, or goes on with it. GALLEY_VFS_NO_SPACE: it is larger than the quota.
  Result<std::unique_ptr<BlobPart>> BeginPart(const BlobId& blob);
  // The part has all bytes. GALLEY_VFS_DAMAGED: they are not those of the blob; the part is
  // removed.
  Outcome Finish(const BlobId& blob, BlobPart& part);
  // Lets the part go, and removes it.
  void Drop(BlobPart& part);
  BlobCacheCounts counts() const;

 private:
  std::string PathOf(const BlobId& blob) const;
  std::string FolderOf(const BlobId& blob) const;
  Result<bool> IsRight(const BlobId& blob, const OpenFile& file) const;
  Result<bool> IsVerified(const BlobId& blob, const OpenFile& file);
  Fault RemoveWrong(const BlobId& blob);
  Result<std::unique_ptr<BlobPart>> OpenPart(const std::string& path);
  Outcome MakeFolder(const std::string& path);
  Outcome RenameTo(const std::string& from, const std::string& to);
  void NoteRemoved(const BlobId& blob);
  Outcome Look();
  Outcome MakeRoom(uint64_t bytes);
  void RemoveOldParts();

  const Options options_;
  mutable std::mutex mutex_;
  BlobCacheCounts counts_;  // guarded by mutex_
  HashSet verified_;        // guarded by mutex_
};

}  // namespace galley::vfs
