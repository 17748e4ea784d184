// ActiveCook: what the shell has of one cook, from when it begins until its outcome is told.
//
// Threads: `told` any; the rest is the loop's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "director/core/cook_core.h"
#include "director/core/events.h"
#include "director/shell/cook_event.h"
#include "director/shell/difference_root.h"
#include "director/shell/failure_notes.h"
#include "director/shell/instigator_notes.h"
#include "director/shell/observed_values.h"
#include "director/shell/result_table.h"
#include "director/shell/standing_base.h"
#include "director/shell/tasks.h"
#include "director/shell/world.h"

namespace galley::director {

// How often executors gave memory back between two jobs, by reason; proto/galley/v1/worker.proto.
struct Collections {
  uint64_t soft_limit = 0, hard_limit = 0, package_count = 0, idle = 0;
  uint64_t restarts = 0;  // executors that a collection did not help, and that were replaced
  uint64_t pauses = 0;    // for want of memory on the machine
};

struct ShellOutcome {
  CookEnded ended;
  Counters counters;
  std::map<std::string, Digest> roots;  // platform name -> root published
  uint64_t bytes_stored = 0;
  uint64_t bytes_deduplicated = 0;
  // Blobs that the store lost and that were made again, and the number of their packages.
  uint64_t lost_blobs = 0, lost_packages = 0;
  // Workers of other machines that were asked for and did not come, and what is said of the last.
  uint32_t unstarted = 0;
  std::string unstarted_reason;
  Collections collections;
  WorldPtr world;           // as it was at the end
  ObservedValues observed;  // by all that is or was done, and by verdicts
  // The store's, up to which the cook took losses into account.
  uint64_t loss_epoch = 0;
  // The packages that each root holds, by platform name; of a difference those that were looked at.
  std::map<std::string, HeldResults> in_roots;
  bool is_difference = false;  // the roots were made from CookOrder::base
  std::string refusal;         // CookOrder::refuses, the first; empty: nothing was refused
  absl::Status remembered;     // whether the journal learned why each package is in the cook
};

// CookOrder: a cook as it is asked for.
struct CookOrder {
  CookRequested request;  // its number is the cook's
  // The world in which `request` was made; another one may be there when the cook begins. Null:
  // any.
  WorldPtr world = nullptr;
  bool publishes = true;      // the roots that it builds
  bool retry_failed = false;  // what the journal or the cache knows to have failed
  // What the cook asks for in another world, where files came; on the commit thread. Null: always
  // the same.
  std::function<std::vector<SelectedPackage>(const World& world)> select;
  // The platforms that the cook is for in a world; an error ends the cook as a refusal. Called on
  // the loop thread. Null: those of `request`, as far as they are left.
  std::function<absl::StatusOr<PlatformMask>(const World& world)> platforms = nullptr;
  // With `request.standing`: `request.selected` is of what differs, and `select` says all that is
  // asked for. When the roots cannot be made of that, the cook goes on with all.
  std::shared_ptr<const StandingBase> base = nullptr;
  std::vector<SelectedPackage> whole = {};  // all that was asked for when `base` was found
  // Says why a result may not be a part of this cook, which then ends unpublished; empty: it may.
  // Called on the loop thread. Null: all may.
  std::function<std::string(const StoredResult& result)> refuses = nullptr;
  // Lays the published roots (by platform) out. Returns what the store lacks of them, and where;
  // empty: nothing. All else that goes wrong is told elsewhere. Called when roots are published,
  // and when lost bytes were made again, on the thread that asked for the cook. Null: nobody
  // stages.
  std::function<std::string(const std::map<std::string, Digest>& roots, const WorldPtr& world)>
      stage;
};

// ListenerQueue: the events of a cook on their way from the loop to the thread that asked for the
// cook. The loop never waits for what that thread does, as printing and staging. A task that is
// posted runs there, behind the events that were added before it.
class ListenerQueue final : public Tasks {
 public:
  void AddEvent(CookEvent event) { Add(std::move(event)); }
  void Post(std::function<void()> task) override { Add(std::move(task)); }
  // Takes the place of an earlier progress that is not yet heard.
  void SetProgress(const Counters& counters, const Progress& progress);
  void End(absl::StatusOr<ShellOutcome> outcome);

  // How often something came behind the end: nobody hears that.
  uint64_t told_late() const {
    base::MutexLock lock(mutex_);
    return told_late_;
  }

  // Hands all events to `sink`, on this thread, until the end.
  absl::StatusOr<ShellOutcome> Hear(CookEventSink& sink);

 private:
  using Item = std::variant<CookEvent, std::function<void()>>;
  void Add(Item item);

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  uint64_t told_late_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::deque<Item> waiting_ GALLEY_GUARDED_BY(mutex_);
  std::optional<CookEvent> progress_ GALLEY_GUARDED_BY(mutex_);
  std::optional<absl::StatusOr<ShellOutcome>> outcome_ GALLEY_GUARDED_BY(mutex_);
};

struct ActiveCook {
  explicit ActiveCook(CookOrder asked)
      : order(std::move(asked)),
        platforms(order.request.platforms),
        is_difference(order.request.standing != nullptr) {}

  uint64_t number() const { return order.request.request; }
  // Tells it something of this moment that is of no package.
  void Warn(record::WarningKind kind, const std::string& text) { WarnOf("", "", kind, text); }
  void WarnOf(const std::string& package, const std::string& platform, record::WarningKind kind,
              const std::string& text) {
    told.AddEvent({CookEvent::Warned{package, platform, {kind, text}, /*is_passing=*/true}});
  }

  const CookOrder order;
  ListenerQueue told;
  Tasks* asker = &told;  // the thread that asked for the cook; the simulation has another
  absl::Time began;      // by the wall clock, as files have it

  PlatformMask platforms = 0;                     // that the cook is for, of the present world
  std::map<std::string, Digest> roots;            // published, by platform name
  std::map<std::string, Digest> unpublished;      // without a file, of a narrow cook: staged only
  std::map<std::string, HeldResults> last_build;  // what was to be in the root, likewise
  uint64_t bytes_stored = 0;
  uint64_t bytes_deduplicated = 0;
  std::set<Digest> lost_blobs;
  std::set<std::string> lost_packages;
  uint32_t unstarted = 0;  // ShellOutcome
  std::string unstarted_reason;
  FailureNotes failures;
  ObservedValues observed;
  bool is_difference = false;      // looks at a difference (still)
  bool was_alone = true;           // no other cook ran beside it
  ReferencesOf references;         // DifferenceRoot, of all platforms
  std::string refusal;             // as of ShellOutcome
  std::optional<CookSlot> slot;    // once it has begun
  Counters counters;               // once it ended
  std::optional<CookEnded> ended;  // its last commits may be under way
};

}  // namespace galley::director
