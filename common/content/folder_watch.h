// FolderWatch: says in which folders something changed since the last Take (inotify(7)).
//
// Take returns all changes that were made before the call: it creates a file of its own, the
// cookie, and waits until the kernel reports that file.
//
// The watch misses some changes; its user must find them in another way. They are: writes through
// a memory mapping whose descriptor is closed; changes through another hard link, and the making of
// a hard link elsewhere; changes of a symbolic link's target; the renaming of a folder above the
// watched folders, after which the watch still gives the old paths; changes by other machines on a
// network file system. Add refuses file systems that are not known to be local.
//
// Cost: 2 us and 0.1 KiB of the kernel's memory for each folder; one event, 1 us.
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/mutex.h"

namespace galley::content {

// MountedAt: a mount of this process's mount namespace: the folder or file where it is, and all
// that the kernel says of the mount.
using MountedAt = std::pair<std::string, std::string>;

class FolderWatch {
 public:
  struct Options {
    std::string cookie_folder;  // made if absent; nobody else may write in it
    absl::Duration cookie_max = absl::Milliseconds(200);  // Take waits no longer for the event
    size_t folders_max = SIZE_MAX;  // for tests: as if the kernel had this limit
    bool has_entries = false;       // Take tells the changed entries as well
  };
  // UNAVAILABLE: inotify cannot be used, or the cookie's event did not come.
  static absl::StatusOr<std::unique_ptr<FolderWatch>> Open(Options options);

  // Watches the folder that is now at this path. NOT_FOUND: there is no such folder.
  // FAILED_PRECONDITION: the file system hides changes, or the folder is watched by another path.
  // RESOURCE_EXHAUSTED: the kernel watches no more folders; the text says what to do.
  absl::Status Add(const std::string& folder);
  bool Watches(std::string_view folder) const;
  size_t size() const;

  struct Changes {
    // Anything may have changed: events were lost, or something was mounted or unmounted at, above
    // or below a watched folder.
    bool is_all = false;
    // Host paths, as they were given to Add. If a folder was removed or replaced, the watched
    // folders below it are here as well, and the watches of all of them have ended.
    std::vector<std::string> folders;
    // With Options::has_entries: the host paths of files and folders that came, changed or went,
    // sorted; a folder itself where its attributes or its path changed.
    struct Entry {
      std::string path;
      bool is_folder = false;
      // The file was written or made, and nobody has closed it since.
      bool is_being_written = false;
      bool operator==(const Entry&) const = default;
    };
    std::vector<Entry> entries;
  };
  // UNAVAILABLE: the cookie's event did not come; nothing is known.
  absl::StatusOr<Changes> Take();
  // Waits until something may have changed since the last Take, at most `limit`. False: nothing
  // has. Blocks no other call.
  bool Wait(absl::Duration limit) const;

 private:
  explicit FolderWatch(Options options) : options_(std::move(options)) {}
  absl::Status Start();
  absl::Status WriteCookie() GALLEY_REQUIRES(mutex_);
  bool Read(Changes& changes) GALLEY_REQUIRES(mutex_);
  void NoteEntry(const std::string& path, uint32_t mask) GALLEY_REQUIRES(mutex_);
  void Drop(const std::string& folder, Changes& changes) GALLEY_REQUIRES(mutex_);
  bool HasOtherMounts() GALLEY_REQUIRES(mutex_);
  std::vector<std::string> RealTops() const GALLEY_REQUIRES(mutex_);

  const Options options_;
  FileDescriptor inotify_, mounts_;
  mutable base::Mutex mutex_;
  std::map<std::string, int, std::less<>> folders_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<int, std::string> by_watch_ GALLEY_GUARDED_BY(mutex_);
  int cookie_watch_ GALLEY_GUARDED_BY(mutex_) = -1;
  uint64_t cookies_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::string cookie_ GALLEY_GUARDED_BY(mutex_);  // the file name that Take waits for
  std::map<std::string, Changes::Entry> entries_ GALLEY_GUARDED_BY(mutex_);  // since the last Take
  std::set<MountedAt> mounted_ GALLEY_GUARDED_BY(mutex_);                    // at the last Take
};

// Returns the mount points below `folder`, sorted. A watch may miss changes in a mounted folder: it
// is on another file system, or can be reached by a second path.
std::vector<std::string> MountsBelow(const std::string& folder);

}  // namespace galley::content
