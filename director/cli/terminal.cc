#include "director/cli/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace galley::cli {

Terminal TerminalOf(bool is_terminal, const char* term, const char* no_colour) {
  // A terminal that says nothing of itself counts as knowing no escape sequences, as in ninja.
  const bool can_redraw = is_terminal && term != nullptr && std::string_view(term) != "dumb";
  return {.can_redraw = can_redraw, .has_colour = can_redraw && no_colour == nullptr};
}

Terminal TerminalOfStandardError() {
  return TerminalOf(::isatty(STDERR_FILENO) == 1, std::getenv("TERM"), std::getenv("NO_COLOR"));
}

}  // namespace galley::cli
