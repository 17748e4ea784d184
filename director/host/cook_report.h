// CookReport: what one cook came to. A value: nothing in it changes any more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/shell/director_shell.h"

namespace galley::director {

struct CookReport {
  // OK: it went through, whatever failed. Else why it ended before that (outcome_status.h).
  absl::Status end;
  // What the run of the core came to; nullopt: the cook did not get so far.
  std::optional<ShellOutcome> outcome;
  // The sequence numbers of the roots, by platform; one may be unknown.
  std::map<std::string, uint64_t> sequences;
  Digest snapshot = Digest::Of("");  // of all that is done (Members::snapshot)

  bool has_failures = false;  // of packages, or of something else that the sink was told of
  bool stage_failed = false;
  bool is_published = false;  // an interrupt came too late, if one came
  absl::Duration scan, explore, cook, stage;
  absl::Duration total;        // from when it was asked for
  uint64_t bytes_fetched = 0;  // from the remote store
  std::string trace;           // Chrome trace, when one is asked for
  // The files are those of a list of so many paths (CookAsk::changed), and not of a look at all.
  std::optional<uint64_t> listed;

  // A person ended it before all was published and staged.
  bool is_cut_short() const {
    return absl::IsCancelled(end) || (outcome.has_value() && outcome->ended.is_interrupted);
  }
};

// What `galley cook` answers for it, if nobody but the report decides: 0, 1, 2, 3 or 130. 3 wins
// over 1, and 130 over both; 2 is of a cook that did not begin.
int ExitCodeOf(const CookReport& report);

}  // namespace galley::director
