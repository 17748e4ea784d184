// Changes: files and platforms change under a cook, and outcomes are forgotten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/part.h"
#include "director/core/platforms.h"

namespace galley::director {

using NewNames = absl::btree_map<std::string_view, std::string_view>;  // by the old ones

// Renames the selected packages from `first` on.
void RenameIn(std::vector<SelectedPackage>& selected, size_t first, const NewNames& new_names);

class Changes : Part {
 public:
  explicit Changes(Core& core) : Part(core) {}

  void OnFilesChanged(const FilesChanged& event);
  void OnPackagesCleared(const PackagesCleared& event);
  void OnPlatformsChanged(const PlatformsChanged& event);

  // Changes that came while roots were built belong to the roots that are built after them. Nothing
  // is taken while some cook still builds.
  void TakeLate();
  bool has_late() const { return !late_changes_.empty(); }
  // The package, or what its cook reads, has such a change: until then nobody begins with it, for
  // some platforms would be of the old files, and others of the new ones.
  bool IsHeld(PackageId package) const { return held_.contains(package); }
  // REQUIRES: IsHeld, and the package is in the works.
  void Hold(PackageId package);
  // From now on the package is made of what is known of today.
  void ForgetLate(PackageId package) { forgiven_late_.erase(package); }
  // The package's faults are of what it was made of before: roots were being built by then.
  bool IsForgivenLate(PackageId package) const { return forgiven_late_.contains(package); }

  // The package waits until `path` was scanned again. An attempt that was handed over before the
  // last change of the file was known tells nothing new.
  void WaitForScan(PackageId package, const std::string& path, uint32_t attempt_epoch);
  // The scan goes on, for others.
  void StopWaitingForScan(PackageId package);
  // A cook is over: changes of files that were counted since it ran count no more.
  void LetGo(CookMask cook);
  size_t stale_files() const { return stale_files_.size(); }
  bool is_scan_awaited() const { return !stale_waiters_.empty(); }

 private:
  struct StaleFile {
    uint32_t changes = 0;
    CookMask cooks = 0;  // that ran at the first of them, and still run
    uint32_t epoch = 0;  // since when the catalog has its last change
  };

  void ForgiveLate(const FilesChanged& event);
  void ForgiveWaiting(const FilesChanged& event);
  void Release();
  void TakeChange(const FilesChanged& event);
  static NewNames NewNamesOf(const std::vector<FilesChanged::Renamed>& all);
  void RenameAll(const std::vector<FilesChanged::Renamed>& all, absl::btree_set<PackageId>& done);
  void RemapPackage(PackageId package, const PlatformMap& map, PlatformMask added);
  void GoOnWithPlatforms(PackageId package, PlatformMask added);

  std::vector<FilesChanged> late_changes_;        // while roots are built, without their catalogs
  absl::flat_hash_set<PackageId> forgiven_late_;  // look-up only
  absl::btree_set<PackageId> held_;
  absl::btree_map<std::string, StaleFile> stale_files_;
  absl::btree_map<std::string, absl::btree_set<PackageId>> stale_waiters_;
};

}  // namespace galley::director
