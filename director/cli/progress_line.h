// ProgressLine: shows the progress of a command on standard error: a live line on a terminal,
// elsewhere a plain line every kPlainInterval.
//
// Threads: one at a time.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "director/cli/global_options.h"

namespace galley::cli {

class ProgressLine {
 public:
  explicit ProgressLine(const GlobalOptions& options);
  ~ProgressLine() { Clear(); }

  void Show(const std::string& text);
  void Clear();

 private:
  static constexpr absl::Duration kPlainInterval = absl::Seconds(60);
  const bool is_silent_, is_terminal_;
  bool is_shown_ = false;
  absl::Time told_;
};

}  // namespace galley::cli
