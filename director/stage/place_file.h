// PlaceFile: places large files of a cooked tree without a copy: `checkout --link`.
//
// A large blob is a file of its own in the store. A hard link in the folder costs no bytes: both
// names are one file from then on, so the file is read-only (0444), and a file that needs another
// mode is not linked. If a link is not possible, a clone shares the bytes until somebody writes
// (FICLONE: Btrfs, XFS); if a clone is not possible either, the caller copies.
//
// A store's file is verified before it is linked or cloned. The file's stat is remembered, so that
// an untouched file is hashed only once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/content/digest_cache.h"
#include "common/store/interface/store.h"
#include "common/tree/tree.h"
#include "director/stage/sandbox.h"

namespace galley::director {

// VerifiedFiles: verified files, with their stat at that time. From one process to the next a file
// is kept by the fields that name a version of a file (content/digest_cache.h), without the mode,
// and without the device, whose number may change.
//
// Threads: any. Call Load first.
class VerifiedFiles {
 public:
  // Hold from the stat of a file, while it gets a new name, to the next stat: a new name changes
  // the file's stat, and no thread may take another thread's link for a touch.
  base::Mutex& LockOf(const Digest& digest) { return locks_[DigestHash()(digest) % kLocks]; }

  bool Holds(const Digest& digest, const FileStat& stat) const;
  void Note(const Digest& digest, const FileStat& stat);

  // Loads the files that Save kept, if `file` can be read.
  void Load(const std::string& file);
  // Writes the files that were last written at least kRacyWindow before `now_ns`: a later write to
  // such a file gives it another time. A new name changes only the change time, which is known.
  // Writes nothing if nothing is new.
  absl::Status Save(const std::string& file, int64_t now_ns) const;

 private:
  static constexpr size_t kLocks = 64;
  std::array<base::Mutex, kLocks> locks_;  // locked before mutex_
  mutable base::Mutex mutex_;
  std::unordered_map<Digest, FileStat, DigestHash> files_ GALLEY_GUARDED_BY(mutex_);
  content::DigestCache loaded_;  // by digest instead of path
};

// ioctl(to, FICLONE, from).
int CloneFile(int to, int from);

// StoreFiles: the paths of a tree's large files in a store on this machine.
// Threads: any.
class StoreFiles {
 public:
  // Asks the store once for the locations. A store that gives no locations has no files to place.
  static absl::StatusOr<StoreFiles> Find(store::Store& store,
                                         const std::vector<tree::TreeFile>& files,
                                         VerifiedFiles& verified,
                                         Sandbox::CloneFunction clone = CloneFile);

  enum class Placed { kNot, kLinked, kCloned };
  // Places `file`, which is absent in `sandbox`. kNot: the caller has to copy the file; if the
  // store's file is damaged, the copy will report that.
  absl::StatusOr<Placed> Place(Sandbox& sandbox, const tree::TreeFile& file) const;

 private:
  StoreFiles(VerifiedFiles& verified, Sandbox::CloneFunction clone)
      : verified_(&verified), clone_(clone) {}
  bool IsWhole(int fd, const Digest& digest) const;
  absl::StatusOr<bool> Link(int fd, Sandbox& sandbox, const tree::TreeFile& file) const;
  // Links a verified file without opening it. False: the file has changed since it was verified, or
  // has another mode.
  absl::StatusOr<bool> LinkVerified(const std::string& path, Sandbox& sandbox,
                                    const tree::TreeFile& file) const;

  VerifiedFiles* verified_;
  Sandbox::CloneFunction clone_;
  std::unordered_map<Digest, std::string, DigestHash> paths_;
};

}  // namespace galley::director
