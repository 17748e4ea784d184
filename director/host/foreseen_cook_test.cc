#include "director/host/foreseen_cook.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// ForeseenCookTest: foresees cooks on the platform windows (0).
class ForeseenCookTest : public ShellTest {
 protected:
  // Returns the last record by `recipe`, which read the cooked output of /Game/gone.txt.
  static PlatformRecord ReadBy(const record::Recipe& recipe) {
    PlatformRecord record;
    record.recipe = record::RecipeDigest(recipe);
    record.recipe_bytes = record::EncodeRecipe(recipe);
    record.result = record::EncodeResult({});
    record.observed = {
        {{.kind = record::ObservationKind::kCooked, .subject = "/Game/gone.txt"}, "1"}};
    return record;
  }

  ForeseenCook Foresee(const WorldPtr& world, const PlatformRecord& last) {
    const SourcesPtr sources = SourcesOf(world);
    const ForeseenDeps deps{
        .catalog = world->table,
        .sources = *sources,
        .record_of = [&](const std::string& package) -> absl::StatusOr<PackageRecord> {
          PackageRecord record;
          if (package == "/Game/r.txt") record.platforms["windows"] = last;
          return record;
        },
        .may_hold = [](const PlatformRecord&) { return true; },
        .is_touched = [](const std::string&) { return false; }};
    auto cook =
        ForeseeCook(deps, {.request = 1, .platforms = 1, .selected = {{.name = "/Game/r.txt"}}});
    EXPECT_TRUE(cook.ok()) << cook.status();
    return *std::move(cook);
  }
};

TEST_F(ForeseenCookTest, AnInputThatIsGoneFailsWhoReadsItWithTheSameRecipe) {
  Write("content/r.txt", "r");
  const WorldPtr world = MakeWorld();
  const record::Recipe recipe = world->table->RecipesOf("/Game/r.txt")->front().recipe;
  EXPECT_THAT(Foresee(world, ReadBy(recipe)).failures,
              ElementsAre(Pair(Pair("/Game/r.txt", ""), testing::_)));
}

TEST_F(ForeseenCookTest, AnInputThatIsGoneFailsNobodyWhoseCookerIsAnother) {
  Write("content/r.txt", "r");
  const WorldPtr world = MakeWorld();
  record::Recipe recipe = world->table->RecipesOf("/Game/r.txt")->front().recipe;
  recipe.cooker = "command";
  const ForeseenCook cook = Foresee(world, ReadBy(recipe));
  EXPECT_THAT(cook.failures, IsEmpty());
  EXPECT_THAT(cook.cooked, ElementsAre("/Game/r.txt"));
  EXPECT_THAT(cook.roots.at("windows"), SizeIs(1));
}

TEST(MayStillReadTest, SettingsNameWhatIsRead) {
  const record::Recipe before{.cooker = "command", .settings = R"({"argv":["{cooked:/Game/i}"]})"};
  record::Recipe now{.cooker = "command", .settings = R"({"argv":["-x","{cooked:/Game/i}"]})"};
  EXPECT_TRUE(MayStillRead(before, now, "/Game/i"));
  now.settings = R"({"argv":["{cooked:/Game/j}"]})";
  EXPECT_FALSE(MayStillRead(before, now, "/Game/i"));
  now = {.cooker = "copy", .settings = before.settings};
  EXPECT_FALSE(MayStillRead(before, now, "/Game/i")) << "settings of another cooker";
}

}  // namespace
}  // namespace galley::director
