// CookAhead: has idle workers cook what devices are likely to ask for next (devices::AheadPlan), so
// that it is there when they do.
//
//   a hit            noted on the thread of the call; taken up by the next turn (AskedNotes)
//   Advance          at the end of turns: takes up what was noted, and asks for the next candidates
//   an outcome       goes into the trees, as the outcome of any ask does
//
// The core runs these asks in slots that nothing else wants (PresentProject::AskAhead). A few are
// open at a time; which ones, and whether any, is decided here:
//
//   nothing begins   while no device has asked for ten minutes, while the budget is spent
//                    (devices::AheadLimits), while the store is so full that a collection is near,
//                    and while the workers rest
//
// A package that somebody asks for before it is made is not cooked ahead any more: the ask is
// withdrawn, and the package counts neither as made nor as a hit.
//
// Threads: one, of the turns; NoteAsked, figures: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/devices/ahead_ledger.h"
#include "director/devices/ahead_plan.h"
#include "director/resident/asked_notes.h"
#include "director/resident/cooked_tables.h"
#include "director/resident/package_files.h"
#include "director/resident/present_project.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_trees.h"
#include "director/resident/shown_world.h"
#include "director/resident/world_difference.h"

namespace galley::director {

// AheadFigures: for status and metrics. Counts are since the director began.
struct AheadFigures {
  devices::AheadCounts counts;
  uint64_t unasked = 0;  // made, and nobody knows yet
  uint64_t waiting = 0;  // candidates
  uint64_t open = 0;     // asks of the core
  // The part of the budget that is spent on packages which nobody has asked for.
  absl::Duration slot_time_spent;
  uint64_t bytes_spent = 0;
  std::string pause;  // why nothing begins, for people; empty: nothing holds it up
};

class CookAhead {
 public:
  // Nobody has asked for so long: the director is not in use.
  static constexpr absl::Duration kUseLength = absl::Minutes(10);
  // Hits are taken up after this time at most.
  static constexpr absl::Duration kBatchLength = absl::Milliseconds(100);
  static constexpr absl::Duration kRestInterval = absl::Seconds(5);   // while the workers rest
  static constexpr absl::Duration kFaultInterval = absl::Minutes(1);  // after a fault of machines
  static constexpr absl::Duration kSlotsInterval = absl::Seconds(1);  // between two looks at slots
  static constexpr absl::Duration kWorldInterval = absl::Seconds(1);  // until a newer world is told
  static constexpr absl::Duration kTellInterval = absl::Hours(1);  // between two lines of the log

  struct Settings {
    bool is_on = false;
    uint64_t store_bytes_max = 0;  // 0: the store has no limit
    // The slots of the attached workers. Null: none is known.
    std::function<uint64_t()> slots = nullptr;
    // The size of the store, some seconds old; 0: unknown. Null: unknown.
    std::function<uint64_t()> store_bytes = nullptr;
    // Asks that are open at a time: twice the slots, within these.
    size_t open_min = 4, open_max = 64;
  };
  // Everything in Deps outlives CookAhead.
  struct Deps {
    PresentProject& present;
    SharedSessions& shared;
    CookedTables& cooked;
    // Posts a turn, from any thread.
    std::function<void(std::function<void()> turn)> post;
    // Sees to it that a turn ends at this time. Any thread.
    std::function<void(absl::Time at)> wake_at;
    // A package was cooked. False: `world` is not the present one (any more).
    std::function<bool(const WorldPtr& world, const std::string& platform,
                       const std::string& package, const StoredResult& result)>
        take_result;
    // Looks whether there is a newer world.
    std::function<void()> follow;
    std::function<absl::Time()> now;  // never goes back; any thread
  };
  CookAhead(Deps deps, Settings settings);

  // A device was given a file of the package, which is cooked in the present world.
  void NoteAsked(const std::string& platform, const std::string& package);
  AheadFigures figures() const;

  // Somebody waits for the package, and the core was asked for it.
  void NoteWanted(const std::string& platform, const std::string& package);
  // The package was found to be cooked in the present world, by whomever.
  void NoteResult(const std::string& platform, const std::string& package,
                  const PackageFiles& files);
  // A cook has used the package's result.
  void NoteUsed(const std::string& platform, const std::string& package, const Digest& action_key);
  // A newer world is the present one. `stale`: what was known to be cooked before.
  void OnWorld(const WorldDifference& difference, const StalePackages& stale);
  void Advance();
  // When Advance has something to do next, though nothing happens.
  absl::Time due_at() const { return due_at_; }
  // Withdraws all asks; nothing begins any more.
  void End();

 private:
  struct OpenAsk {
    uint64_t number = 0;  // of this attempt
    uint64_t ask = 0;     // of PresentProject
  };

  void TakeAsked(absl::Time now);
  void TakeOneAsked(const ShownWorld& shown, const devices::AheadKey& key);
  void LookAtCultures();
  bool IsCultureWanted(const ShownWorld& shown, const devices::AheadKey& key) const;
  std::vector<std::string> ReferencesOf(const ShownWorld& shown, const devices::AheadKey& key,
                                        const PackageFiles& files) const;
  devices::AheadPlan::Judgement Judge(const ShownWorld& shown, const devices::AheadKey& key) const;
  void Begin(absl::Time now);
  bool AskFor(const devices::AheadKey& key, absl::Time now);
  void CloseAsk(const devices::AheadKey& key);
  uint64_t Slots(absl::Time now);
  void LookAtPause(absl::Time now);
  bool IsStoreFull() const;
  void TellPause(absl::Time now);
  void Pause(const std::string& why, absl::Time until);
  void TakeOutcome(const devices::AheadKey& key, uint64_t number, const AskOutcome& outcome);
  void TakeSuccess(const devices::AheadKey& key, const AskSucceeded& done);
  void TakeFailure(const devices::AheadKey& key, const AskFailed& failed);
  bool IsPresent(const WorldPtr& world);
  void Publish();

  const Deps deps_;
  const Settings settings_;
  AskedNotes notes_;
  devices::AheadPlan plan_;
  devices::AheadLedger ledger_;
  std::map<devices::AheadKey, OpenAsk> asks_;
  uint64_t last_number_ = 0;
  absl::Time last_asked_at_ = absl::InfinitePast();
  std::set<std::string> asked_cultures_;  // of packages that devices have asked for
  std::map<std::string, std::set<std::string>> session_cultures_;  // by platform
  uint64_t slots_ = 0;
  absl::Time slots_at_ = absl::InfinitePast();
  absl::Time held_until_ = absl::InfinitePast();  // nothing begins before
  std::string held_why_;
  std::map<std::string, absl::Time> told_;  // reasons for pauses, and when the log was told of each
  std::string pause_;
  absl::Time due_at_ = absl::InfiniteFuture();
  bool has_ended_ = false;

  mutable base::Mutex mutex_;
  AheadFigures figures_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
