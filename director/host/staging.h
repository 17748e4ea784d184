// Staging: lays the published roots of one cook out in the sandboxes, and keeps what came of it.
//
// A root is staged again when lost bytes were made again, unless its sandbox already has it. All
// platforms are staged as far as they can be, whatever one of them lacks.
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
    mode_t umask = 022;  // CookAsk
  };
  struct Deps {
    const project::Project& project;
    store::Store& store;
    CookNotes& notes;
    Cancellation& stop;
    std::function<absl::Status()> may_write;
    // The root that lies in the platform's sandbox, if that was looked at and is as it was laid
    // there. Null: it is not known.
    std::function<std::optional<Digest>(const std::string& platform)> lies_there = nullptr;
  };
  // All of `deps` outlives it.
  Staging(Options options, const Deps& deps);

  // ShellOptions::stage.
  std::string StageAll(const std::map<std::string, Digest>& roots, const WorldPtr& world);
  // Tells what the last round could not stage.
  void TellFailures();

  // Somebody stages: the roots are published, so an interrupt from then on is too late.
  bool is_published() const { return is_published_; }
  // TellFailures told something.
  bool has_failed() const { return has_failed_; }
  // CANCELLED: a person stopped it while it staged, or waited for another process that does. The
  // text says what was not staged.
  const absl::Status& stopped() const { return stopped_; }
  absl::Duration time() const { return time_; }

 private:
  // `how` without folder and root.
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
  std::map<std::string, Digest> staged_;       // platform -> root that lies in its sandbox
  std::map<std::string, std::string> errors_;  // platform -> why its root does not, in this round
  bool is_published_ = false;
  bool has_failed_ = false;
  absl::Status stopped_;
  absl::Duration time_;
};

}  // namespace galley::director
