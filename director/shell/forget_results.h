// ForgetResults: forgets everything known about packages, so that they are cooked again (`galley
// clean`).
//
// Threads: none; called under the project's lock, on the thread that writes the journal.
#pragma once

#include <span>
#include <string>

#include "common/store/interface/store.h"
#include "director/journal/journal.h"
#include "director/journal/kept_limits.h"

namespace galley::director {

// NOT_FOUND: a package was in no cook; then nothing is forgotten. Other errors: the machine's
// fault.
absl::Status ForgetResults(std::span<const std::string> packages, store::Store& store,
                           Journal& journal, KeptLimits& limits);

}  // namespace galley::director
