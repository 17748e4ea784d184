// Large files of a cooked tree that are not copied: `checkout --link`.
//
// A large blob is a file of its own in the store. It gets another name in the folder (a hard link),
// which costs no bytes: both names are one file from then on, so it is read-only (0444), and what
// would have another mode is not linked. Where a link is not possible, it is a clone that shares
// the bytes until somebody writes to it (FICLONE: Btrfs, XFS); where that is not, the caller
// copies.
//
// The store's bytes are verified before they get a name here, and remembered by what the file
// system says of them, so that a file is hashed once as long as nobody touches it.
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

// Files that were verified, as they were then. Kept from one process to the next by what names a
// version of a file (content/digest_cache.h); the device, which may have another number tomorrow,
// and the mode are left out there.
//
// Threads: any, but Load, which comes first.
class VerifiedFiles {
 public:
  // Held from a look at a file over its new name to the next look: a name changes what the file
  // system says of it, and two threads must not take each other's names for somebody's touch.
  base::Mutex& LockOf(const Digest& digest) { return locks_[DigestHash()(digest) % kLocks]; }

  bool Holds(const Digest& digest, const FileStat& stat) const;
  void Note(const Digest& digest, const FileStat& stat);

  // Takes over what Save kept; nothing when it cannot be read.
  void Load(const std::string& file);
  // Keeps the files that were written at least kRacyWindow before `now_ns`: whoever writes to one
  // of them from here on gives it another time. (A new name alone gives it another change time;
  // that is known.) Nothing is written when nothing is new.
  absl::Status Save(const std::string& file, int64_t now_ns) const;

 private:
  static constexpr size_t kLocks = 64;
  std::array<base::Mutex, kLocks> locks_;  // before mutex_
  mutable base::Mutex mutex_;
  std::unordered_map<Digest, FileStat, DigestHash> files_ GALLEY_GUARDED_BY(mutex_);
  content::DigestCache loaded_;  // by digests instead of paths
};

// ioctl(to, FICLONE, from).
int CloneFile(int to, int from);

// Where the large files of a tree lie in a store of this machine.
// Threads: any.
class StoreFiles {
 public:
  // Asks the store once. A store that does not say where its blobs lie has none.
  static absl::StatusOr<StoreFiles> Find(store::Store& store,
                                         const std::vector<tree::TreeFile>& files,
                                         VerifiedFiles& verified,
                                         Sandbox::CloneFunction clone = CloneFile);

  enum class Placed { kNot, kLinked, kCloned };
  // `file`, which is new in `sandbox`. kNot: it has to be copied. (Also when the store's file is
  // damaged: whoever reads it there is told so.)
  absl::StatusOr<Placed> Place(Sandbox& sandbox, const tree::TreeFile& file) const;

 private:
  StoreFiles(VerifiedFiles& verified, Sandbox::CloneFunction clone)
      : verified_(&verified), clone_(clone) {}
  bool IsWhole(int fd, const Digest& digest) const;
  absl::StatusOr<bool> Link(int fd, Sandbox& sandbox, const tree::TreeFile& file) const;
  // Without opening it. False: it is not as it was when it was verified, or has another mode.
  absl::StatusOr<bool> LinkVerified(const std::string& path, Sandbox& sandbox,
                                    const tree::TreeFile& file) const;

  VerifiedFiles* verified_;
  Sandbox::CloneFunction clone_;
  std::unordered_map<Digest, std::string, DigestHash> paths_;
};

}  // namespace galley::director
