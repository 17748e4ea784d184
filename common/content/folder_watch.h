// FolderWatch: says in which folders something changed since it was asked last. (inotify(7).)
//
// The answer of Take holds all changes that were made before the call: Take writes a file of its
// own (the cookie) and waits until the kernel tells of that file.
//
// Nobody is told of these, and whoever relies on a watch must look himself: writes through a memory
// mapping that outlives its descriptor; changes of a file through another of its names (nor is it
// told when it gets one elsewhere), or of what a link leads to; a folder that is renamed far above
// (the watch follows it); what other machines do on a file system of a network. A folder on a file
// system for which that is known is refused.
//
// Cost: 2 us and 0.1 KiB of the kernel's memory for each folder; one event, 1 us.
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/mutex.h"

namespace galley::content {

class FolderWatch {
 public:
  struct Options {
    std::string cookie_folder;  // is made; nobody else writes there
    absl::Duration cookie_max = absl::Milliseconds(200);
    size_t folders_max = SIZE_MAX;  // for tests: as if the kernel had this limit
  };
  // UNAVAILABLE: the system does not watch, or says nothing of the cookie.
  static absl::StatusOr<std::unique_ptr<FolderWatch>> Open(Options options);

  // From now on, whatever was at this path before. NOT_FOUND: there is no such folder.
  // FAILED_PRECONDITION: its file system does not tell of all changes. RESOURCE_EXHAUSTED: the
  // kernel watches no more folders, and what to do.
  absl::Status Add(const std::string& folder);
  bool Watches(std::string_view folder) const;
  size_t size() const;

  struct Changes {
    bool is_all = false;  // what changed is not known: events were lost, or file systems mounted
    // Host paths, as they were given to Add. Of one that is not there any more, or is another one
    // now, all below it are here as well, and none of these is watched any longer.
    std::vector<std::string> folders;
  };
  // UNAVAILABLE: the cookie did not come; nothing is known.
  absl::StatusOr<Changes> Take();

 private:
  explicit FolderWatch(Options options) : options_(std::move(options)) {}
  absl::Status Start();
  absl::Status WriteCookie() GALLEY_REQUIRES(mutex_);
  bool Read(Changes& changes) GALLEY_REQUIRES(mutex_);
  void Drop(const std::string& folder, Changes& changes) GALLEY_REQUIRES(mutex_);

  const Options options_;
  FileDescriptor inotify_, mounts_;
  mutable base::Mutex mutex_;
  std::map<std::string, int, std::less<>> folders_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<int, std::string> by_watch_ GALLEY_GUARDED_BY(mutex_);
  int cookie_watch_ GALLEY_GUARDED_BY(mutex_) = -1;
  uint64_t cookies_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::string cookie_ GALLEY_GUARDED_BY(mutex_);  // the one that is waited for
};

// The mount points below `folder`; a folder that is mounted there is another file system's, or has
// two names. Sorted.
std::vector<std::string> MountsBelow(const std::string& folder);

}  // namespace galley::content
