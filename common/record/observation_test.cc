#include "common/record/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/record/testing/sample.h"
#include "common/tree/testing/golden.h"
#include "galley/v1/record.pb.h"

namespace galley::record {
namespace {

TEST(ObservationTest, EncodingsAreTheGoldens) {
  ExpectGolden("common/record/testdata/observation_set.hex",
               HexLines(EncodeSet(SetOf(SampleObserved()))));
  ExpectGolden("common/record/testdata/observed.hex", HexLines(EncodeObserved(SampleObserved())));
}

TEST(ObservationTest, ProtobufReadsAndWritesTheSameBytes) {
  const std::string bytes = EncodeObserved(SampleObserved());
  v1::ObservedSet message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.SerializeAsString(), bytes);
  EXPECT_EQ(message.entry_size(), 12);
  EXPECT_EQ(message.entry(4).value(), "a.level\nsub/\n");
  const std::string set_bytes = EncodeSet(SetOf(SampleObserved()));
  v1::ObservationSet set;
  ASSERT_TRUE(set.ParseFromString(set_bytes));
  EXPECT_EQ(set.SerializeAsString(), set_bytes);
  EXPECT_EQ(set.entry(5).detail(), "*.level");
}

TEST(ObservationTest, DecodingGivesBackWhatWasEncoded) {
  EXPECT_EQ(*DecodeObserved(EncodeObserved(SampleObserved())), SampleObserved());
  EXPECT_EQ(*DecodeSet(EncodeSet(SetOf(SampleObserved()))), SetOf(SampleObserved()));
  EXPECT_TRUE(DecodeSet("")->empty());
}

TEST(ObservationTest, TheOrderInWhichThingsWereSeenDoesNotMatter) {
  std::vector<Observed> seen = SampleObserved();
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(seen.begin(), seen.end(), random);
    EXPECT_EQ(*Canonical(seen), SampleObserved());
    EXPECT_EQ(EncodeObserved(seen), EncodeObserved(SampleObserved()));
    EXPECT_EQ(SetOf(seen), SetOf(SampleObserved()));
  }
}

TEST(ObservationTest, WhatWasSeenTwiceIsKeptOnce) {
  std::vector<Observed> seen = SampleObserved();
  seen.push_back(seen[2]);
  EXPECT_EQ(*Canonical(seen), SampleObserved());
  EXPECT_EQ(SetOf(seen), SetOf(SampleObserved()));
}

TEST(ObservationTest, TwoValuesOfOneThingAreAnError) {
  std::vector<Observed> seen = SampleObserved();
  seen.push_back({seen[2].what, "folder"});
  const auto canonical = Canonical(seen);
  EXPECT_EQ(canonical.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(canonical.status().ToString().find("file(missing.glsl)"), std::string::npos)
      << canonical.status();
}

TEST(ObservationTest, ReadsAsItIsWrittenInTheDesign) {
  EXPECT_EQ((Observation{ObservationKind::kFile, "../inc/a.glsl", ""}).ToString(),
            "file(../inc/a.glsl)");
  EXPECT_EQ((Observation{ObservationKind::kGlob, "/Game/x", "*.json"}).ToString(),
            "glob(/Game/x, *.json)");
  EXPECT_EQ((Observation{ObservationKind::kName, "", ""}).ToString(), "name()");
}

TEST(ObservationTest, LinesAreSortedAndEndEach) {
  EXPECT_EQ(LinesValue({"b", "a/", "b"}), "a/\nb\n");
  EXPECT_EQ(LinesValue({}), "");
  EXPECT_NE(LinesValue({"absent"}), kAbsent);
}

std::string RefusalOfSet(const std::function<void(v1::ObservationSet&)>& spoil) {
  v1::ObservationSet message;
  EXPECT_TRUE(message.ParseFromString(EncodeSet(SetOf(SampleObserved()))));
  spoil(message);
  const auto decoded = DecodeSet(message.SerializeAsString());
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
  return decoded.status().ToString();
}

TEST(ObservationTest, WhatEncodeSetWouldNotHaveWrittenIsRefused) {
  using testing::HasSubstr;
  EXPECT_THAT(RefusalOfSet([](auto& m) { m.mutable_entry()->SwapElements(0, 1); }),
              HasSubstr("observation 1 is not after"));
  EXPECT_THAT(RefusalOfSet([](auto& m) { *m.add_entry() = m.entry(11); }),
              HasSubstr("observation 12 is not after"));
  EXPECT_THAT(RefusalOfSet([](auto& m) { m.mutable_entry(0)->set_kind(10); }),
              HasSubstr("kind 10"));
  EXPECT_THAT(RefusalOfSet([](auto& m) { m.mutable_entry(0)->set_kind(0); }), HasSubstr("kind 0"));
  EXPECT_FALSE(DecodeSet(EncodeObserved(SampleObserved())).ok());
  EXPECT_FALSE(DecodeSet(std::string("\x12\x00", 2)).ok());
  EXPECT_FALSE(DecodeSet(std::string("\x0a\x04\x12\x00\x08\x01", 6)).ok())
      << "a default written out";
  EXPECT_FALSE(DecodeSet(std::string("\x0a\x03\x08\x81\x00", 5)).ok())
      << "a number in a longer form";
  EXPECT_TRUE(CheckObserved(std::string("\x0a\x02\x08\x01", 4)).ok());
  EXPECT_FALSE(CheckObserved(std::string("\x0a\x82\x00\x08\x01", 5)).ok())
      << "the length of an entry in a longer form";
  EXPECT_TRUE(CheckObserved("\x0a\x05\x08\x01\x12\x01x").ok());
  EXPECT_FALSE(CheckObserved("\x0a\x05\x12\x01x\x08\x01").ok()) << "fields that descend";
  EXPECT_FALSE(CheckObserved("\x0a\x08\x08\x01\x12\x01y\x12\x01x").ok()) << "a field twice";
}

TEST(ObservationTest, WhatIsPassedOnIsWhatDecodingTakes) {
  const std::string bytes = EncodeObserved(SampleObserved());
  EXPECT_TRUE(CheckObserved(bytes).ok());
  EXPECT_EQ(EncodeSetOf(SampleObserved()), EncodeSet(SetOf(SampleObserved())));
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char change : {'\x01', '\x08', '\x80'}) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ change);
      EXPECT_EQ(CheckObserved(other), DecodeObserved(other).status()) << at;
    }
  }
}

TEST(ObservationTest, MoreThanTheLimitIsRefused) {
  std::vector<Observed> seen;
  for (size_t i = 0; i <= kObservationsMax; ++i)
    seen.push_back({{ObservationKind::kEnv, std::to_string(i), ""}, "unset"});
  const std::string bytes = EncodeSet(SetOf(seen));
  EXPECT_FALSE(DecodeSet(bytes).ok());
  seen.pop_back();
  EXPECT_TRUE(DecodeSet(EncodeSet(SetOf(seen))).ok());
}

TEST(ObservationTest, EveryTruncationIsRefusedOrShorter) {
  const std::string bytes = EncodeObserved(SampleObserved());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = DecodeObserved(std::string_view(bytes).substr(0, size));
    if (decoded.ok()) {
      EXPECT_LT(decoded->size(), 12u);
    }
  }
}

}  // namespace
}  // namespace galley::record
