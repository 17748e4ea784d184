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

class Changes : Part {
 public:
  explicit Changes(Core& core) : Part(core) {}

  void OnFilesChanged(const FilesChanged& event);
  void OnPackagesCleared(const PackagesCleared& event);
  void OnPlatformsChanged(const PlatformsChanged& event);

  // Changes that came while roots were built belong to the roots that are built after them. Nothing
  // is taken while some cook still builds.
  void TakeLate();
  void OnRoundBegan(const RoundBegan&) { TakeLate(); }

 private:
  void ForgiveLate(const FilesChanged& event);
  void ForgiveWaiting(const FilesChanged& event);
  void Release();
  void TakeChange(const FilesChanged& event);
  void RenameAll(const std::vector<FilesChanged::Renamed>& all, absl::btree_set<PackageId>& done);
  void RemapPackage(PackageId package, const PlatformMap& map, PlatformMask added);
  void GoOnWithPlatforms(PackageId package, PlatformMask added);
};

}  // namespace galley::director
