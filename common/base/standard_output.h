// StandardOutput: whether all that was printed arrived.
#pragma once

#include "absl/status/status.h"

namespace galley {

// Writes what is buffered. INTERNAL, a whole sentence: something that was printed since the process
// began did not get where standard output goes (no space, or it is closed). A reader that went away
// wanted no more, which is no error.
absl::Status FlushStandardOutput();

// True when there is a standard output. False: the process was started without one.
bool HasStandardOutput();

}  // namespace galley
