// DescriptorLimit: the number of descriptors that this process may open. The soft limit is small,
// often 1,024, for programs that call select(), which takes no higher descriptors. Our programs do
// not call select(), so they raise the soft limit to the hard limit. ChildProcess gives programs
// the soft limit that we were started with.
//
// Threads: any; RaiseDescriptorLimit is called before threads are started.
#pragma once

#include <cstdint>
#include <optional>

namespace galley {

// Raises the soft limit to the hard limit. Called at the start of main.
void RaiseDescriptorLimit();
// The soft limit before RaiseDescriptorLimit; nullopt: the limit was not raised.
std::optional<uint64_t> DescriptorLimitBefore();

struct DescriptorLimit {
  uint64_t soft = 0;
  uint64_t hard = 0;
};
DescriptorLimit CurrentDescriptorLimit();

}  // namespace galley
