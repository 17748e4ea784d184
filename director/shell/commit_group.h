// CommitGroup: makes a group of results durable: first data and results in the store, then the
// journal; then the results are Persisted. The simulation runs the same code on its own disk.
//
// Threads: none; the shell calls CommitGroup on the commit thread.
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
    uint64_t deduplicated = 0;  // bytes that were written although the store had them
  };
  std::map<uint64_t, Bytes> bytes;  // by number of the cook
};

// Says whether a result that was cooked here is sent to the upstream cache. `stands`: the result in
// the store; `is_instead`: it has replaced the cooked result. A verdict is sent only for a dispute:
// the upstream cache may have the first outcome, and nobody should use either outcome.
inline bool IsSentBack(const StoredResult& stands, bool is_instead) {
  return is_instead ? stands.result.is_disputed : !stands.result.is_verdict;
}

// Commits one group. Blocks.
// `holds`: says whether a result holds in the snapshot that is the base of differences. A result
// that does not hold goes to the store only, and not to the journal.
// If the store holds another outcome for a key, the stored outcome becomes the item's `instead`,
// and the journal records it, so that all projects that share the store agree. Two outcomes that
// differ are a dispute, which is noted in `results`.
// `is_sent_back`: results are sent to an upstream cache, so the journal notes them as unsent.
CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist, bool is_sent_back,
                          const std::function<bool(const StoredResult&)>& holds, absl::Time wall);

}  // namespace galley::director
