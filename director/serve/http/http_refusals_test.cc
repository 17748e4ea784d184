// Requests that one server reads in another way than the next, over a socket: each is refused, the
// connection ends, and what follows on it is never taken for a request.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "director/serve/http/request_reader.h"
#include "director/serve/http/testing/http_door_fixture.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HttpRefusalsTest : public HttpDoorFixture {
 protected:
  void SetUp() override {
    Open();
    face_.SetAnswer(TextAnswer("hello"));
  }
  // The status of the answer to the bytes, behind which a second request is smuggled.
  int StatusOfSmuggling(const std::string& bytes) {
    HttpClient client(port());
    client.Send(bytes + "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const HttpResponse response = client.Read();
    EXPECT_EQ(response.ValueOf("content-type"), "application/problem+json");
    EXPECT_EQ(response.ValueOf("cache-control"), "no-store");
    EXPECT_EQ(response.ValueOf("connection"), "close");
    EXPECT_TRUE(client.IsAtEnd());
    EXPECT_THAT(face_.paths(), IsEmpty());
    return response.status;
  }
};

TEST_F(HttpRefusalsTest, MalformedRequestsAreRefusedAndEndTheConnection) {
  const std::string get = "GET /a HTTP/1.1\r\n", host = "Host: localhost\r\n";
  const std::string post = "POST /a HTTP/1.1\r\n" + host;
  const std::string chunk = "0\r\n\r\n";
  const std::vector<std::pair<std::string, int>> cases = {
      {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk, 400},
      {post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
      {post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
      {post + "Content-Length: 5, 5\r\n\r\nhello", 400},
      {post + "Content-Length: +5\r\n\r\nhello", 400},
      {post + "Content-Length: -1\r\n\r\n", 400},
      {post + "Content-Length: 0x5\r\n\r\nhello", 400},
      {post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {post + "Transfer-Encoding: xchunked\r\n\r\n" + chunk, 400},
      {post + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunk, 400},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunk, 501},
      {post + "Transfer-Encoding: chunked\r\n\r\n" + chunk, 411},
      {post + "Transfer-Encoding : chunked\r\n\r\n" + chunk, 400},
      {get + host + "Content-Length: 5\r\n\r\nhello", 400},
      {get + "Host: localhost\r\nHost: localhost\r\n\r\n", 400},
      {get + "Host : localhost\r\n\r\n", 400},
      {get + host + " folded\r\n\r\n", 400},
      {get + " " + host + "\r\n", 400},
      {get + host + "A: \x01\r\n\r\n", 400},
      {get + host + "A: " + std::string(1, '\0') + "\r\n\r\n", 400},
      {"GET /a HTTP/1.1\nHost: localhost\n\n", 400},
      {"GET /a HTTP/1.1\r\nHost: localhost\r\rA: b\r\n\r\n", 400},
      {"GET /a HTTP/2.0\r\n" + host + "\r\n", 505},
      {"GET  /a HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /a b HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /a\r\n" + host + "\r\n", 400},
      {"\x16\x03\x01\x02" + std::string(2, '\0'), 400},
      {get + host + "A: " + std::string(kHeadBytesMax, 'x') + "\r\n\r\n", 431},
      {"GET /" + std::string(kHeadBytesMax, 'x') + " HTTP/1.1\r\n" + host + "\r\n", 414},
      {"POST /a HTTP/1.1\r\n" + host + "Content-Length: 65537\r\n\r\n", 413},
      {"POST /a HTTP/1.1\r\n" + host + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
       417},
  };
  for (const auto& [bytes, status] : cases) EXPECT_EQ(StatusOfSmuggling(bytes), status) << bytes;
}

TEST_F(HttpRefusalsTest, RequestsWithOneMeaningAreRefusedAndTheConnectionGoesOn) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"GET /a HTTP/1.1\r\n\r\n", 400},                        // no Host
      {"GET /a HTTP/1.1\r\nHost: a b\r\n\r\n", 400},           // no name
      {"GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},  // DNS rebinding
      {"GET http://localhost/a HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET a HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET /a/../b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET /%2e%2e/b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET /a%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"get /a HTTP/1.1\r\nHost: localhost\r\n\r\n", 501},
      {"PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 501},
      {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 501},
      {"GET /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n", 417},
      {"GET /a HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", 403},
  };
  HttpClient client(port());
  for (const auto& [bytes, status] : cases) {
    client.Send(bytes);
    const HttpResponse response = client.Read();
    EXPECT_EQ(response.status, status) << bytes;
    EXPECT_TRUE(response.is_whole);
    EXPECT_EQ(response.ValueOf("connection"), std::nullopt);
  }
  EXPECT_THAT(face_.paths(), IsEmpty());
  EXPECT_EQ(client.Get("/b").body, "hello");
  EXPECT_THAT(face_.paths(), ElementsAre("/b"));
}

TEST_F(HttpRefusalsTest, ARefusedHeadHasNoBody) {
  HttpClient client(port());
  client.Send("HEAD /a HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.Read(/*has_body=*/false).status, 421);
  EXPECT_EQ(client.Get("/b").body, "hello");
}

TEST_F(HttpRefusalsTest, TheAnswerToALongRequestArrivesThoughNobodyReadsTheRequest) {
  HttpClient client(port());
  client.Send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n" +
              std::string(500'000, 'x'));
  const HttpResponse response = client.Read();
  EXPECT_EQ(response.status, 413);
  EXPECT_TRUE(response.is_whole);
}

TEST_F(HttpRefusalsTest, HostsThatAreGivenAreAnsweredToo) {
  Open({.hosts = {"cook.studio"}});
  HttpClient client(port());
  client.Send("GET /a HTTP/1.1\r\nHost: cook.studio:8080\r\n\r\n");
  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(HttpRefusalsTest, TheTokenIsWantedOnEachRequest) {
  Open({.token_sha256 = std::string(Digest::Of("secret").hash())});
  HttpClient client(port());
  EXPECT_EQ(client.Get("/a").status, 401);
  EXPECT_EQ(client.Get("/a", "Authorization: Bearer secret\r\n").status, 200);
  EXPECT_EQ(client.Get("/a", "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_THAT(face_.paths(), ElementsAre("/a"));
}

TEST_F(HttpRefusalsTest, ADoorThatOthersReachNeedsTlsAndAToken) {
  const auto refused = [this](const HttpDoor::Options& options) {
    const absl::Status status = HttpDoor::Open(options, face_, clock_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  };
  WriteCertificate();
  const wire::TlsFiles tls{.certificate = CertificateFile(), .key = KeyFile()};
  const std::string hash(Digest::Of("secret").hash());
  refused({.address = "0.0.0.0:0"});
  refused({.address = "0.0.0.0:0", .tls = tls});
  refused({.address = "0.0.0.0:0", .token_sha256 = hash});
  refused({.address = "nonsense"});
  refused({.address = "unix:/tmp/a"});
  refused({.address = "127.0.0.1:0", .token_sha256 = "short"});
  refused({.address = "127.0.0.1:0", .hosts = {"not a host"}});
  refused({.address = "127.0.0.1:0", .tls = {.certificate = CertificateFile()}});
  Open({.address = "0.0.0.0:0", .tls = tls, .token_sha256 = hash});
}

}  // namespace
}  // namespace galley::director
