// Results that a remote store was not given before their cook ended, or was killed: the journal
// knows their packages (director/journal/journal.h), and the next cook that writes to a remote
// store sends those that still hold by then.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"
#include "director/shell/write_back.h"

namespace galley::director {

// The unsent results that journal and store agree upon. A result that was disputed, forgotten or
// cooked anew since is not sent, and the journal forgets it.
absl::StatusOr<std::vector<StoredResultPtr>> FindUnsent(Journal& journal, store::Store& store);

// For WriteBack: the journal forgets a result that is settled. If it cannot, the log says so: a
// result that is sent twice does no harm.
void ForgetSent(Journal& journal, const StoredResult& stored);

}  // namespace galley::director
