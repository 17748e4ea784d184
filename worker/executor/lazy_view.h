// LazyView: the mounts of one snapshot as a folder for external programs, on a machine without
// these files. All comes when it is needed (worker/walls/call_watch.h): the names of a folder, as
// the snapshot's table has them, when somebody looks into it, and the bytes of a file when it is
// opened. Until then a file is an empty one of the right size, mode and time, so that it can be
// listed.
//
//   show/Game -> ../mounts/0     what MountView (mount_view.h) shows where the project is: links to
//   show/Game/x -> ...           the folders of mounts, and to files where mounts overlap
//   mounts/0/...                 a mount's own folder, in place of Mount::directory
//
// What is there stays for further jobs, as long as there is room (view_folder.h). A file that a
// program changed all the same is put there anew, as another file, before somebody opens it.
//
// As the table: no file that [scan] ignores, or that cannot be used, and no empty folder. Where
// that matters, DirectorsPath tells what to ask the director about.
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
  // `parent`: where the views of this machine are. The snapshot outlives the view.
  LazyView(const content::Snapshot* snapshot, std::string parent,
           uint64_t bytes_max = ViewFolder::kBytesMax);
  ~LazyView() override;
  LazyView(const LazyView&) = delete;
  LazyView& operator=(const LazyView&) = delete;

  // Where bytes come from, from now on, until EndJob; it outlives that. REQUIRED before all else. A
  // view that has gone meanwhile, for want of room, is made anew.
  void BeginJob(ByteSource* bytes);
  void EndJob();
  // Makes the mounts show in `directory`, as MountView does.
  absl::Status ShowUnder(const std::string& directory);
  // Host path of a file of the snapshot, with its bytes. NOT_FOUND: there is none.
  absl::StatusOr<std::string> FileAt(const std::string& virtual_path);
  // Fills the folders in which a generated file of this name will be put.
  absl::Status FillFoldersOf(std::string_view virtual_path);

  // Where the director has what lies there, if it is in a mount; empty: it is in none.
  std::string DirectorsPath(std::string_view path) const;

  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string& path) override;
  absl::Status FillFile(const std::string& path) override;
  std::string PathOf(uint64_t device, uint64_t inode) const override;

 private:
  // Of a path below root_.
  struct Place {
    bool is_shown = false;     // below show/
    uint32_t mount = 0;        // else
    std::string_view in_it;    // "" or "/..."
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
  std::vector<bool> is_alone_;  // mounts that are shown as a whole
  // Of mounts that are not: their own folders, as paths below their folder, with the number.
  std::set<std::pair<uint32_t, std::string>> folders_;
  ByteSource* bytes_ = nullptr;
  std::optional<ViewFolder> folder_;         // none: not made yet
  bool is_used_ = false;                     // by the present job
  std::string root_;                         // its path
  std::set<std::string, std::less<>> full_;  // folders, by path
  // What has its bytes, as it was then, by path; no look here is of another file.
  std::map<std::string, FileStat, std::less<>> written_;
  std::set<std::string, std::less<>> lost_;  // files of full folders that are not there
  uint64_t written_bytes_ = 0;
  uint64_t device_ = 0;
  absl::flat_hash_map<uint64_t, std::string> inodes_;  // look-up only
};

}  // namespace galley::worker
