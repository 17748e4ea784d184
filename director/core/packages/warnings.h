// Warnings: the warnings of each cook, each told once.
//
// Some warnings are told at once, others at the end of a cook: until the end a file may change, and
// the warning become untrue.
// Threads: none; owned by its layer.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "common/record/warning.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class Warnings : PackagePart {
 public:
  explicit Warnings(const PackageGround& ground) : PackagePart(ground) {}

  // A cook begins in the slot.
  void BeginCook(CookSlot slot) { cooks_[slot] = {}; }
  // Tells the warning to these cooks at once. Another platform, or another attempt, may have the
  // same warning.
  void TellOnce(CookMask cooks, PackageId package, const record::Warning& warning);
  // The warnings of the package's last judgement. The warnings are told at the end, if the package
  // is in the cook then.
  void NoteJudged(const Claimant& cook, PackageId package,
                  absl::btree_set<record::Warning> warnings);
  // Notes the packages that the reader's cook read, now or before. A package that a hard reference
  // leads to joins these cooks through the reference; the others are judged at the end.
  void NoteRead(CookMask cooks, PackageId reader, const std::vector<std::string>& read);
  // The package is cooked again for this cook: its judgement is forgotten, and the names that its
  // cook read.
  void Forget(const Claimant& cook, PackageId package);
  // Every package is judged: packages that refer to failed packages are warned of at the end,
  // whatever becomes of the failed packages in other cooks meanwhile.
  void NoteFailedTargets(const Claimant& cook);

  void TellJudged(const Claimant& cook) const;
  void TellFailedTargets(const Claimant& cook) const;
  void TellUnsolicited(const Claimant& cook) const;

 private:
  struct OfCook {
    std::vector<std::pair<PackageId, std::string>> failed_targets;  // texts, by name
    absl::btree_map<PackageId, absl::btree_set<record::Warning>> judged;
    // Packages that were read and that were not in the cook then, by reader.
    absl::btree_map<PackageId, absl::btree_set<std::string>> unsolicited;
    absl::btree_set<std::pair<PackageId, record::Warning>> told;
    size_t unsolicited_count = 0;    // names kept, at most kUnsolicitedMax
    size_t unsolicited_dropped = 0;  // names beyond kUnsolicitedMax
  };

  void NoteRead(const Claimant& cook, PackageId reader, const std::vector<std::string>& read);

  std::array<OfCook, kCooksMax> cooks_;
};

}  // namespace galley::director
