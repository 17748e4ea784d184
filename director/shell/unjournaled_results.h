// UnjournaledResults: the results that the core keeps and the journal does not name yet.
//
// The journal says which packages a change of files affects; for these results their own
// observations say so. A report that the core drops (doubled, or too late) adds no result: its
// result is kept nowhere.
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
  // Removes the results of a commit that is over, however it ended.
  void Remove(const Persisted& persisted);
  // Returns the packages of the results that no longer hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const;

 private:
  const ResultTable* results_;
  std::set<ResultId> ids_;
};

}  // namespace galley::director
