// CommitGroup: makes a group of results durable in order: data and results in the store, then the
// journal; only then it is Persisted. The simulation runs the same code over its own disk.
//
// Threads: none of its own; the shell calls it on the commit thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct CommitOutcome {
  Persisted event;
  struct Alarm {
    std::string package;
    std::string platform;
    std::string text;
  };
  std::vector<Alarm> alarms;  // what came out otherwise than before
  uint64_t bytes_stored = 0;
  uint64_t bytes_deduplicated = 0;  // written, and there already
};

// The cook whose results are committed.
struct CookNumber {
  uint32_t cook = 0;  // the director's term
  bool is_forced = false;
  // What it cooks is sent to a store of other people, and the journal is to know what was not yet.
  bool is_sent_back = false;
};

// Of what was cooked here: it stands, and other people are to have it. `stands`: what the store
// holds. A verdict is of one store, but for a dispute: the other store may have the first outcome,
// and nobody else should have either.
inline bool IsSentBack(const StoredResult& stands, bool is_instead) {
  return is_instead ? stands.result.is_disputed : !stands.result.is_verdict;
}

// One group. Blocking. The journal learns only what holds in `holds`' snapshot, the one that is now
// the base of differences: a result that a change of files overtook on its way here feeds the cache
// and no more. Where the store holds another outcome for a key (a dispute, after two that differ),
// the item's `instead` is what it holds, and what the journal learns, so that all projects that
// share the store agree; `results` learns of disputes.
CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist, const CookNumber& cook,
                          const std::function<bool(const StoredResult&)>& holds, absl::Time wall);

}  // namespace galley::director
