#include "common/http/request_checks.h"

#include <string>

#include "common/http/testing/head_from_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::http {
namespace {

using testing::HasSubstr;
using std::string_literals::operator""s;

std::optional<Refusal> Check(std::string_view head) {
  const RequestRules rules{.allowed_hosts = {*ParseHost("localhost"), *ParseHost("cook:8080")}};
  return CheckRequest(HeadFromText(head), rules);
}

// A head that is refused.
struct RefusedHead {
  std::string head;
  int status;
  const char* text;
  bool must_close;
};

void ExpectRefused(const std::vector<RefusedHead>& cases) {
  for (const RefusedHead& c : cases) {
    SCOPED_TRACE(c.head);
    const std::optional<Refusal> refusal = Check(c.head);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, c.status);
    EXPECT_THAT(refusal->text, HasSubstr(c.text));
    EXPECT_EQ(refusal->must_close, c.must_close);
  }
}

TEST(RequestChecksTest, OrdinaryRequestsAreAnswered) {
  for (const char* head : {
           "GET /v1/linux/a.png HTTP/1.1\nHost: localhost\nRange: bytes=0-4\nX-Empty:",
           "GET / HTTP/1.0\nHost: localhost",
           "POST / HTTP/1.0\nHost: localhost\nContent-Length: 5\nExpect: 100-continue",
           "HEAD / HTTP/1.1\nhOST: LOCALHOST:1234\nConnection: keep-alive",
           "GET / HTTP/1.1\nHost: \tcook:8080 \nContent-Length: 0",
           "GET / HTTP/1.1\nHost: localhost\nUser-Agent: caf\xc3\xa9\ttab",
           "POST /v1/sessions HTTP/1.1\nHost: localhost\nContent-Length: 65536",
           "POST /v1/sessions HTTP/1.1\nHost: localhost\nContent-Length: 00012",
           "POST /v1/sessions HTTP/1.1\nHost: localhost\nTransfer-Encoding: Chunked",
           "POST /v1/sessions HTTP/1.1\nHost: localhost\nTransfer-Encoding:\tchunked ",
           "DELETE /v1/sessions/7 HTTP/1.1\nHost: localhost",
       }) {
    const std::optional<Refusal> refusal = Check(head);
    EXPECT_FALSE(refusal) << head << "\n" << refusal->text;
  }
}

TEST(RequestChecksTest, TheVersionIs10Or11) {
  for (const char* version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "", "http/1.1"})
    ExpectRefused({{"GET / "s + version + "\nHost: localhost", 505, "version", true}});
}

TEST(RequestChecksTest, FieldsAreWellFormed) {
  ExpectRefused({
      {"GET / HTTP/1.1\nHost : localhost", 400, "not a token", true},
      {"GET / HTTP/1.1\nHost: localhost\n: x", 400, "not a token", true},
      {"GET / HTTP/1.1\nHost: localhost\nno colon", 400, "not a token", true},
      {"GET / HTTP/1.1\nHost: localhost\n folded: x", 400, "not a token", true},
      {"GET / HTTP/1.1\nHost: localhost\nX: a\rb", 400, "field X has a control", true},
      {"GET / HTTP/1.1\nHost: localhost\nX: a\0b"s, 400, "field X has a control", true},
      {"GET / HTTP/1.1\nHost: localhost\nX: \x7f", 400, "field X has a control", true},
      {"POST / HTTP/1.1\nHost: localhost\nTransfer-Encoding: \vchunked", 400, "control", true},
  });
}

TEST(RequestChecksTest, AFoldedValueIsRefused) {
  const std::vector<Field> fields = {{"Host", "localhost"}, {"X", "a\r\n b"}};
  const auto refusal = CheckRequest({.method = "GET", .target = "/", .fields = fields}, {});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 400);
  EXPECT_TRUE(refusal->must_close);
}

TEST(RequestChecksTest, ATransferEncodingIsChunkedAndNothingElse) {
  const std::string post = "POST / HTTP/1.1\nHost: localhost\nTransfer-Encoding: ";
  ExpectRefused({
      {post + "xchunked", 400, "end with one coding", true},
      {post + "chunkedx", 400, "end with one coding", true},
      {post + "identity", 400, "end with one coding", true},
      {post + "gzip", 400, "end with one coding", true},
      {post + "chunked, gzip", 400, "end with one coding", true},
      {post + "chunked, chunked", 400, "end with one coding", true},
      {post + "gzip, chunked, chunked", 400, "end with one coding", true},
      {post + "chunked;q=1", 400, "end with one coding", true},
      {post + "\"chunked\"", 400, "end with one coding", true},
      {post, 400, "end with one coding", true},
      {post + ",", 400, "end with one coding", true},
      {post + "chunked,", 400, "empty element", true},
      {post + ",chunked", 400, "empty element", true},
      {post + "gzip, chunked", 501, "another coding", true},
      {post + "xchunked, chunked", 501, "another coding", true},
      {post + "chunked\nTransfer-Encoding: chunked", 400, "several Transfer-Encoding", true},
      {post + "chunked\ntransfer-encoding: x", 400, "several Transfer-Encoding", true},
      {"POST / HTTP/1.0\nHost: localhost\nTransfer-Encoding: chunked", 400, "HTTP/1.0", true},
  });
}

TEST(RequestChecksTest, ATransferEncodingComesWithoutAContentLength) {
  const std::string post = "POST / HTTP/1.1\nHost: localhost\n";
  ExpectRefused({
      {post + "Transfer-Encoding: chunked\nContent-Length: 5", 400, "both", true},
      {post + "Content-Length: 0\nTransfer-Encoding: chunked", 400, "both", true},
      {post + "Content-Length: x\nTransfer-Encoding: gzip", 400, "both", true},
  });
}

TEST(RequestChecksTest, ThereIsOneContentLengthAndItIsDigits) {
  const std::string post = "POST / HTTP/1.1\nHost: localhost\nContent-Length: ";
  for (const char* length :
       {"", "+5", "-5", "5, 5", "5,5", "5 5", "0x5", "5.0", "5a", "\"5\"", "\xd9\xa5"})
    ExpectRefused({{post + length, 400, "not a decimal number", true}});
  ExpectRefused({{post + "5\nContent-Length: 5", 400, "several Content-Length", true},
                 {post + "5\ncontent-length: 6", 400, "several Content-Length", true}});
}

TEST(RequestChecksTest, ThereIsOneHost) {
  ExpectRefused({
      {"GET / HTTP/1.1", 400, "no Host", false},
      {"GET / HTTP/1.0", 400, "no Host", false},
      {"GET / HTTP/1.1\nX-Forwarded-Host: localhost", 400, "no Host", false},
      {"GET / HTTP/1.1\nHost: localhost\nHost: localhost", 400, "several Host", true},
      {"GET / HTTP/1.1\nHost: localhost\nhost: evil.example", 400, "several Host", true},
      {"GET / HTTP/1.1\nHost:", 400, "not a name", false},
      {"GET / HTTP/1.1\nHost: localhost, localhost", 400, "not a name", false},
      {"GET / HTTP/1.1\nHost: http://localhost", 400, "not a name", false},
      {"POST / HTTP/1.1\nContent-Length: 5", 400, "no Host", true},
  });
}

TEST(RequestChecksTest, TheHostIsOneOfOurs) {
  ExpectRefused({
      {"GET / HTTP/1.1\nHost: evil.example", 421, "for the host evil.example.", false},
      {"GET / HTTP/1.1\nHost: cook:8081", 421, "for the host cook:8081.", false},
      {"GET / HTTP/1.1\nHost: cook", 421, "for the host cook.", false},
      {"GET / HTTP/1.1\nHost: 127.0.0.1", 421, "for the host 127.0.0.1.", false},
      {"POST / HTTP/1.1\nHost: evil\nTransfer-Encoding: chunked", 421, "evil", true},
      {"POST / HTTP/1.1\nHost: evil\nContent-Length: 0", 421, "evil", false},
  });
}

TEST(RequestChecksTest, AHostWithoutAPortHasTheOneOfTheScheme) {
  const RequestHead head{.method = "GET", .target = "/", .fields = {{"Host", "cook"}}};
  const std::vector<Host> allowed = {*ParseHost("cook:443")};
  EXPECT_FALSE(CheckRequest(head, {.allowed_hosts = allowed, .default_port = 443}));
  EXPECT_EQ(CheckRequest(head, {.allowed_hosts = allowed})->status, 421);
}

TEST(RequestChecksTest, OtherMethodsAreNotImplemented) {
  for (const char* method : {"get", "Get", "PUT", "PATCH", "OPTIONS", "CONNECT", "TRACE", "", "G"})
    ExpectRefused({{method + " / HTTP/1.1\nHost: localhost"s, 501, "method", false}});
  ExpectRefused({{"PUT / HTTP/1.1\nHost: localhost\nContent-Length: 1", 501, "method", true}});
}

TEST(RequestChecksTest, ATargetHasAtMost8KiB) {
  const std::string longest = "/" + std::string(8191, 'a');
  EXPECT_FALSE(Check("GET " + longest + " HTTP/1.1\nHost: localhost"));
  ExpectRefused({{"GET " + longest + "a HTTP/1.1\nHost: localhost", 414, "8193 bytes", false}});
}

TEST(RequestChecksTest, ABodyHasAtMost64KiB) {
  const std::string post = "POST / HTTP/1.1\nHost: localhost\nContent-Length: ";
  for (const char* length : {"65537", "18446744073709551615", "18446744073709551616",
                             "99999999999999999999999999999999999999"})
    ExpectRefused({{post + length, 413, "more than 65536 bytes", true}});
}

TEST(RequestChecksTest, OnlyPostHasABody) {
  ExpectRefused({
      {"GET / HTTP/1.1\nHost: localhost\nContent-Length: 5", 400, "method GET has a body", true},
      {"HEAD / HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked", 400, "HEAD", true},
      {"DELETE / HTTP/1.1\nHost: localhost\nContent-Length: 01", 400, "DELETE", true},
  });
}

TEST(RequestChecksTest, NoInterimAnswerIsSent) {
  ExpectRefused({
      {"POST / HTTP/1.1\nHost: localhost\nContent-Length: 5\nExpect: 100-continue", 417, "Expect",
       true},
      {"GET / HTTP/1.1\nHost: localhost\nexpect: x", 417, "Expect", false},
  });
}

TEST(RequestChecksTest, AHeadHasWholeLines) {
  for (const char* head : {
           "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
           "\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a b\tc \r\n\r\n",
           "",
       }) {
    EXPECT_FALSE(CheckHeadBytes(head)) << head;
  }
  const std::pair<std::string, const char*> refused[] = {
      {"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n", "begins with a space"},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tb\r\n\r\n", "begins with a space"},
      {"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", "begins with a space"},
      {"GET / HTTP/1.1\r\n \r\nHost: localhost\r\n\r\n", "begins with a space"},
      {" GET / HTTP/1.1\r\n\r\n", "begins with a space"},
      {"GET / HTTP/1.1\nHost: localhost\r\n\r\n", "without the other"},
      {"GET / HTTP/1.1\r\nX: a\n\r\n", "without the other"},
      {"GET / HTTP/1.1\r\nX: a\rHost: b\r\n\r\n", "without the other"},
      {"GET / HTTP/1.1\r\nX: a\r\r\n\r\n", "without the other"},
      {"\nGET / HTTP/1.1\r\n\r\n", "without the other"},
      {"GET / HTTP/1.1\r", "ends with a CR"},
      {"GET / HTTP/1.1\r\nX: a\0b\r\n\r\n"s, "NUL"},
  };
  for (const auto& [head, text] : refused) {
    SCOPED_TRACE(head);
    const std::optional<Refusal> refusal = CheckHeadBytes(head);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 400);
    EXPECT_THAT(refusal->text, HasSubstr(text));
    EXPECT_TRUE(refusal->must_close);
  }
}

}  // namespace
}  // namespace galley::http
