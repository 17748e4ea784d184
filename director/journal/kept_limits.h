// KeptLimits: the packages that outgrew their memory or time limits on this machine, in all
// attempts and alone in the last attempt, so that the next cooks do not try them in vain.
//
// A kept failure is no verdict: another machine, a larger limit or another input may succeed. The
// failure is kept in the project's state, never in a store, with the machine that saw it. It holds
// for kKeptFor on that machine, while the weak key, everything that the attempt had looked at, and
// the limit are the same. The number and bytes of kept limits are bounded; the oldest limits go
// first.
//
// Stored in .galley/state/kept_limits, replaced as a whole (there are few limits, and they change
// seldom):
//
//   "galley.kept-limits.v1 <SHA-256 of the rest, hex>\n"
//   then each limit, oldest first, as length-delimited field 1:
//     KeptLimit  1 weak_key (hex/size)  2 observed (record::EncodeObserved)  3 kind  4 limit
//                5 since (Unix milliseconds)  6 package  7 stage  8 error  9 log  10 machine
//
// A file of another version, or a damaged file, counts as empty, and is noted (repairs.h): the
// packages in it are tried again.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/record/observation.h"

namespace galley::director {

struct KeptLimit {
  enum class Kind : uint8_t { kMemory = 1, kTime = 2 };
  Digest weak_key;
  std::vector<record::Observed> observed;  // canonical
  Kind kind = Kind::kMemory;
  uint64_t limit = 0;  // bytes; milliseconds of processor time
  absl::Time since;
  // The package that failed; the limit holds for all packages with the weak key.
  std::string package;
  uint8_t stage = 0;  // director::Stage
  std::string error;
  std::string log;      // digest text, or empty
  std::string machine;  // MachineIdentity, and the build of the workers
  bool is_new = false;  // kept since this KeptLimits was constructed; not stored
};

std::string EncodeKeptLimits(const std::vector<KeptLimit>& limits);
// DATA_LOSS: the bytes are damaged, or of another version.
absl::StatusOr<std::vector<KeptLimit>> DecodeKeptLimits(std::string_view bytes);

class KeptLimits {
 public:
  static constexpr absl::Duration kKeptFor = absl::Hours(7 * 24);
  static constexpr size_t kLimitsMax = 1'000;
  static constexpr size_t kLimitsOfAKeyMax = 16;      // like observation sets of a weak key
  static constexpr size_t kLimitBytesMax = 64 << 10;  // of one limit, encoded
  static constexpr size_t kBytesMax = 4 << 20;        // of all limits

  // Reads the kept limits.
  explicit KeptLimits(const std::string& state_directory);

  bool empty() const;
  bool is_saved() const;
  // Returns the limits of this machine that hold at `now`, the newest first. A limit with a time
  // after `now` does not hold: the clock was set back.
  std::vector<KeptLimit> Of(const Digest& weak_key, const std::string& machine,
                            absl::Time now) const;
  // Keeps a limit, in place of a limit that differs only in its time and texts. RESOURCE_EXHAUSTED:
  // `limit` is larger than kLimitBytesMax, and is not kept. In memory only, until Save.
  absl::Status Keep(KeptLimit limit);
  // Call when a package was cooked within its limits with these values: drops the limits of this
  // weak key that saw no other values. In memory only, until Save.
  void Withdraw(const Digest& weak_key, std::span<const record::Observed> observed);
  void Clear();
  // Clears KeptLimit::is_new of all limits, as if an earlier director had kept them.
  void NoneIsNew();
  // Writes all changes; durable on return. After an error the caller can try again.
  absl::Status Save();

 private:
  struct Entry {
    KeptLimit limit;
    size_t bytes = 0;
  };
  void DropOldest() GALLEY_REQUIRES(mutex_);
  void NoteKeys() GALLEY_REQUIRES(mutex_);
  void NoteChange() GALLEY_REQUIRES(mutex_);

  const std::string file_;
  mutable base::Mutex mutex_;
  std::vector<Entry> limits_ GALLEY_GUARDED_BY(mutex_);  // oldest first
  // The weak keys of limits_: most requested keys have no limit.
  absl::flat_hash_set<Digest> weak_keys_ GALLEY_GUARDED_BY(mutex_);
  bool is_changed_ GALLEY_GUARDED_BY(mutex_) = false;
};

// Returns the identity of the machine on which this process runs: its id and name, and how much
// memory it may use.
std::string MachineIdentity();

}  // namespace galley::director
