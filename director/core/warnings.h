// Warnings: what a cook warns of, each thing once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "common/record/warning.h"
#include "director/core/part.h"

namespace galley::director {

class Warnings : CookPart {
 public:
  Warnings(Core& core, Cook& cook) : CookPart(core, cook) {}

  // Told at once. Another platform, or another attempt, may have the same to say.
  void TellOnce(PackageId package, const record::Warning& warning);
  // The warnings of the package's last judgement. They are told at the end, if the package is in
  // the cook then: until then its file may change, and what was said be untrue.
  void NoteJudged(PackageId package, absl::btree_set<record::Warning> warnings);
  void ForgetJudged(PackageId package) { judged_.erase(package); }
  void TellJudged() const;
  // Packages that the cook read that made the reader's result, now or before. A package that a hard
  // reference leads to joins the cook through that; the others are judged at the end.
  void NoteRead(PackageId reader, const std::vector<std::string>& read);
  // The package is cooked again: the names that it read are forgotten.
  void ForgetRead(PackageId package);
  // All is judged: what refers to packages that failed is warned of at the end, whatever becomes of
  // these packages in other cooks meanwhile.
  void NoteFailedTargets();
  void TellFailedTargets() const;
  void TellUnsolicited();

 private:
  std::vector<std::pair<PackageId, std::string>> failed_targets_;  // texts, by name
  absl::btree_map<PackageId, absl::btree_set<record::Warning>> judged_;
  // Packages that were read and that were not in the cook then, by reader.
  absl::btree_map<PackageId, absl::btree_set<std::string>> unsolicited_;
  absl::btree_set<std::pair<PackageId, record::Warning>> told_;
  size_t unsolicited_count_ = 0;    // names kept, at most kUnsolicitedMax
  size_t unsolicited_dropped_ = 0;  // beyond
};

}  // namespace galley::director
