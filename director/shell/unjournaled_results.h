// UnjournaledResults: the results that the core has and the journal does not have yet.
//
// The journal tells which packages a change of files affects; for these results their own
// observations must be checked. A report that the core drops, because it is doubled or late, adds
// no result.
//
// Threads: one owner.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/shell/result_table.h"

namespace galley::director {

class UnjournaledResults {
 public:
  explicit UnjournaledResults(const ResultTable* results) : results_(results) {}

  void Add(const Persist& persist);
  // Removes the results of a commit that has ended, even if it failed.
  void Remove(const Persisted& persisted);
  // Returns the packages of the results that no longer hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const;

 private:
  const ResultTable* results_;
  std::set<ResultId> ids_;
};

}  // namespace galley::director
