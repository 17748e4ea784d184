// CookRun: one cook, from the scan of the files to the sandboxes. A new one is constructed for each
// cook of a Director.
//
// Threads: one, which Run blocks; `stop` ends it from any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_notes.h"
#include "director/host/cook_report.h"
#include "director/host/director.h"
#include "director/host/inheritance.h"
#include "director/host/selection.h"
#include "director/host/staging.h"
#include "director/shell/trace.h"
#include "director/shell/world.h"

namespace galley::director {

class CookRun {
 public:
  struct Deps {
    Director& director;
    CookListener& listener;
    Trace& trace;
    Cancellation& stop;
  };
  // All of `deps` outlives it.
  CookRun(CookAsk ask, const Deps& deps);

  // Once.
  CookReport Run();

 private:
  absl::Status Prepare();
  absl::Status Scan();
  absl::Status Select();
  absl::StatusOr<CookSelection> SelectLost();
  void TellScan(absl::Time begin);
  absl::Status FollowTheFiles();
  absl::Status Cook();
  ShellOptions OptionsOfShell();
  CookRequested Request() const;
  void NoteTimes(absl::Time begin, absl::Time end);
  void TellTheEnd();
  void TellUnpublished();
  void NumberRoots();

  const CookAsk ask_;
  const Deps deps_;
  const ProjectCatalog::Options table_options_;
  CookNotes notes_;
  CookReport report_;

  std::shared_ptr<World> world_;  // as it was when the cook began
  CookSelection selection_;
  Inheritance inherited_;
  std::optional<Staging> staging_;  // once the selection is known
};

}  // namespace galley::director
