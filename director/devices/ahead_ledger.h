// AheadLedger: what was cooked ahead, and what became of it.
//
//   made     idle workers have cooked a package that nobody had asked for
//   hit      somebody asks for it: a device, or a cook
//   wasted   its package changed before anybody asked, or nobody did for a day
//   unasked  neither: nobody knows yet
//
// Packages that were made and not asked for are paid from a budget: time in slots within the last
// hour, and bytes within the last day. A hit gives back what it cost; a waste does not.
//
// A package that may have changed is in doubt until its next result comes: the same key is the same
// result, and the entry stays.
//
// Cost: O(log n); n <= entries_max at some 300 bytes. Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/devices/ahead_plan.h"
#include "director/devices/spent_window.h"

namespace galley::devices {

// AheadLimits: what may be spent on packages that nobody has asked for yet. Jobs that are under way
// when a limit is reached end, so their time and bytes can come on top.
struct AheadLimits {
  // A sixth of the machines at most: enough for 20 references of a second each in each slot, thirty
  // times an hour; and a guess that is always wrong costs little power.
  absl::Duration slot_time_max = absl::Minutes(10);  // for each slot, within slot_window
  absl::Duration slot_window = absl::Hours(1);
  // A sixteenth of the store's limit (BytesMaxOf): what was guessed never pushes out much of what
  // was cooked because somebody wanted it.
  uint64_t bytes_max = uint64_t{4} << 30;  // within bytes_window
  // After a day nobody who works on the same things will ask any more; a collection drops first
  // what was not used for the longest.
  absl::Duration bytes_window = absl::Hours(24);
  size_t entries_max = 100'000;

  // `store_bytes_max`: [store] max_size. 0, or above an exbibyte: the store has no limit.
  static bool HasLimit(uint64_t store_bytes_max) {
    return store_bytes_max > 0 && store_bytes_max <= uint64_t{1} << 60;
  }
  static uint64_t BytesMaxOf(uint64_t store_bytes_max) {
    return HasLimit(store_bytes_max) ? store_bytes_max / 16 : AheadLimits().bytes_max;
  }
};

struct AheadCost {
  absl::Duration slot_time;
  uint64_t bytes = 0;
};

// Counts since the ledger began. made = hits + wasted + unasked.
struct AheadCounts {
  uint64_t made = 0;
  uint64_t hits = 0;
  uint64_t wasted = 0;
  uint64_t bytes = 0;  // of all that was made
  bool operator==(const AheadCounts&) const = default;
};

class AheadLedger {
 public:
  explicit AheadLedger(AheadLimits limits)
      : limits_(limits),
        slot_time_(limits.slot_window, limits.entries_max),
        bytes_(limits.bytes_window, limits.entries_max) {}

  // Idle workers have made the result with this action key. REQUIRES: `now` never goes back.
  void Make(const AheadKey& key, const Digest& action_key, const AheadCost& cost, absl::Time now);
  // A job has made nothing that anybody can ask for.
  void Spend(absl::Duration slot_time, absl::Time now);
  // Somebody asks, and gets the result with this action key.
  void Ask(const AheadKey& key, const std::optional<Digest>& action_key);
  // The package's result in the present world has this action key.
  void Settle(const AheadKey& key, const Digest& action_key);
  // Notes that these packages, or all, may have other results now.
  void Change(std::span<const std::string> packages);
  void ChangeAll();
  // Forgets what is too old.
  void Expire(absl::Time now);

  bool IsSlotTimeSpent(uint64_t slots) const;
  bool AreBytesSpent() const { return bytes_.sum() >= limits_.bytes_max; }
  // Within the windows, and not given back.
  absl::Duration slot_time_spent() const { return slot_time_.sum(); }
  uint64_t bytes_spent() const { return bytes_.sum(); }
  // When Expire frees some of the budget, or ends an entry.
  absl::Time expires_at() const;

  const AheadCounts& counts() const { return counts_; }
  uint64_t unasked() const { return entries_.size(); }
  const AheadLimits& limits() const { return limits_; }

 private:
  struct Entry {
    uint64_t number = 0;
    Digest action_key;
    bool is_in_doubt = false;
  };
  struct Made {
    absl::Time at;
    const AheadKey* key = nullptr;  // of entries_
  };
  using Entries = std::map<AheadKey, Entry>;

  void Hit(Entries::iterator at);
  void Waste(Entries::iterator at);

  const AheadLimits limits_;
  Entries entries_;                // nodes never move
  std::map<uint64_t, Made> made_;  // by number, the oldest first
  SpentWindow<absl::Duration> slot_time_;
  SpentWindow<uint64_t> bytes_;
  uint64_t last_number_ = 0;
  AheadCounts counts_;
};

}  // namespace galley::devices
