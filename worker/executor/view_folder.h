// ViewFolder: the folder of one view (lazy_view.h) among those of all executors on a machine, which
// share one quota. Beside it lie two files: `<name>.owner`, locked (flock) as long as its process
// lives, and `<name>.busy`, locked while a job uses it; that one says how many bytes the folder
// holds, and when a job used it last.
//
// When all of them hold more than the quota, the one that was used longest ago goes first, whoever
// owns it; one that a job uses stays. What a dead process left behind goes at once.
// Threads: one owner; any number of processes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::worker {

class ViewFolder {
 public:
  static constexpr uint64_t kBytesMax = 4ull << 30;  // of all together

  // Makes one in `parent`, which is made if need be. It is in use.
  static absl::StatusOr<ViewFolder> Make(const std::string& parent, uint64_t bytes_max = kBytesMax);
  ViewFolder(ViewFolder&& other) noexcept = default;
  ViewFolder& operator=(ViewFolder&& other) noexcept = delete;
  // Removes it.
  ~ViewFolder();

  const std::string& path() const { return path_; }
  // A job uses it from now on. False: it has gone meanwhile, and is of no use any more.
  bool Use();
  // It holds so many bytes, and may go.
  void Release(uint64_t bytes);

 private:
  ViewFolder() = default;

  std::string parent_;
  std::string path_;  // empty: moved from
  uint64_t bytes_max_ = 0;
  uint64_t bytes_ = 0;  // as it was released with
  FileDescriptor owner_, busy_;
};

}  // namespace galley::worker
