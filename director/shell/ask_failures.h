// AskFailures: collects the failures of asks (cooks/asks.h) for the journal, so that `galley why`
// knows what a device was answered. They are written like the failures of cooks, with the number 0
// in place of a cook's (FailureRecord::cook).
//
// A device may ask for the same failing package again and again: a failure that was told is not
// written again, as far as the last kToldMax failures are remembered.
//
// Threads: the loop's.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "director/journal/journal.h"
#include "director/shell/failure_notes.h"

namespace galley::director {

class AskFailures {
 public:
  using Where = FailureNotes::Where;
  static constexpr size_t kToldMax = 4'096;
  // News wait so long for more of them.
  static constexpr absl::Duration kInterval = absl::Milliseconds(200);

  void Failed(const Where& where, FailureRecord record, absl::Time now);
  // The platform is done. `is_known`: the journal had a failure when the package was looked up.
  void Done(const Where& where, bool is_known, absl::Time now);
  // A cook told that the platform is done, and sees to the journal: a failure is told anew.
  void Forget(const Where& where) { told_.erase(where); }
  bool IsDue(absl::Time now) const { return !news_.empty() && now - news_since_ >= kInterval; }
  // Returns the updates to write to the journal after a group with the results `committed`.
  std::vector<FailureUpdate> Take(const std::vector<Where>& committed);

 private:
  void AddNews(const Where& where, std::optional<FailureRecord> failure, absl::Time now);

  std::map<Where, FailureRecord> told_;
  std::map<Where, std::optional<FailureRecord>> news_;
  absl::Time news_since_ = absl::InfinitePast();
};

}  // namespace galley::director
