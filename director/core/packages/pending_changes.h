// PendingChanges: files that changed under attempts, and the packages that wait for a scan of them.
//
// A file that changed under an attempt is *stale*: the packages that read the file wait until the
// file was scanned again.
// Cost: O(log) for each call, unless it says otherwise.
// Threads: none; owned by Graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "director/core/ids.h"

namespace galley::director {

class PendingChanges {
 public:
  // The file was scanned and has changed; the catalog of `epoch` knows the change, and the cooks
  // `seeing` take it in. Returns the packages that wait for the scan, which do not wait any more.
  absl::btree_set<PackageId> NoteScanned(const std::string& path, CookMask seeing, uint32_t epoch);
  // How often the file changed while at least one cook ran that saw its first change; else 0.
  uint32_t ChangesOf(const std::string& path) const;
  // True: a change that an attempt found, which was handed over in `epoch`, is known already.
  bool IsKnown(const std::string& path, uint32_t epoch) const;
  // The package waits for a scan of the file. True: it is the first that waits for this file.
  bool WaitForScan(PackageId package, const std::string& path);
  // The package does not wait any more. The scan goes on, for other packages.
  void StopWaitingForScan(PackageId package, const std::string& path);
  bool is_scan_awaited() const { return !stale_waiters_.empty(); }
  // The cook, or an ask, is over: changes that only it saw do not count any more. O(changed files).
  void LetGo(CookMask cook);
  size_t stale_files() const { return stale_files_.size(); }

 private:
  struct StaleFile {
    uint32_t changes = 0;
    CookMask cooks = 0;  // running cooks that ran at the first change
    uint32_t epoch = 0;  // of the catalog that knows the last change
  };

  absl::btree_map<std::string, StaleFile> stale_files_;
  absl::btree_map<std::string, absl::btree_set<PackageId>> stale_waiters_;
};

}  // namespace galley::director
