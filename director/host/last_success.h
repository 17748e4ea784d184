// LastSuccess: the time when a cook by the book last ended with exit code 0, for each platform. A
// file in the state folder keeps the times for later directors.
//
//   galley-last-success 1
//   platform <seconds since 1970> <name>
//
// Threads: any.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::director {

inline constexpr const char* kLastSuccessFile = "last-success";

class LastSuccess {
 public:
  // A damaged file counts as missing: the next success writes it.
  explicit LastSuccess(const std::string& state_directory);

  void Note(const std::vector<std::string>& platforms, absl::Time now);
  // Writes the file, without a sync. If the file cannot be written, the times are lost when the
  // process ends.
  void Keep() const;
  std::map<std::string, absl::Time> All() const;

 private:
  const std::string file_;
  mutable base::Mutex mutex_;
  std::map<std::string, absl::Time> times_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
