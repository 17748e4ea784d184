// StorePut: `galley store put`: puts a folder or a file into the store, as a tree.
#include <cstdio>

#include "absl/time/clock.h"
#include "common/base/cancellation.h"
#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/pins.h"
#include "common/store/local/layout.h"
#include "common/store/local/sessions.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/progress_line.h"
#include "director/stage/put_tree.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

constexpr size_t kErrorsToldMax = 100;

ExitCode CodeOfPut(const absl::Status& status) {
  if (absl::IsCancelled(status)) return kInterrupted;
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kUsage : kInfrastructure;
}

std::string TextOf(const director::PutTreeProgress& progress) {
  return fmt::format("put: {} of {}, {}", progress.files, Counted(progress.files_total, "file"),
                     HumanBytes(progress.bytes));
}

void PrintReport(const GlobalOptions& options, const director::PutTreeReport& report) {
  if (options.json) {
    nlohmann::json text = {{"root", nullptr},
                           {"files", report.files},
                           {"bytes", report.bytes},
                           {"read_files", report.read_files},
                           {"read_bytes", report.read_bytes},
                           {"stored_blobs", report.stored_blobs},
                           {"stored_bytes", report.stored_bytes},
                           {"errors", report.errors}};
    if (report.root.has_value()) text["root"] = report.root->ToString();
    return PrintJson(text);
  }
  // Only the root is on standard output, for scripts.
  if (report.root.has_value()) std::puts(report.root->ToString().c_str());
  if (options.quiet) return;
  std::fputs(
      fmt::format("{}, {}: {} read, {} ({}) {} new\n", Counted(report.files, "file"),
                  HumanBytes(report.bytes), report.read_files, Counted(report.stored_blobs, "blob"),
                  HumanBytes(report.stored_bytes), report.stored_blobs == 1 ? "is" : "are")
          .c_str(),
      stderr);
}

int TellErrors(const GlobalOptions& options, const director::PutTreeReport& report) {
  if (options.json) return kFailed;
  for (size_t i = 0; i < report.errors.size() && i < kErrorsToldMax; ++i)
    std::fputs(fmt::format("galley: {}\n", report.errors[i]).c_str(), stderr);
  if (report.errors.size() > kErrorsToldMax)
    std::fputs(fmt::format("galley: and {} more\n", report.errors.size() - kErrorsToldMax).c_str(),
               stderr);
  return Fail(options, kFailed,
              fmt::format("{} of {} could not be put, so there is no root: fix or remove {}, and "
                          "put it again (what was put is not read again)",
                          report.errors.size(), Counted(report.files, "file"),
                          report.errors.size() == 1 ? "it" : "them"));
}

}  // namespace

int RunStorePut(const GlobalOptions& options, const std::string& path, const std::string& pin) {
  if (const absl::Status valid = store::ValidatePinName(pin); !pin.empty() && !valid.ok())
    return Fail(options, kUsage, fmt::format("--pin {}: {}", pin, MessageOf(valid)));
  const auto opened = OpenStoreOf(options, store::OpenMode::kMakeIfAbsent);
  if (!opened.ok()) return Fail(options, CodeOfPut(opened.status()), MessageOf(opened.status()));
  const auto info = (*opened)->Info();
  if (!info.ok()) return Fail(options, kInfrastructure, MessageOf(info.status()));
  // Until the put has its root, the session keeps a collection from dropping what the put finds
  // there.
  const auto session = store::Session::Begin(info->directory, "store put of " + path);
  if (!session.ok())
    LogWarning("a collection may drop what is put: {}", MessageOf(session.status()));
  ProgressLine line(options);
  Cancellation stop;
  const InterruptWatch interrupts([&] { stop.Cancel(); });
  const std::string absolute = AbsolutePath(path);
  const auto report = director::PutTree(
      **opened, {.path = absolute,
                 .digest_cache_file = store::PutDigestsPath(info->directory, absolute),
                 .on_progress =
                     [&](const director::PutTreeProgress& progress) {
                       line.Show(TextOf(progress));
                       return true;
                     },
                 .stop = &stop});
  line.Clear();
  if (!report.ok()) return Fail(options, CodeOfPut(report.status()), MessageOf(report.status()));
  if (!pin.empty() && report->root.has_value()) {
    const absl::Status pinned =
        store::SetPin(**opened, {.name = pin, .root = *report->root, .time = absl::Now()});
    if (!pinned.ok()) return Fail(options, CodeOfPut(pinned), MessageOf(pinned));
  }
  PrintReport(options, *report);
  return report->root.has_value() ? kDone : TellErrors(options, *report);
}

}  // namespace galley::cli
