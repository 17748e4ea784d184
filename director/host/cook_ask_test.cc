#include "director/host/cook_ask.h"

#include <gtest/gtest.h>

namespace galley::director {
namespace {

project::Project ProjectOf(const std::vector<std::string>& platforms) {
  project::Project project;
  for (const std::string& name : platforms) project.platforms.push_back({.name = name});
  return project;
}

TEST(CookAskTest, AnAskNamesAllPlatformsOrThoseThatThereAre) {
  v1::CookAsk ask;
  ask.set_urgency_class("now");
  EXPECT_TRUE(CheckAsk(ask, ProjectOf({"a", "b"})).ok());
  EXPECT_EQ(PlatformsIn(ProjectOf({"a", "b"}), ListOf(ask.platforms())).value(), 3u);
  ask.add_platforms("z");
  EXPECT_TRUE(absl::IsInvalidArgument(CheckAsk(ask, ProjectOf({"a"}))));
  ask.Clear();
  ask.set_urgency_class("someday");
  EXPECT_TRUE(absl::IsInvalidArgument(CheckAsk(ask, ProjectOf({"a"}))));
}

TEST(CookAskTest, TheFilterIsOfNeverAndCultures) {
  v1::CookAsk ask;
  EXPECT_EQ(FilterOf(ask).value(), nullptr);
  ask.mutable_selection()->add_cultures("de");
  EXPECT_EQ(FilterOf(ask).value()->cultures(), std::vector<std::string>{"de"});
  EXPECT_FALSE(FilterOf(ask).value()->has_never());
  ask.mutable_selection()->add_never("/Game/dev/**");
  EXPECT_TRUE(FilterOf(ask).value()->IsNever("/Game/dev/a.png"));
  ask.set_urgency_class("now");
  EXPECT_TRUE(CheckAsk(ask, ProjectOf({"a"})).ok());
  ask.mutable_selection()->add_never("/Game/[a");
  EXPECT_TRUE(absl::IsInvalidArgument(FilterOf(ask).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckAsk(ask, ProjectOf({"a"}))));
}

TEST(CookAskTest, AFewWordsSayWhatIsAsked) {
  v1::CookAsk ask;
  EXPECT_EQ(WhatIsAsked(ask), "by the book");
  ask.mutable_selection()->add_packages("/Game/a.png");
  EXPECT_EQ(WhatIsAsked(ask), "/Game/a.png");
  ask.mutable_selection()->add_positional("/Game/b.png");
  EXPECT_EQ(WhatIsAsked(ask), "/Game/b.png and 1 more");
}

TEST(CookAskTest, ByTheBookIsAnAskForAll) {
  EXPECT_TRUE(IsByTheBook(v1::CookAsk()));
  std::vector<v1::CookAsk> narrow(5);
  narrow[0].mutable_selection()->add_positional("x");
  narrow[1].mutable_selection()->add_maps("x");
  narrow[2].mutable_selection()->add_never("x");
  narrow[3].mutable_selection()->add_cultures("x");
  narrow[4].mutable_selection()->set_no_soft_references(true);
  for (const v1::CookAsk& ask : narrow) EXPECT_FALSE(IsByTheBook(ask));
  v1::CookAsk repair;
  repair.set_repair(true);
  EXPECT_FALSE(IsByTheBook(repair));
  EXPECT_FALSE(IsStaged(repair));
}

}  // namespace
}  // namespace galley::director
