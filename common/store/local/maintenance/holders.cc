#include "common/store/local/maintenance/holders.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/store/local/sessions.h"

namespace galley::store {

absl::StatusOr<Holders> FindHolders(const StoreState& store) {
  ASSIGN_OR_RETURN(const std::vector<SessionInfo> sessions, LiveSessions(store.folder.directory));
  const absl::Time now = store.folder.options.boot_time();
  Holders holders{.since = now};
  for (const SessionInfo& session : sessions) {
    holders.since = std::min(holders.since, session.begun);
    holders.names.push_back(DescribeSession(session, now));
  }
  holders.hold_all = holders.since < store.reported_present.begun();
  holders.oldest_write = store.folder.options.now() - (now - holders.since);
  return holders;
}

}  // namespace galley::store
