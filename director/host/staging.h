// Staging: stages the published roots of one cook to the sandboxes, and keeps the outcome.
//
// A root is staged again when lost bytes were made again, unless its sandbox already has the root.
// Every platform is staged as far as possible, whatever another platform lacks.
//
// Threads: one; StageAll blocks, also while another process stages to a sandbox.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_notes.h"
#include "director/host/sandboxes.h"
#include "director/shell/world.h"
#include "director/stage/stage.h"

namespace galley::director {

class Staging {
 public:
  struct Options {
    std::string project_id;
    bool by_the_book = true;
    Sandboxes::Rules rules;
    mode_t umask = 022;  // CookAsk::umask
  };
  struct Deps {
    const project::Project& project;
    store::Store& store;
    CookNotes& notes;
    Cancellation& stop;
    std::function<absl::Status()> may_write;
    // Returns the root in the platform's sandbox, if somebody looked and the sandbox is as it was
    // staged. Null: nobody knows.
    std::function<std::optional<Digest>(const std::string& platform)> lies_there = nullptr;
  };
  // Everything in `deps` outlives Staging.
  Staging(Options options, const Deps& deps);

  // ShellOptions::stage.
  std::string StageAll(const std::map<std::string, Digest>& roots, const WorldPtr& world);
  // Tells what the last round could not stage.
  void TellFailures();

  // True when staging began: the roots are published, so a later interrupt comes too late.
  bool is_published() const { return is_published_; }
  // Says whether TellFailures told a failure.
  bool has_failed() const { return has_failed_; }
  // CANCELLED: a person stopped staging, or the wait for another process that stages. The text says
  // what was not staged.
  const absl::Status& stopped() const { return stopped_; }
  absl::Duration time() const { return time_; }

 private:
  // `how` comes without folder and root.
  absl::StatusOr<StageReport> StageOne(const std::string& platform, const Digest& root,
                                       StageOptions how);
  absl::StatusOr<StageReport> StageWhatDiffers(const std::string& platform,
                                               const StageOptions& how);
  absl::StatusOr<FileDescriptor> WaitForSandbox(const std::string& sandbox);
  StageOptions HowToStage(const WorldPtr& world) const;
  std::string NotStagedText(const std::map<std::string, Digest>& roots) const;

  const Options options_;
  const Deps deps_;
  const Sandboxes sandboxes_;
  std::map<std::string, Digest> staged_;  // platform -> root in its sandbox
  // Platform -> why its root was not staged in this round.
  std::map<std::string, std::string> errors_;
  bool is_published_ = false;
  bool has_failed_ = false;
  absl::Status stopped_;
  absl::Duration time_;
};

}  // namespace galley::director
