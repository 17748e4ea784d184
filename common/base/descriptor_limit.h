// How many descriptors this process may have. The soft limit is small (1,024) for the sake of
// programs that call select(), which cannot count further; ours do not, and take the hard one.
// Programs that we start (ChildProcess) get back what we were started with.
//
// Threads: any; RaiseDescriptorLimit before others are started.
#pragma once

#include <cstdint>
#include <optional>

namespace galley {

// Raises the soft limit to the hard one; the first thing that a program of ours does.
void RaiseDescriptorLimit();
// The soft limit before that; nullopt: it was not raised.
std::optional<uint64_t> DescriptorLimitBefore();

struct DescriptorLimit {
  uint64_t soft = 0;
  uint64_t hard = 0;
};
DescriptorLimit CurrentDescriptorLimit();

}  // namespace galley
