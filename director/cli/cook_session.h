// CookSession: `galley cook`: lets a resident director cook, or hosts a Director for one cook, and
// reports the outcome on the terminal, in --summary and --trace, and by the exit code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "director/cli/cook_options.h"
#include "director/cli/exit_code.h"
#include "director/cli/interrupt.h"
#include "director/cli/remote_cook.h"
#include "director/cli/report.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_report.h"
#include "director/host/standing_cook.h"
#include "director/serve/director_client.h"
#include "director/shell/trace.h"

namespace galley::cli {

class CookSession {
 public:
  CookSession(const CookCommandOptions& options, Report& report);
  ~CookSession();

  // Returns the exit code. On return everything has been reported, and the summary is written.
  int Run();

 private:
  // The functions return a Status of outcome_status.h.
  absl::Status LoadTheProject();
  absl::Status FindChangedFiles();
  absl::Status CheckFilesToWrite() const;
  absl::Status Cook();
  // Cooks by the resident director; false: there is none, or this cook is not for it.
  absl::StatusOr<bool> CookRemotely();
  absl::StatusOr<bool> Attach(director::DirectorClient* client);
  bool StandsHere();
  absl::Status CookHere();
  bool TakeBegun(const v1::CookEvent::Begun& begun);
  absl::Status TakeRemote(const RemoteCook& remote, const absl::Status& end);
  v1::CookAsk AskOnWire() const;
  bool IsForResident() const { return !options_.standalone && !ask_.repair(); }

  int Finish(const absl::Status& end);
  ExitCode TellEnd(const absl::Status& end);
  void FillSummary(ExitCode code);
  ExitCode WriteFiles(ExitCode code);

  const CookCommandOptions& options_;
  Report& report_;
  const absl::Time started_;
  v1::CookAsk ask_;  // paths as typed
  Cancellation stop_;
  InterruptWatch interrupt_;  // watches until all else has ended

  std::shared_ptr<const project::Project> project_;
  director::CookReport cooked_;
  std::optional<director::CheckedSources> checked_;  // set by StandsHere
  bool is_detached_ = false;
  Summary summary_;
};

}  // namespace galley::cli
