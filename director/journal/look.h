// LookAtJournal: checks the journal, without changing anything.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::director {

// Reads the whole journal; takes no lock. REQUIRES: no director has the project. NOT_FOUND: there
// is no journal. DATA_LOSS: the damage; the next cook moves the journal aside and begins a new one.
absl::Status LookAtJournal(const std::string& state_directory);

}  // namespace galley::director
