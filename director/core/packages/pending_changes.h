// PendingChanges: changes of the project that packages wait for, or that wait for cooks.
//
// Changes that come while roots are built are *late*: late changes belong to the next roots. A
// package that has a late change, or whose cook reads a package that has one, is *held*: no worker
// begins the package until the change is taken, for otherwise some platforms would be made of the
// old files, and others of the new files.
//
// A package that is cleared (PackagesCleared) while a cook that wants it builds its roots is also
// cleared late, and held until then: its bytes may be lost.
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
  // The package's faults come from its inputs before a late change.
  void ForgiveLate(PackageId package) { forgiven_late_.insert(package); }
  bool IsForgivenLate(PackageId package) const { return forgiven_late_.contains(package); }
  // From now on the package is made of the files that are known now.
  void ForgetLate(PackageId package) { forgiven_late_.erase(package); }

  // The file changed, while these cooks run; the catalog of `epoch` knows the change. Returns the
  // packages that wait for the scan.
  absl::btree_set<PackageId> NoteScanned(const std::string& path, CookMask running, uint32_t epoch);
  // How often the file changed since the first of the running cooks saw the file change.
  uint32_t ChangesOf(const std::string& path) const;
  // An attempt that was handed over in `epoch` found the file changed. True: the attempt tells
  // nothing new, since the last change of the file is known by now.
  bool IsKnown(const std::string& path, uint32_t epoch) const;
  // The package waits until the file was scanned again. True: the package is the first that waits.
  bool WaitForScan(PackageId package, const std::string& path);
  // The package waits no longer. The scan goes on, for other packages.
  void StopWaitingForScan(PackageId package, const std::string& path);
  bool is_scan_awaited() const { return !stale_waiters_.empty(); }
  // A cook is over: changes of files that only this cook saw count no more. O(files).
  void LetGo(CookMask cook);
  size_t stale_files() const { return stale_files_.size(); }

 private:
  struct StaleFile {
    uint32_t changes = 0;
    CookMask cooks = 0;  // cooks that ran at the first change, and still run
    uint32_t epoch = 0;  // since when the catalog knows the last change
  };

  std::vector<FilesChanged> late_;  // without their catalogs
  absl::btree_set<PackageId> cleared_late_;
  absl::flat_hash_set<PackageId> forgiven_late_;  // look-up only
  absl::btree_set<PackageId> held_;
  absl::btree_map<std::string, StaleFile> stale_files_;
  absl::btree_map<std::string, absl::btree_set<PackageId>> stale_waiters_;
};

}  // namespace galley::director
