// ForgetResults: the work of `galley clean`: everything known of packages is forgotten, and they
// are cooked again.
//
// Threads: none; called under the project's lock, where the journal is written.
#pragma once

#include <span>
#include <string>

#include "common/store/interface/store.h"
#include "director/journal/journal.h"
#include "director/journal/kept_limits.h"

namespace galley::director {

// NOT_FOUND: one of the packages was in no cook, and nothing was forgotten. Other errors: the
// machine's fault.
absl::Status ForgetResults(std::span<const std::string> packages, store::Store& store,
                           Journal& journal, KeptLimits& limits);

}  // namespace galley::director
