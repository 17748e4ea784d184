// UnsentResults: results that were not sent to the remote store before their cook ended, or was
// killed: the journal knows their packages (director/journal/journal.h), and the next cook that
// writes to a remote store sends the results that still hold.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"
#include "director/shell/write_back.h"

namespace galley::director {

// Returns the unsent results on which journal and store agree. A result that was disputed,
// forgotten or cooked anew since is not sent, and the journal forgets it.
absl::StatusOr<std::vector<StoredResultPtr>> FindUnsent(Journal& journal, store::Store& store);

// For WriteBack: makes the journal forget a settled result. If it cannot, the log says so: a result
// that is sent twice does no harm.
void ForgetSent(Journal& journal, const StoredResult& stored);

}  // namespace galley::director
