// Judging: packages are judged for how they fit together: when all is cooked, and with fail_fast as
// soon as their references are known. And what a cook warns of, each thing once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/part.h"
#include "director/core/platforms.h"

namespace galley::director {

class Judging : CookPart {
 public:
  Judging(Core& core, Cook& cook);

  // References are those of the last catalog as a whole. False: nothing is to be done for it.
  bool ReexploreIfChanged();
  std::vector<PackageId> InCookByName() const;
  // A hard reference that leads nowhere fails the package, though its results stand; a soft one is
  // a warning.
  void Judge(PackageId package);
  void FailJudged(PackageId package, PlatformMask platforms, Stage stage, const std::string& error);
  // The platforms on which the package failed for how it fits in with others: its results stand,
  // and others may read them.
  PlatformMask JudgedOf(PackageId package) const;
  // The package begins anew, or leaves: whether packages fit in is judged anew, of all that failed
  // so, since each stands against another.
  void Forget(PackageId package);
  // The package is cooked again: the names that it read are forgotten.
  void ForgetRead(PackageId package);
  // Platforms have new numbers: what was not explored yet may have stood for other ones.
  void Remap(const PlatformMap& map);

  // Another platform, or the package's next look, may have the same to say.
  void WarnOnce(PackageId package, const std::string& text);
  // Packages that a worker's cook read. A package that a hard reference leads to joins the cook
  // through that; the others are judged at the end.
  void NoteRead(PackageId reader, const std::vector<std::string>& read);
  void WarnOfFailedTargets();
  void WarnOfUnsolicited();

 private:
  void SetJudged(PackageId package, PlatformMask platforms);

  uint32_t judged_epoch_;
  absl::btree_map<PackageId, PlatformMask> judged_;
  // Packages that a worker's cook read and that were not in the cook then, by reader.
  absl::btree_map<PackageId, absl::btree_set<std::string>> unsolicited_;
  absl::flat_hash_set<std::pair<PackageId, std::string>> warned_;  // look-up only
  size_t unsolicited_count_ = 0;    // names kept, at most kUnsolicitedMax
  size_t unsolicited_dropped_ = 0;  // beyond
};

}  // namespace galley::director
