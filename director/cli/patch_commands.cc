// PatchCommands: patch, apply: make one cooked tree from another.

#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/stage/apply_patch.h"
#include "director/stage/make_patch.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

ExitCode CodeOfPatch(const absl::Status& status) {
  if (absl::IsCancelled(status)) return kInterrupted;
  return absl::IsFailedPrecondition(status) ? kUsage : kInfrastructure;
}

}  // namespace

int RunPatch(const GlobalOptions& options, const std::string& before_text,
             const std::string& after_text, const std::string& file) {
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto before = FindRoot(*opened, before_text);
  if (!before.ok()) return Fail(options, CodeOfRoot(before.status()), MessageOf(before.status()));
  const auto after = FindRoot(*opened, after_text);
  if (!after.ok()) return Fail(options, CodeOfRoot(after.status()), MessageOf(after.status()));
  const InterruptWatch interrupts([] {});
  const auto report =
      director::MakePatch(*opened->store, *before, *after, AbsolutePath(file), &interrupts.flag());
  if (!report.ok()) return Fail(options, CodeOfPatch(report.status()), MessageOf(report.status()));
  if (options.json) {
    PrintJson({{"patch", AbsolutePath(file)},
               {"before", before->ToString()},
               {"after", after->ToString()},
               {"files", report->files},
               {"bytes_new", report->bytes_new},
               {"bytes_literal", report->bytes_literal},
               {"bytes", report->bytes_written}});
  } else if (!options.quiet) {
    PrintLine("{}: {}, {} of {} new, {}", file,
              report->files == 1 ? "1 file differs" : fmt::format("{} files differ", report->files),
              HumanBytes(report->bytes_literal), HumanBytes(report->bytes_new),
              HumanBytes(report->bytes_written));
  }
  return kDone;
}

int RunApply(const GlobalOptions& options, const std::string& file, const std::string& directory) {
  const InterruptWatch interrupts([] {});
  const auto report =
      director::ApplyPatch(AbsolutePath(file), AbsolutePath(directory), &interrupts.flag());
  if (absl::IsNotFound(report.status())) return Fail(options, kUsage, MessageOf(report.status()));
  if (!report.ok()) return Fail(options, CodeOfPatch(report.status()), MessageOf(report.status()));
  if (options.json) {
    PrintJson({{"directory", AbsolutePath(directory)},
               {"written", report->written},
               {"renamed", report->renamed},
               {"removed", report->removed},
               {"kept", report->kept},
               {"bytes", report->bytes_written},
               {"resumed", report->is_resumed}});
  } else if (!options.quiet) {
    PrintLine("{}: {} written ({}), {} renamed, {} removed, {} {} there{}", directory,
              report->written, HumanBytes(report->bytes_written), report->renamed, report->removed,
              report->kept, report->kept == 1 ? "was" : "were",
              report->is_resumed ? "; an interrupted run was completed" : "");
  }
  return kDone;
}

}  // namespace galley::cli
