// LazyView: the mounts of a snapshot as a folder for external programs, on a machine without these
// files. Everything is made when it is needed (worker/walls/call_watch.h): the names of a folder
// when a program looks into the folder, from the snapshot's table; the bytes of a file when a
// program opens the file. Until then the file is empty, but has the right size, mode and time, so
// that it can be listed.
//
//   show/Game -> ../mounts/0     links to folders of mounts, and to files where mounts overlap, as
//   show/Game/x -> ...           MountView (mount_view.h) has them on the project's machine
//   mounts/0/...                 a mount's own folder, in place of Mount::directory
//
// Made files and folders stay for further jobs as long as there is room (view_folder.h). If a
// program changes a file in spite of the watch, the file is replaced by a new file before it is
// opened again.
//
// The view has what the table has: no file that [scan] ignores, or that cannot be used, and no
// empty folder. Where that matters, the director is asked about the path that DirectorsPath gives.
// Errors: ABORTED with StaleFile (input_provider.h); as ByteSource; RESOURCE_EXHAUSTED: no space.
// Cost: for a folder about 15 us for each name, once; for a file that was opened before, a stat.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/content/snapshot.h"
#include "worker/executor/byte_source.h"
#include "worker/executor/view_folder.h"
#include "worker/walls/watched_program.h"

namespace galley::worker {

class LazyView final : public ReadyFolder {
 public:
  // `parent`: the folder of this machine's views. The snapshot outlives the view.
  LazyView(const content::Snapshot* snapshot, std::string parent,
           uint64_t bytes_max = ViewFolder::kBytesMax);
  ~LazyView() override;
  LazyView(const LazyView&) = delete;
  LazyView& operator=(const LazyView&) = delete;

  // Sets the source of bytes until EndJob; `bytes` lives until then. Must be called before the
  // functions below, which make the view anew if it was removed for want of room.
  void BeginJob(ByteSource* bytes);
  void EndJob();
  // Makes the mounts show in `directory`, as MountView does.
  absl::Status ShowUnder(const std::string& directory);
  // Fills a file of the snapshot and returns its host path. NOT_FOUND: there is no such file.
  absl::StatusOr<std::string> FileAt(const std::string& virtual_path);
  // Fills the folders above `virtual_path`, the place of a generated file.
  absl::Status FillFoldersOf(std::string_view virtual_path);

  // The path of `path` on the director's machine; empty: `path` is in no mount.
  std::string DirectorsPath(std::string_view path) const;

  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string& path) override;
  absl::Status FillFile(const std::string& path) override;
  std::string PathOf(uint64_t device, uint64_t inode) const override;

 private:
  // The meaning of a path below root_.
  struct Place {
    bool is_shown = false;     // the path is below show/
    uint32_t mount = 0;        // the mount, unless is_shown
    std::string_view in_it;    // the rest of the path: "" or "/..."
    std::string virtual_path;  // "/": the root
  };

  absl::Status Make();
  absl::Status Build();
  void Forget();
  std::optional<Place> PlaceOf(std::string_view path) const;
  std::string MountFolder(uint32_t mount) const;
  std::string PathOfFile(const content::FileEntry& file) const;
  absl::Status Fill(const std::string& path);
  absl::Status FillAbove(const std::string& path, size_t begin);
  absl::Status AddFolder(const Place& parent, const std::string& path, std::string_view name);
  absl::Status AddFile(const Place& parent, const content::FileEntry& file);
  absl::Status MakeEmpty(const content::FileEntry& file);
  absl::Status PutBackLost();
  absl::Status Write(const content::FileEntry& file, bool is_anew);
  const content::FileEntry* FileAtPlace(std::string_view path) const;
  void NoteInode(const FileStat& stat, const std::string& path);

  const content::Snapshot* snapshot_;
  const std::string parent_;
  const uint64_t bytes_max_;
  std::vector<bool> is_alone_;  // by mount: whether it is shown as a whole
  // For other mounts: their own folders, as paths below the mount's folder, with the mount's
  // number.
  std::set<std::pair<uint32_t, std::string>> folders_;
  ByteSource* bytes_ = nullptr;
  std::optional<ViewFolder> folder_;         // nullopt: not made yet
  bool is_used_ = false;                     // the present job uses it
  std::string root_;                         // the path of folder_
  std::set<std::string, std::less<>> full_;  // paths of filled folders
  // By path: the stat of each file that has its bytes, after they were written.
  std::map<std::string, FileStat, std::less<>> written_;
  std::set<std::string, std::less<>> lost_;  // files that are missing in filled folders
  uint64_t written_bytes_ = 0;
  uint64_t device_ = 0;
  absl::flat_hash_map<uint64_t, std::string> inodes_;  // look-up only
};

}  // namespace galley::worker
