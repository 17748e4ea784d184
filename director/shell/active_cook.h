// ActiveCook: the shell's state of one cook, from its start until its outcome is told.
//
// Threads: `told` any. Everything else belongs to the loop; from has_ended on it stays as it is
// until the commit thread, which reads it, has recorded the cook.
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
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/shell/cook_event.h"
#include "director/shell/difference_root.h"
#include "director/shell/failure_notes.h"
#include "director/shell/instigator_notes.h"
#include "director/shell/observed_values.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/standing_base.h"
#include "director/shell/tasks.h"
#include "director/shell/world.h"

namespace galley::director {

// Collections: counts how often executors gave memory back between two jobs, by reason
// (proto/galley/v1/worker.proto).
struct Collections {
  uint64_t soft_limit = 0, hard_limit = 0, package_count = 0, idle = 0;
  uint64_t restarts = 0;  // executors that were replaced because a collection did not help
  uint64_t pauses = 0;    // pauses because the machine lacked memory
};

struct ShellOutcome {
  CookEnded ended;
  Counters counters;
  std::map<std::string, Digest> roots;  // published, by platform name
  uint64_t bytes_stored = 0;
  uint64_t bytes_deduplicated = 0;
  // Lost blobs that were made again, and their packages.
  uint64_t lost_blobs = 0, lost_packages = 0;
  // Workers of other machines that were asked for and did not attach, and why the last of them did
  // not.
  uint32_t unstarted = 0;
  std::string unstarted_reason;
  Collections collections;
  WorldPtr world;  // in which the roots were judged; of a cook without roots: the last one
  // Files changed since the cook was judged: another cook of the same ask may differ.
  bool is_overtaken = false;
  ObservedValues observed;  // by all results and verdicts of the cook
  uint64_t loss_epoch = 0;  // of the store; the cook took all losses up to it into account
  // The results of each root, published or not, by platform name. For a difference: only the
  // results of packages that the cook looked at.
  std::map<std::string, StoredResultsPtr> in_roots;
  bool is_difference = false;  // the roots are still made from CookOrder::base
  std::string refusal;         // the first refusal by CookOrder; empty: none
  absl::Status remembered;     // OK: the journal knows why each package is in the cook
};

// CookOrder: the request for one cook of the shell.
struct CookOrder {
  CookRequested request;  // the number of the request is the cook's number
  // The world for which `request` was made; another world may be present when the cook begins.
  // Null: any world.
  WorldPtr world = nullptr;
  bool publishes = true;      // publishes the roots that the cook builds
  bool retry_failed = false;  // tries failures in the journal or the cache again
  // Returns the selection of the cook in another world. Called on the commit thread or the loop
  // thread. Null: the selection is the same in every world.
  std::function<std::vector<SelectedPackage>(const World& world)> select;
  // Returns the platforms of the cook in a world; an error ends the cook as a refusal. Called on
  // the loop thread. Null: the platforms of `request` that still exist.
  std::function<absl::StatusOr<PlatformMask>(const World& world)> platforms = nullptr;
  // With `request.standing`: `request.selected` holds only the difference, and `select` returns the
  // whole selection. When the roots cannot be made of the difference, the cook goes on with the
  // whole selection.
  std::shared_ptr<const StandingBase> base = nullptr;
  std::vector<SelectedPackage> whole = {};  // the whole selection when `base` was found
  // Says why a result is refused; the cook then ends unpublished. Empty: the result is allowed.
  // Called on the loop thread. Null: every result is allowed.
  std::function<std::string(const StoredResult& result)> refuses = nullptr;
  // Stages the published roots, by platform. Returns a text about blobs that the store lacks;
  // empty: none is missing. Other errors are told by the callee. Called on the thread that asked
  // for the cook, when roots are published and again when lost bytes were made again. Null: nothing
  // is staged.
  std::function<std::string(const std::map<std::string, Digest>& roots, const WorldPtr& world)>
      stage;
};

// ListenerQueue: carries the events of a cook from the loop to the thread that asked for the cook,
// so that the loop never waits for printing or staging. A posted task runs on the asking thread,
// after the events that were added before it.
class ListenerQueue final : public Tasks {
 public:
  void AddEvent(CookEvent event) { Add(std::move(event)); }
  void Post(std::function<void()> task) override { Add(std::move(task)); }
  // Sets the progress; replaces an earlier progress that was not handed out yet.
  void SetProgress(const Counters& counters, const Progress& progress);
  void End(absl::StatusOr<ShellOutcome> outcome);

  // The number of events that were added after the end, and are dropped.
  uint64_t told_late() const {
    base::MutexLock lock(mutex_);
    return told_late_;
  }

  // Hands all events to `sink`, on the calling thread, until the end.
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

// JudgedWorld: the world in which the core judged a cook. The roots of the judgement are built,
// published and staged as of this world, whatever comes after it.
struct JudgedWorld {
  // The values in all BuildRoot effects of the judgement.
  uint32_t round = 0;
  uint32_t platform_set = 0;
  bool is_difference = false;

  WorldPtr world;
  SourcesPtr sources;
};

struct ActiveCook {
  explicit ActiveCook(CookOrder asked)
      : order(std::move(asked)),
        platforms(order.request.platforms),
        outcome{.is_difference = order.request.standing != nullptr} {}

  uint64_t number() const { return order.request.request; }
  // Tells a passing warning without a package (CookEvent::Warned::is_passing).
  void Warn(record::WarningKind kind, const std::string& text) { WarnOf("", "", kind, text); }
  void WarnOf(const std::string& package, const std::string& platform, record::WarningKind kind,
              const std::string& text) {
    told.AddEvent({CookEvent::Warned{package, platform, {kind, text}, /*is_passing=*/true}});
  }

  const CookOrder order;
  ListenerQueue told;
  // Runs tasks on the thread that asked for the cook; the simulation replaces it.
  Tasks* asker = &told;
  absl::Time began;  // by the wall clock, like the times of files

  PlatformMask platforms = 0;                 // the platforms of the cook in the present world
  std::map<std::string, Digest> unpublished;  // empty roots of a narrow cook: only staged
  std::set<Digest> lost_blobs;
  std::set<std::string> lost_packages;
  FailureNotes failures;
  bool was_alone = true;              // no other cook ran at the same time
  ReferencesOf references;            // from DifferenceRoot, of all platforms
  std::optional<JudgedWorld> judged;  // of the last judgement
  std::optional<CookSlot> slot;       // set once the cook has begun
  ShellOutcome outcome;               // grows while the cook runs; told once the cook is closed
  bool has_ended = false;             // `outcome.ended` is set; the last commits may still run
};

}  // namespace galley::director
