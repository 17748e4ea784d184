// JournalGeneration: a name for what the journal says of packages. Another name comes before it
// says anything else, and is durable before that is: so whoever noted the name knows later, without
// the journal, that nothing was cooked, failed or forgotten since.
//
// It is the file <state>/generation. One that is absent or damaged is like no name that was noted.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"

namespace galley::director {

class JournalGeneration {
 public:
  explicit JournalGeneration(std::string state_directory);

  // The name that holds from now on until Move; empty: there is none.
  static std::string Read(const std::string& state_directory);
  // Why it is not the one that was relied on before: "files came, went or changed", for people;
  // empty: that is not known.
  static std::string ReadReason(const std::string& state_directory);
  // The same for whoever notes it: the next Move gives another name.
  absl::StatusOr<std::string> Rely();
  // Before the journal says something else, for the reason `why`. Costs nothing when nobody relies
  // on the present name.
  absl::Status Move(std::string_view why);

 private:
  absl::Status Write(std::string_view why) GALLEY_REQUIRES(mutex_);

  const std::string state_directory_;
  base::Mutex mutex_;
  bool is_relied_on_ GALLEY_GUARDED_BY(mutex_) = true;  // by a process before this one, perhaps
};

}  // namespace galley::director
