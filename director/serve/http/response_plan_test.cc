#include "director/serve/http/response_plan.h"

#include <algorithm>

#include "director/serve/http/response_head.h"
#include "director/serve/http/testing/fake_face.h"
#include "director/serve/http/testing/request_from_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using http::ByteRange;
using http::ContentCoding;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kBoundary = "boundary";

// A file of 1,000 bytes with the tag "5e1f".
HttpAnswer File() {
  return {.content_type = "image/ktx2",
          .caching = HttpCaching::kImmutable,
          .tag = http::EntityTag{.opaque = "5e1f"},
          .is_codable = true,
          .fields = {{"Galley-Root", "ab/12"}},
          .body = MakeBlob(std::string(1'000, 'x'))};
}

RequestTerms Terms(const std::string& fields, const std::string& method = "GET") {
  return TermsOf(RequestFromText(method + " /a HTTP/1.1\n" + fields));
}

ResponsePlan Plan(const std::string& fields, const HttpAnswer& answer = File()) {
  return PlanResponse(Terms(fields), answer, std::nullopt, kBoundary);
}

// nullopt: there is no such field.
std::optional<std::string> ValueOf(const ResponsePlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.fields, name, &HttpField::name);
  return found == plan.fields.end() ? std::nullopt : std::optional(found->value);
}

const ByteRange& RangeOf(const BodyPart& part) { return std::get<ByteRange>(part); }

TEST(ResponsePlanTest, AFileIsSentWhole) {
  const ResponsePlan plan = Plan("");
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(plan.content_length, 1'000u);
  ASSERT_EQ(plan.parts.size(), 1u);
  EXPECT_EQ(RangeOf(plan.parts[0]), (ByteRange{0, 999}));
  EXPECT_THAT(plan.fields,
              ElementsAre(HttpField{"Galley-Root", "ab/12"},
                          HttpField{"Cache-Control", "public, max-age=31536000, immutable"},
                          HttpField{"ETag", "\"5e1f\""}, HttpField{"Vary", "Accept-Encoding"},
                          HttpField{"X-Content-Type-Options", "nosniff"},
                          HttpField{"Content-Type", "image/ktx2"}));
}

TEST(ResponsePlanTest, AKnownTagIsNotModifiedAndRepeatsWhatCachesNeed) {
  for (const char* tags : {"\"5e1f\"", "W/\"5e1f\"", "\"0\", \"5e1f\"", "*"}) {
    const ResponsePlan plan = Plan(std::string("If-None-Match: ") + tags + "\nRange: bytes=0-4\n");
    EXPECT_EQ(plan.status, 304) << tags;
    EXPECT_THAT(plan.fields,
                ElementsAre(HttpField{"Galley-Root", "ab/12"},
                            HttpField{"Cache-Control", "public, max-age=31536000, immutable"},
                            HttpField{"ETag", "\"5e1f\""}, HttpField{"Vary", "Accept-Encoding"},
                            HttpField{"X-Content-Type-Options", "nosniff"}));
    EXPECT_FALSE(plan.content_length);
    EXPECT_THAT(plan.parts, IsEmpty());
  }
}

TEST(ResponsePlanTest, TheTagOfTheCodingThatWouldBeSentIsKnownToo) {
  const ResponsePlan plan = Plan("If-None-Match: W/\"5e1f-zstd\"\nAccept-Encoding: gzip, zstd\n");
  EXPECT_EQ(plan.status, 304);
  EXPECT_EQ(ValueOf(plan, "ETag"), "W/\"5e1f-zstd\"");
  EXPECT_EQ(Plan("If-None-Match: W/\"5e1f-zstd\"\nAccept-Encoding: gzip\n").status, 200);
  EXPECT_EQ(Plan("If-None-Match: W/\"5e1f-zstd\"\n").status, 200);
}

TEST(ResponsePlanTest, AnotherTagThanTheExpectedOneIs412) {
  const ResponsePlan plan = Plan("If-Match: \"0\"\n");
  EXPECT_EQ(plan.status, 412);
  EXPECT_EQ(ValueOf(plan, "Cache-Control"), "no-store");
  EXPECT_EQ(ValueOf(plan, "ETag"), std::nullopt);
  ASSERT_EQ(plan.parts.size(), 1u);
  const auto& text = std::get<std::string>(plan.parts[0]);
  EXPECT_THAT(text, HasSubstr("\"status\":412"));
  EXPECT_EQ(plan.content_length, text.size());
  EXPECT_EQ(Plan("If-Match: \"5e1f\"\n").status, 200);
}

TEST(ResponsePlanTest, ARangeIsSentByItself) {
  const ResponsePlan plan = Plan("Range: bytes=10-19\n");
  EXPECT_EQ(plan.status, 206);
  EXPECT_EQ(ValueOf(plan, "Content-Range"), "bytes 10-19/1000");
  EXPECT_EQ(ValueOf(plan, "Content-Type"), "image/ktx2");
  EXPECT_EQ(ValueOf(plan, "ETag"), "\"5e1f\"");
  EXPECT_EQ(plan.content_length, 10u);
  ASSERT_EQ(plan.parts.size(), 1u);
  EXPECT_EQ(RangeOf(plan.parts[0]), (ByteRange{10, 19}));
}

TEST(ResponsePlanTest, SeveralRangesAreParts) {
  const ResponsePlan plan = Plan("Range: bytes=0-4, 990-\n");
  EXPECT_EQ(plan.status, 206);
  EXPECT_EQ(ValueOf(plan, "Content-Type"), "multipart/byteranges; boundary=boundary");
  EXPECT_EQ(ValueOf(plan, "Content-Range"), std::nullopt);
  ASSERT_EQ(plan.parts.size(), 5u);
  EXPECT_EQ(std::get<std::string>(plan.parts[0]),
            "--boundary\r\nContent-Type: image/ktx2\r\nContent-Range: bytes 0-4/1000\r\n\r\n");
  EXPECT_EQ(RangeOf(plan.parts[1]), (ByteRange{0, 4}));
  EXPECT_EQ(RangeOf(plan.parts[3]), (ByteRange{990, 999}));
  EXPECT_EQ(std::get<std::string>(plan.parts[4]), "\r\n--boundary--\r\n");
  uint64_t size = 0;
  for (const BodyPart& part : plan.parts) {
    const auto* text = std::get_if<std::string>(&part);
    size += text != nullptr ? text->size() : RangeOf(part).last - RangeOf(part).first + 1;
  }
  EXPECT_EQ(plan.content_length, size);
}

TEST(ResponsePlanTest, ARangeBehindTheEndIs416) {
  const ResponsePlan plan = Plan("Range: bytes=1000-\n");
  EXPECT_EQ(plan.status, 416);
  EXPECT_EQ(ValueOf(plan, "Content-Range"), "bytes */1000");
  EXPECT_EQ(ValueOf(plan, "Cache-Control"), "no-store");
}

TEST(ResponsePlanTest, ARangeThatIsOfAnotherVersionIsIgnored) {
  EXPECT_EQ(Plan("Range: bytes=0-4\nIf-Range: \"0\"\n").status, 200);
  EXPECT_EQ(Plan("Range: bytes=0-4\nIf-Range: W/\"5e1f\"\n").status, 200);
  EXPECT_EQ(Plan("Range: bytes=0-4\nIf-Range: \"5e1f\"\n").status, 206);
}

TEST(ResponsePlanTest, HeadIgnoresRangesAndHasTheFieldsOfGet) {
  const ResponsePlan head =
      PlanResponse(Terms("Range: bytes=0-4\n", "HEAD"), File(), std::nullopt, kBoundary);
  const ResponsePlan get = Plan("");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.fields, get.fields);
  EXPECT_EQ(head.content_length, get.content_length);
}

TEST(ResponsePlanTest, ACodingIsWantedWhereTheClientAcceptsIt) {
  EXPECT_EQ(WantedCoding(Terms("Accept-Encoding: gzip, zstd\n"), File()), ContentCoding::kZstd);
  EXPECT_EQ(WantedCoding(Terms("Accept-Encoding: gzip\n"), File()), ContentCoding::kGzip);
  EXPECT_EQ(WantedCoding(Terms("Accept-Encoding: gzip\n", "HEAD"), File()), ContentCoding::kGzip);
  EXPECT_EQ(WantedCoding(Terms(""), File()), ContentCoding::kIdentity);
}

TEST(ResponsePlanTest, NoCodingWhereOnlyTheBytesWillDo) {
  const auto wanted = [](const std::string& fields, const HttpAnswer& answer = File()) {
    return WantedCoding(Terms("Accept-Encoding: zstd\n" + fields), answer);
  };
  EXPECT_EQ(wanted(""), ContentCoding::kZstd);
  EXPECT_EQ(wanted("Range: bytes=0-4\n"), ContentCoding::kIdentity);
  EXPECT_EQ(wanted("If-Match: \"5e1f\"\n"), ContentCoding::kIdentity);
  EXPECT_EQ(wanted("If-None-Match: \"5e1f\"\n"), ContentCoding::kIdentity);
  HttpAnswer answer = File();
  answer.is_codable = false;
  EXPECT_EQ(wanted("", answer), ContentCoding::kIdentity);
  answer = File();
  answer.status = 422;
  EXPECT_EQ(wanted("", answer), ContentCoding::kIdentity);
  for (const uint64_t size : {kCodedBodyBytesMin - 1, kCodedBodyBytesMax + 1}) {
    answer = File();
    answer.body = MakeBlob(std::string(size, 'x'));
    EXPECT_EQ(wanted("", answer), ContentCoding::kIdentity) << size;
  }
}

TEST(ResponsePlanTest, ACodedBodyHasAWeakTagOfItsOwn) {
  const ResponsePlan plan =
      PlanResponse(Terms("Accept-Encoding: zstd\n"), File(),
                   CodedSize{.coding = ContentCoding::kZstd, .size_bytes = 40}, kBoundary);
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(ValueOf(plan, "ETag"), "W/\"5e1f-zstd\"");
  EXPECT_EQ(ValueOf(plan, "Content-Encoding"), "zstd");
  EXPECT_EQ(ValueOf(plan, "Vary"), "Accept-Encoding");
  EXPECT_EQ(plan.content_length, 40u);
  EXPECT_EQ(RangeOf(plan.parts.at(0)), (ByteRange{0, 39}));
}

TEST(ResponsePlanTest, TheDigestIsOfTheWholeBytesWithoutACoding) {
  HttpAnswer answer = File();
  answer.digest_field = "sha-256=:AAAA:";
  EXPECT_EQ(ValueOf(Plan("", answer), "Repr-Digest"), "sha-256=:AAAA:");
  EXPECT_EQ(ValueOf(Plan("Range: bytes=0-4\n", answer), "Repr-Digest"), "sha-256=:AAAA:");
  EXPECT_EQ(ValueOf(Plan("If-None-Match: *\n", answer), "Repr-Digest"), std::nullopt);
  const ResponsePlan coded =
      PlanResponse(Terms("Accept-Encoding: zstd\n"), answer,
                   CodedSize{.coding = ContentCoding::kZstd, .size_bytes = 100}, kBoundary);
  EXPECT_EQ(ValueOf(coded, "Content-Encoding"), "zstd");
  EXPECT_EQ(ValueOf(coded, "Repr-Digest"), std::nullopt);
}

TEST(ResponsePlanTest, ErrorsHaveNoConditionsAndAreNeverStored) {
  HttpAnswer answer = File();
  answer.status = 404;
  const ResponsePlan plan = Plan("If-None-Match: \"5e1f\"\nRange: bytes=0-4\n", answer);
  EXPECT_EQ(plan.status, 404);
  EXPECT_EQ(ValueOf(plan, "Cache-Control"), "no-store");
  EXPECT_EQ(ValueOf(plan, "ETag"), std::nullopt);
  EXPECT_EQ(plan.content_length, 1'000u);
}

TEST(ResponsePlanTest, ThePostOfASessionHasNoConditions) {
  const RequestTerms terms =
      TermsOf(RequestFromText("POST /a HTTP/1.1\nIf-None-Match: *\nContent-Length: 0\n"));
  EXPECT_EQ(PlanResponse(terms, File(), std::nullopt, kBoundary).status, 200);
}

TEST(ResponsePlanTest, AnEmptyBodyHasALengthAndNoParts) {
  const ResponsePlan plan = Plan("", {.content_type = "text/plain", .body = MakeBlob("")});
  EXPECT_EQ(plan.content_length, 0u);
  EXPECT_THAT(plan.parts, IsEmpty());
  EXPECT_EQ(Plan("", {.status = 201}).content_length, 0u);
  const ResponsePlan none = Plan("", {.status = 204, .body = MakeBlob("x")});
  EXPECT_EQ(none.content_length, std::nullopt);
  EXPECT_THAT(none.parts, IsEmpty());
}

TEST(ResponsePlanTest, AStreamHasNoLengthAndIsNotCollectedByProxies) {
  const ResponsePlan plan =
      Plan("Range: bytes=0-4\nAccept-Encoding: zstd\n", {.content_type = "text/event-stream",
                                                         .is_codable = true,
                                                         .body = std::make_shared<FakeStream>()});
  EXPECT_TRUE(plan.is_stream);
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(plan.content_length, std::nullopt);
  EXPECT_THAT(plan.parts, IsEmpty());
  EXPECT_EQ(ValueOf(plan, "X-Accel-Buffering"), "no");
}

TEST(ResponseHeadTest, IsWrittenAsHttpHasIt) {
  const ResponsePlan plan{
      .status = 404, .fields = {{"Galley-Root", "a\r\nSet-Cookie: b"}}, .content_length = 3};
  EXPECT_EQ(HeadText(plan, "now", {.closes = true}),
            "HTTP/1.1 404 Not Found\r\nDate: now\r\nGalley-Root: a\\x0d\\x0aSet-Cookie: b\r\n"
            "Content-Length: 3\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(HeadText({.status = 200, .is_stream = true}, "now", {.is_chunked = true}),
            "HTTP/1.1 200 OK\r\nDate: now\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(ResponseHeadTest, TheDateIsThatOfTheStandard) {
  HttpDate date;
  EXPECT_EQ(date.At(absl::FromUnixSeconds(784'111'777)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(absl::FromUnixSeconds(784'111'778)), "Sun, 06 Nov 1994 08:49:38 GMT");
}

TEST(ResponseHeadTest, ChunksSayTheirLengthInHexadecimal) {
  EXPECT_EQ(ChunkText(std::string(26, 'a')), "1a\r\n" + std::string(26, 'a') + "\r\n");
  EXPECT_EQ(ChunkText(""), "0\r\n\r\n");
}

}  // namespace
}  // namespace galley::director
