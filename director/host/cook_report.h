// CookReport: the outcome of one cook. An immutable value.
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
  // OK: the cook came to its end, even with failures. Otherwise: why the cook ended earlier
  // (outcome_status.h).
  absl::Status end;
  // The outcome of the core's run; nullopt: the cook did not get so far.
  std::optional<ShellOutcome> outcome;
  // The sequence numbers of the roots, by platform; a number may be unknown.
  std::map<std::string, uint64_t> sequences;
  Digest snapshot = Digest::Of("");  // of all done packages (Members::snapshot)

  bool has_failures = false;  // the sink was told of a failure
  bool stage_failed = false;
  bool is_published = false;  // the roots are published: an interrupt came too late
  absl::Duration scan, explore, cook, stage;
  absl::Duration total;        // from the request on
  uint64_t bytes_fetched = 0;  // from the upstream cache
  std::string trace;           // Chrome trace, if requested
  // Set if the cook looked only at a list of this many paths (CookAsk::changed).
  std::optional<uint64_t> listed;

  // Says whether a person ended the cook before everything was published and staged.
  bool is_cut_short() const {
    return absl::IsCancelled(end) || (outcome.has_value() && outcome->ended.is_interrupted);
  }
};

// Returns the exit code of `galley cook` for a report: 0, 1, 2, 3 or 130. 3 takes precedence over
// 1, and 130 over both; 2 belongs to a cook that did not begin.
int ExitCodeOf(const CookReport& report);

}  // namespace galley::director
