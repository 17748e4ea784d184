#include "director/cli/device_handle.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

ExitCode CodeOfDevice(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return kUsage;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kOutOfRange:
      return kFailed;
    default:
      return kInfrastructure;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceHandle>> DeviceHandle::Open(const GlobalOptions& options,
                                                                 const DeviceOptions& device) {
  ASSIGN_OR_RETURN(DeviceAccess access, AccessOf(device));
  auto opened = std::unique_ptr<DeviceHandle>(new DeviceHandle(std::move(access)));
  const DeviceAccess& to = opened->access_;
  const auto log = [is_quiet = options.quiet, is_verbose = options.verbose](
                       bool is_warning, const std::string& text) {
    if (is_quiet || (!is_warning && !is_verbose)) return;
    fmt::print(stderr, "galley: {}{}\n", is_warning ? "warning: " : "", EscapeControl(text));
  };
  ASSIGN_OR_RETURN(opened->handle_,
                   device::Handle::Create({.url = to.url,
                                           .platform = device.platform,
                                           .cache_folder = to.cache_folder,
                                           .cache_bytes_max = to.cache_bytes_max,
                                           .cultures = device.cultures,
                                           .token = to.token,
                                           .wait_s = device.wait_s,
                                           .takes_last_good = device.takes_last_good,
                                           .net = to.net(),
                                           .log = log}));
  opened->interrupts_ =
      std::make_unique<InterruptWatch>([&handle = *opened->handle_] { handle.Cancel(); });
  return opened;
}

int FailDevice(const GlobalOptions& options, const absl::Status& status) {
  return Fail(options, CodeOfDevice(status), EscapeControl(MessageOf(status)));
}

std::string TreePath(std::string path) {
  path.erase(0, std::min(path.find_first_not_of('/'), path.size()));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace galley::cli
