// CookSession: `galley cook`: hosts a Director for one cook, and says what came of it: on the
// terminal, in --summary and --trace, and by the exit code.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "director/cli/cook_options.h"
#include "director/cli/exit_code.h"
#include "director/cli/interrupt.h"
#include "director/cli/report.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_report.h"
#include "director/host/director.h"
#include "director/shell/trace.h"

namespace galley::cli {

class CookSession {
 public:
  CookSession(const CookCommandOptions& options, Report& report);
  ~CookSession();

  // The exit code. Everything that is to be said was said, the summary is written.
  int Run();

 private:
  // The Status of each: outcome_status.h.
  absl::Status LoadTheProject();
  absl::Status CheckLauncher(const project::Project& project) const;
  absl::StatusOr<director::PlatformMask> PlatformsWanted() const;
  absl::Status CheckFilesToWrite() const;
  absl::Status Cook();

  int Finish(const absl::Status& end);
  ExitCode TellEnd(const absl::Status& end);
  void FillSummary(ExitCode code);
  ExitCode WriteFiles(ExitCode code);

  const CookCommandOptions& options_;
  Report& report_;
  const absl::Time started_;
  director::CookAsk ask_;
  director::Trace trace_;
  Cancellation stop_;
  InterruptWatch interrupt_;  // until all else has ended

  std::shared_ptr<const project::Project> project_;
  std::unique_ptr<director::Director> director_;
  director::CookReport cooked_;
  Summary summary_;
};

}  // namespace galley::cli
