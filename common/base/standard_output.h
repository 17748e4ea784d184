// StandardOutput: whether everything printed was written.
#pragma once

#include "absl/status/status.h"

namespace galley {

// Writes buffered output. INTERNAL, a whole sentence: some output of this process was not written,
// because there is no space or standard output is closed. A pipe whose reader has gone is no error.
absl::Status FlushStandardOutput();

// True when there is a standard output. False: the process was started without one.
bool HasStandardOutput();

}  // namespace galley
