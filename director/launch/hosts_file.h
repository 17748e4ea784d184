// HostsFile: the file of the machines that ssh reaches ([farm] hosts): a line for each machine,
//
//   [USER@]HOST[:PORT] [slots=N]     # and a comment
//
// HOST may be an alias of ssh's own configuration. A worker with N slots (default: one slot for
// each core of the machine) is started there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::director {

struct FarmHost {
  std::string name;    // "build@node7"
  uint16_t port = 0;   // 0: ssh's configuration decides
  uint32_t slots = 0;  // 0: one for each core
  bool operator==(const FarmHost&) const = default;
};

// INVALID_ARGUMENT: "farm.hosts:3: ...". `file`: the file's name in errors.
absl::StatusOr<std::vector<FarmHost>> ParseHosts(std::string_view text, std::string_view file);
absl::StatusOr<std::vector<FarmHost>> ReadHosts(const std::string& path);

}  // namespace galley::director
