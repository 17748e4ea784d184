// StoreGc: `galley store gc`.

#include "common/base/counted.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/open_store.h"
#include "director/cli/parse_time.h"
#include "director/cli/print_line.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

absl::StatusOr<store::GcOptions> OptionsOf(const GlobalOptions& options,
                                           const StoreGcOptions& asked) {
  store::GcOptions gc{.is_dry = asked.is_dry};
  if (!asked.max_age.empty()) {
    const absl::StatusOr<absl::Duration> age = ParseAge(asked.max_age);
    if (!age.ok()) return Annotate(age.status(), "--max-age");
    gc.age_max = *age;
  }
  if (!asked.max_size.empty()) {
    const absl::StatusOr<uint64_t> size = ParseSize(asked.max_size);
    if (!size.ok()) return Annotate(size.status(), "--max-size");
    gc.bytes_max = *size;
  } else if (options.store.empty() || !options.project.empty()) {
    ASSIGN_OR_RETURN(const project::Project project, OpenProject(options));
    gc.bytes_max = project.store.size_bytes_max;
  } else if (asked.max_age.empty()) {
    return absl::InvalidArgumentError(
        "no project says how large the store may be: give --max-size or --max-age");
  }
  return gc;
}

}  // namespace

int RunStoreGc(const GlobalOptions& options, const StoreGcOptions& asked) {
  absl::StatusOr<store::GcOptions> gc = OptionsOf(options, asked);
  if (!gc.ok()) return Fail(options, kUsage, MessageOf(gc.status()));
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  Cancellation cancellation;
  const InterruptWatch interrupts([&] { cancellation.Cancel(); });
  gc->cancellation = &cancellation;
  const auto report = (*opened)->Collect(*gc);
  if (interrupts.interrupted() && !report.ok())
    return Fail(options, kInterrupted, MessageOf(report.status()));
  if (!report.ok()) return Fail(options, kInfrastructure, MessageOf(report.status()));
  if (options.json) {
    PrintJson({{"dry_run", gc->is_dry},
               {"blobs", report->blobs},
               {"bytes", report->bytes},
               {"results", report->results},
               {"dropped_blobs", report->dropped_blobs},
               {"dropped_bytes", report->dropped_bytes},
               {"dropped_results", report->dropped_results},
               {"freed_bytes", report->freed_bytes},
               {"moved_bytes", report->moved_bytes},
               {"left_files", report->left_files},
               {"left_bytes", report->left_bytes},
               {"held_by", report->held_by}});
    return kDone;
  }
  if (options.quiet) return kDone;
  PrintLine("{} {} and {} ({}); {} and {} ({}) stay", gc->is_dry ? "would drop" : "dropped",
            Counted(report->dropped_results, "result"), Counted(report->dropped_blobs, "blob"),
            HumanBytes(report->dropped_bytes), Counted(report->results, "result"),
            Counted(report->blobs, "blob"), HumanBytes(report->bytes));
  if (report->freed_bytes + report->moved_bytes != 0) {
    PrintLine("{} segments of {}; {} in them {} written again",
              gc->is_dry ? "would remove" : "removed", HumanBytes(report->freed_bytes),
              HumanBytes(report->moved_bytes), gc->is_dry ? "would be" : "were");
  }
  if (report->left_files != 0) {
    PrintLine("{} {} ({}) that nobody adopted, or that processes which died left",
              gc->is_dry ? "would remove" : "removed", Counted(report->left_files, "file"),
              HumanBytes(report->left_bytes));
  }
  for (const std::string& session : report->held_by)
    PrintLine("what {} was told is there stays until it ends", session);
  return kDone;
}

}  // namespace galley::cli
