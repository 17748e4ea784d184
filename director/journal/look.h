// LookAtJournal: checks the journal, without changing anything.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::director {

// Takes no lock; called while no director has the project. Reads the whole journal. NOT_FOUND:
// there is none. DATA_LOSS: what is wrong; the next cook moves the journal aside and begins a new
// one.
absl::Status LookAtJournal(const std::string& state_directory);

}  // namespace galley::director
