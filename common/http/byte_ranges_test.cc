#include "common/http/byte_ranges.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::http {
namespace {

using testing::ElementsAre;

constexpr uint64_t kLargest = UINT64_MAX;

// "200", "416" or the ranges: "0-4 90-99".
std::string RangesOf(std::string_view value, uint64_t size) {
  const RangeAnswer answer = SelectRanges(value, size);
  if (std::holds_alternative<WholeBody>(answer)) return "200";
  if (std::holds_alternative<Unsatisfiable>(answer)) return "416";
  std::string text;
  for (const ByteRange& range : std::get<PartialBody>(answer).ranges) {
    if (!text.empty()) text += ' ';
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

// "bytes=0-0,2-2,4-4...": ranges of one byte.
std::string SingleBytes(size_t count) {
  std::string value = "bytes=";
  for (size_t i = 0; i < count; ++i)
    value += std::to_string(2 * i) + "-" + std::to_string(2 * i) + ",";
  return value;
}

struct RangeCase {
  const char* value;
  const char* answer;
};

void ExpectAnswers(uint64_t size, const std::vector<RangeCase>& cases) {
  for (const RangeCase& c : cases)
    EXPECT_EQ(RangesOf(c.value, size), c.answer) << c.value << " " << size;
}

TEST(ByteRangesTest, ARangeHasAFirstAndALastByteOrIsTheEnd) {
  ExpectAnswers(100, {
                         {"bytes=0-4", "0-4"},
                         {"bytes=99-99", "99-99"},
                         {"bytes=0-", "0-99"},
                         {"bytes=90-", "90-99"},
                         {"bytes=90-1000", "90-99"},
                         {"bytes=-1", "99-99"},
                         {"bytes=-100", "0-99"},
                         {"bytes=-101", "0-99"},
                         {"bytes=0004-0005", "4-5"},
                     });
}

TEST(ByteRangesTest, SeveralRangesAscendAndShareNoByte) {
  ExpectAnswers(100, {
                         {"bytes=0-4,10-14", "0-4 10-14"},
                         {"bytes=0-4,5-9", "0-4 5-9"},
                         {"bytes=0-4 ,\t, -10", "0-4 90-99"},
                         {"bytes=0-4,4-9", "200"},
                         {"bytes=0-4,0-4", "200"},
                         {"bytes=10-14,0-4", "200"},
                         {"bytes=0-,-1", "200"},
                         {"bytes=0-99,50-59", "200"},
                     });
}

TEST(ByteRangesTest, RangesBehindTheEndAreLeftOut) {
  ExpectAnswers(100, {
                         {"bytes=0-4,100-", "0-4"},
                         {"bytes=100-,0-4,200-300", "0-4"},
                         {"bytes=0-4,-0", "0-4"},
                     });
}

TEST(ByteRangesTest, WithoutAnyByteTheRangeIsUnsatisfiable) {
  for (const char* value : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=-0,100-,200-"})
    EXPECT_EQ(RangesOf(value, 100), "416") << value;
  EXPECT_EQ(UnsatisfiedContentRange(100), "bytes */100");
  EXPECT_EQ(UnsatisfiedContentRange(0), "bytes */0");
}

TEST(ByteRangesTest, AMalformedRangeIsIgnored) {
  for (const char* value :
       {"",           "bytes",         "bytes=",        "bytes=,",     "bytes=-",
        "bytes=4-0",  "bytes=0-4,9-8", "bytes=0",       "bytes=a-b",   "bytes=0-b",
        "bytes=a-4",  "bytes=--4",     "bytes=0-4-8",   "bytes=+0-4",  "bytes=0-+4",
        "bytes=-+4",  "bytes=0 - 4",   "bytes=0-4;5-9", "bytes=0x0-4", "bytes 0-4",
        "bytes =0-4", "bytes=0-4,x",   "bytes=200-100", "=0-4",        "bytes==0-4"}) {
    EXPECT_EQ(RangesOf(value, 100), "200") << value;
    EXPECT_EQ(RangesOf(value, 0), "200") << value;
  }
}

TEST(ByteRangesTest, TheUnitIsBytesWithoutCase) {
  EXPECT_EQ(RangesOf("Bytes=0-4", 100), "0-4");
  EXPECT_EQ(RangesOf(" BYTES= 0-4 ", 100), "0-4");
  for (const char* value : {"items=0-4", "byte=0-4", "none", "bytesx=0-4"})
    EXPECT_EQ(RangesOf(value, 100), "200") << value;
}

TEST(ByteRangesTest, AtMost16RangesAreAnswered) {
  const RangeAnswer most = SelectRanges(SingleBytes(16), 100);
  ASSERT_TRUE(std::holds_alternative<PartialBody>(most));
  EXPECT_EQ(std::get<PartialBody>(most).ranges.size(), kRangesMax);
  EXPECT_EQ(RangesOf(SingleBytes(17), 100), "200");
  EXPECT_EQ(RangesOf(SingleBytes(17), 1), "200");  // also where one of them has a byte
  EXPECT_EQ(RangesOf(SingleBytes(1000), 100), "200");
}

TEST(ByteRangesTest, AnEmptyBodyHasNoRanges) {
  ExpectAnswers(0, {
                       {"bytes=0-", "416"},
                       {"bytes=0-0", "416"},
                       {"bytes=5-9", "416"},
                       {"bytes=-0", "416"},
                       {"bytes=-5", "200"},
                       {"bytes=0-,-5", "200"},
                   });
}

TEST(ByteRangesTest, NumbersMayHaveMoreThan64Bits) {
  ExpectAnswers(100, {
                         {"bytes=0-18446744073709551615", "0-99"},
                         {"bytes=0-18446744073709551616", "0-99"},
                         {"bytes=0-99999999999999999999999999999999", "0-99"},
                         {"bytes=-99999999999999999999999999999999", "0-99"},
                         {"bytes=18446744073709551616-", "416"},
                         {"bytes=18446744073709551615-18446744073709551616", "416"},
                     });
}

TEST(ByteRangesTest, ABodyMayHaveAllSizesOf64Bits) {
  EXPECT_EQ(RangesOf("bytes=0-", kLargest), "0-18446744073709551614");
  EXPECT_EQ(RangesOf("bytes=-1", kLargest), "18446744073709551614-18446744073709551614");
  EXPECT_EQ(RangesOf("bytes=-18446744073709551615", kLargest), "0-18446744073709551614");
  EXPECT_EQ(RangesOf("bytes=18446744073709551614-18446744073709551615", kLargest),
            "18446744073709551614-18446744073709551614");
  EXPECT_EQ(RangesOf("bytes=18446744073709551615-", kLargest), "416");
  EXPECT_EQ(RangesOf("bytes=0-0,4294967296-4294967296", uint64_t{1} << 40),
            "0-0 4294967296-4294967296");
}

TEST(ByteRangesTest, AContentRangeNamesTheFirstAndLastByteAndTheSize) {
  EXPECT_EQ(ContentRange({.first = 0, .last = 4}, 100), "bytes 0-4/100");
  EXPECT_EQ(ContentRange({.first = 0, .last = kLargest - 1}, kLargest),
            "bytes 0-18446744073709551614/18446744073709551615");
}

TEST(ByteRangesTest, EachPartHasAHead) {
  const std::string body = "0123456789";
  const std::vector<ByteRange> ranges = {{.first = 0, .last = 1}, {.first = 9, .last = 9}};
  const Multipart parts = FrameParts(ranges, body.size(), "image/ktx2", "b0undary");
  EXPECT_THAT(parts.heads, ElementsAre("--b0undary\r\n"
                                       "Content-Type: image/ktx2\r\n"
                                       "Content-Range: bytes 0-1/10\r\n"
                                       "\r\n",
                                       "\r\n--b0undary\r\n"
                                       "Content-Type: image/ktx2\r\n"
                                       "Content-Range: bytes 9-9/10\r\n"
                                       "\r\n"));
  EXPECT_EQ(parts.end, "\r\n--b0undary--\r\n");
  const std::string sent = parts.heads[0] + "01" + parts.heads[1] + "9" + parts.end;
  EXPECT_EQ(parts.size_bytes, sent.size());
}

// Every Range of two numbers over small bodies.
TEST(ByteRangesTest, ARangeHasTheBytesBetweenItsNumbers) {
  for (uint64_t size = 1; size <= 5; ++size) {
    for (uint64_t first = 0; first <= 6; ++first) {
      for (uint64_t last = first; last <= 6; ++last) {
        const std::string within =
            std::to_string(first) + "-" + std::to_string(std::min(last, size - 1));
        const std::string expected = first < size ? within : "416";
        const std::string value = "bytes=" + std::to_string(first) + "-" + std::to_string(last);
        EXPECT_EQ(RangesOf(value, size), expected) << value << " " << size;
      }
    }
  }
}

}  // namespace
}  // namespace galley::http
