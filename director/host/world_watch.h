// WorldWatch: says at which files a director has to look again so that its world is of the present
// files, at the cost of what happened since the last time. The kernel names what changes in the
// folders of the mounts (FolderWatch).
//
//   Begin   (a scan of all files)   (Wait Take (Snapshot::Refresh))*
//
// A file that was closed, renamed or removed is told at once. A file that is being written is told
// when it is closed, or when nobody has written to it for kWriteQuiet.
//
// The watch misses what FolderWatch misses, but for links: changes through another hard link, or
// through a memory mapping that outlives its descriptor. A scan finds these; so does a job that
// reads such a file.
//
// Cost: Begin: 2 us and 0.1 KiB of the kernel's memory for each folder. Take: linear in the changed
// files, and in the links of the mounts, at most kLinksMax.
// Threads: one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/content/folder_watch.h"
#include "common/content/ignore_rules.h"
#include "common/content/snapshot.h"

namespace galley::director {

class WorldWatch {
 public:
  static constexpr absl::Duration kWriteQuiet = absl::Milliseconds(200);
  static constexpr size_t kLinksMax = 1024;

  // Watches all folders that a scan with these options looks into. Changes after the call are told.
  // `cookie_folder`: as in FolderWatch::Options. Errors: why changes would be missed.
  static absl::StatusOr<std::unique_ptr<WorldWatch>> Begin(const content::ScanOptions& files,
                                                           const std::string& cookie_folder);

  // Waits until there may be something to take, at most `limit`. False: there is nothing.
  bool Wait(absl::Time now, absl::Duration limit) const;
  // Returns the virtual paths of files and folders to look at again, sorted. nullopt: anything may
  // have changed, and this watch is over: begin another, and scan. `now` never goes back.
  std::optional<std::vector<std::string>> Take(absl::Time now);

 private:
  struct Folder {
    std::string path;  // virtual
    std::string host;
  };

  explicit WorldWatch(std::vector<content::Mount> mounts) : mounts_(std::move(mounts)) {}
  bool IsMount(const std::string& path) const;
  absl::Status AddBelow(Folder top);
  bool TakeEntry(const content::FolderWatch::Changes::Entry& entry, absl::Time now,
                 std::set<std::string>& changed);
  void TakeWritten(absl::Time now, std::set<std::string>& changed);
  void NoteLink(const std::string& host);
  bool AreMountsTheSame() const;
  std::vector<Folder> PlacesOf(const std::string& host) const;

  const std::vector<content::Mount> mounts_;
  std::vector<FileStat> tops_;  // of the mounts' directories when the watch began
  content::IgnoreRules ignore_;
  std::unique_ptr<content::FolderWatch> watch_;
  std::set<std::string> links_;                // host paths
  std::map<std::string, absl::Time> written_;  // host path of a file that is being written -> when
};

}  // namespace galley::director
