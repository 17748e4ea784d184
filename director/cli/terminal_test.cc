#include "director/cli/terminal.h"

#include "gtest/gtest.h"

namespace galley::cli {
namespace {

TEST(TerminalTest, ADumbOneHasNeitherColourNorALineInPlace) {
  for (const char* term : {"dumb", static_cast<const char*>(nullptr)}) {
    const Terminal dumb = TerminalOf(true, term, nullptr);
    EXPECT_FALSE(dumb.can_redraw || dumb.has_colour);
  }
  const Terminal smart = TerminalOf(true, "xterm-256color", nullptr);
  EXPECT_TRUE(smart.can_redraw && smart.has_colour);
  const Terminal plain = TerminalOf(true, "xterm", "1");
  EXPECT_TRUE(plain.can_redraw && !plain.has_colour);
  const Terminal file = TerminalOf(false, "xterm", nullptr);
  EXPECT_FALSE(file.can_redraw || file.has_colour);
}

}  // namespace
}  // namespace galley::cli
