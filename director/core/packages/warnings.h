// Warnings: what each cook warns of, each thing once.
//
// Some warnings are told at once, others at the end of a cook: until then a file may change, and
// what was said be untrue.
// Threads: none; owned by Core.
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
  // Told to these cooks at once. Another platform, or another attempt, may have the same to say.
  void TellOnce(CookMask cooks, PackageId package, const record::Warning& warning);
  // The warnings of the package's last judgement. They are told at the end, if the package is in
  // the cook then.
  void NoteJudged(const Claimant& cook, PackageId package,
                  absl::btree_set<record::Warning> warnings);
  // The packages that the cook read which made the reader's result, now or before. A package that a
  // hard reference leads to joins these cooks through that; the others are judged at the end.
  void NoteRead(CookMask cooks, PackageId reader, const std::vector<std::string>& read);
  // The package is cooked again for this cook: what was judged of it is forgotten, and the names
  // that its cook read.
  void Forget(const Claimant& cook, PackageId package);
  // All is judged: what refers to packages that failed is warned of at the end, whatever becomes of
  // these packages in other cooks meanwhile.
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
    size_t unsolicited_dropped = 0;  // beyond
  };

  void NoteRead(const Claimant& cook, PackageId reader, const std::vector<std::string>& read);

  std::array<OfCook, kCooksMax> cooks_;
};

}  // namespace galley::director
