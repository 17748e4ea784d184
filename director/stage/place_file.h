// PlaceFile: places large files of a cooked tree without a copy: `checkout --link`.
//
// A large blob is a file of its own in the store. The file gets another name in the folder (a hard
// link), which costs no bytes: both names are one file from then on, so the file is read-only
// (0444), and a file that needs another mode is not linked. If a link is not possible, a clone
// shares the bytes until somebody writes to it (FICLONE: Btrfs, XFS); if that is not possible
// either, the caller copies.
//
// The store's bytes are verified before they get a name here, and remembered by the file's stat, so
// that a file is hashed once as long as nobody touches it.
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

// VerifiedFiles: files that were verified, with their stat at that time. Kept from one process to
// the next by what names a version of a file (content/digest_cache.h), without the device, which
// may have another number tomorrow, and the mode.
//
// Threads: any, except Load, which comes first.
class VerifiedFiles {
 public:
  // Held from a look at a file over its new name to the next look: a name changes the file's stat,
  // and no thread may take another thread's name for a touch.
  base::Mutex& LockOf(const Digest& digest) { return locks_[DigestHash()(digest) % kLocks]; }

  bool Holds(const Digest& digest, const FileStat& stat) const;
  void Note(const Digest& digest, const FileStat& stat);

  // Takes over what Save kept, if the file can be read.
  void Load(const std::string& file);
  // Keeps the files that were written at least kRacyWindow before `now_ns`: a later write to such a
  // file gives it another time. A new name alone changes only the change time, which is known.
  // Writes nothing when nothing is new.
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

// StoreFiles: where the large files of a tree lie in a store of this machine.
// Threads: any.
class StoreFiles {
 public:
  // Asks the store once. A store that does not say where its blobs lie has no files to place.
  static absl::StatusOr<StoreFiles> Find(store::Store& store,
                                         const std::vector<tree::TreeFile>& files,
                                         VerifiedFiles& verified,
                                         Sandbox::CloneFunction clone = CloneFile);

  enum class Placed { kNot, kLinked, kCloned };
  // Places `file`, which is new in `sandbox`. kNot: the caller has to copy the file, also when the
  // store's file is damaged, which the copy will report.
  absl::StatusOr<Placed> Place(Sandbox& sandbox, const tree::TreeFile& file) const;

 private:
  StoreFiles(VerifiedFiles& verified, Sandbox::CloneFunction clone)
      : verified_(&verified), clone_(clone) {}
  bool IsWhole(int fd, const Digest& digest) const;
  absl::StatusOr<bool> Link(int fd, Sandbox& sandbox, const tree::TreeFile& file) const;
  // Links without opening the file. False: the file has changed since it was verified, or has
  // another mode.
  absl::StatusOr<bool> LinkVerified(const std::string& path, Sandbox& sandbox,
                                    const tree::TreeFile& file) const;

  VerifiedFiles* verified_;
  Sandbox::CloneFunction clone_;
  std::unordered_map<Digest, std::string, DigestHash> paths_;
};

}  // namespace galley::director
