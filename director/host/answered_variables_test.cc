#include "director/host/answered_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::Pair;

project::Project Listing(std::vector<std::string> names) {
  project::Project project;
  project.farm.environment = std::move(names);
  return project;
}

ObservedValues Seen(const std::vector<std::string>& names) {
  ObservedValues observed;
  for (const std::string& name : names)
    observed.Note({{{record::ObservationKind::kEnv, name, ""}, "unset"}});
  return observed;
}

TEST(AnsweredVariablesTest, OnlyThoseThatAreListedAndSet) {
  EXPECT_THAT(AnsweredVariables(Listing({"SDK", "GONE"}), {{"SDK", "7"}, {"HOME", "/root"}}),
              ElementsAre(Pair("SDK", "7")));
}

TEST(AnsweredVariablesTest, WhatIsSetAndNotListedIsSaidOnceWithItsNumber) {
  const auto text = [](std::vector<std::string> names) {
    return UnansweredText(
        Listing({"SDK"}), Seen(names),
        {{"SDK", "7"}, {"A", "1"}, {"B", "2"}, {"C", "3"}, {"D", "4"}, {"E", "5"}, {"F", "6"}});
  };
  EXPECT_EQ(text({"SDK", "GONE"}), "");
  EXPECT_EQ(text({"A", "SDK", "A"}),
            "cooks asked for 1 environment variable that [farm] env of galley.toml does not list, "
            "and that reads as unset: A");
  EXPECT_EQ(text({"A", "B", "C", "D", "E", "F"}),
            "cooks asked for 6 environment variables that [farm] env of galley.toml does not list, "
            "and that read as unset: A, B, C, D, E, ...");
}

}  // namespace
}  // namespace galley::director
