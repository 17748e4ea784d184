// FailureNotes: collects one cook's updates of failures in the journal, for the next commit.
//
// A committed result removes the failure of its platform from the journal, because the platform is
// then usually done. But a late result of a package whose failure the cook has reported only feeds
// the cache: the failure stands until the cook says that the platform is done, so it is written
// again after the result.
//
// Threads: the loop's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "director/core/effects.h"
#include "director/journal/journal.h"

namespace galley::director {

// The record of the failure in the journal. `cook`: FailureRecord::cook. `worker`: the name of the
// worker, empty: the failure was in no attempt.
FailureRecord FailureRecordOf(const PackageFailed& failed, uint64_t cook, absl::Time now,
                              std::string worker);

class FailureNotes {
 public:
  // A package and a platform's name.
  using Where = std::pair<std::string, std::string>;

  void Failed(const Where& where, FailureRecord record);
  // `is_known`: the journal had a failure before this cook.
  void Done(const Where& where, bool is_known);
  // Drops the failures of a package that is no longer in the cook.
  void Left(const std::string& package);
  bool has_news() const { return !news_.empty(); }
  // Returns the updates to write to the journal after a group with the results `committed`.
  std::vector<FailureUpdate> Take(const std::vector<Where>& committed);
  // Returns the packages that failed on the platform in this cook.
  std::vector<std::string> FailedFor(const std::string& platform) const;

 private:
  std::map<Where, FailureRecord> standing_;             // reported by this cook
  std::map<Where, std::optional<FailureRecord>> news_;  // updates that nobody has taken yet
};

}  // namespace galley::director
