// Disk: a file system in memory that forgets what was not synced.
//
// A file's bytes are safe up to its last good sync, its name once its folder was synced. A power
// cut keeps an arbitrary part of the rest: some of the unsynced bytes, any of the unsynced names. A
// sync that fails loses what it should have written, though the file reads as before: the file's
// next sync succeeds and knows nothing (https://wiki.postgresql.org/wiki/Fsync_Errors), until the
// power is cut. The death of a process loses nothing; but nobody was told the result of a sync in
// which it died.
//
// A write can be made the last of its process (CrashAt): it is left torn, and Crash is thrown.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

class Disk {
 public:
  struct Crash {};  // the director's process ends here

  explicit Disk(Random& random) : random_(random) {}

  bool Has(const std::string& path) const { return names_.contains(path); }
  // NOT_FOUND: there is no such file. The view is valid until the next write.
  absl::StatusOr<std::string_view> Read(const std::string& path) const;
  uint64_t SizeOf(const std::string& path) const;
  std::vector<std::string> List(std::string_view folder) const;
  // Makes the file when it is absent. Returns the offset of the new bytes.
  uint64_t Append(const std::string& path, std::string_view bytes);
  void Truncate(const std::string& path, uint64_t size);
  void Rename(const std::string& from, const std::string& to);
  void Remove(const std::string& path);
  absl::Status Sync(const std::string& path);
  absl::Status SyncFolder(const std::string& folder);
  // Turns a bit of the stored bytes.
  void Rot(const std::string& path, uint64_t offset);

  // Somebody deletes the file (`size` 0), or cuts it to `size`, for good.
  void Destroy(const std::string& path, uint64_t size);
  // Whether anything was destroyed since the last call.
  bool TakeDestroyed() { return std::exchange(is_destroyed_, false); }

  // Whether all these bytes would be there after a power cut now.
  bool IsSafe(const std::string& path, uint64_t begin, uint64_t end) const;

  void PowerCut();

  // The director's next `writes`-th write or sync is its last; 0: never. A worker's writes do not
  // count.
  void CrashAt(uint64_t writes) { crash_in_ = writes; }
  uint64_t writes() const { return writes_; }
  // False while a worker writes.
  void set_is_director(bool is_director) { is_director_ = is_director; }
  // Asked at each sync of a file; `is_last`: the process dies in it.
  std::function<bool(bool is_last)> sync_fails;

 private:
  struct File {
    std::string bytes;
    uint64_t synced = 0;
    // The ranges that the disk never got because a sync failed.
    std::vector<std::pair<uint64_t, uint64_t>> holes;
  };
  using FilePtr = std::shared_ptr<File>;

  // True: this write is the last.
  bool CountWrite();
  static std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

  Random& random_;
  std::map<std::string, FilePtr> names_;
  std::map<std::string, FilePtr> safe_names_;
  uint64_t crash_in_ = 0;
  uint64_t writes_ = 0;
  bool is_director_ = true;
  bool is_destroyed_ = false;
};

}  // namespace galley::simulation
