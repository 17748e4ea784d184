#include "common/base/wire_format.h"

#include <gtest/gtest.h>

namespace galley {
namespace {

TEST(WireFormatTest, DefaultsAreAbsent) {
  WireWriter writer;
  writer.Varint(1, 0);
  writer.Bytes(2, "");
  writer.Bool(3, false);
  EXPECT_EQ(writer.bytes(), "");
  writer.Element(4, "");
  EXPECT_EQ(writer.bytes(), std::string("\x22\x00", 2));
}

TEST(WireFormatTest, MatchesTheEncodingGuide) {
  WireWriter writer;
  writer.Varint(1, 150);
  writer.Bytes(2, "testing");
  EXPECT_EQ(writer.bytes(), std::string("\x08\x96\x01\x12\x07testing"));
}

TEST(WireFormatTest, ReadsWhatItWrote) {
  WireWriter writer;
  writer.Varint(1, UINT64_MAX);
  writer.Element(7, "x");
  WireReader reader(writer.bytes());
  auto first = reader.Next();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->value, UINT64_MAX);
  auto second = reader.Next();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->number, 7u);
  EXPECT_EQ(second->bytes, "x");
  EXPECT_TRUE(reader.AtEnd());
}

TEST(WireFormatTest, EveryTruncationIsAnErrorOrAPrefix) {
  WireWriter writer;
  writer.Varint(1, 1u << 20);
  writer.Bytes(2, "some bytes");
  for (size_t size = 0; size < writer.bytes().size(); ++size) {
    WireReader reader(std::string_view(writer.bytes()).substr(0, size));
    int fields = 0;
    while (!reader.AtEnd()) {
      if (!reader.Next().ok()) break;
      ++fields;
    }
    EXPECT_LE(fields, 1);
  }
}

TEST(WireFormatTest, MalformedTagsAreRefused) {
  for (const std::string& bytes :
       {std::string("\x00", 1), std::string("\x0b"), std::string("\x0f"), std::string(11, '\xff'),
        std::string("\x88\x80\x80\x80\x80\x00\x08", 7),
        std::string("\x0a\x80\x80\x80\x80\x80\x00", 7)}) {
    WireReader reader(bytes);
    EXPECT_FALSE(reader.Next().ok());
  }
}

}  // namespace
}  // namespace galley
