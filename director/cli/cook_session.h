// CookSession: one cook from galley.toml to the sandboxes: project, lock, store, journal, scan,
// difference, director, staging, summary.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "common/base/cancellation.h"
#include "director/cli/cook_options.h"
#include "director/cli/interrupt.h"
#include "director/cli/report.h"
#include "director/host/cook_notes.h"
#include "director/host/inheritance.h"
#include "director/host/project_stores.h"
#include "director/host/selection.h"
#include "director/host/staging.h"
#include "director/journal/journal.h"
#include "director/journal/project_home.h"
#include "director/shell/describe.h"
#include "director/shell/director_shell.h"
#include "director/shell/write_back.h"

namespace galley::cli {

class CookSession {
 public:
  CookSession(const CookCommandOptions& options, Report& report);
  ~CookSession();

  // The exit code. Everything that is to be said was said, the summary is written.
  int Run();

 private:
  struct Stop {  // ends the session with this code
    ExitCode code = kDone;
    std::string text;
  };
  // Of an outcome_status.h.
  static std::optional<Stop> StopOf(const absl::Status& end);
  std::optional<Stop> LoadTheProject();
  std::optional<Stop> TakeTheLock();
  std::optional<Stop> OpenStores();
  std::optional<Stop> TakeTheSnapshot();
  std::optional<Stop> ApplyTheDifference();
  std::optional<Stop> Cook();
  std::optional<Stop> CheckOutput(const std::string& project_id) const;
  director::Sandboxes::Rules RulesOfStage() const {
    return {.adopt = options_.ask.adopt, .exact = options_.ask.exact};
  }
  std::optional<Stop> SettleTheHome();
  void StartWriteBack();
  void ReportOddFiles();
  void WarnOfIdleNever();
  absl::Status TakeOver(uint32_t term);
  void FlushRemote();
  void TellLost();
  void TellUnpublished();
  void Remember();
  director::PlatformMask PlatformsWanted(std::optional<Stop>& stop) const;
  absl::StatusOr<director::CookSelection> SelectLost();
  void NumberRoots();
  int Finish(const std::optional<Stop>& stop);

  const CookCommandOptions& options_;
  Report& report_;
  director::CookNotes notes_{report_};
  std::unique_ptr<InterruptWatch> interrupt_;
  base::Mutex mutex_;
  director::DirectorShell* shell_ GALLEY_GUARDED_BY(mutex_) = nullptr;
  director::WriteBack* flushing_ GALLEY_GUARDED_BY(mutex_) = nullptr;
  Cancellation stop_;

  std::shared_ptr<const project::Project> project_;
  std::shared_ptr<const project::RecipeResolver> resolver_;
  director::Cookers cookers_;
  std::unique_ptr<director::ProjectLock> lock_;
  director::ProjectHome home_;
  std::unique_ptr<director::ProjectStores> stores_;
  std::unique_ptr<director::Journal> journal_;
  // Ends first: it tells the journal what was sent.
  std::unique_ptr<director::WriteBack> write_back_;
  director::Inheritance inherited_;
  std::shared_ptr<director::World> world_;
  director::ProjectCatalog::Options table_options_;
  director::CookSelection selection_;
  director::PlatformMask platforms_ = 0;
  director::Trace trace_;
  std::optional<director::ShellOutcome> outcome_;
  std::optional<director::Staging> staging_;  // once the selection is known
  Summary summary_;
  absl::Time started_;
};

}  // namespace galley::cli
