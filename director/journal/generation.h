// JournalGeneration: a name for what the journal says of packages. Before the journal says anything
// else, it gets another name, which is durable first: so whoever noted the name knows later,
// without the journal, that nothing was cooked, failed or forgotten since.
//
// The name is in the file <state>/generation. An absent or damaged file equals no name that was
// noted.
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

  // Returns the name that holds from now on until Move; empty: there is none.
  static std::string Read(const std::string& state_directory);
  // Says for people why the name is no longer the name that was relied on: "files came, went or
  // changed"; empty: unknown.
  static std::string ReadReason(const std::string& state_directory);
  // Returns the name to somebody who notes it: the next Move makes another name.
  absl::StatusOr<std::string> Rely();
  // Called before the journal says something else, for the reason `why`. Costs nothing when nobody
  // relies on the present name.
  absl::Status Move(std::string_view why);

 private:
  absl::Status Write(std::string_view why) GALLEY_REQUIRES(mutex_);

  const std::string state_directory_;
  base::Mutex mutex_;
  bool is_relied_on_ GALLEY_GUARDED_BY(mutex_) = true;  // perhaps an earlier process relied on it
};

}  // namespace galley::director
