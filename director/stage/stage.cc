#include "director/stage/stage.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/path_limits.h"
#include "director/stage/ledger.h"
#include "director/stage/plan.h"
#include "director/stage/sandbox.h"
#include "director/stage/write_files.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Returns the files of a tree; a tree that is gone has none.
absl::StatusOr<std::vector<tree::TreeFile>> ListIfThere(store::Store& store, const Digest& root,
                                                        const std::atomic<bool>* interrupted) {
  absl::StatusOr<std::vector<tree::TreeFile>> files = ListFiles(store, root, interrupted);
  const absl::Status& status = files.status();
  if (!absl::IsNotFound(status) && !absl::IsDataLoss(status) && !absl::IsInvalidArgument(status))
    return files;
  LogWarning("stage: an earlier root is not used: {}", MessageOf(status));
  return std::vector<tree::TreeFile>();
}

// Fills in the stamps of the written files.
absl::Status NoteWritten(Sandbox& sandbox, Plan& plan) {
  for (size_t i = 0; i < plan.writes.size(); ++i) {
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(plan.writes[i].path));
    plan.stamps[plan.stamps_to_fill[i]] = node.stamp;
  }
  return absl::OkStatus();
}

// Removes folders above `path` that are empty now and that the tree does not want.
absl::Status RemoveEmptied(Sandbox& sandbox, std::string path, const PathSet& wanted_folders) {
  for (size_t end = path.rfind('/'); end != std::string::npos; end = path.rfind('/')) {
    path.resize(end);
    if (wanted_folders.contains(path)) break;
    ASSIGN_OR_RETURN(const bool is_gone, sandbox.RemoveEmptyFolder(path));
    if (!is_gone) break;
  }
  return absl::OkStatus();
}

absl::Status Remove(Sandbox& sandbox, const Plan& plan, const StageOptions& options,
                    StageReport& report) {
  for (const Removal& removal : plan.removals) {
    RETURN_IF_ERROR(CheckInterrupted(options.interrupted));
    if (removal.is_folder) {
      ASSIGN_OR_RETURN(const bool is_gone, sandbox.RemoveEmptyFolder(removal.path));
      if (is_gone) continue;
      return FailedPreconditionError("{} changed while it was staged: cook again",
                                     sandbox.Full(removal.path));
    }
    RETURN_IF_ERROR(sandbox.RemoveFile(removal.path));
    ++report.removed;
    if (!options.by_the_book) RETURN_IF_ERROR(RemoveEmptied(sandbox, removal.path, plan.folders));
  }
  return absl::OkStatus();
}

void NoteTrusted(const Ledger& ledger, std::vector<tree::TreeFile>& files, PlanInput& input) {
  std::ranges::sort(files, [](const auto& a, const auto& b) { return a.path < b.path; });
  if (ledger.stamps.size() != files.size()) return;  // unknown: compared by digest
  for (size_t i = 0; i < files.size(); ++i) {
    if (IsStampRacy(ledger, ledger.stamps[i])) continue;
    input.trusted.emplace(files[i].path,
                          LaidFile{.digest = files[i].digest, .stamp = ledger.stamps[i]});
  }
}

// A file with a racy stamp is compared by digest: its stamp is worth more in a marker of now.
bool IsAnyStampRacy(const Ledger& ledger) {
  return std::ranges::any_of(ledger.stamps,
                             [&](const FileStamp& stamp) { return IsStampRacy(ledger, stamp); });
}

// An older Galley's ledger lacks the files of its roots. Both lists are sorted.
void AddKnown(const std::vector<tree::TreeFile>& files, std::vector<std::string>& known) {
  std::vector<std::string> more;
  auto at = known.begin();
  for (const tree::TreeFile& file : files) {
    while (at != known.end() && *at < file.path) ++at;
    if (at == known.end() || *at != file.path) more.push_back(file.path);
  }
  const auto middle = static_cast<std::ptrdiff_t>(known.size());
  known.insert(known.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  std::inplace_merge(known.begin(), known.begin() + middle, known.end());
}

// Roots are the same on every machine; the longest path below a sandbox depends on this machine.
absl::Status CheckPaths(const StageOptions& options, const std::vector<tree::TreeFile>& files) {
  for (const tree::TreeFile& file : files) {
    const size_t bytes = options.directory.size() + 1 + file.path.size();
    if (bytes <= tree::kPathBytesMax) continue;
    return FailedPreconditionError(
        "staging {}: it would have a path of {} bytes below {}, this system takes at "
        "most {}: choose "
        "a shorter folder with --out or [output] dir",
        NameWithPackage(file.path, options.package_of), bytes, options.directory,
        tree::kPathBytesMax);
  }
  return absl::OkStatus();
}

// Finds the files that an interrupted stage was about to write. A file with the planned bytes is
// Galley's, and so is a file of which a power cut left no bytes (`may_be_blank`). Somebody put any
// other file there.
absl::Status NotePlanned(Sandbox& sandbox, std::span<const PlannedFile> planned, bool may_be_blank,
                         PlanInput& input) {
  std::vector<tree::TreeFile> written;
  for (const PlannedFile& file : planned) {
    RETURN_IF_ERROR(CheckInterrupted(input.interrupted));
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(file.path));
    if (node.kind != NodeKind::kFile) continue;
    ASSIGN_OR_RETURN(const bool is_whole, sandbox.Holds(file.path, file.digest));
    if (!is_whole) {
      if (!may_be_blank) continue;
      ASSIGN_OR_RETURN(const bool is_blank, sandbox.IsBlank(file.path, file.digest.size_bytes()));
      if (!is_blank) continue;
    }
    written.push_back({.path = file.path, .digest = file.digest});
    if (is_whole)
      input.trusted.emplace(file.path, LaidFile{.digest = file.digest, .stamp = node.stamp});
  }
  // A path may occur several times, with the bytes of several roots.
  std::ranges::sort(written, [](const auto& a, const auto& b) { return a.path < b.path; });
  const auto same = [](const auto& a, const auto& b) { return a.path == b.path; };
  written.erase(std::unique(written.begin(), written.end(), same), written.end());
  AddKnown(written, input.known);
  return absl::OkStatus();
}

// Adds files that Galley may have put into the sandbox, by its published roots. False: nothing was
// published, or nothing of it can be read.
absl::StatusOr<bool> AddEarlier(store::Store& store, const StageOptions& options,
                                const std::vector<tree::TreeFile>& wanted,
                                std::vector<PlannedFile>& planned) {
  bool is_any_known = false;
  for (const Digest& root : options.earlier_roots) {
    std::vector<tree::TreeFile> earlier;
    if (root != options.root) {
      ASSIGN_OR_RETURN(earlier, ListIfThere(store, root, options.interrupted));
    }
    const std::vector<tree::TreeFile>& files = root == options.root ? wanted : earlier;
    // The root that is staged was published a moment ago: alone it says nothing of earlier files.
    is_any_known |= root != options.root && !files.empty();
    for (const tree::TreeFile& file : files) planned.push_back({file.path, file.digest});
  }
  const auto key = [](const PlannedFile& file) { return std::tie(file.path, file.digest); };
  std::ranges::sort(planned, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  planned.erase(std::unique(planned.begin(), planned.end(),
                            [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                planned.end());
  return is_any_known;
}

// Says whether a ledger claims to name all of Galley's files and lacks those of its root: an older
// Galley was killed when it had nothing to write. `laid`: the files of the marker's root, sorted. A
// few of them may be somebody's, with the very bytes of the cook.
bool Disowns(const Ledger& ledger, const std::vector<tree::TreeFile>& laid) {
  if (!ledger.is_whole) return false;
  if (!ledger.exact.has_value())
    return ledger.files.empty() && ledger.roots.size() > (ledger.planned.empty() ? 0u : 1u);
  size_t named = 0;
  auto at = ledger.files.begin();
  for (const tree::TreeFile& file : laid) {
    while (at != ledger.files.end() && *at < file.path) ++at;
    if (at != ledger.files.end() && *at == file.path) ++named;
  }
  return 2 * named < laid.size();
}

// `recalls`: a file with the bytes that a published root has at its path is Galley's, whatever the
// ledger says.
absl::StatusOr<PlanInput> InputOf(store::Store& store, const StageOptions& options,
                                  const Ledger& ledger, Sandbox& sandbox, bool recalls) {
  PlanInput input{.by_the_book = options.by_the_book,
                  .exact = options.exact,
                  .known = ledger.files,
                  .knows_all = ledger.is_whole,
                  .failed_packages = options.failed_packages,
                  .packages_beside = options.packages_beside,
                  .interrupted = options.interrupted,
                  .package_of = options.package_of};
  absl::StatusOr<std::vector<tree::TreeFile>> wanted =
      ListFiles(store, options.root, options.interrupted);
  if (!wanted.ok()) return AsLoss(wanted.status());
  input.wanted = *std::move(wanted);
  RETURN_IF_ERROR(CheckPaths(options, input.wanted));
  recalls |= Disowns(ledger, {});
  for (const Digest& root : ledger.roots) {
    std::vector<tree::TreeFile> earlier;
    if (root != options.root) {
      ASSIGN_OR_RETURN(earlier, ListIfThere(store, root, options.interrupted));
    }
    std::vector<tree::TreeFile>& files = root == options.root ? input.wanted : earlier;
    if (ledger.exact == root) {
      NoteTrusted(ledger, files, input);
      recalls |= Disowns(ledger, files);
    }
    if (!ledger.is_whole) AddKnown(files, input.known);
  }
  std::vector<PlannedFile> planned = ledger.planned;
  std::vector<PlannedFile> published;
  if (!ledger.is_whole) {
    ASSIGN_OR_RETURN(input.knows_all, AddEarlier(store, options, input.wanted, planned));
  } else if (recalls) {
    RETURN_IF_ERROR(AddEarlier(store, options, input.wanted, published).status());
  }
  RETURN_IF_ERROR(NotePlanned(sandbox, planned, true, input));
  RETURN_IF_ERROR(NotePlanned(sandbox, published, false, input));
  return input;
}

// When something is in the way, the published roots decide whether it is Galley's after all.
absl::StatusOr<Plan> PlanStage(store::Store& store, const StageOptions& options,
                               const Ledger& ledger, Sandbox& sandbox, bool& knows_all) {
  ASSIGN_OR_RETURN(PlanInput input, InputOf(store, options, ledger, sandbox, false));
  knows_all = input.knows_all;
  absl::StatusOr<Plan> plan = MakePlan(sandbox, std::move(input));
  const bool may_recall = ledger.is_whole && !options.exact && !options.earlier_roots.empty();
  if (!absl::IsFailedPrecondition(plan.status()) || !may_recall) return plan;
  ASSIGN_OR_RETURN(input, InputOf(store, options, ledger, sandbox, true));
  absl::StatusOr<Plan> again = MakePlan(sandbox, std::move(input));
  return again.ok() ? std::move(again) : std::move(plan);
}

}  // namespace

absl::StatusOr<StageReport> Stage(store::Store& store, const StageOptions& options) {
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(options.directory, 0, options.umask));
  sandbox.StopOn(options.interrupted);
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(sandbox));
  bool knows_all = false;
  ASSIGN_OR_RETURN(Plan plan, PlanStage(store, options, ledger, sandbox, knows_all));
  StageReport report{
      .unchanged = plan.unchanged, .foreign_count = plan.foreign_count, .foreign = plan.foreign};
  const bool is_laid = plan.writes.empty() && plan.removals.empty();
  const bool is_known = ledger.exact == options.root && ledger.stamps == plan.stamps &&
                        ledger.files == plan.files && !IsAnyStampRacy(ledger);
  if (is_laid && is_known && ledger.is_sealed && ledger.is_closed && ledger.damage.empty())
    return report;
  // The new marker replaces the old marker in one step, so that the ledger is complete at each
  // moment. Files that were compared by digest now need not be the next time.
  if (is_laid) {
    RETURN_IF_ERROR(sandbox.RemoveTemporaries());
    RETURN_IF_ERROR(EndStaging(sandbox, options.root, plan.files, plan.stamps));
    NoteLedgerHealed(ledger);
    return report;
  }
  RETURN_IF_ERROR(CheckPresent(store, plan.writes, options.interrupted, options.package_of));
  RETURN_IF_ERROR(sandbox.RemoveTemporaries());
  Ledger meanwhile{.roots = ledger.roots,
                   .files = std::move(plan.files_meanwhile),
                   .planned = std::move(plan.planned),
                   .is_whole = knows_all};
  if (std::ranges::find(ledger.roots, options.root) == ledger.roots.end())
    meanwhile.roots.push_back(options.root);
  RETURN_IF_ERROR(BeginStaging(sandbox, meanwhile));
  RETURN_IF_ERROR(Remove(sandbox, plan, options, report));
  RETURN_IF_ERROR(WriteFiles({store, nullptr, options.package_of}, sandbox, plan.writes,
                             options.interrupted, report));
  RETURN_IF_ERROR(NoteWritten(sandbox, plan));
  RETURN_IF_ERROR(EndStaging(sandbox, options.root, plan.files, plan.stamps));
  NoteLedgerHealed(ledger);
  return report;
}

namespace {

// LedgerOfBefore: the ledger of a sandbox that holds a root as it was staged: brief, or whole when
// the brief ledger would become long; neither: the sandbox holds no such root.
struct LedgerOfBefore {
  std::optional<BriefLedger> brief;
  std::optional<Ledger> whole;
};

absl::StatusOr<LedgerOfBefore> FindLedger(Sandbox& sandbox, const Digest& before,
                                          size_t differences) {
  const auto is_short = [&](const BriefLedger& brief) {
    return brief.replaced.size() + differences <= kReplacedMax;
  };
  ASSIGN_OR_RETURN(std::optional<BriefLedger> brief, ReadBriefLedger(sandbox));
  if (brief && brief->root != before) return LedgerOfBefore();
  if (brief && is_short(*brief)) return LedgerOfBefore{.brief = std::move(brief)};
  ASSIGN_OR_RETURN(Ledger ledger, ReadLedger(sandbox));
  const bool is_as_it_was = ledger.exact == before && ledger.is_sealed && ledger.is_closed &&
                            ledger.is_whole && ledger.damage.empty() &&
                            ledger.files.size() == ledger.stamps.size();
  if (!is_as_it_was) return LedgerOfBefore();
  brief = BriefOf(ledger);
  if (brief && is_short(*brief)) return LedgerOfBefore{.brief = std::move(brief)};
  return LedgerOfBefore{.whole = std::move(ledger)};
}

absl::Status ReplaceBriefly(store::Store& store, const StageOptions& options, Sandbox& sandbox,
                            BriefLedger& ledger, const std::vector<tree::TreeFile>& writes,
                            StageReport& report) {
  RETURN_IF_ERROR(BeginReplacing(sandbox, ledger, options.root));
  RETURN_IF_ERROR(WriteFiles({store, nullptr, options.package_of}, sandbox, writes,
                             options.interrupted, report));
  for (const tree::TreeFile& file : writes) {
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(file.path));
    ledger.replaced.insert_or_assign(file.path, node.stamp);
  }
  return EndReplacing(sandbox, ledger);
}

absl::Status ReplaceWhole(store::Store& store, const StageOptions& options, Sandbox& sandbox,
                          const Ledger& ledger, std::vector<tree::TreeFile> writes,
                          StageReport& report) {
  Plan plan{.writes = std::move(writes), .stamps = ledger.stamps};
  for (const tree::TreeFile& file : plan.writes) {
    const auto at = std::lower_bound(ledger.files.begin(), ledger.files.end(), file.path);
    plan.stamps_to_fill.push_back(static_cast<size_t>(at - ledger.files.begin()));
  }
  Ledger meanwhile{.roots = ledger.roots, .files = ledger.files, .is_whole = true};
  if (options.root != *ledger.exact) meanwhile.roots.push_back(options.root);
  RETURN_IF_ERROR(BeginStaging(sandbox, meanwhile));
  RETURN_IF_ERROR(WriteFiles({store, nullptr, options.package_of}, sandbox, plan.writes,
                             options.interrupted, report));
  RETURN_IF_ERROR(NoteWritten(sandbox, plan));
  return EndStaging(sandbox, options.root, ledger.files, plan.stamps);
}

}  // namespace

absl::StatusOr<std::optional<StageReport>> StageChanges(store::Store& store,
                                                        const StageOptions& options,
                                                        const Digest& before) {
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(options.directory, 0, options.umask));
  sandbox.StopOn(options.interrupted);
  const absl::StatusOr<std::vector<tree::Difference>> differences = tree::DiffTrees(
      before, options.root, [&](const Digest& digest) { return store.Get(digest); });
  if (!differences.ok()) return std::nullopt;
  ASSIGN_OR_RETURN(LedgerOfBefore ledger, FindLedger(sandbox, before, differences->size()));
  if (!ledger.brief && !ledger.whole) return std::nullopt;
  const uint64_t files = ledger.brief ? ledger.brief->files : ledger.whole->files.size();
  StageReport report{.unchanged = files - differences->size()};
  if (differences->empty()) return report;
  std::vector<tree::TreeFile> writes;
  for (const tree::Difference& one : *differences) {
    const bool is_known =
        !ledger.whole ||
        std::binary_search(ledger.whole->files.begin(), ledger.whole->files.end(), one.path());
    if (one.kind != tree::Difference::Kind::kChanged || !is_known) return std::nullopt;
    writes.push_back(one.after);
  }
  RETURN_IF_ERROR(CheckPaths(options, writes));
  RETURN_IF_ERROR(CheckPresent(store, writes, options.interrupted, options.package_of));
  RETURN_IF_ERROR(
      ledger.brief
          ? ReplaceBriefly(store, options, sandbox, *ledger.brief, writes, report)
          : ReplaceWhole(store, options, sandbox, *ledger.whole, std::move(writes), report));
  return report;
}

std::string ForeignText(const std::string& directory, const StageReport& report) {
  std::string names;
  for (const std::string& path : report.foreign)
    names += (names.empty() ? "" : ", ") + EscapeControl(path);
  if (report.foreign_count > report.foreign.size())
    names += fmt::format(" and {} more", report.foreign_count - report.foreign.size());
  const bool is_one = report.foreign_count == 1;
  return fmt::format("{} in {} {} not put there by Galley and {}: {} (--exact removes {})",
                     is_one ? "1 file" : fmt::format("{} files", report.foreign_count),
                     EscapeControl(directory), is_one ? "was" : "were", is_one ? "stays" : "stay",
                     names, is_one ? "it" : "them");
}

}  // namespace galley::director
