// JournalGeneration: a name for what the journal says of packages. Another name comes before it
// says anything else, and is durable before that is: so whoever noted the name knows later, without
// the journal, that nothing was cooked, failed or forgotten since.
//
// It is the file <state>/generation. One that is absent or damaged is like no name that was noted.
//
// Threads: any.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"

namespace galley::director {

class JournalGeneration {
 public:
  explicit JournalGeneration(std::string state_directory);

  // The name that holds from now on until Move; empty: there is none.
  static std::string Read(const std::string& state_directory);
  // The same for whoever notes it: the next Move gives another name.
  absl::StatusOr<std::string> Rely();
  // Before the journal says something else. Costs nothing when nobody relies on the present name.
  absl::Status Move();

 private:
  absl::Status Write() GALLEY_REQUIRES(mutex_);

  const std::string state_directory_;
  base::Mutex mutex_;
  bool is_relied_on_ GALLEY_GUARDED_BY(mutex_) = true;  // by a process before this one, perhaps
};

}  // namespace galley::director
