// PendingChanges: changes of the project that packages wait for, or that wait for cooks.
//
// A change that comes while roots are being built is *late*: it belongs to the next roots. A
// package with a late change, or whose cook reads a package with one, is *held*: no worker begins
// the package until the change is taken. Otherwise some of its platforms would be made of the old
// files, and others of the new files.
//
// PackagesCleared is late, too, for a package that is in roots being built. The package is held
// until it is cleared, since its bytes may be lost.
//
// A file that changed under an attempt is *stale*: the packages that read the file wait until the
// file was scanned again.
// Cost: O(log) for each call, unless it says otherwise.
// Threads: none; owned by Graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/events.h"
#include "director/core/ids.h"

namespace galley::director {

class PendingChanges {
 public:
  void AddLate(FilesChanged change) { late_.push_back(std::move(change)); }
  std::vector<FilesChanged> TakeLate() { return std::exchange(late_, {}); }
  bool has_late_files() const { return !late_.empty(); }
  void AddClearedLate(PackageId package) { cleared_late_.insert(package); }
  absl::btree_set<PackageId> TakeClearedLate() { return std::exchange(cleared_late_, {}); }
  bool has_late() const { return has_late_files() || !cleared_late_.empty(); }
  void Hold(PackageId package) { held_.insert(package); }
  absl::btree_set<PackageId> TakeHeld() { return std::exchange(held_, {}); }
  bool IsHeld(PackageId package) const { return held_.contains(package); }
  // Notes that the package's faults so far belong to its inputs before a late change.
  void ForgiveLate(PackageId package) { forgiven_late_.insert(package); }
  bool IsForgivenLate(PackageId package) const { return forgiven_late_.contains(package); }
  // The package begins again, with the present files: ends ForgiveLate.
  void ForgetLate(PackageId package) { forgiven_late_.erase(package); }

  // The file was scanned and has changed; the catalog of `epoch` knows the change. Returns the
  // packages that wait for the scan, which do not wait any more.
  absl::btree_set<PackageId> NoteScanned(const std::string& path, CookMask running, uint32_t epoch);
  // How often the file changed while at least one cook ran that saw its first change; else 0.
  uint32_t ChangesOf(const std::string& path) const;
  // True: a change that an attempt found, which was handed over in `epoch`, is known already.
  bool IsKnown(const std::string& path, uint32_t epoch) const;
  // The package waits for a scan of the file. True: it is the first that waits for this file.
  bool WaitForScan(PackageId package, const std::string& path);
  // The package does not wait any more. The scan goes on, for other packages.
  void StopWaitingForScan(PackageId package, const std::string& path);
  bool is_scan_awaited() const { return !stale_waiters_.empty(); }
  // The cook is over: changes that only this cook saw do not count any more. O(changed files).
  void LetGo(CookMask cook);
  size_t stale_files() const { return stale_files_.size(); }

 private:
  struct StaleFile {
    uint32_t changes = 0;
    CookMask cooks = 0;  // running cooks that ran at the first change
    uint32_t epoch = 0;  // of the catalog that knows the last change
  };

  std::vector<FilesChanged> late_;  // without their catalogs
  absl::btree_set<PackageId> cleared_late_;
  absl::flat_hash_set<PackageId> forgiven_late_;  // look-up only
  absl::btree_set<PackageId> held_;
  absl::btree_map<std::string, StaleFile> stale_files_;
  absl::btree_map<std::string, absl::btree_set<PackageId>> stale_waiters_;
};

}  // namespace galley::director
