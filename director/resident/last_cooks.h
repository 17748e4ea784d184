// LastCooks: what the last cooks of a project came to, in whichever director they ran, for `galley
// status`. They are kept in `<state>/cooks/ended`, so that a director that starts knows those
// before it.
//
//   file   SealedText "galley-last-cooks 1"; a line for each cook, the newest first: `cook`, and
//          the bytes of an EndedCook (director.proto)
//
// A file that is damaged, or of another version, counts as empty: nothing rests on it.
// Threads: any. One process at a time writes: that which has the project.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/host/cook_report.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

class LastCooks {
 public:
  static constexpr size_t kKept = 10;

  // Reads those that are kept.
  explicit LastCooks(const std::string& state_directory);

  // One more is over; one of the same number was left by an earlier director, and gives way. One
  // that was refused before it began may have no number (0).
  void Add(const v1::EndedCook& cook);
  // The newest first.
  std::vector<v1::EndedCook> All() const;

 private:
  const std::string file_;
  mutable base::Mutex mutex_;
  std::vector<v1::EndedCook> cooks_ GALLEY_GUARDED_BY(mutex_);
};

// Sets what the report says: results, exit code, why it ended early.
void SetEnd(const CookReport& report, absl::Duration took, v1::EndedCook& cook);

}  // namespace galley::director
