#include "director/host/standing_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "common/base/file.h"

namespace galley::director {
namespace {

TEST(TextOfAskTest, AsksThatMayComeToSomethingElseDiffer) {
  const project::Project project;
  std::vector<CookAsk> asks(14);
  asks[1].selection.positional = {"a"};
  asks[2].selection.maps = {"a"};
  asks[3].selection.packages = {"a"};
  asks[4].selection.directories = {"a"};
  asks[5].selection.map_sections = {"a"};
  asks[6].selection.cultures = {"a"};
  asks[7].selection.never = {"a"};
  asks[8].selection.no_soft_references = true;
  asks[9].platforms = {"a"};
  asks[10].no_stage = true;
  asks[11].exact = true;
  asks[12].fail_fast = true;
  asks[13].umask = 077;
  std::set<std::string> texts;
  for (const CookAsk& ask : asks) texts.insert(TextOfAsk(ask, project).value());
  EXPECT_EQ(texts.size(), asks.size());
  project::Project elsewhere;
  elsewhere.output_directory = "/out";
  EXPECT_FALSE(texts.contains(TextOfAsk(asks[0], elsewhere).value()));
  CookAsk two;
  two.selection.never = {"a", "b"};
  CookAsk one;
  one.selection.never = {"a\nnever 1:b"};
  EXPECT_NE(TextOfAsk(two, project), TextOfAsk(one, project));
}

TEST(TextOfAskTest, WhatDecidesNothingIsNotInIt) {
  CookAsk ask;
  ask.urgency_class = CookClass::kNow;
  ask.adopt = true;
  ask.differing = {{"LANG", "de"}};
  EXPECT_EQ(TextOfAsk(ask, {}), TextOfAsk(CookAsk(), {}));
}

TEST(TextOfAskTest, ACookThatIsToDoThingsAnewIsNeverAnswered) {
  EXPECT_FALSE(TextOfAsk({.force = true}, {}).has_value());
  EXPECT_FALSE(TextOfAsk({.retry_failed = true}, {}).has_value());
  EXPECT_FALSE(TextOfAsk({.repair = true}, {}).has_value());
}

TEST(FactsTest, ProjectFileValuesAndCookersAreInThem) {
  project::Project project;
  project.root = "/game";
  project.origins = {{"store.dir", "/s", "default"}, {"farm.workers", "4", "default"}};
  const Facts facts = FactsOf(project, {.json = "[]", .build = "1"}).value();
  EXPECT_EQ(DifferingFact(facts, FactsOf(project, {.json = "[]", .build = "1"}).value()), "");
  EXPECT_EQ(DifferingFact(facts, FactsOf(project, {.json = "[]", .build = "2"}).value()),
            "the cookers");
  EXPECT_EQ(DifferingFact(facts, FactsOf(project, {.json = "[1]", .build = "1"}).value()),
            "the cookers");
  const auto differs = [&](auto change) {
    project::Project other = project;
    change(other);
    return DifferingFact(facts, FactsOf(other, {.json = "[]", .build = "1"}).value());
  };
  EXPECT_EQ(differs([](auto& other) { other.file_digest = Digest::Of("x"); }), "galley.toml");
  EXPECT_EQ(differs([](auto& other) { other.but_rules = Digest::Of("x"); }),
            "galley.toml, beside its rules");
  EXPECT_EQ(differs([](auto& other) { other.root = "/x"; }), "the project's folder");
  EXPECT_EQ(differs([](auto& other) { other.output_directory = "/x"; }), "the output folder");
  EXPECT_EQ(differs([](auto& other) { other.origins[0].value = "/x"; }), "the value store.dir");
  EXPECT_EQ(differs([](auto& other) { other.origins[1].value = "8"; }), "");
}

ObservedValues Observed(record::ObservationKind kind, const std::string& subject,
                        const std::string& value) {
  ObservedValues observed;
  observed.Note({{.what = {kind, subject, ""}, .value = value}});
  return observed;
}

TEST(EnvironmentFactsTest, ValuesAreComparedAsTheyAreObserved) {
  project::Project project;
  project.farm.environment = {"X"};
  const Facts facts = EnvironmentFacts(Observed(record::ObservationKind::kEnv, "X", "=1"));
  EXPECT_EQ(facts, EnvironmentNow(facts, project, {{"X", "1"}, {"Y", "2"}}));
  EXPECT_NE(facts, EnvironmentNow(facts, project, {{"X", ""}}));
  EXPECT_NE(facts, EnvironmentNow(facts, project, {}));
  const Facts unset = EnvironmentFacts(Observed(record::ObservationKind::kEnv, "X", "unset"));
  EXPECT_EQ(unset, EnvironmentNow(unset, project, {}));
  EXPECT_NE(unset, EnvironmentNow(unset, project, {{"X", "unset"}}));
  project.farm.environment.clear();  // it is not answered any more
  EXPECT_NE(facts, EnvironmentNow(facts, project, {{"X", "1"}}));
  EXPECT_EQ(unset, EnvironmentNow(unset, project, {{"X", "1"}}));
}

TEST(ObservedValuesTest, TwoValuesOfOneToolAreAConflict) {
  ObservedValues observed = Observed(record::ObservationKind::kTool, "t", "a");
  EXPECT_FALSE(observed.has_conflict());
  observed.Note({{.what = {record::ObservationKind::kTool, "t", ""}, .value = "a"}});
  EXPECT_FALSE(observed.has_conflict());
  observed.Note({{.what = {record::ObservationKind::kTool, "t", ""}, .value = "b"}});
  EXPECT_TRUE(observed.has_conflict());
}

TEST(StandingToolTest, AToolIsHeldByItsStampElseByItsBytes) {
  const std::string dir = *MakeTemporaryDirectory(testing::TempDir(), "standing_tool_");
  const std::string path = JoinPath(dir, "tool");
  ASSERT_TRUE(WriteFileAtomic(path, "1").ok());
  const auto observed =
      Observed(record::ObservationKind::kTool, "tool", Digest::Of("1").ToString());
  StandingTool tool = ToolsOf(observed, dir).value().at(0);
  EXPECT_EQ(tool.path, path);
  ASSERT_TRUE(WriteFileAtomic(path, "1").ok());
  EXPECT_EQ(LookAgain(tool), "");
  ASSERT_TRUE(WriteFileAtomic(path, "2").ok());
  EXPECT_NE(LookAgain(tool), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(ToolsOf(observed, dir).status()));
  std::filesystem::remove(path);
  EXPECT_NE(LookAgain(tool), "");
  StandingTool absent =
      ToolsOf(Observed(record::ObservationKind::kTool, "tool", "absent"), dir).value().at(0);
  EXPECT_EQ(LookAgain(absent), "");
  ASSERT_TRUE(WriteFileAtomic(path, "2").ok());
  EXPECT_NE(LookAgain(absent), "");
  EXPECT_TRUE(RemoveAll(dir).ok());
}

}  // namespace
}  // namespace galley::director
