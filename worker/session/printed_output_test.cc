#include "worker/session/printed_output.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/executor/job_messages.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PrintedOutputTest : public ::testing::Test {
 protected:
  // The lines that end within `bytes`.
  std::vector<std::string> Print(std::string_view bytes) {
    std::vector<std::string> lines;
    output_.Add(bytes, [&](const std::string& line) { lines.push_back(line); });
    return lines;
  }

  PrintedOutput output_;
};

TEST_F(PrintedOutputTest, LinesComeWhenTheyHaveEndedAndEmptyOnesDoNot) {
  EXPECT_THAT(Print("one\ntw"), ElementsAre("one"));
  EXPECT_EQ(output_.rest(), "tw");
  EXPECT_THAT(Print("o\n\nthree"), ElementsAre("two"));
  EXPECT_EQ(output_.TakeRest(), "three");
  EXPECT_THAT(Print("\n"), IsEmpty());
}

TEST_F(PrintedOutputTest, ALineWithoutEndIsCutIntoSeveral) {
  const std::vector<std::string> lines =
      Print(std::string(2 * PrintedOutput::kLineBytesMax + 1, 'x'));
  EXPECT_THAT(lines, ElementsAre(SizeIs(PrintedOutput::kLineBytesMax),
                                 SizeIs(PrintedOutput::kLineBytesMax)));
  EXPECT_EQ(output_.rest(), "x");
}

TEST_F(PrintedOutputTest, TheTailIsTheEndOfAllThatWasPrinted) {
  Print("a\nb");
  output_.AddToTail("!\n");
  EXPECT_EQ(output_.tail(), "a\nb!\n");
  Print(std::string(kLogTailBytesMax - 1, 'y'));
  EXPECT_EQ(output_.tail(), "\n" + std::string(kLogTailBytesMax - 1, 'y'));
  EXPECT_EQ(output_.TakeTail().size(), kLogTailBytesMax);
  EXPECT_EQ(output_.tail(), "");
}

}  // namespace
}  // namespace galley::worker
