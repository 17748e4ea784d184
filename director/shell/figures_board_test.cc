#include "director/shell/figures_board.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

ShellFigures With(uint64_t lost, uint64_t ready, uint64_t stored) {
  return {.core = {.executors_lost = lost, .ready = ready}, .bytes_stored = stored};
}

TEST(FiguresBoardTest, TheLastThatWasWrittenIsRead) {
  FiguresBoard board;
  board.Write(With(1, 5, 10));
  board.Write(With(2, 4, 20));
  EXPECT_EQ(board.Read().core.executors_lost, 2u);
  EXPECT_EQ(board.Read().core.ready, 4u);
  EXPECT_EQ(board.Read().bytes_stored, 20u);
}

TEST(FiguresBoardTest, CountsGoOnFromTheShellBeforeAndWhatWaitedThereIsGone) {
  FiguresBoard board;
  board.Write(With(2, 4, 20));
  board.EndShell();
  EXPECT_EQ(board.Read().core.executors_lost, 2u);
  EXPECT_EQ(board.Read().core.ready, 0u);
  board.Write(With(1, 7, 5));
  EXPECT_EQ(board.Read().core.executors_lost, 3u);
  EXPECT_EQ(board.Read().core.ready, 7u);
  EXPECT_EQ(board.Read().bytes_stored, 25u);
  board.EndShell();
  board.EndShell();
  EXPECT_EQ(board.Read().bytes_stored, 25u);
}

}  // namespace
}  // namespace galley::director
