// JournalGeneration: names the state of the journal's packages. Before that state changes, the name
// changes, durably: so a reader that noted the name knows later, without reading the journal, that
// nothing was cooked, failed or forgotten since.
//
// The name is in the file <state>/generation. If the file is absent or damaged, no noted name is
// equal.
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

  // Returns the name, which holds until Move; empty: there is none.
  static std::string Read(const std::string& state_directory);
  // Returns for people why the last name was replaced: "files came, went or changed"; empty:
  // unknown.
  static std::string ReadReason(const std::string& state_directory);
  // Returns the name to a caller that will note it: the next Move replaces the name.
  absl::StatusOr<std::string> Rely();
  // Replaces the name, for the reason `why`. Call before the state changes. Costs nothing if nobody
  // relies on the present name.
  absl::Status Move(std::string_view why);

 private:
  absl::Status Write(std::string_view why) GALLEY_REQUIRES(mutex_);

  const std::string state_directory_;
  base::Mutex mutex_;
  // True at first: an earlier process may rely on the name.
  bool is_relied_on_ GALLEY_GUARDED_BY(mutex_) = true;
};

}  // namespace galley::director
