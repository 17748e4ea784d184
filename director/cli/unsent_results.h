// Results that the remote store was not given before their cook ended: it writes down whose they
// are (<state>/unsent.json), and the next cook sends what the journal has of these by then.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::cli {

using UnsentResults = std::vector<std::pair<std::string, std::string>>;  // package, platform

// None, with a word in the log, when the file is damaged.
UnsentResults ReadUnsent(const std::string& state_directory);
// Replaces what was there; without any the file goes.
absl::Status WriteUnsent(const std::string& state_directory, const UnsentResults& unsent);
// What the journal and the store agree upon: what was disputed or forgotten since is not sent.
std::vector<director::StoredResultPtr> FindUnsent(director::Journal& journal, store::Store& store,
                                                  const UnsentResults& unsent);

}  // namespace galley::cli
