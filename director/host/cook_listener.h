// CookListener: who is told how a director and its cooks get on, in words for people and in events
// that programs read. The command line prints it.
//
// Threads: a director and its cook call from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "director/shell/director_shell.h"

namespace galley::director {

struct ScanCounts {
  size_t files = 0;
  size_t packages = 0;
  size_t unmatched = 0;  // files that no rule matches
  double seconds = 0;
  // Only so many paths were looked at (CookAsk::changed), and no others.
  std::optional<uint64_t> listed = std::nullopt;
};

struct StandCounts {
  uint64_t packages = 0;  // in the cook
  uint64_t failed = 0;    // of these
  uint64_t results = 0;   // (package, platform): all that are done
  double seconds = 0;     // that it took to find out
  bool is_rest = false;   // others were looked at
};

class CookListener : public ShellListener {
 public:
  // One line of what goes on ("staged windows: 3 written").
  virtual void Say(std::string_view text) = 0;
  // One line of what the cook waits for: it is told even where nothing else is.
  virtual void SayAlways(std::string_view text) = 0;
  virtual void Scanned(const ScanCounts& counts) = 0;
  // Nothing has changed: all stands, and no package is told by itself.
  virtual void Stands(const StandCounts& counts) = 0;
  // A warning that is about no package.
  void Warn(record::WarningKind kind, std::string_view text) {
    OnWarning("", "", {kind, std::string(text)});
  }
};

}  // namespace galley::director
