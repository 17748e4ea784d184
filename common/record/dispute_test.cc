#include "common/record/dispute.h"

#include "gmock/gmock.h"

namespace galley::record {
namespace {

using testing::HasSubstr;

Result Success(const std::string& bytes) {
  Result result;
  result.outputs = {{.suffix = ".bin", .digest = Digest::Of(bytes)}};
  result.provenance = {.worker = "worker of " + bytes, .machine = "host"};
  return result;
}

Result Verdict(const std::string& error) { return {.is_verdict = true, .error = error}; }

TEST(DisputeTest, OfTwoSuccessesThatDifferNeitherStands) {
  EXPECT_EQ(JudgeDispute(Success("a"), Success("b")), Standing::kDispute);
  Result again = Success("a");
  again.provenance.worker = "another";
  EXPECT_EQ(JudgeDispute(Success("a"), again), Standing::kStored) << "who made it says nothing";
}

TEST(DisputeTest, ASuccessStandsAgainstAVerdictWhicheverCameFirst) {
  EXPECT_EQ(JudgeDispute(Verdict("no"), Success("a")), Standing::kGiven);
  EXPECT_EQ(JudgeDispute(Success("a"), Verdict("no")), Standing::kStored);
  EXPECT_EQ(JudgeDispute(Verdict("no"), Verdict("never")), Standing::kStored);
}

TEST(DisputeTest, NothingReplacesADispute) {
  const Result dispute = DisputeOf(Success("a"), Success("b"));
  for (const Result& given : {Success("a"), Success("b"), Success("c"), Verdict("no"),
                              DisputeOf(Success("c"), Success("d"))})
    EXPECT_EQ(JudgeDispute(dispute, given), Standing::kStored);
}

TEST(DisputeTest, AnotherStoresDisputeStandsAgainstEitherOutcome) {
  const Result dispute = DisputeOf(Success("a"), Success("b"));
  for (const Result& stored : {Success("a"), Success("c"), Verdict("no")}) {
    EXPECT_EQ(JudgeDispute(stored, dispute), Standing::kDispute);
    EXPECT_TRUE(SameOutcome(DisputeOf(stored, dispute), dispute));
  }
}

TEST(DisputeTest, ItIsAVerdictThatSurvivesItsEncoding) {
  const Result dispute = DisputeOf(Success("a"), Success("b"));
  EXPECT_TRUE(dispute.is_verdict && dispute.is_disputed);
  const auto decoded = DecodeResult(EncodeResult(dispute));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(decoded->is_verdict && decoded->is_disputed);
  EXPECT_EQ(decoded->error, dispute.error);
  EXPECT_TRUE(SameOutcome(*decoded, dispute));
  Result plain = dispute;
  plain.is_disputed = false;
  EXPECT_FALSE(SameOutcome(plain, dispute));
  EXPECT_FALSE(DecodeResult(EncodeResult(plain))->is_disputed);
}

TEST(DisputeTest, ItSaysWhereTheyDifferAndWhoMadeThem) {
  const auto text = [](const Result& a, const Result& b) { return DisputeOf(a, b).error; };
  const Result a = Success("a");
  EXPECT_THAT(text(a, Success("b")), HasSubstr("its output .bin was " + Digest::Of("a").ToString() +
                                               " and then " + Digest::Of("b").ToString()));
  EXPECT_THAT(text(a, Success("b")), HasSubstr("worker of a on host at 1970"));
  EXPECT_THAT(text(a, Success("b")), HasSubstr("worker of b on host at 1970"));
  Result other = a;
  other.outputs[0].is_executable = true;
  EXPECT_THAT(text(a, other), HasSubstr("its output .bin was executable only once"));
  other = a;
  other.outputs.push_back({.suffix = ".d/x", .digest = Digest::Of("x")});
  EXPECT_THAT(text(a, other), HasSubstr("its output .d/x was made only the second time"));
  EXPECT_THAT(text(other, a), HasSubstr("its output .d/x was made once and not again"));
  other = a;
  other.details.references = {{.path = "b"}};
  EXPECT_THAT(text(a, other), HasSubstr("its references were others"));
  other = a;
  other.details.generated = {{.name = "_gen/b"}};
  EXPECT_THAT(text(a, other), HasSubstr("what it generated was other"));
  other = a;
  other.details.tags = {{.name = "b", .value = true}};
  EXPECT_THAT(text(a, other), HasSubstr("its tags were others"));
  other = a;
  other.details.warnings = {"b"};
  EXPECT_EQ(JudgeDispute(a, other), Standing::kStored) << "nobody loads warnings";
}

}  // namespace
}  // namespace galley::record
