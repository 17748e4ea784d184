// Limits: the limits of this process (ulimit), and the needs of commands: a limit that is too small
// is reported in one sentence before anything begins, not by the first failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace galley::cli {

// LimitNeeds: the needs of this process and of the programs that it starts; 0: the limit does not
// matter.
struct LimitNeeds {
  uint64_t descriptors = 0;
  uint64_t address_space_bytes = 0;
  uint64_t threads = 0;  // of the user
};

// Returns the needs of a command by its name ("cook", "store serve"). `workers`: the workers of a
// cook.
LimitNeeds NeedsOf(std::string_view command, uint32_t workers);

// RESOURCE_EXHAUSTED: the first limit that is too small, what `command` needs, and how to raise the
// limit.
absl::Status CheckLimits(std::string_view command, const LimitNeeds& needs);

// LimitFinding: a line of `galley doctor` about a limit.
struct LimitFinding {
  std::string name;
  bool ok = true;
  std::string text;
};
std::vector<LimitFinding> LookAtLimits();

// ServerShare: how a server divides its descriptors, so that a flood of connections leaves the
// store its own descriptors.
struct ServerShare {
  uint64_t connections = 0;
  uint64_t calls = 0;    // a call may read a file
  uint64_t uploads = 0;  // an upload writes a file
};
// `connections`: the requested number, 0: as many as is sensible. RESOURCE_EXHAUSTED: the server
// cannot have so many.
absl::Status ShareDescriptors(uint64_t descriptors, uint64_t connections, ServerShare& share);

}  // namespace galley::cli
