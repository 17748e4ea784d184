#include "director/resident/cooked_tables.h"

#include <memory>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(CookedTablesTest, ALostOutputIsNotKnownUntilItIsMadeAgain) {
  CookedTables cooked;
  PackageFiles files;
  files.outputs = {{".ktx2", Digest::Of("lost")}};
  cooked.TableOf("linux")->Put("/Game/a.png", std::make_shared<PackageFiles>(files));
  cooked.NoteLost(Digest::Of("lost"));
  EXPECT_EQ(cooked.TableOf("linux")->Find("/Game/a.png"), nullptr);
  EXPECT_TRUE(cooked.IsAnyLost(files));
  cooked.NoteMade(files);
  EXPECT_FALSE(cooked.IsAnyLost(files));
}

TEST(CookedTablesTest, EachPlatformHasATableOfItsOwnThatLosesTheOutput) {
  CookedTables cooked;
  const auto files = std::make_shared<PackageFiles>();
  files->outputs = {{".ktx2", Digest::Of("lost")}};
  cooked.TableOf("linux")->Put("/Game/a.png", files);
  EXPECT_EQ(cooked.TableOf("android")->Find("/Game/a.png"), nullptr);
  cooked.TableOf("android")->Put("/Game/b.png", files);
  cooked.NoteLost(Digest::Of("lost"));
  EXPECT_EQ(cooked.TableOf("linux")->Find("/Game/a.png"), nullptr);
  EXPECT_EQ(cooked.TableOf("android")->Find("/Game/b.png"), nullptr);
}

}  // namespace
}  // namespace galley::director
