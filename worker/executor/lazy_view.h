// LazyView: the mounts of one snapshot as a folder for external programs, on a machine without
// these files. All comes when it is needed (worker/walls/call_watch.h): the names of a folder, as
// the snapshot's table has them, when somebody looks into it, and the bytes of a file when it is
// opened. Until then a file is an empty one of the right size, mode and time, so that it can be
// listed.
//
// What is there stays for further jobs, up to a limit. A file that a program changed all the same
// is written anew before somebody opens it. Its inode stays, for `cp` and others compare that.
//
// As the table: no file that [scan] ignores, or that cannot be used, and no empty folder.
// Errors: ABORTED with StaleFile (input_provider.h); those of ByteSource; RESOURCE_EXHAUSTED: no
// space.
// Cost: a folder about 15 us for each name in it, once; of a file that was opened before a stat.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/content/snapshot.h"
#include "worker/executor/byte_source.h"
#include "worker/walls/call_watch.h"

namespace galley::worker {

class LazyView final : public ReadyFolder {
 public:
  // Beside what one job reads.
  static constexpr uint64_t kKeptBytesMax = 4ull << 30;

  // `parent`: where the view's folder is made. The snapshot outlives the view.
  LazyView(const content::Snapshot* snapshot, std::string parent)
      : snapshot_(snapshot), parent_(std::move(parent)) {}
  ~LazyView() override;
  LazyView(const LazyView&) = delete;
  LazyView& operator=(const LazyView&) = delete;

  // Where bytes come from, from now on; it outlives what follows. REQUIRED before all else. A view
  // that holds more than kKeptBytesMax is made anew.
  void BeginJob(ByteSource* bytes);
  // Makes the mounts show in `directory`, as MountView does.
  absl::Status ShowUnder(const std::string& directory);
  // Host path of a file of the snapshot, with its bytes. NOT_FOUND: there is none.
  absl::StatusOr<std::string> FileAt(const std::string& virtual_path);
  // Fills the folders in which a generated file of this name will be put.
  absl::Status FillFoldersOf(std::string_view virtual_path);

  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string& path) override;
  absl::Status FillFile(const std::string& path) override;

 private:
  absl::Status Make();
  void Drop();
  absl::Status Fill(const std::string& folder);
  absl::Status MakeEmpty(const content::FileEntry& file) const;
  absl::Status Write(const std::string& virtual_path);
  std::string VirtualOf(std::string_view path) const;

  const content::Snapshot* snapshot_;
  const std::string parent_;
  ByteSource* bytes_ = nullptr;
  std::string root_;                         // empty: not made yet
  std::set<std::string, std::less<>> full_;  // folders, by virtual path; "/" is the root
  // What has its bytes, as it was then; no look here is of another file.
  std::map<std::string, FileStat, std::less<>> written_;
  uint64_t written_bytes_ = 0;
};

}  // namespace galley::worker
