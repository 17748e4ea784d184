// Warnings: the warnings of each cook, each told once.
//
// Some warnings are told at once. Others are told at the end of the cook, since a change of a file
// may make them untrue before.
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
  // Tells the warning to these cooks at once, unless another platform or attempt had the same one.
  void TellOnce(CookMask cooks, PackageId package, const record::Warning& warning);
  // Sets the warnings of the package's last judgement. They are told at the end, if the package is
  // in the cook then.
  void NoteJudged(const Claimant& cook, PackageId package,
                  absl::btree_set<record::Warning> warnings);
  // Notes the names of the packages whose sources the reader's cook read. Packages that are not in
  // the cook at its end are warned of (TellUnsolicited). TellOnce and NoteRead leave out settled
  // cooks.
  void NoteRead(CookMask cooks, PackageId reader, const std::vector<std::string>& read);
  // The package begins again: forgets its judgement, and the names that its cook read.
  void Forget(const Claimant& cook, PackageId package);
  // Notes the references to packages that have failed in the cook by now, for TellFailedTargets.
  // REQUIRES: the cook has a manifest, with its references.
  void NoteFailedTargets(const Claimant& cook);

  void TellJudged(const Claimant& cook) const;
  void TellFailedTargets(const Claimant& cook) const;
  void TellUnsolicited(const Claimant& cook) const;

 private:
  struct OfCook {
    std::vector<std::pair<PackageId, std::string>> failed_targets;  // texts, by name
    absl::btree_map<PackageId, absl::btree_set<record::Warning>> judged;
    // Names of packages that were read and were not in the cook then, by reader.
    absl::btree_map<PackageId, absl::btree_set<std::string>> unsolicited;
    absl::btree_set<std::pair<PackageId, record::Warning>> told;
    size_t unsolicited_count = 0;    // names kept, at most kUnsolicitedMax
    size_t unsolicited_dropped = 0;  // names beyond kUnsolicitedMax
  };

  void NoteRead(const Claimant& cook, PackageId reader, const std::vector<std::string>& read);

  std::array<OfCook, kCooksMax> cooks_;
};

}  // namespace galley::director
