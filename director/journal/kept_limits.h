// KeptLimits: packages that outgrew their memory or their time on this machine, in all their
// attempts and in the last one alone, so that the next cooks need not pay for that again.
//
// Such a failure is no verdict: another machine, a larger limit or another input may do. It is kept
// in the project's state, never in a store, with the machine that saw it, and holds there for
// kKeptFor while the weak key, all that the attempt had looked at and the limit are the same. What
// is kept has an upper bound in number and in bytes; the oldest go first.
//
// Stored in .galley/state/kept_limits, replaced as a whole (there are few, and they change seldom):
//
//   "galley.kept-limits.v1 <SHA-256 of the rest, hex>\n"
//   then each limit, oldest first, as length-delimited field 1:
//     KeptLimit  1 weak_key (hex/size)  2 observed (record::EncodeObserved)  3 kind  4 limit
//                5 since (Unix milliseconds)  6 package  7 stage  8 error  9 log  10 machine
//
// A file of another version, or a damaged one, counts as none, and is noted (healed.h): the
// packages that it held are tried again.
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
  std::string package;  // that was seen to; others of the same weak key are meant as well
  uint8_t stage = 0;    // director::Stage
  std::string error;
  std::string log;      // digest text, or empty
  std::string machine;  // MachineIdentity, and the build of the workers
  bool is_new = false;  // kept since this KeptLimits was made; not stored
};

std::string EncodeKeptLimits(const std::vector<KeptLimit>& limits);
// DATA_LOSS: it is damaged, or of another version.
absl::StatusOr<std::vector<KeptLimit>> DecodeKeptLimits(std::string_view bytes);

class KeptLimits {
 public:
  static constexpr absl::Duration kKeptFor = absl::Hours(7 * 24);
  static constexpr size_t kLimitsMax = 1'000;
  static constexpr size_t kLimitsOfAKeyMax = 16;      // as observation sets of a weak key
  static constexpr size_t kLimitBytesMax = 64 << 10;  // of one, encoded
  static constexpr size_t kBytesMax = 4 << 20;        // of all

  // Reads what there is.
  explicit KeptLimits(const std::string& state_directory);

  bool empty() const;
  bool is_saved() const;
  // The limits of this machine that are kept at `now`, the newest first. A limit from the future
  // (the clock was set back) does not hold.
  std::vector<KeptLimit> Of(const Digest& weak_key, const std::string& machine,
                            absl::Time now) const;
  // Replaces a limit that differs in nothing but its time and its words. RESOURCE_EXHAUSTED:
  // `limit` is larger than kLimitBytesMax, and is not kept. In memory only, until Save.
  absl::Status Keep(KeptLimit limit);
  // The package was cooked within its limits with these values: the limits of this weak key that
  // saw no other values hold no longer. In memory only, until Save.
  void Withdraw(const Digest& weak_key, std::span<const record::Observed> observed);
  void Clear();
  // Those that are kept by now count as those of an earlier director (KeptLimit::is_new).
  void NoneIsNew();
  // Writes what is not written yet; durable on return. After an error it can be tried again.
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
  // Most keys that are asked for have no limit.
  absl::flat_hash_set<Digest> weak_keys_ GALLEY_GUARDED_BY(mutex_);
  bool is_changed_ GALLEY_GUARDED_BY(mutex_) = false;
};

// The identity of the machine on which this process runs: its id and name, and how much memory it
// may use.
std::string MachineIdentity();

}  // namespace galley::director
