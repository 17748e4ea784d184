// Terminal: what the terminal behind standard error can do, if it is one.
#pragma once

namespace galley::cli {

struct Terminal {
  bool can_redraw = false;  // can redraw a line in place, with escape sequences
  bool has_colour = false;
};

// `term`, `no_colour`: the variables TERM and NO_COLOR, nullptr when they are not set.
Terminal TerminalOf(bool is_terminal, const char* term, const char* no_colour);
Terminal TerminalOfStandardError();

}  // namespace galley::cli
