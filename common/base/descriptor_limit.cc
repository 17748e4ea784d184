#include "common/base/descriptor_limit.h"

#include <sys/resource.h>

namespace galley {
namespace {

std::optional<uint64_t>& Before() {
  static std::optional<uint64_t> before;
  return before;
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) Before() = before;
}

std::optional<uint64_t> DescriptorLimitBefore() { return Before(); }

DescriptorLimit CurrentDescriptorLimit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return {.soft = limit.rlim_cur, .hard = limit.rlim_max};
}

}  // namespace galley
