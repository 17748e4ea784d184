// ListedCook and LeftOutOfList: which files had changed before the last cook that looked at listed
// files only (`--changed`), though its list did not name them. The next cook that looks at all
// files names them.
//
// The file <state>/listed says when the last such cook began; a cook that looks at all files
// removes it. The base of the journal has what that cook saw, so that all that differs from it was
// not named, or changed since.
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
#include "common/content/snapshot.h"

namespace galley::director {

class ListedCook {
 public:
  explicit ListedCook(const std::string& state_directory);

  // A cook that began then has looked at listed files only. REQUIRES: the journal's base is of it.
  absl::Status Note(absl::Time began);
  // When the last one began, in nanoseconds of wall time; nullopt: all files were looked at since.
  std::optional<int64_t> Began() const;
  // All files were looked at, and the journal's base is of them.
  void Forget();

 private:
  const std::string file_;
};

struct LeftOutOfList {
  std::vector<std::string> surely;  // they changed before that cook
  // They may have changed before it or since: a file that is gone has no time, and one in a folder
  // that was renamed has an older one.
  std::vector<std::string> perhaps;
};

// `changes`: of the journal's base to `now`, by their order. Cost: a stat for each folder above
// files that are new or gone.
LeftOutOfList FindLeftOut(std::span<const content::Change> changes, const content::Snapshot& now,
                          int64_t began_ns);
// For people; empty: nothing was left out.
std::string TextOf(const LeftOutOfList& left_out);

}  // namespace galley::director
