#include "director/serve/http/request_reader.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const http::RequestRules kRules{.allowed_hosts = {{.name = "localhost"}}};
const std::string kGet = "GET /v1/linux/Game/a.png HTTP/1.1\r\nHost: localhost\r\n\r\n";

// The requests and refusals that a reader takes from the bytes, which come in pieces of at most
// `piece_bytes`: "0 a" (a GET), "2 a body" (a POST), "400 The ...", and "..." at the end if a
// request has begun.
std::vector<std::string> Read(std::string_view bytes, size_t piece_bytes = SIZE_MAX) {
  RequestReader reader(kRules);
  std::vector<std::string> taken;
  while (true) {
    RequestReader::Next next = reader.TakeRequest();
    if (auto* const received = std::get_if<RequestReader::Received>(&next)) {
      const HttpRequest& request = received->request;
      taken.push_back(fmt::format("{} {} {}{}", static_cast<int>(request.method),
                                  request.target.segments.back(), request.body,
                                  received->keeps_alive ? "" : " ends"));
      continue;
    }
    if (auto* const refused = std::get_if<RequestReader::Refused>(&next)) {
      taken.push_back(fmt::format("{} {}", refused->refusal.status, refused->refusal.text));
      if (refused->refusal.must_close) return taken;
      continue;
    }
    const size_t wanted = std::min({piece_bytes, bytes.size(), reader.room()});
    if (wanted == 0) break;
    reader.Append(bytes.substr(0, wanted));
    bytes.remove_prefix(wanted);
  }
  if (reader.has_begun()) taken.push_back("...");
  return taken;
}

// The status of the only thing that is taken.
int StatusOf(const std::string& bytes) {
  const std::vector<std::string> taken = Read(bytes);
  return taken.size() == 1 ? std::atoi(taken[0].c_str()) : 0;
}

TEST(RequestReaderTest, ReadsOneRequestAfterTheOther) {
  EXPECT_THAT(Read(kGet + kGet + "GET /b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              ElementsAre("0 a.png ", "0 a.png ", "0 b  ends"));
}

TEST(RequestReaderTest, PiecesOfAnySizeComeToTheSame) {
  const std::string bytes =
      "\r\n" + kGet + "POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello" +
      "HEAD /h HTTP/1.1\r\nHost: localhost\r\n\r\n" + "GET /x HTTP/1.1\r\n";
  const std::vector<std::string> whole = Read(bytes);
  EXPECT_THAT(whole, ElementsAre("0 a.png ", "2 p hello", "1 h ", "..."));
  for (size_t piece = 1; piece < 40; ++piece) EXPECT_EQ(Read(bytes, piece), whole) << piece;
}

TEST(RequestReaderTest, ARequestHasItsFieldsAndItsTarget) {
  RequestReader reader(kRules);
  reader.Append("DELETE /a%20b?x=1 HTTP/1.1\r\nHost: localhost\r\nRange:  bytes=0-4 \r\n\r\n");
  RequestReader::Next next = reader.TakeRequest();
  ASSERT_TRUE(std::holds_alternative<RequestReader::Received>(next));
  const HttpRequest request = std::get<RequestReader::Received>(next).request;
  EXPECT_EQ(request.method, HttpMethod::kDelete);
  EXPECT_THAT(request.target.segments, ElementsAre("a b"));
  EXPECT_EQ(request.target.query, "x=1");
  EXPECT_EQ(request.ValueOf("range"), "bytes=0-4");
  EXPECT_FALSE(request.reads());
}

TEST(RequestReaderTest, Http10IsAnsweredOnce) {
  EXPECT_THAT(Read("GET /a HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"),
              ElementsAre("0 a  ends"));
}

TEST(RequestReaderTest, AHeadHasAtMostEightKibibytes) {
  const std::string begin = "GET /a HTTP/1.1\r\nHost: localhost\r\nA: ", end = "\r\n\r\n";
  const size_t room = kHeadBytesMax - begin.size() - end.size();
  EXPECT_THAT(Read(begin + std::string(room, 'x') + end), ElementsAre("0 a "));
  EXPECT_EQ(StatusOf(begin + std::string(room + 1, 'x') + end), 431);
  EXPECT_EQ(StatusOf(begin + std::string(kHeadBytesMax, 'x')), 431);
  EXPECT_EQ(StatusOf("GET /" + std::string(kHeadBytesMax, 'x')), 414);
}

TEST(RequestReaderTest, AHeadHasAtMostAHundredFields) {
  std::string fields;
  for (int i = 1; i < 100; ++i) fields += fmt::format("F{}: x\r\n", i);
  const std::string begin = "GET /a HTTP/1.1\r\nHost: localhost\r\n" + fields;
  EXPECT_THAT(Read(begin + "\r\n"), ElementsAre("0 a "));
  EXPECT_EQ(StatusOf(begin + "One: more\r\n\r\n"), 431);
}

TEST(RequestReaderTest, ARefusalNeedNotEndTheConnection) {
  EXPECT_THAT(Read("PUT /a HTTP/1.1\r\nHost: localhost\r\n\r\n" + kGet),
              ElementsAre("501 The method is none of GET, HEAD, POST and DELETE.", "0 a.png "));
  EXPECT_THAT(Read("GET /../a HTTP/1.1\r\nHost: localhost\r\n\r\n" + kGet),
              ElementsAre("400 The path has a segment '..'.", "0 a.png "));
}

TEST(RequestReaderTest, ARefusalEndsTheConnectionWhereTheClientWantsThat) {
  const std::string host = "Host: localhost\r\n", close = "Connection: close\r\n";
  EXPECT_EQ(StatusOf("PUT /a HTTP/1.1\r\n" + host + close + "\r\n" + kGet), 501);
  EXPECT_EQ(StatusOf("GET /../a HTTP/1.1\r\n" + host + close + "\r\n" + kGet), 400);
  EXPECT_EQ(StatusOf("GET /../a HTTP/1.0\r\n" + host + "\r\n" + kGet), 400);
}

TEST(RequestReaderTest, ARefusalBeforeABodyEndsIt) {
  EXPECT_THAT(Read("POST /../a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nGET" + kGet),
              ElementsAre(HasSubstr("400 ")));
}

TEST(RequestReaderTest, ABodyHasAtMostSixtyFourKibibytes) {
  const auto post = [](size_t bytes) {
    return fmt::format("POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", bytes,
                       std::string(bytes, 'x'));
  };
  EXPECT_THAT(Read(post(http::kBodyBytesMax)),
              ElementsAre("2 p " + std::string(http::kBodyBytesMax, 'x')));
  EXPECT_EQ(StatusOf(post(http::kBodyBytesMax + 1)), 413);
}

TEST(RequestReaderTest, ChunksAreRefused) {
  EXPECT_THAT(Read("POST /p HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "0\r\n\r\n" +
                   kGet),
              ElementsAre("411 The body has no Content-Length."));
}

TEST(RequestReaderTest, BytesThatAreNoHttpAreRefusedAtOnce) {
  EXPECT_EQ(StatusOf(std::string("\x16\x03\x01\x02\x00\x01", 6)), 400);
  EXPECT_EQ(StatusOf("GET /a HTTP/1.1\nHost: localhost\n"), 400);
  EXPECT_EQ(StatusOf("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(RequestReaderTest, OneEmptyLineIsSkippedBeforeEachRequest) {
  EXPECT_THAT(Read("\r\n" + kGet + "\r\n" + kGet), ElementsAre("0 a.png ", "0 a.png "));
  EXPECT_EQ(StatusOf("\r\n\r\n\r\n" + kGet), 400);
}

TEST(RequestReaderTest, HeadSaysThatItsRefusalHasNoBody) {
  RequestReader reader(kRules);
  reader.Append("HEAD /a HTTP/1.1\r\nHost: elsewhere\r\n\r\n");
  RequestReader::Next next = reader.TakeRequest();
  const auto* const refused = std::get_if<RequestReader::Refused>(&next);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->refusal.status, 421);
  EXPECT_FALSE(refused->refusal.must_close);
  EXPECT_TRUE(refused->is_head);
}

TEST(RequestReaderTest, TheRoomIsWhatIsLeftOfTheInput) {
  RequestReader reader(kRules);
  EXPECT_EQ(reader.room(), kInputBytesMax);
  reader.Append(kGet + "x");
  EXPECT_EQ(reader.room(), kInputBytesMax - kGet.size() - 1);
  reader.TakeRequest();
  EXPECT_EQ(reader.room(), kInputBytesMax - 1);
  EXPECT_TRUE(reader.has_begun());
}

}  // namespace
}  // namespace galley::director
