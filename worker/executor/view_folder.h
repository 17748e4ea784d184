// ViewFolder: the folder of a view (lazy_view.h) among the views of all executors on a machine,
// which share a quota. Two files lie beside the folder: `<name>.owner`, locked (flock) as long as
// its process lives, and `<name>.busy`, locked while a job uses the view. The file `<name>.busy`
// holds the number of bytes in the folder, and its time is the time of the last use.
//
// When all views together hold more than the quota, the view that was used longest ago goes first,
// whoever owns it; a view in use stays. Views of dead processes are removed whenever a process
// checks the quota.
// Threads: one owner; any number of processes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::worker {

class ViewFolder {
 public:
  static constexpr uint64_t kBytesMax = 4ull << 30;  // for all views together

  // Makes a view in `parent`, which is created if need be. The view is in use.
  static absl::StatusOr<ViewFolder> Make(const std::string& parent, uint64_t bytes_max = kBytesMax);
  ViewFolder(ViewFolder&& other) noexcept = default;
  ViewFolder& operator=(ViewFolder&& other) noexcept = delete;
  // Removes the view.
  ~ViewFolder();

  const std::string& path() const { return path_; }
  // Marks the view as used by a job. False: the view was removed meanwhile, and is unusable.
  bool Use();
  // Ends the use by a job: the view holds `bytes`, and may be removed from now on.
  void Release(uint64_t bytes);

 private:
  ViewFolder() = default;

  std::string parent_;
  std::string path_;  // empty: moved from
  uint64_t bytes_max_ = 0;
  uint64_t bytes_ = 0;  // as of the last Release
  FileDescriptor owner_, busy_;
};

}  // namespace galley::worker
