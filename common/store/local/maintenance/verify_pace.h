// VerifyPace: limits the rate of a verify, reports its progress to the caller, and saves the cursor
// from time to time (verify_cursor.h).
//
// Errors: ABORTED: the caller stopped the verify. Read: DATA_LOSS: the bytes are wrong.
// Threads: one. Takes no lock of the store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/rate.h"
#include "common/store/interface/store.h"
#include "common/store/local/log_records.h"
#include "common/store/local/maintenance/verify_cursor.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class VerifyPace {
 public:
  static constexpr absl::Duration kPauseMax = absl::Milliseconds(200);

  // `cursor`: reported and saved here; the verify changes it.
  VerifyPace(StoreParts& store, const VerifyOptions& options, const VerifyCursor& cursor);

  // Called once, before anything is read: the time to the first save counts from here.
  void Begin() { saved_ = store_.folder.options.boot_time(); }
  // Notes that so many bytes were read: waits as the rate asks, and tells how far the verify is.
  absl::Status Used(uint64_t bytes);
  // Reads and checks a blob.
  absl::Status Read(const LocatedBlob& blob);
  bool IsTimeToSave() const;
  // Saves the cursor; a failure is only logged. REQUIRES: everything up to the cursor is read and
  // settled.
  void Save();

 private:
  class BootClock final : public Clock {
   public:
    explicit BootClock(const std::function<absl::Time()>& now) : now_(now) {}
    absl::Time Now() override { return now_(); }
    absl::Time Monotonic() override { return now_(); }

   private:
    const std::function<absl::Time()>& now_;
  };

  absl::Status Tell();

  StoreParts& store_;
  const VerifyOptions& options_;
  const VerifyCursor& cursor_;
  BootClock clock_;
  std::optional<TokenBucket> bucket_;  // nullopt: no limit
  absl::Time told_ = absl::InfinitePast(), saved_ = absl::InfinitePast();
  uint64_t unsaved_bytes_ = 0;  // read since the cursor was saved
};

}  // namespace galley::store
