#include "director/shell/limit_answers.h"

#include <algorithm>

#include "common/record/recipe.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using record::Observed;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPackage[] = "/Game/a.txt";

class LimitAnswersTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a.txt", "source");
    Write("content/inc.txt", "include");
    Write("content/other.txt", "source");
    world_.Set(MakeWorld());
    kept_ = std::make_unique<KeptLimits>(Host("state"));
    ASSERT_TRUE(CreateDirectories(Host("state")).ok());
  }

  LimitAnswers Answers(bool retry_failed = false, const std::string& machine = "here") {
    return LimitAnswers(
        {.sources = [this] { return SourcesOf(world_.Get()); }, .kept = kept_.get()},
        {.trust_domain = "main",
         .retry_failed = retry_failed,
         .defaults = {.memory_bytes = 4 << 20, .timeout = absl::Seconds(60)},
         .machine = machine});
  }
  static Observed Include(const std::string& bytes = "include") {
    return {{ObservationKind::kFile, "inc.txt", ""}, Digest::Of(bytes).ToString()};
  }
  void Keep(std::vector<Observed> observed, KeptLimit::Kind kind = KeptLimit::Kind::kMemory,
            uint64_t limit = 4 << 20) {
    const project::ResolvedRecipe recipe = world_.Get()->table->RecipesOf(kPackage)->front();
    KeptLimit seen{.weak_key = record::WeakKey(Digest::Of("source"), recipe.digest, "main"),
                   .observed = std::move(observed),
                   .kind = kind,
                   .limit = limit,
                   .package = kPackage};
    ASSERT_TRUE(Answers()
                    .Keep(std::move(seen),
                          {.stage = Stage::kSave, .error = "too large", .log = "log"}, now_)
                    .ok());
    ASSERT_TRUE(kept_->Save().ok());
  }
  LookedUp::Item Ask(const LimitAnswers& answers, const std::string& name = kPackage,
                     std::vector<CookedOutputs> cooked = {}) {
    LookedUp answer{{{PackageId(3), 0, 1, LookedUp::Miss{}}}};
    answers.Answer({{.package = PackageId(3),
                     .name = name,
                     .platforms = MaskOf(0),
                     .generation = 1,
                     .recipes = world_.Get()->table->RecipesOf(name),
                     .cooked = std::move(cooked)}},
                   now_, answer);
    return answer.items[0];
  }
  bool IsMiss(const LimitAnswers& answers) {
    return std::holds_alternative<LookedUp::Miss>(Ask(answers).outcome);
  }

  WorldHolder world_{nullptr};
  std::unique_ptr<KeptLimits> kept_;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
};

TEST_F(LimitAnswersTest, TheSameIsAnsweredAtOnceAndSaysWhatTriesItAgain) {
  Keep({Include()});
  EXPECT_EQ(LimitAnswers::WhatIsKept(KeptLimit::Kind::kMemory),
            "kept for 7 days: `galley cook --retry-failed`, or another `memory` in its rule, "
            "tries it again");
  const LookedUp::Item item = Ask(Answers());
  const auto* kept = std::get_if<LookedUp::Kept>(&item.outcome);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->stage, Stage::kSave);
  EXPECT_EQ(kept->log, "log");
  EXPECT_THAT(kept->error, HasSubstr("too large; seen in a cook on 1970-01-1"));
  EXPECT_THAT(kept->error, HasSubstr("--retry-failed"));
}

TEST_F(LimitAnswersTest, AnotherPlaceWithTheSameSourceIsAnsweredToo) {
  Keep({Include()});
  EXPECT_TRUE(std::holds_alternative<LookedUp::Kept>(Ask(Answers(), "/Game/other.txt").outcome));
}

TEST_F(LimitAnswersTest, AChangedIncludeTriesAgain) {
  Keep({Include("as it was")});
  EXPECT_TRUE(IsMiss(Answers()));
}

TEST_F(LimitAnswersTest, AChangedSourceTriesAgain) {
  Keep({});
  ASSERT_FALSE(IsMiss(Answers()));
  Write("content/a.txt", "another");
  world_.Set(MakeWorld());
  EXPECT_TRUE(IsMiss(Answers()));
}

TEST_F(LimitAnswersTest, AChangedLimitOfItsKindTriesAgain) {
  Keep({});
  AddRule("/**/*.txt", {.timeout = absl::Seconds(5)});
  world_.Set(MakeWorld());
  EXPECT_FALSE(IsMiss(Answers())) << "it was the memory";
  AddRule("/**/*.txt", {.memory_bytes = 8 << 20});
  world_.Set(MakeWorld());
  EXPECT_TRUE(IsMiss(Answers()));
}

TEST_F(LimitAnswersTest, ForTimeItIsTheTimeThatMustBeTheSame) {
  Keep({}, KeptLimit::Kind::kTime, 60'000);
  EXPECT_THAT(LimitAnswers::WhatIsKept(KeptLimit::Kind::kTime), HasSubstr("`timeout_s`"));
  EXPECT_FALSE(IsMiss(Answers()));
  AddRule("/**/*.txt", {.timeout = absl::Seconds(5)});
  world_.Set(MakeWorld());
  EXPECT_TRUE(IsMiss(Answers()));
}

TEST_F(LimitAnswersTest, RetryFailedTriesAgain) {
  Keep({});
  kept_ = std::make_unique<KeptLimits>(Host("state"));  // as the next cook does
  EXPECT_FALSE(IsMiss(Answers()));
  EXPECT_TRUE(IsMiss(Answers(/*retry_failed=*/true)));
}

// Equal work is tried once.
TEST_F(LimitAnswersTest, WithRetryFailedWhatThisCookSawIsAnAnswer) {
  Keep({});
  EXPECT_FALSE(IsMiss(Answers(/*retry_failed=*/true)));
}

TEST_F(LimitAnswersTest, AnotherMachineTriesAgain) {
  Keep({});
  EXPECT_TRUE(IsMiss(Answers(false, "there")));
}

TEST_F(LimitAnswersTest, AfterSevenDaysItIsTriedAgain) {
  Keep({});
  now_ += absl::Hours(7 * 24);
  EXPECT_TRUE(IsMiss(Answers()));
}

TEST_F(LimitAnswersTest, AHitIsLeftAsItIs) {
  Keep({});
  LookedUp answer{{{PackageId(3), 0, 1, LookedUp::Hit{}}}};
  Answers().Answer({{.package = PackageId(3),
                     .name = kPackage,
                     .recipes = world_.Get()->table->RecipesOf(kPackage)}},
                   now_, answer);
  EXPECT_TRUE(std::holds_alternative<LookedUp::Hit>(answer.items[0].outcome));
}

TEST_F(LimitAnswersTest, ACookedInputIsAskedForFirst) {
  Keep({{{ObservationKind::kCooked, "other.txt", ""}, Digest::Of("made").ToString()}});
  const LookedUp::Item item = Ask(Answers());
  const auto* needs = std::get_if<LookedUp::NeedsCooked>(&item.outcome);
  ASSERT_NE(needs, nullptr);
  EXPECT_THAT(needs->packages, ElementsAre("/Game/other.txt"));
  const auto with = [](const std::string& bytes) {
    return std::vector<CookedOutputs>{
        {{"/Game/other.txt", {{.suffix = "", .digest = Digest::Of(bytes)}}}}};
  };
  EXPECT_TRUE(
      std::holds_alternative<LookedUp::Kept>(Ask(Answers(), kPackage, with("made")).outcome));
  EXPECT_TRUE(
      std::holds_alternative<LookedUp::Miss>(Ask(Answers(), kPackage, with("else")).outcome));
}

}  // namespace
}  // namespace galley::director
