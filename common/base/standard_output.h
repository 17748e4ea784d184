// StandardOutput: tells whether all output of this process was written.
#pragma once

#include "absl/status/status.h"

namespace galley {

// Writes buffered output. INTERNAL, a whole sentence: some output of this process was not written,
// because there is no space or standard output is closed. A pipe whose reader has gone is no error.
absl::Status FlushStandardOutput();

// False: the process was started without a standard output.
bool HasStandardOutput();

}  // namespace galley
