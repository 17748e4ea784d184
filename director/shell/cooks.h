// Cooks: runs each cook from the request until the outcome is told.
//
//   Run     on the asking thread: hands the cook's events to the sink until the cook is closed
//   Begin   resolves platforms and packages in the present world
//   End     when the core is done with the cook
//   Close   when the last group of results is committed, and the journal knows why each package was
//           in the cook
//
// Threads: the loop's, except for Run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/packages/platforms.h"
#include "director/journal/journal.h"
#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/inbox.h"
#include "director/shell/instigator_notes.h"
#include "director/shell/tasks.h"
#include "director/shell/world.h"

namespace galley::director {

class Cooks {
 public:
  // Everything in Deps outlives Cooks.
  struct Deps {
    const CookCore& core;
    Journal& journal;
    Clock& clock;
    Tasks& tasks;  // run in order with the commits
    Inbox& inbox;
    ActiveCooks& active;
    Commits& commits;
    std::function<WorldPtr()> world;
    PresentSources sources;
    // Called when the cook is in `active`, before the core gets the request.
    std::function<void(ActiveCook& cook)> before_begin;
    // Called when the core has the request.
    std::function<void()> after_begin;
    // Called just before the cook is closed; other parts add to its outcome.
    std::function<void(ActiveCook& cook)> before_close;
    // Called when the cook is removed from `active`.
    std::function<void()> after_close;
  };
  explicit Cooks(Deps deps) : deps_(std::move(deps)) {}

  // See DirectorShell::Cook. Any thread but the loop's.
  absl::StatusOr<ShellOutcome> Run(CookOrder order, CookEventSink& sink, Cancellation& stop);
  void Begin(const std::shared_ptr<ActiveCook>& cook);
  void Cancel(uint64_t number);
  // Ends a cook, with which the core is done.
  void End(const std::shared_ptr<ActiveCook>& cook, const CookEnded& ended);

  // Moves the cooks to the platforms of an edited galley.toml. A cook that publishes gets no new
  // platforms. Returns the platforms that were added to cooks.
  std::vector<PlatformsChanged::Added> AdoptPlatforms(const World& world, const PlatformMap& map);
  void TellProgress(const WorkersOnTheWay& on_the_way);

 private:
  CookRequested RequestOf(ActiveCook& cook) const;
  static PlatformMask PlatformsIn(ActiveCook& cook, const World& world, PlatformMask otherwise);
  void CancelRefused();
  std::vector<std::string> PlatformNames(PlatformMask platforms) const;
  void TellPlatforms(ActiveCook& cook) const;
  InstigatorNotes NoteInstigators(const ActiveCook& cook) const;
  absl::Status RecordInstigators(const ActiveCook& cook, const InstigatorNotes& notes);
  void Close(const std::shared_ptr<ActiveCook>& cook, const absl::Status& remembered);

  const Deps deps_;
};

}  // namespace galley::director
