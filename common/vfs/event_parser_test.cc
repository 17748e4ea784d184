#include "common/vfs/event_parser.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

std::vector<ServerEvent> ParseEvents(std::string_view bytes, size_t piece) {
  EventParser parser;
  std::vector<ServerEvent> events;
  for (size_t at = 0; at < bytes.size(); at += piece)
    EXPECT_TRUE(parser.Feed(bytes.substr(at, piece), events));
  return events;
}

TEST(EventParserTest, EventsInAnyPieces) {
  const std::string bytes =
      ": a comment\n\nid: 3-17\nevent: change\ndata: {\"a\":1}\n\ndata:two\r\ndata: "
      "lines\r\n\r\nid\n"
      "unknown: x\n\ndata: not ended\n";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const std::vector<ServerEvent> events = ParseEvents(bytes, piece);
    ASSERT_EQ(events.size(), 2u) << piece;
    EXPECT_EQ(events[0].id, "3-17");
    EXPECT_EQ(events[0].event, "change");
    EXPECT_EQ(events[0].data, "{\"a\":1}");
    EXPECT_EQ(events[1].id, "3-17") << "it stays";
    EXPECT_EQ(events[1].event, "");
    EXPECT_EQ(events[1].data, "two\nlines");
  }
}

TEST(EventParserTest, AnEventWithoutAnEndIsRefused) {
  EventParser parser;
  std::vector<ServerEvent> events;
  const std::string line = "data: " + std::string(1 << 20, 'x') + "\n";
  bool is_taken = true;
  for (int i = 0; i < 20 && is_taken; ++i) is_taken = parser.Feed(line, events);
  EXPECT_FALSE(is_taken);
}

}  // namespace
}  // namespace galley::vfs
