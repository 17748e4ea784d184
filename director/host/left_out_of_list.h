// ListedCook and LeftOutOfList: find the files that the list of a cook (`--changed`) left out
// although they had changed. The next cook that looks at all files tells people about them.
//
// The file <state>/listed says when the last cook with a list began; a cook that looks at all files
// removes it. The journal's base has the files that the cook saw, so a file that differs from the
// base was left out of the list, or changed since.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/content/changes.h"
#include "common/content/snapshot.h"

namespace galley::director {

class ListedCook {
 public:
  explicit ListedCook(const std::string& state_directory);

  // Notes that the cook that began at `began` looked only at listed files. REQUIRES: the journal's
  // base is from this cook.
  absl::Status Note(absl::Time began);
  // When the last cook with a list began, in nanoseconds of wall time; nullopt: all files were
  // looked at since.
  std::optional<int64_t> Began() const;
  // Called when all files were looked at and are in the journal's base.
  void Forget();

 private:
  const std::string file_;
};

struct LeftOutOfList {
  std::vector<std::string> surely;  // files that changed before the cook with the list
  // Files that changed before or after that cook began: a removed file has no time, and a file in a
  // renamed folder has an older time.
  std::vector<std::string> perhaps;
};

// Finds the files that were left out. `changes`: from the journal's base to `now`. Cost: a stat for
// each folder above new and removed files.
LeftOutOfList FindLeftOut(std::span<const content::Change> changes, const content::Snapshot& now,
                          int64_t began_ns);
// Returns a text for people; empty: nothing was left out.
std::string TextOf(const LeftOutOfList& left_out);

}  // namespace galley::director
