#include "common/vfs/response_parser.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::HasSubstr;
using State = ResponseParser::State;

struct Parsed {
  State state = State::kHead;
  ResponseHead head;
  std::string body;
  std::string error;
  size_t taken = 0;
};

// Gives the bytes in pieces; `ends`: then the connection is closed.
Parsed Parse(std::string_view bytes, size_t piece = 1'000'000, bool ends = false,
             bool has_body = true) {
  ResponseParser parser(has_body);
  Parsed parsed;
  for (size_t at = 0; at < bytes.size(); at += piece)
    parsed.taken += parser.Feed(bytes.substr(at, piece), parsed.body);
  if (ends) parser.End();
  parsed.state = parser.state();
  parsed.error = parser.error();
  if (parsed.state == State::kBody || parsed.state == State::kDone) parsed.head = parser.head();
  return parsed;
}

TEST(ResponseParserTest, ABodyOfAKnownLengthInAnyPieces) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag:  \"x\" \r\n\r\nhello";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Parsed parsed = Parse(bytes, piece);
    ASSERT_EQ(parsed.state, State::kDone) << piece;
    EXPECT_EQ(parsed.body, "hello");
    EXPECT_EQ(parsed.head.status, 200);
    EXPECT_EQ(parsed.head.Find("etag"), "\"x\"");
    EXPECT_TRUE(parsed.head.keeps_connection);
  }
}

TEST(ResponseParserTest, BytesBehindTheAnswerAreNotTaken) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  EXPECT_EQ(Parse(answer + "HTTP/1.1").taken, answer.size());
}

TEST(ResponseParserTest, Chunks) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Parsed parsed = Parse(bytes, piece);
    ASSERT_EQ(parsed.state, State::kDone) << piece;
    EXPECT_EQ(parsed.body, "hello");
  }
}

TEST(ResponseParserTest, ABodyWithoutALengthEndsWithTheConnection) {
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\n\r\nhello").state, State::kBody);
  const Parsed parsed = Parse("HTTP/1.1 200 OK\r\n\r\nhello", 3, /*ends=*/true);
  EXPECT_EQ(parsed.state, State::kDone);
  EXPECT_EQ(parsed.body, "hello");
  EXPECT_FALSE(parsed.head.keeps_connection);
}

TEST(ResponseParserTest, ABodyThatIsCutOffIsAFailure) {
  EXPECT_THAT(Parse("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 9, true).error,
              HasSubstr("within an answer"));
  EXPECT_THAT(Parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel", 9, true).error,
              HasSubstr("within an answer"));
  EXPECT_THAT(Parse("HTTP/1.1 200", 9, true).error, HasSubstr("before an answer"));
}

TEST(ResponseParserTest, AnswersWithoutABody) {
  EXPECT_EQ(Parse("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n").state, State::kDone);
  EXPECT_EQ(Parse("HTTP/1.1 204 No Content\r\n\r\n").state, State::kDone);
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 9, false, false).state,
            State::kDone)
      << "the answer to HEAD";
}

TEST(ResponseParserTest, InterimAnswersAreSkipped) {
  const Parsed parsed = Parse(
      "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(parsed.state, State::kDone);
  EXPECT_EQ(parsed.head.status, 200);
  EXPECT_EQ(parsed.head.Find("link"), "");
}

TEST(ResponseParserTest, WhateverLeavesTheEndOpenIsRefused) {
  const auto refused = [](const std::string& fields) {
    return Parse("HTTP/1.1 200 OK\r\n" + fields + "\r\nhello").state == State::kFailed;
  };
  EXPECT_TRUE(refused("Content-Length: 5\r\nContent-Length: 6\r\n"));
  EXPECT_TRUE(refused("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_TRUE(refused("Transfer-Encoding: gzip, chunked\r\n"));
  EXPECT_TRUE(refused("Content-Length: +5\r\n"));
  EXPECT_TRUE(refused("Content-Length: 05\r\n"));
  EXPECT_TRUE(refused("Content-Length: 5,5\r\n"));
  EXPECT_TRUE(refused("Content-Length : 5\r\n"));
  EXPECT_TRUE(refused("X: 1\r\n folded\r\n"));
  EXPECT_TRUE(refused("X: 1\nY: 2\r\n"));
  EXPECT_FALSE(refused("Content-Length: 5\r\nContent-Length: 5\r\n"));
}

TEST(ResponseParserTest, WhatIsNoHttpIsRefused) {
  EXPECT_EQ(Parse("HTTP/2 200 OK\r\n\r\n").state, State::kFailed);
  EXPECT_EQ(Parse("SSH-2.0-OpenSSH\r\n").state, State::kFailed);
  EXPECT_EQ(Parse("HTTP/1.1 20 OK\r\n\r\n").state, State::kFailed);
  EXPECT_EQ(Parse("HTTP/1.1 101 Switching\r\n\r\n").state, State::kFailed);
}

TEST(ResponseParserTest, AHeadWithoutAnEndIsRefused) {
  EXPECT_THAT(Parse("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x'), 100).error,
              HasSubstr("too long"));
  std::string interim;
  for (int i = 0; i < 1'000; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_THAT(Parse(interim, 100).error, HasSubstr("too long"));
  EXPECT_EQ(
      Parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(20'000, '0'), 100)
          .state,
      State::kFailed);
}

TEST(ResponseParserTest, AChunkThatIsLongerThanItSaysIsRefused) {
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n").state,
            State::kFailed);
}

}  // namespace
}  // namespace galley::vfs
