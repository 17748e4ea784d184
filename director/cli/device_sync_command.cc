// DeviceSyncCommand: device sync.

#include <algorithm>

#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "director/cli/commands.h"
#include "director/cli/device/sync_run.h"
#include "director/cli/device/target_folder.h"
#include "director/cli/device_handle.h"
#include "director/cli/print_line.h"
#include "director/cli/progress_line.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

constexpr absl::Duration kProgressInterval = absl::Milliseconds(200);

// Sorted, without those that lie in others; empty: all.
std::vector<std::string> ScopesOf(const DeviceOptions& device) {
  std::vector<std::string> scopes;
  for (const std::string& path : device.paths) scopes.push_back(TreePath(path));
  std::ranges::sort(scopes);
  if (!scopes.empty() && scopes.front().empty()) return {};
  std::vector<std::string> kept;
  for (const std::string& scope : scopes) {
    const bool is_inside = std::ranges::any_of(
        kept, [&](const std::string& one) { return scope == one || scope.starts_with(one + "/"); });
    if (!is_inside) kept.push_back(scope);
  }
  return kept;
}

device::SyncedFrom FromOf(const DeviceOptions& device, const std::vector<std::string>& scopes) {
  device::SyncedFrom from{
      .platform = device.platform, .cultures = device.cultures, .scopes = scopes};
  std::ranges::sort(from.cultures);
  from.cultures.erase(std::ranges::unique(from.cultures).begin(), from.cultures.end());
  return from;
}

const char* NameOfEvent(device::SyncEvent::Kind kind) {
  static constexpr const char* kNames[] = {"written", "removed", "kept", "failed"};
  return kNames[static_cast<int>(kind)];
}

// SyncDisplay: what people and programs see of a sync.
class SyncDisplay {
 public:
  explicit SyncDisplay(const GlobalOptions& options) : options_(options), line_(options) {}

  void Tell(const device::SyncEvent& event) {
    using EventKind = device::SyncEvent::Kind;
    const bool is_problem = event.kind == EventKind::kFailed || event.kind == EventKind::kKept;
    const char* const name = NameOfEvent(event.kind);
    if (options_.json) {
      nlohmann::json line = {{"event", name}, {"path", event.path}};
      if (event.kind == EventKind::kWritten) line["digest"] = event.text;
      if (is_problem) line["text"] = event.text;
      PrintJson(line);
      return;
    }
    if (is_problem) {
      if (event.kind == EventKind::kKept && options_.quiet) return;
      line_.Clear();
      const std::string text = EscapeControl(event.text);
      const bool has_path = text.starts_with(event.path + ": ");
      fmt::print(stderr, "{:<8}{}{}\n", name, has_path ? "" : event.path + ": ", text);
    } else if (options_.verbose) {
      line_.Clear();
      PrintLine("{:<8}{}", name, event.path);
    }
  }
  void Progress(const device::SyncReport& so_far) {
    const absl::Time now = absl::Now();
    if (options_.json || now - shown_ < kProgressInterval) return;
    shown_ = now;
    line_.Show(fmt::format("{}, {} written, {}", Counted(so_far.files, "file"), so_far.written,
                           HumanBytes(so_far.bytes)));
  }
  // `fetched_bytes`: with all overhead of HTTP and of trees.
  void Finish(const std::string& directory, const device::SyncReport& report,
              uint64_t fetched_bytes) {
    line_.Clear();
    if (options_.json) {
      PrintJson({{"event", "synced"},
                 {"directory", AbsolutePath(directory)},
                 {"root", report.root},
                 {"files", report.files},
                 {"written", report.written},
                 {"bytes", report.bytes},
                 {"fetched_bytes", fetched_bytes},
                 {"last_good", report.last_good},
                 {"failed", report.failed},
                 {"removed", report.removed},
                 {"kept", report.kept},
                 {"foreign", report.foreign}});
    } else if (!options_.quiet) {
      PrintLine(
          "{}: {}, {} written ({}), {} removed{}{}{}{}", directory, Counted(report.files, "file"),
          report.written, HumanBytes(report.bytes), report.removed, More(report.failed, "failed"),
          More(report.last_good, "in their last good version"),
          More(report.kept, "were changed here and stay"), More(report.foreign, "of others stay"));
    }
  }

 private:
  static std::string More(uint64_t count, const char* what) {
    return count == 0 ? "" : fmt::format(", {} {}", count, what);
  }

  const GlobalOptions& options_;
  ProgressLine line_;
  absl::Time shown_ = absl::InfinitePast();
};

}  // namespace

int RunDeviceSync(const GlobalOptions& options, const DeviceOptions& device) {
  const auto opened = DeviceHandle::Open(options, device);
  if (!opened.ok()) return FailDevice(options, opened.status());
  const std::vector<std::string> scopes = ScopesOf(device);
  const auto folder =
      device::TargetFolder::Open(AbsolutePath(device.directory), FromOf(device, scopes));
  if (!folder.ok()) return FailDevice(options, folder.status());
  SyncDisplay display(options);
  const auto report = device::Sync(
      (*opened)->handle(), **folder,
      {.scopes = scopes,
       .tell = [&](const device::SyncEvent& event) { display.Tell(event); },
       .progress = [&](const device::SyncReport& so_far) { display.Progress(so_far); }});
  if (!report.ok()) return FailDevice(options, report.status());
  display.Finish(device.directory, *report, (*opened)->handle().status().fetched_bytes);
  return report->failed == 0 ? kDone : kFailed;
}

}  // namespace galley::cli
