// ListedCook and LeftOutOfList: the files that had changed before the last cook that looked only at
// listed files (`--changed`), though its list did not name them. The next cook that looks at all
// files names them.
//
// The file <state>/listed says when the last such cook began; a cook that looks at all files
// removes it. The base of the journal has what that cook saw, so every file that differs from the
// base was not named, or changed since.
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

  // Notes that a cook that began at `began` has looked only at listed files. REQUIRES: the
  // journal's base is that cook's.
  absl::Status Note(absl::Time began);
  // When the last such cook began, in nanoseconds of wall time; nullopt: all files were looked at
  // since.
  std::optional<int64_t> Began() const;
  // Called when all files were looked at, and the journal's base has them.
  void Forget();

 private:
  const std::string file_;
};

struct LeftOutOfList {
  std::vector<std::string> surely;  // files that changed before that cook
  // Files that may have changed before that cook or since: a file that is gone has no time, and a
  // file in a renamed folder has an older time.
  std::vector<std::string> perhaps;
};

// `changes`: from the journal's base to `now`, in their order. Cost: a stat for each folder above
// files that are new or gone.
LeftOutOfList FindLeftOut(std::span<const content::Change> changes, const content::Snapshot& now,
                          int64_t began_ns);
// For people; empty: nothing was left out.
std::string TextOf(const LeftOutOfList& left_out);

}  // namespace galley::director
