#include "director/cli/progress_line.h"

#include <cstdio>
#include <utility>

#include "absl/time/clock.h"
#include "director/cli/terminal.h"
#include "fmt/format.h"

namespace galley::cli {

ProgressLine::ProgressLine(const GlobalOptions& options)
    : is_silent_(options.quiet),
      is_terminal_(TerminalOfStandardError().can_redraw),
      told_(absl::Now()) {}

void ProgressLine::Show(const std::string& text) {
  const absl::Time now = absl::Now();
  if (is_silent_ || (!is_terminal_ && now - told_ < kPlainInterval)) return;
  told_ = now;
  std::fputs((is_terminal_ ? fmt::format("\r\x1b[K{}", text) : text + "\n").c_str(), stderr);
  is_shown_ = is_terminal_;
}

void ProgressLine::Clear() {
  if (std::exchange(is_shown_, false)) std::fputs("\r\x1b[K", stderr);
}

}  // namespace galley::cli
