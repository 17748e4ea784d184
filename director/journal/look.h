// LookAtJournal: whether the journal is as it should be, without changing anything.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::director {

// Under no lock, while no director has the project. Reads all of it. NOT_FOUND: there is none.
// DATA_LOSS: what is wrong; the next cook moves it aside and begins a new one.
absl::Status LookAtJournal(const std::string& state_directory);

}  // namespace galley::director
