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
// The quota is of blobs and parts together. Room is made as bytes come, in steps of kStepBytes, by
// removing files that were used the longest ago, down to nine tenths; and on a full disk until the
// bytes find room. Parts that are being fetched are never removed. At most 2 * kIdlePartsMax parts
// lie there that nobody fetches.
//
// Several processes may use a folder: blobs are renamed into place, and what one of them removes
// another finds absent. Each counts what lies there when it begins, when it makes room, and after
// each sixteenth of the quota that it fetches: so far each may go beyond the quota. Where the file
// system has no locks, two processes may write one part: its bytes are then wrong, and it is
// fetched once more.
//
// Memory: 32 bytes for each of at most kVerifiedMax blobs. Threads: any. A BlobPart: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/cache_files.h"
#include "common/vfs/disk.h"
#include "common/vfs/hash_set.h"
#include "common/vfs/result.h"
#include "common/vfs/sha256.h"

namespace galley::vfs {

class BlobCache;

// BlobPart: a blob that is being fetched. At its end, what it has stays for the next try.
class BlobPart {
 public:
  // `cache` outlives this object.
  BlobPart(BlobCache& cache, const BlobId& blob, std::unique_ptr<OpenFile> file, std::string path)
      : cache_(cache), blob_(blob), file_(std::move(file)), path_(std::move(path)) {}
  BlobPart(const BlobPart&) = delete;
  BlobPart& operator=(const BlobPart&) = delete;
  ~BlobPart();

  // How many bytes are there: from an earlier process, or from an earlier try.
  uint64_t size() const { return size_; }

 private:
  friend class BlobCache;

  // Writes bytes, and removes from `bytes` what the file has of them, also after a fault.
  Outcome Write(std::string_view& bytes);

  BlobCache& cache_;
  const BlobId blob_;
  std::unique_ptr<OpenFile> file_;  // nullptr: the part has ended
  const std::string path_;
  Sha256 hash_;
  uint64_t size_ = 0;
  uint64_t reserved_ = 0;  // of the quota; at least size_
};

struct BlobCacheCounts {
  uint64_t blobs = 0;    // that lie there
  uint64_t bytes = 0;    // of blobs and parts
  uint64_t damaged = 0;  // blobs that had wrong bytes, since the process began
  uint64_t evicted = 0;  // and that were removed for want of room
};

class BlobCache {
 public:
  static constexpr int64_t kTouchS = 60;  // a use is noted once in so long
  // Parts that nobody has gone on with for so long are removed.
  static constexpr int64_t kPartAgeS = 7 * 86'400;
  static constexpr size_t kIdlePartsMax = 256;
  static constexpr uint64_t kStepBytes = 1 << 20;
  static constexpr size_t kVerifiedMax = 1 << 18;

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
  // Returns the whole bytes of a small blob, which are hashed each time: the folders of trees are
  // too many to remember which of them were. Faults as Open.
  Result<std::string> Read(const BlobId& blob);
  // True: there is a file of its name and size.
  bool Has(const BlobId& blob);

  // Begins to fetch a blob, or goes on with it. GALLEY_VFS_NO_SPACE: it is larger than the quota.
  Result<std::unique_ptr<BlobPart>> BeginPart(const BlobId& blob);
  // REQUIRES: the blob is as long. GALLEY_VFS_NO_SPACE: the disk is full, and nothing can be
  // removed; or other parts have the quota. The part may have some of the bytes then.
  Outcome Append(BlobPart& part, std::string_view bytes);
  // The part has all bytes, and ends. GALLEY_VFS_DAMAGED: they are not those of the blob; the part
  // is removed.
  Outcome Finish(BlobPart& part);
  // Ends the part, and removes it.
  void Drop(BlobPart& part);
  BlobCacheCounts counts() const;

 private:
  friend class BlobPart;

  std::string PathOf(const BlobId& blob) const;
  std::string FolderOf(const BlobId& blob) const;
  Result<bool> IsRight(const BlobId& blob, const OpenFile& file) const;
  Result<std::shared_ptr<OpenFile>> OpenAsItIs(const BlobId& blob);
  void NoteUsed(const BlobId& blob);
  Result<bool> IsVerified(const BlobId& blob, const OpenFile& file);
  Fault RemoveWrong(const BlobId& blob);
  void NoteVerified(const Hash& hash);
  void NoteRemoved(const CacheFile& file);
  Outcome MakeFolder(const std::string& path);

  Result<std::unique_ptr<BlobPart>> BeginAnyPart(const BlobId& blob);
  Result<std::unique_ptr<BlobPart>> OpenPart(const BlobId& blob, const std::string& path);
  bool IsWhole(BlobPart& part) const;
  Outcome MoveIntoPlace(BlobPart& part);
  Outcome RenameTo(const std::string& from, const std::string& to);
  void EndPart(BlobPart& part);
  void Leave(BlobPart& part);
  void TrimParts();
  bool RemoveIdlePart(const CacheFile& part);

  template <typename Act>
  Outcome WithRoom(const BlobId& blob, uint64_t bytes, const Act& act);
  Outcome Reserve(BlobPart& part, uint64_t bytes);
  uint64_t Taken() const;
  Result<std::vector<CacheFile>> Look();
  Outcome MakeRoom(uint64_t bytes);
  bool Evict(const CacheFile& file);
  bool EvictForDisk(uint64_t bytes);

  const Options options_;
  // Held while files are counted, removed, or moved into place, so that the counts are right.
  // Taken before mutex_.
  std::mutex files_mutex_;
  uint64_t unlooked_bytes_ = 0;  // reserved since the last Look; guarded by files_mutex_
  mutable std::mutex mutex_;
  BlobCacheCounts counts_;        // without parts; guarded by mutex_
  uint64_t idle_part_bytes_ = 0;  // of parts that nobody here fetches; guarded by mutex_
  uint64_t live_part_bytes_ = 0;  // reserved for the others; guarded by mutex_
  std::set<std::string> live_;    // paths of the others; guarded by mutex_
  size_t left_parts_ = 0;         // since the last TrimParts; guarded by mutex_
  HashSet verified_;              // guarded by mutex_
};

}  // namespace galley::vfs
