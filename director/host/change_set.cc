#include "director/host/change_set.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/host/changed_files.h"
#include "director/host/cook_world.h"
#include "director/host/idle_names.h"
#include "director/host/outcome_status.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

absl::Status NotSo(std::string_view why) {
  return absl::FailedPreconditionError({why.data(), why.size()});
}

class ChangeFinder {
 public:
  ChangeFinder(ChangeAsk ask, CookNotes& notes, Cancellation& stop)
      : ask_(std::move(ask)), setup_(ask_.permit.needs().setup), notes_(notes), stop_(stop) {}

  absl::StatusOr<ChangeSet> Find() {
    RETURN_IF_ERROR(AskWhichFiles());
    if (found_.listed) {
      const absl::Status listed = LookAtListedFiles();
      if (listed.ok()) return std::move(found_);
      notes_.SayAlways(
          fmt::format("the list of changed files is not used, and all files are looked at: {}",
                      MessageOf(listed)));
      found_.listed.reset();
    }
    const absl::Status stamps = LookAtStamps();
    if (stamps.ok()) return std::move(found_);
    LogInfo("all files are looked at: {}", MessageOf(stamps));
    RETURN_IF_ERROR(ScanAll());
    return std::move(found_);
  }

 private:
  // Asks a person's list or git which files may have changed.
  absl::Status AskWhichFiles() {
    if (ask_.ask.has_changed()) found_.listed = ListOf(ask_.ask.changed().paths());
    const std::string& revision = ask_.ask.changed_since();
    if (revision.empty()) return absl::OkStatus();
    if (const absl::Status known = CheckRevision(ask_.project, revision, stop_); !known.ok())
      return stop_.is_cancelled() ? Interrupted() : WrongUse(known);
    found_.git.look = LookAtGit(ask_.project, stop_);
    const auto listed = [&]() -> absl::StatusOr<std::vector<std::string>> {
      ASSIGN_OR_RETURN(const Standing standing, FindButFiles(ask_.standing, stop_));
      return ChangedByGit(ask_.project, standing.git, found_.git.look->state, stop_);
    }();
    if (listed.ok()) {
      found_.listed = *listed;
    } else {
      notes_.WarnOfAsk(
          record::WarningKind::kVersionControl,
          fmt::format("--changed-since: all files are looked at: {}", MessageOf(listed.status())));
    }
    return absl::OkStatus();
  }

  // Compares the listed files with a standing for which everything else holds.
  absl::Status LookAtListedFiles() {
    // The journal follows the files of other running cooks.
    if (!ask_.permit.IsAlone()) return NotSo("other cooks run in this director");
    ASSIGN_OR_RETURN(const Standing standing, FindButFiles(ask_.standing, stop_));
    found_.git.before = standing.git;
    if (standing.base_table != Meta().table_id || standing.has_more_touched)
      return NotSo("the files that the last cook saw are not known");
    ASSIGN_OR_RETURN(std::shared_ptr<World> world, Revise([&](const content::Snapshot& base) {
                       std::vector<std::string> paths = *found_.listed;
                       for (const std::string& touched : standing.touched) {
                         for (std::string& path : PathsOf(base, touched))
                           paths.push_back(std::move(path));
                       }
                       return paths;
                     }));
    if (MayLookAtDifference(ask_.ask, ask_.permit) && TakeRevised(world).ok())
      return absl::OkStatus();
    // Looks at all packages, in the files of the list. Names that name nothing are looked for
    // again.
    const auto is_of_scan = [](const StandingWarning& one) {
      return one.is_of_scan && !IsOfIdleNames(record::Warning::Parse(one.text).kind);
    };
    if (std::ranges::any_of(standing.warnings, is_of_scan))
      return NotSo("the last look at all files had something to say");
    const absl::Status packages = CheckPackages(*world);
    if (world->table->has_unread_sidecars())
      return NotSo("a sidecar changed that it does not name");
    RETURN_IF_ERROR(packages);
    found_.world = std::move(world);
    return absl::OkStatus();
  }

  absl::Status LookAtStamps() {
    if (!MayLookAtDifference(ask_.ask, ask_.permit)) return NotSo("such a cook looks at all");
    ASSIGN_OR_RETURN(const ChangedFiles files,
                     ChangedFiles::Find(ask_.standing, Meta(), std::move(ask_.checked), stop_));
    ASSIGN_OR_RETURN(std::shared_ptr<World> world,
                     Revise([&](const content::Snapshot& base) { return files.PathsIn(base); }));
    RETURN_IF_ERROR(files.Hold(*world->snapshot));
    RETURN_IF_ERROR(TakeRevised(std::move(world)));
    found_.git.before = found_.difference->standing.git;
    found_.patches = files.patches();
    return absl::OkStatus();
  }

  absl::Status ScanAll() {
    found_.git.before = {};
    if (!found_.git.look && IsByTheBook(ask_.ask)) {
      found_.git.under_way = std::async(
          std::launch::async,
          [project = &ask_.project, stop = &stop_] { return LookAtGit(*project, *stop); });
    }
    ASSIGN_OR_RETURN(found_.world, MakeWorld(ask_.director, *setup_, stop_));
    return absl::OkStatus();
  }

  JournalMeta Meta() const { return ask_.director.journal().meta(); }
  absl::StatusOr<std::shared_ptr<World>> Revise(const ChangedIn& changed_in) const {
    return MakeRevisedWorld(ask_.director, *setup_, Meta(), ask_.permit.Present(), changed_in);
  }

  // Makes the cook look at the difference in `world`; FAILED_PRECONDITION: the reason why it
  // cannot.
  absl::Status TakeRevised(std::shared_ptr<World> world) {
    // The warnings of a scan are told again.
    if (!world->since->is_of_bytes) return NotSo("more than bytes of files is another");
    for (const content::Change& change : world->since->changes) {
      if (!change.was_there || !change.is_there || project::IsSidecar(change.path))
        return NotSo(fmt::format("{} {}", change.path,
                                 !change.was_there  ? "is new"
                                 : !change.is_there ? "is gone"
                                                    : "changed"));
    }
    ASSIGN_OR_RETURN(
        CookDifference difference,
        FindDifference(ask_.standing, *world, /*selected=*/{}, ask_.director.journal(), stop_));
    // The sidecars of these packages may have changed, and a list may leave the sidecars out.
    for (const SelectedPackage& one : difference.selected) (void)world->table->Find(one.name);
    if (world->table->has_unread_sidecars())
      return NotSo("a sidecar changed that it does not name");
    found_.difference = std::move(difference);
    found_.world = std::move(world);
    found_.has_same_names = true;
    return absl::OkStatus();
  }

  ChangeAsk ask_;
  const SetupPtr setup_;
  CookNotes& notes_;
  Cancellation& stop_;
  ChangeSet found_;
};

}  // namespace

bool MayLookAtDifference(const v1::CookAsk& ask, const CookPermit& permit) {
  return IsByTheBook(ask) && !ask.fail_fast() && permit.IsAlone();
}

absl::StatusOr<ChangeSet> FindChanges(ChangeAsk ask, CookNotes& notes, Cancellation& stop) {
  return ChangeFinder(std::move(ask), notes, stop).Find();
}

GitState ChangeSet::TakeGitState(const content::Snapshot& sources, const World& now) {
  const bool are_scanned = !listed && !patches;
  if (git.under_way.valid()) git.look = git.under_way.get();
  if (git.look && are_scanned) return StateOf(*std::move(git.look), sources);
  std::vector<std::string> changed;
  if (now.since) {
    for (const content::Change& change : now.since->changes) changed.push_back(change.path);
  }
  if (!git.look) return WithDirty(std::move(git.before), changed);
  return StateOf(*std::move(git.look), sources, listed ? *listed : changed);
}

}  // namespace galley::director
