// FailureNotes: what the journal is to learn of failures with the next commit.
//
// A committed result takes the failure of its platform out of the journal, because the platform is
// then done as a rule. A result that comes late, for a package whose failure the cook has reported,
// feeds only the cache: the failure stands until the cook says that the platform is done, and is
// written again after the result.
//
// Threads: none; owned by DirectorShell's loop.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "director/journal/journal.h"

namespace galley::director {

class FailureNotes {
 public:
  // A package and a platform's name.
  using Where = std::pair<std::string, std::string>;

  void Failed(const Where& where, FailureRecord record);
  // `is_known`: the journal told of a failure before this cook.
  void Done(const Where& where, bool is_known);
  // Drops the failures of a package that is no longer in the cook.
  void Left(const std::string& package);
  bool has_news() const { return !news_.empty(); }
  // Returns the updates that go to the journal after a group that records `committed`.
  std::vector<FailureUpdate> Take(const std::vector<Where>& committed);
  // Returns the packages that this cook says failed for the platform.
  std::vector<std::string> FailedFor(const std::string& platform) const;

 private:
  std::map<Where, FailureRecord> standing_;             // reported by this cook
  std::map<Where, std::optional<FailureRecord>> news_;  // updates that nobody has taken yet
};

}  // namespace galley::director
