// CommitGroup: makes a group of results durable in order: first data and results in the store, then
// the journal; only then are the results Persisted. The simulation runs the same code over its own
// disk.
//
// Threads: none of its own; the shell calls CommitGroup on the commit thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/effects.h"
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
  std::vector<Alarm> alarms;  // results that differ from an earlier outcome
  struct Bytes {
    uint64_t stored = 0;
    uint64_t deduplicated = 0;  // bytes that were written and were in the store already
  };
  std::map<uint64_t, Bytes> bytes;  // by the cook for which the bytes came
};

// Says whether a result that was cooked here goes to the upstream cache. `stands`: the result that
// the store holds. A verdict is sent only for a dispute: the upstream cache may have the first
// outcome, and nobody else should use either outcome.
inline bool IsSentBack(const StoredResult& stands, bool is_instead) {
  return is_instead ? stands.result.is_disputed : !stands.result.is_verdict;
}

// Commits one group. Blocks. The journal learns only results that hold in the snapshot of `holds`,
// which is now the base of differences: a result that a change of files overtook goes only to the
// cache. Where the store holds another outcome for a key (a dispute, after two outcomes that
// differ), the stored outcome is the item's `instead`, and the journal learns the stored outcome,
// so that all projects that share the store agree; `results` learns of disputes.
// `is_sent_back`: results are sent to an upstream cache, and the journal notes the results that are
// not sent yet.
CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist, bool is_sent_back,
                          const std::function<bool(const StoredResult&)>& holds, absl::Time wall);

}  // namespace galley::director
