// DeviceWorld: the identity of a world that devices see, and the file `world` at the root of each
// DeviceTree. Two worlds that differ in anything have different files, so they never share a root;
// a director that was restarted finds the world of a root by this file.
//
//   galley-world 2
//   project 3f9a2c11d0e84b6f9a2c11d0e84b6f00
//   platform linux
//   culture de
//   culture en
//   identity <64 hex digits>/<size>
//
// A line ends with '\n'. There is a line `culture` for each culture, sorted, maybe none.
// Version rule: the first line names the version; a reader refuses all others.
// Threads: none; pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::devices {

struct DeviceWorld {
  std::string project;                // the project's id
  std::string platform;               // its name
  std::vector<std::string> cultures;  // sorted, each once
  // Names everything that decides what the world shows and what is cooked in it: files, mounts,
  // rules, platform parameters, cookers and tools. The caller computes it.
  Digest identity;
  auto operator<=>(const DeviceWorld&) const = default;
};

inline constexpr int kDeviceWorldVersion = 2;
inline constexpr size_t kWorldBytesMax = 512 << 10;
inline constexpr size_t kWorldNameBytesMax = 255;
inline constexpr size_t kWorldCulturesMax = 1000;

// INVALID_ARGUMENT: a name is empty, longer than kWorldNameBytesMax, not UTF-8, or has control
// characters; cultures are out of order, doubled, or more than kWorldCulturesMax.
absl::Status ValidateDeviceWorld(const DeviceWorld& world);

// REQUIRES: ValidateDeviceWorld takes the world.
std::string EncodeDeviceWorld(const DeviceWorld& world);
// INVALID_ARGUMENT: the bytes are not what EncodeDeviceWorld writes. FAILED_PRECONDITION: another
// version.
absl::StatusOr<DeviceWorld> DecodeDeviceWorld(std::string_view bytes);

// The digest of the file: names the world among all worlds, platforms and cultures.
Digest DigestOfWorld(const DeviceWorld& world);

}  // namespace galley::devices
