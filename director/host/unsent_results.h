// UnsentResults: results that a cook did not send to the remote store before it ended or was
// killed. The journal lists them (director/journal/journal.h), and the next director that writes to
// a remote store sends the results that still hold.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"
#include "director/shell/write_back.h"

namespace galley::director {

// Returns the unsent results that journal and store still have. The journal forgets unsent results
// that were disputed, forgotten or cooked anew since.
absl::StatusOr<std::vector<StoredResultPtr>> FindUnsent(Journal& journal, store::Store& store);

// Makes the journal forget a result that WriteBack has settled. An error is only logged, because a
// result may be sent twice.
void ForgetSent(Journal& journal, const StoredResult& stored);

}  // namespace galley::director
