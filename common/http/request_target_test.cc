#include "common/http/request_target.h"

#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> SegmentsOf(std::string_view target) {
  const auto parsed = ParseRequestTarget(target);
  EXPECT_TRUE(parsed.ok()) << target << ": " << parsed.status();
  return parsed.ok() ? parsed->segments : std::vector<std::string>{};
}

// The sentence with which the target is refused.
std::string FaultOf(std::string_view target) {
  const auto parsed = ParseRequestTarget(target);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << target;
  return MessageOf(parsed.status());
}

TEST(RequestTargetTest, APathIsSplitIntoItsSegments) {
  EXPECT_THAT(SegmentsOf("/v1/linux/Game/a.ktx2"), ElementsAre("v1", "linux", "Game", "a.ktx2"));
  EXPECT_THAT(SegmentsOf("/..."), ElementsAre("..."));
  EXPECT_THAT(SegmentsOf("/.d/lod0"), ElementsAre(".d", "lod0"));
  EXPECT_THAT(SegmentsOf("/"), IsEmpty());
}

TEST(RequestTargetTest, EscapesAreDecodedOnce) {
  EXPECT_THAT(SegmentsOf("/a%20b/%c3%A4"), ElementsAre("a b", "\xc3\xa4"));
  EXPECT_THAT(SegmentsOf("/%2541"), ElementsAre("%41"));
  EXPECT_THAT(SegmentsOf("/%252e%252e/%252f"), ElementsAre("%2e%2e", "%2f"));
  EXPECT_THAT(SegmentsOf("/a%3fb%23c"), ElementsAre("a?b#c"));
  EXPECT_THAT(SegmentsOf("/a+b;c=1,d:e@f"), ElementsAre("a+b;c=1,d:e@f"));
}

TEST(RequestTargetTest, PrintableCharactersThatClientsDoNotEscapeAreThemselves) {
  EXPECT_THAT(SegmentsOf("/a[1]|{b}^`\"<>"), ElementsAre("a[1]|{b}^`\"<>"));
}

TEST(RequestTargetTest, AQueryKeepsItsEscapes) {
  EXPECT_EQ(ParseRequestTarget("/a?x=%26&y=../\\")->query, "x=%26&y=../\\");
  EXPECT_EQ(ParseRequestTarget("/a?b?c")->query, "b?c");
  EXPECT_EQ(ParseRequestTarget("/a?")->query, "");
  EXPECT_EQ(ParseRequestTarget("/a")->query, std::nullopt);
  EXPECT_THAT(SegmentsOf("/?a/b"), IsEmpty());
  EXPECT_THAT(SegmentsOf("/a/b?c/d"), ElementsAre("a", "b"));
}

TEST(RequestTargetTest, APathThatIsNotPlainIsRefused) {
  struct Case {
    const char* target;
    const char* fault;
  };
  const Case cases[] = {
      {"//", "empty segment"},
      {"//host/a", "empty segment"},
      {"/a//b", "empty segment"},
      {"/a/", "empty segment"},
      {"/a/?q", "empty segment"},
      {"/.", "segment '.'"},
      {"/a/./b", "segment '.'"},
      {"/..", "segment '..'"},
      {"/a/../b", "segment '..'"},
      {"/%2e", "segment '.'"},
      {"/a/%2E%2e/b", "segment '..'"},
      {"/.%2e/b", "segment '..'"},
      {"/a%2fb", "escaped slash"},
      {"/..%2F..%2Fetc", "escaped slash"},
      {"/a\\b", "backslash"},
      {"/..%5c..", "backslash"},
      {"/a%00.png", "control character"},
      {"/a%0d%0ab", "control character"},
      {"/a%09", "control character"},
      {"/a%7f", "control character"},
  };
  for (const Case& c : cases) EXPECT_THAT(FaultOf(c.target), HasSubstr(c.fault)) << c.target;
}

TEST(RequestTargetTest, BytesThatAreNotUtf8AreRefused) {
  for (const char* target : {
           "/%c0%ae%c0%ae",  // an overlong ".."
           "/%e0%80%af",     // an overlong slash
           "/%c1%9c",        // an overlong backslash
           "/%ed%a0%80",     // half of a surrogate pair
           "/%f4%90%80%80",  // beyond the last code point
           "/%ff", "/%80",   //
           "/a%c3/%a4b",     // a sequence that begins in one segment and ends in the next
       }) {
    EXPECT_THAT(FaultOf(target), HasSubstr("not valid UTF-8")) << target;
  }
}

TEST(RequestTargetTest, AnEscapeHasTwoHexadecimalDigits) {
  for (const char* target : {"/%", "/%4", "/a%/b", "/%4/1", "/%zz", "/%-1", "/%+1", "/%0x41",
                             "/%u0041", "/%?41", "/a?%", "/a?x=%g0"}) {
    EXPECT_THAT(FaultOf(target), HasSubstr("two hexadecimal digits")) << target;
  }
}

TEST(RequestTargetTest, OtherFormsThanAPathAreRefused) {
  EXPECT_EQ(FaultOf(""), "The target is empty.");
  EXPECT_THAT(FaultOf("*"), HasSubstr("'*'"));
  for (const char* target : {"http://localhost/v1/x", "localhost:8080", "v1/x", "?q", "%2fv1"})
    EXPECT_THAT(FaultOf(target), HasSubstr("does not begin with '/'")) << target;
}

TEST(RequestTargetTest, BytesThatMustBeEscapedAreRefused) {
  using std::string_literals::operator""s;
  for (const std::string& target :
       {"/a b"s, "/a\tb"s, "/a\r\nb"s, "/a\0b"s, "/\xc3\xa4"s, "/\x7f"s, "/a?b c"s, "/a?\xff"s}) {
    EXPECT_THAT(FaultOf(target), HasSubstr("not escaped")) << target;
  }
  EXPECT_THAT(FaultOf("/a#b"), HasSubstr("'#'"));
}

TEST(RequestTargetTest, ATargetHasAtMost8KiB) {
  const std::string longest = "/" + std::string(kTargetBytesMax - 1, 'a');
  EXPECT_THAT(SegmentsOf(longest), ElementsAre(longest.substr(1)));
  EXPECT_EQ(FaultOf(longest + "a"), "The target has 8193 bytes; at most 8192 are allowed.");
  EXPECT_THAT(FaultOf("/?" + std::string(kTargetBytesMax, 'a')), HasSubstr("8194 bytes"));
}

}  // namespace
}  // namespace galley::http
