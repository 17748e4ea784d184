// DeviceAccess: how a command that is a device's client reaches the director, from its options.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/vfs/galley_vfs.h"
#include "common/vfs_tls/galley_vfs_tls.h"
#include "director/cli/commands.h"

namespace galley::cli {

class DeviceAccess {
 public:
  DeviceAccess() = default;
  DeviceAccess(DeviceAccess&& other) noexcept { *this = std::move(other); }
  DeviceAccess& operator=(DeviceAccess&& other) noexcept;
  ~DeviceAccess() { galley_vfs_tls_destroy(&tls_); }

  std::string url;
  std::string token;             // empty: none
  std::string cache_folder;      // absolute
  uint64_t cache_bytes_max = 0;  // 0: the library's
  // TLS, or plain sockets. Valid as long as this object.
  galley_vfs_net net() const;

 private:
  friend absl::StatusOr<DeviceAccess> AccessOf(const DeviceOptions& device);

  galley_vfs_net tls_{};  // empty: the URL is not https
};

// A folder for what was fetched, below the user's folder of caches. INVALID_ARGUMENT: nothing tells
// where that is.
absl::StatusOr<std::string> DeviceCacheOf(const std::string& name);

// INVALID_ARGUMENT: an option, or a file that one names, and what was expected.
absl::StatusOr<DeviceAccess> AccessOf(const DeviceOptions& device);

}  // namespace galley::cli
