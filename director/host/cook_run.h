// CookRun: runs one cook that has a permit, from the scan of the files to the sandboxes.
//
// Threads: one, which Run blocks; `stop` may be cancelled from any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "director/host/change_set.h"
#include "director/host/cook_admission.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_difference.h"
#include "director/host/cook_notes.h"
#include "director/host/cook_report.h"
#include "director/host/director.h"
#include "director/host/environment_difference.h"
#include "director/host/selection.h"
#include "director/host/staging.h"
#include "director/shell/trace.h"
#include "director/shell/world.h"

namespace galley::director {

// Returns the project of `setup`, with the output folder of the ask.
std::shared_ptr<const project::Project> ProjectOf(const v1::CookAsk& ask, const Setup& setup);

class CookRun {
 public:
  struct Deps {
    Director& director;
    CookPermit& permit;
    CookEventSink& sink;
    Trace& trace;
    Cancellation& stop;
    DifferingVariables differing = {};      // variables that the asker and the director differ in
    WatchedTables* watched = nullptr;       // null: nothing is watched
    std::optional<CheckedSources> checked;  // a check that was just made
  };
  // Everything in `deps` outlives the cook.
  CookRun(v1::CookAsk ask, const Deps& deps);

  // Called once.
  CookReport Run();

 private:
  absl::Status Prepare();
  absl::Status Scan();
  absl::Status Select();
  void NoteLastRoots();
  void TellRemovedByRules();
  void BeginStaging();
  std::vector<SelectedPackage> SelectIn(const World& world) const;  // any thread, while it cooks
  absl::StatusOr<CookSelection> SelectLost();
  absl::Status FindWhatDiffers();
  void TellLeftOutOfList();
  void NoteWhatWasLookedAt();
  StandingAsk AskOfStanding() const;
  void TellScan();
  size_t CountUnmatched(const World& world) const;
  void TellScanAgain();
  void TellIdleNames();
  absl::Status FollowTheFiles();
  absl::Status Cook();
  CookOrder Order();
  bool IsFirst() const;
  void NoteTimes(absl::Time begin, absl::Time end);
  bool HasEndedWell() const;
  void TellTheEnd();
  void TellGrowth();
  absl::Status TellRefusal();
  void TellUnpublished();
  void NumberRoots();
  void Remember();
  void NoteMembers();
  void RecordStanding();

  const v1::CookAsk ask_;
  const Deps deps_;
  absl::Time began_;                                 // when the cook began to look at the files
  SetupPtr setup_;                                   // from Prepare on
  std::shared_ptr<const project::Project> project_;  // with the output folder of the cook
  GlobFilterPtr filter_;                             // FilterOf; from Prepare on
  CookNotes notes_;
  CookReport report_;

  WorldPtr world_;                            // at the start of the cook
  SnapshotPtr sources_;                       // files at the start of the cook
  CookSelection selection_;                   // has no packages if there is a difference
  ChangeSet changes_;                         // owns the world until the director gets it
  absl::StatusOr<MembersFile> members_;       // of a cook by the book (MembersAfter)
  std::map<std::string, Digest> last_roots_;  // by platform, before this cook by the book
  bool is_project_file_another_ = false;      // differs from the last cook of the same ask
  std::optional<Staging> staging_;            // set once the selection is known
};

}  // namespace galley::director
