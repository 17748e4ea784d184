#include "worker/session/log_ring.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::LogLine LineOf(std::string text) {
  v1::LogLine line;
  line.set_text(std::move(text));
  return line;
}

std::vector<std::string> TakeAll(LogRing& ring) {
  std::vector<std::string> texts;
  while (!ring.empty()) texts.push_back(ring.Take().text());
  return texts;
}

TEST(LogRingTest, LinesComeOutInTheirOrder) {
  LogRing ring;
  for (const char* text : {"a", "b", "c"}) ring.Add(LineOf(text));
  EXPECT_THAT(TakeAll(ring), ElementsAre("a", "b", "c"));
  EXPECT_THAT(TakeAll(ring), IsEmpty());
}

TEST(LogRingTest, TheNewestAreKeptAndWhatHadToGoIsToldOnce) {
  LogRing ring;
  for (size_t i = 0; i < LogRing::kLinesMax + 5; ++i) ring.Add(LineOf(fmt::format("{}", i)));
  EXPECT_EQ(ring.Take().text(), "5 log lines were left out");
  EXPECT_EQ(ring.Take().text(), "5");
  EXPECT_EQ(TakeAll(ring).size(), LogRing::kLinesMax - 1);
}

TEST(LogRingTest, ItHoldsNoMoreBytesThanItSays) {
  LogRing ring;
  for (int i = 0; i < 200; ++i) ring.Add(LineOf(std::string(5'000, 'x')));
  size_t bytes = 0;
  for (const std::string& text : TakeAll(ring)) {
    bytes += text.size();
    EXPECT_LE(text.size(), LogRing::kLineBytesMax + 3) << "a long line is cut";
  }
  EXPECT_LE(bytes, LogRing::kBytesMax + 100);
  EXPECT_GT(bytes, LogRing::kBytesMax / 2);
}

}  // namespace
}  // namespace galley::worker
