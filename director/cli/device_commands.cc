// DeviceCommands: device get, ls, watch, status.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/device_handle.h"
#include "director/cli/print_line.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

// A platform that no project has: the director's answer shows that it is there.
constexpr const char* kNoPlatform = "-";

const char* NameOfChange(int kind) {
  switch (kind) {
    case GALLEY_VFS_ADDED:
      return "added";
    case GALLEY_VFS_MODIFIED:
      return "modified";
    case GALLEY_VFS_REMOVED:
      return "removed";
    case GALLEY_VFS_STALE:
      return "stale";
    case GALLEY_VFS_BROKEN:
      return "broken";
    case GALLEY_VFS_HEALED:
      return "healed";
    default:
      return "more";
  }
}

// Anything but a regular file, as /dev/null, is written to, and not replaced.
bool IsReplaced(const std::string& path) {
  const absl::StatusOr<FileStat> there = StatFile(path);
  return !there.ok() || S_ISREG(there->mode);
}

absl::Status WriteOut(const device::Handle::File& file, const std::string& path) {
  const bool is_replaced = IsReplaced(path);
  const std::string part = is_replaced ? fmt::format("{}.part-{}", path, ::getpid()) : path;
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const FileDescriptor out(::open(part.c_str(), flags, 0666));
  if (!out.valid()) return ErrnoStatus(errno, "cannot write", part);
  absl::Status written =
      file.ReadAll([&](std::string_view piece) { return WriteAll(out.get(), piece, part); });
  if (written.ok() && is_replaced && ::rename(part.c_str(), path.c_str()) != 0)
    written = ErrnoStatus(errno, "cannot write", path);
  if (!written.ok() && is_replaced) ::unlink(part.c_str());
  return written;
}

// An output that nobody takes any more ends the command; main says so.
absl::Status PrintFile(const device::Handle::File& file) {
  return file.ReadAll([](std::string_view piece) {
    if (std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size()) return absl::OkStatus();
    return absl::UnavailableError("standard output takes no more");
  });
}

void PrintListed(const GlobalOptions& options, const DeviceOptions& device, const std::string& path,
                 const device::Handle::Entry& entry) {
  if (options.json) {
    nlohmann::json line = {{"path", path}, {"folder", entry.is_folder}, {"size", nullptr}};
    if (entry.size >= 0) line["size"] = entry.size;
    PrintJson(line);
    return;
  }
  const std::string size = entry.size < 0 ? "-" : std::to_string(entry.size);
  PrintLine("{}{}{}", device.is_long ? fmt::format("{:>12} ", size) : "", path,
            entry.is_folder ? "/" : "");
}

absl::Status ListBelow(device::Handle& handle, const GlobalOptions& options,
                       const DeviceOptions& device, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<device::Handle::Entry> entries, handle.List(folder));
  for (const device::Handle::Entry& entry : entries) {
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    PrintListed(options, device, path, entry);
    if (!device.is_recursive || !entry.is_folder) continue;
    const absl::Status below = ListBelow(handle, options, device, path);
    // A package may have no further outputs.
    if (!below.ok() && !absl::IsNotFound(below)) return below;
  }
  return absl::OkStatus();
}

// NOT_FOUND: the folder of the path has no such entry.
absl::Status ListOne(device::Handle& handle, const GlobalOptions& options,
                     const DeviceOptions& device, const std::string& path) {
  const size_t slash = path.rfind('/');
  ASSIGN_OR_RETURN(const std::vector<device::Handle::Entry> entries,
                   handle.List(slash == std::string::npos ? "" : path.substr(0, slash)));
  for (const device::Handle::Entry& entry : entries) {
    if (entry.name != path.substr(slash + 1)) continue;
    PrintListed(options, device, path, entry);
    return absl::OkStatus();
  }
  return absl::NotFoundError(path + ": there is no such file or folder");
}

bool PrintChange(const GlobalOptions& options, const galley_vfs_change& change) {
  const std::string_view text = change.text == nullptr ? "" : change.text;
  if (options.json) {
    nlohmann::json line = {{"event", NameOfChange(change.kind)}, {"path", change.path}};
    if (!text.empty()) line["text"] = text;
    PrintJson(line);
  } else {
    PrintLine("{:<8}  {}{}", NameOfChange(change.kind), change.path,
              text.empty() ? "" : fmt::format("  {}", EscapeControl(text)));
  }
  return std::fflush(stdout) == 0;
}

void PrintStatus(const GlobalOptions& options, const DeviceOptions& device,
                 const std::string& cache_folder, const galley_vfs_status& status,
                 const absl::Status& answered) {
  if (options.json) {
    nlohmann::json line = {{"url", device.url},
                           {"answers", answered.ok()},
                           {"cache", cache_folder},
                           {"cache_files", status.cache_files},
                           {"cache_bytes", status.cache_bytes}};
    if (!device.platform.empty()) {
      line["platform"] = device.platform;
      line["root"] = status.root;
    }
    PrintJson(line);
    return;
  }
  if (answered.ok() && !options.quiet) {
    PrintLine(
        "{} answers{}", device.url,
        *status.root == '\0' ? "" : fmt::format("; {} is at {}", device.platform, status.root));
  }
  if (!options.quiet) {
    PrintLine("cache {}: {}, {}", cache_folder, Counted(status.cache_files, "file"),
              HumanBytes(status.cache_bytes));
  }
}

}  // namespace

int RunDeviceGet(const GlobalOptions& options, const DeviceOptions& device) {
  if (options.json && device.output.empty())
    return Fail(options, kUsage, "--json needs -o FILE, as standard output has the file's bytes");
  const auto opened = DeviceHandle::Open(options, device);
  if (!opened.ok()) return FailDevice(options, opened.status());
  const auto file = (*opened)->handle().Open(TreePath(device.path));
  if (!file.ok()) return FailDevice(options, file.status());
  if (file->is_last_good() && !options.quiet) {
    fmt::print(stderr,
               "galley: warning: {}: the package fails, and this is its last good version\n",
               device.path);
  }
  const absl::Status written =
      device.output.empty() ? PrintFile(*file) : WriteOut(*file, AbsolutePath(device.output));
  if (!written.ok()) return FailDevice(options, written);
  if (options.json) {
    PrintJson({{"path", TreePath(device.path)},
               {"digest", file->digest()},
               {"size", file->size()},
               {"last_good", file->is_last_good()},
               {"file", AbsolutePath(device.output)}});
  }
  return kDone;
}

int RunDeviceLs(const GlobalOptions& options, const DeviceOptions& device) {
  const auto opened = DeviceHandle::Open(options, device);
  if (!opened.ok()) return FailDevice(options, opened.status());
  const std::string path = TreePath(device.path);
  device::Handle& handle = (*opened)->handle();
  absl::Status listed = ListBelow(handle, options, device, path);
  const bool is_no_folder = absl::IsNotFound(listed) || absl::IsInvalidArgument(listed);
  if (is_no_folder && !path.empty()) listed = ListOne(handle, options, device, path);
  return listed.ok() ? kDone : FailDevice(options, listed);
}

int RunDeviceWatch(const GlobalOptions& options, const DeviceOptions& device) {
  const auto opened = DeviceHandle::Open(options, device);
  if (!opened.ok()) return FailDevice(options, opened.status());
  device::Handle& handle = (*opened)->handle();
  if (const auto answered = handle.Advance(); !answered.ok())
    return FailDevice(options, answered.status());
  if (!options.quiet && !options.json)
    fmt::print(stderr, "watching {} at {}; Ctrl-C ends it\n", device.platform, device.url);
  const absl::Status ended =
      handle.Watch([&](const galley_vfs_change& change) { return PrintChange(options, change); });
  // Ctrl-C is how it ends.
  return ended.ok() || absl::IsCancelled(ended) ? kDone : FailDevice(options, ended);
}

int RunDeviceStatus(const GlobalOptions& options, const DeviceOptions& device) {
  DeviceOptions asked = device;
  if (asked.platform.empty()) asked.platform = kNoPlatform;
  const auto opened = DeviceHandle::Open(options, asked);
  if (!opened.ok()) return FailDevice(options, opened.status());
  absl::Status answered = (*opened)->handle().Advance().status();
  if (device.platform.empty() && absl::IsInvalidArgument(answered)) answered = absl::OkStatus();
  PrintStatus(options, device, (*opened)->cache_folder(), (*opened)->handle().status(), answered);
  return answered.ok() ? kDone : FailDevice(options, answered);
}

}  // namespace galley::cli
