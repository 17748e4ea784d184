// Tests of how long the inputs of results stay, from which outputs are made again.
#include <string>
#include <string_view>

#include "common/record/kept_action.h"
#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class KeptInputsTest : public GcTest {
 protected:
  struct Kept {
    record::Action action;
    Digest source, output;
  };
  // Commits a result of `source` with its Action and its source.
  Kept Record(const std::string& source, const std::string& output) {
    Kept kept{.action = ActionOf(source),
              .source = PutBytes(*store_, source),
              .output = PutBytes(*store_, output)};
    for (const std::string_view bytes : record::BlobsToKeep(kept.action)) PutBytes(*store_, bytes);
    CommitResult(kept);
    return kept;
  }
  static record::Action ActionOf(const std::string& source) {
    return *record::BuildAction(
        {.recipe = {.cooker = "copy", .identity = "1", .extension = "txt", .settings = "{}"},
         .source = Digest::Of(source),
         .observed = {},
         .trust_domain = "main"});
  }
  void CommitResult(const Kept& kept) {
    PutResult put = SampleResult(kept.source.hex(), kept.output);
    put.action_key = kept.action.key;
    EXPECT_TRUE(store_->Commit({.results = {put}}).ok());
  }
  bool HasResult(const Kept& kept) { return ResultOf(*store_, kept.action.key).has_value(); }
};

TEST_F(KeptInputsTest, InputsStayAsLongAsTheirResult) {
  const Kept old = Record("version 1", "output 1"), present = Record("version 2", "output 2");
  Publish("windows", {present.output});
  Pass(absl::Hours(48));
  Collect({});
  EXPECT_TRUE(Has(old.source) && Has(old.action.key) && Has(present.source));
  EXPECT_TRUE(HasResult(old) && HasResult(present));
  EXPECT_THAT(store_->Verify()->problems, IsEmpty());
}

TEST_F(KeptInputsTest, InputsGoWithTheirResultWhereTheStoreIsFull) {
  const Kept old = Record("version 1", "output 1"), present = Record("version 2", "output 2");
  Publish("windows", {present.output});
  Pass();
  Collect(kAll);
  EXPECT_FALSE(Has(old.source));
  EXPECT_FALSE(Has(old.action.key));
  EXPECT_FALSE(HasResult(old));
  EXPECT_FALSE(Has(present.source)) << "the result costs nothing, its source does";
  EXPECT_TRUE(HasResult(present));
}

TEST_F(KeptInputsTest, InputsOfTheResultThatWasUsedLastStay) {
  const Kept first = Record(std::string(5'000, '1'), "output 1");
  Pass(absl::Hours(3));
  const Kept second = Record(std::string(5'000, '2'), "output 2");
  Pass(absl::Hours(3));
  Collect({.bytes_max = 8'000});
  EXPECT_FALSE(Has(first.source) || HasResult(first));
  EXPECT_TRUE(Has(second.source) && HasResult(second));
}

TEST_F(KeptInputsTest, AResultThatGoesForItsAgeTakesNoRoomFromInputs) {
  const Kept present = Record("version 1", "output 1");
  Publish("windows", {present.output});
  Pass(absl::Hours(3));
  const Digest old = Cook("used later, and too large", 5'000);
  Pass(absl::Hours(48));
  Collect({.bytes_max = 4'000, .age_max = absl::Hours(24)});
  EXPECT_FALSE(Has(old));
  EXPECT_TRUE(Has(present.source) && Has(present.action.key));
}

TEST_F(KeptInputsTest, AnInputStaysForAnotherResult) {
  const Kept kept = Record("shared", "output");
  const Digest output = PutBytes(*store_, "of another cooker");
  record::Action other = *record::BuildAction(
      {.recipe = {.cooker = "data", .identity = "1", .extension = "json", .settings = "{}"},
       .source = kept.source,
       .observed = {},
       .trust_domain = "main"});
  for (const std::string_view bytes : record::BlobsToKeep(other)) PutBytes(*store_, bytes);
  CommitResult({.action = std::move(other), .source = kept.source, .output = output});
  ASSERT_TRUE(store_->Forget(std::vector<Digest>{kept.action.key}).ok());
  Pass(absl::Hours(48));
  Collect({});
  EXPECT_TRUE(Has(kept.source));
  EXPECT_FALSE(Has(kept.action.key)) << "its result was forgotten";
}

TEST_F(KeptInputsTest, InputsThatNoRecordNamesGoAfterADay) {
  const Kept kept{.action = ActionOf("lonely"),
                  .source = PutBytes(*store_, "lonely"),
                  .output = PutBytes(*store_, "output")};
  CommitResult(kept);
  Pass(absl::Hours(1));
  Collect({});
  EXPECT_TRUE(Has(kept.source)) << "a record may be about to name it";
  Pass(absl::Hours(48));
  Collect({});
  EXPECT_FALSE(Has(kept.source));
  EXPECT_TRUE(HasResult(kept));
}

TEST_F(KeptInputsTest, WhyNamesTheResult) {
  const Kept kept = Record("source", "output");
  for (const Digest& digest : {kept.source, kept.action.key}) {
    const auto report = store_->Why(digest, 20);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_THAT(report->results, SizeIs(1));
    EXPECT_EQ(report->results[0].key, kept.action.key);
    EXPECT_TRUE(report->results[0].is_input);
  }
  EXPECT_FALSE(store_->Why(kept.output, 20)->results.at(0).is_input);
}

}  // namespace
}  // namespace galley::store
