// Staging: stages the published roots of one cook to the sandboxes.
//
// A sandbox that has the files of a newer world is left as it is. StageAll is called again when
// lost bytes were made again, and skips sandboxes that have their
// root. An error on one platform does not keep the others from being staged.
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
#include "director/shell/world_order.h"
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
    // By the folder of the sandbox; shared by all cooks of the director.
    WorldOrder& staged_worlds;
    // Returns the root in the platform's sandbox, if the sandbox is checked and unchanged since it
    // was staged. Null: unknown.
    std::function<std::optional<Digest>(const std::string& platform)> root_if_unchanged = nullptr;
  };
  // Everything in `deps` outlives Staging.
  Staging(Options options, const Deps& deps);

  // Stages the roots. Arguments and result: CookOrder::stage.
  std::string StageAll(const std::map<std::string, Digest>& roots, const WorldPtr& world);
  // Tells the failures of the last StageAll.
  void TellFailures();

  // True: staging has begun. The roots are published, so an interrupt comes too late.
  bool is_published() const { return is_published_; }
  // Says whether TellFailures told a failure.
  bool has_failed() const { return has_failed_; }
  // CANCELLED: a person stopped staging, or its wait for another process. The text says which roots
  // were not staged.
  const absl::Status& stopped() const { return stopped_; }
  absl::Duration time() const { return time_; }

 private:
  // `how`: without folder and root.
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
  uint64_t world_ = 0;                    // number of the world of the roots that are staged
  std::map<std::string, Digest> staged_;  // platform -> root in its sandbox
  // Platform -> why the last StageAll did not stage its root.
  std::map<std::string, std::string> errors_;
  bool is_published_ = false;
  bool has_failed_ = false;
  absl::Status stopped_;
  absl::Duration time_;
};

}  // namespace galley::director
