// LastCooks: the outcomes of a project's last cooks, for `galley status`. The file
// `<state>/cooks/ended` keeps the outcomes for the next director.
//
//   file   SealedText "galley-last-cooks 1"; a line for each cook, the newest first: `cook`, and
//          the bytes of an EndedCook (director.proto)
//
// A file that is damaged, or of another version, counts as empty: nothing depends on it.
// Threads: any. One process at a time writes: the process that has the project.
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

  // Reads the cooks that are kept.
  explicit LastCooks(const std::string& state_directory);

  // Adds a cook that is over; replaces a cook with the same number, which an earlier director left.
  // A cook that was refused before it began may have the number 0.
  void Add(const v1::EndedCook& cook);
  // Returns the cooks, the newest first.
  std::vector<v1::EndedCook> All() const;

 private:
  const std::string file_;
  mutable base::Mutex mutex_;
  std::vector<v1::EndedCook> cooks_ GALLEY_GUARDED_BY(mutex_);
};

// Sets the fields of `cook` that follow from the report: results, exit code, why the cook ended
// early.
void SetEnd(const CookReport& report, absl::Duration took, v1::EndedCook& cook);

}  // namespace galley::director
