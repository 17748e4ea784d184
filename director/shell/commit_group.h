// CommitGroup: makes a group of results durable in order: data and results in the store, then the
// journal; only then it is Persisted. The simulation runs the same code over its own disk.
//
// Threads: none of its own; the shell calls it on the commit thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  std::vector<Alarm> alarms;  // results that came out otherwise than before
  struct Bytes {
    uint64_t stored = 0;
    uint64_t deduplicated = 0;  // written, and there already
  };
  std::map<uint64_t, Bytes> bytes;  // by the cook for which they came
};

// A result that was cooked here stands, and other people are to have it. `stands`: the result that
// the store holds. A verdict is never sent, but for a dispute: the other store may have the first
// outcome, and nobody else should use either.
inline bool IsSentBack(const StoredResult& stands, bool is_instead) {
  return is_instead ? stands.result.is_disputed : !stands.result.is_verdict;
}

// Commits one group. Blocking. The journal learns only results that hold in the snapshot of
// `holds`, the one that is now the base of differences: a result that a change of files overtook on
// its way here feeds the cache and no more. Where the store holds another outcome for a key (a
// dispute, after two that differ), that outcome is the item's `instead`, and the journal learns it,
// so that all projects that share the store agree; `results` learns of disputes.
// `is_sent_back`: results are sent to a store of other people, and the journal notes those that are
// not sent yet.
CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist, bool is_sent_back,
                          const std::function<bool(const StoredResult&)>& holds, absl::Time wall);

}  // namespace galley::director
