// DeviceHandle: a handle of the device library for a command, made from its options.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "director/cli/commands.h"
#include "director/cli/device/handle.h"
#include "director/cli/device_access.h"
#include "director/cli/interrupt.h"

namespace galley::cli {

class DeviceHandle {
 public:
  // Errors: those of device::Handle, and INVALID_ARGUMENT for options.
  static absl::StatusOr<std::unique_ptr<DeviceHandle>> Open(const GlobalOptions& options,
                                                            const DeviceOptions& device);

  device::Handle& handle() { return *handle_; }
  const std::string& cache_folder() const { return access_.cache_folder; }

 private:
  explicit DeviceHandle(DeviceAccess access) : access_(std::move(access)) {}

  const DeviceAccess access_;
  std::unique_ptr<device::Handle> handle_;
  std::unique_ptr<InterruptWatch> interrupts_;  // cancels handle_
};

// Prints the error of a device's command, and returns its exit code.
int FailDevice(const GlobalOptions& options, const absl::Status& status);

// A path of the cooked tree as the library wants it: slashes at its ends may be typed.
std::string TreePath(std::string path);

}  // namespace galley::cli
