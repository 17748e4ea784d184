#include "director/resident/package_files.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

PackageFilesPtr Referring(std::vector<std::string> needed, std::vector<std::string> soft = {}) {
  return std::make_shared<const PackageFiles>(
      PackageFiles{.needed = std::move(needed), .soft = std::move(soft)});
}

PackageFilesPtr Generating(std::vector<std::string> staged) {
  return std::make_shared<const PackageFiles>(PackageFiles{.generated = std::move(staged)});
}

TEST(CookedTableTest, AnyReferenceToAFileOrToWhatItGeneratesCounts) {
  CookedTable table;
  table.Put("/Game/a", Referring({"/Game/x"}));
  table.Put("/Game/b", Referring({}, {"/Game/x"}));
  table.Put("/Game/c", Referring({"/Game/x/_gen/1/_gen/2"}));
  table.Put("/Game/d", Referring({"/Game/xx", "/Game/x.png"}));
  EXPECT_THAT(table.ReferringTo({"/Game/other", "/Game/x"}),
              ElementsAre("/Game/a", "/Game/b", "/Game/c"));
}

TEST(CookedTableTest, ReferencesOfPackagesWhoseOutputsAreLostCountUntilThePackagesDiffer) {
  CookedTable table;
  const Digest output = Digest::Of("output");
  table.Put("/Game/a", std::make_shared<const PackageFiles>(
                           PackageFiles{.outputs = {{".bin", output}}, .needed = {"/Game/x"}}));
  table.DropWith(output);
  EXPECT_EQ(table.Find("/Game/a"), nullptr);
  EXPECT_THAT(table.ReferringTo({"/Game/x"}), ElementsAre("/Game/a")) << "trees have its node";
  table.Drop(std::vector<std::string>{"/Game/a"});
  EXPECT_THAT(table.ReferringTo({"/Game/x"}), ElementsAre());
}

TEST(CookedTableTest, WhatPackagesGenerateIsAddedWithWhatThatGenerates) {
  CookedTable table;
  table.Put("/Game/a.level", Generating({"Game/a.level/_gen/1.level", "Game/a.level/_gen/2.png"}));
  table.Put("/Game/a.level/_gen/1.level", Generating({"Game/a.level/_gen/1.level/_gen/3.png"}));
  table.Put("/Game/b.level", Generating({"Game/b.level/_gen/1.png"}));
  std::vector<std::string> packages = {"/Game/a.level", "/Game/c.png"};
  table.AddGenerated(packages, [](const std::string&, const std::string& staged) {
    return "/" + staged;  // nothing is staged elsewhere
  });
  EXPECT_THAT(packages,
              ElementsAre("/Game/a.level", "/Game/c.png", "/Game/a.level/_gen/1.level",
                          "/Game/a.level/_gen/2.png", "/Game/a.level/_gen/1.level/_gen/3.png"));
}

}  // namespace
}  // namespace galley::director
