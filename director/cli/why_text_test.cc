#include "director/cli/why_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

json WhyOf(const std::string& package) {
  return {{"package", package},        {"cook", 3},
          {"not_cooked", nullptr},     {"running", nullptr},
          {"failures", json::array()}, {"next", nullptr},
          {"is_cut", false},           {"platforms", json::object()}};
}

json PlatformOf(const std::string& state, const std::string& source) {
  return {{"state", state},
          {"source", source},
          {"cook", 2},
          {"time", "2026-01-01T00:00:00+00:00"},
          {"worker", "w1"},
          {"attempt", 7},
          {"attempts", 2},
          {"published", nullptr},
          {"first", false},
          {"forced", false},
          {"changed", json::array()},
          {"seconds", {{"request", 0}, {"queue", 0}, {"wait", 1}, {"load", 2}, {"save", 3}}}};
}

TEST(WhyTextTest, APackageThatNoCookHadSaysSo) {
  EXPECT_THAT(WhyText(WhyOf("/Game/a"), {}, 3, false),
              ElementsAre("/Game/a", "in the cook because", "  (it was not in the last cook)"));
}

TEST(WhyTextTest, AttemptsHaveTheirNumbersForThoseWhoReadLogs) {
  json why = WhyOf("/Game/a");
  why["platforms"]["linux"] = PlatformOf("up_to_date", "cooked");
  const std::string until =
      "linux: up to date in cook 3: nothing that it looked at had changed since it was cooked in "
      "cook 2 at 2026-01-01T00:00:00+00:00 by w1";
  EXPECT_EQ(WhyText(why, {}, 3, false)[3], until + ", handed over 2 times");
  EXPECT_EQ(WhyText(why, {}, 3, true)[3], until + ", attempt 7, handed over 2 times");
}

TEST(WhyTextTest, AChangedListNamesWhatCameAndWent) {
  json why = WhyOf("/Game/a");
  json& linux = why["platforms"]["linux"] = PlatformOf("cooked", "cooked");
  linux["changed"].push_back({{"what", "list(.)"},
                              {"before", "a\nb\n"},
                              {"after", "b\nc\n"},
                              {"path", "/Game"},
                              {"file", "content"}});
  const std::vector<std::string> lines = WhyText(why, {}, 3, false);
  EXPECT_EQ(lines[4], "  because list(.) changed: +c -a");
  EXPECT_EQ(lines[5], "    /Game (content)");
}

TEST(WhyTextTest, ControlCharactersOfAnErrorAreShownAndNotSent) {
  json why = WhyOf("/Game/a");
  why["failures"].push_back({{"platform", "linux"},
                             {"cook", 3},
                             {"stage", "load"},
                             {"error", "bad \x1b[31m\nmore"},
                             {"blame", "verdict"},
                             {"worker", ""},
                             {"own_faults", 0},
                             {"infrastructure_faults", 0},
                             {"log", ""}});
  const std::vector<std::string> lines = WhyText(why, {}, 3, false);
  EXPECT_EQ(lines[1], "failed in the last cook (linux, load): bad \\x1b[31m");
  EXPECT_EQ(lines[2], "  more");
  EXPECT_EQ(lines[3], "  its cooker's verdict on its inputs");
}

TEST(WhyTextTest, AFailureOfNoCookWasAskedForByADevice) {
  json why = WhyOf("/Game/a");
  why["failures"].push_back({{"platform", "linux"},
                             {"cook", 0},
                             {"time", "2026-11-21T20:30:48+00:00"},
                             {"stage", "load"},
                             {"error", "bad"},
                             {"blame", "verdict"},
                             {"worker", ""},
                             {"own_faults", 0},
                             {"infrastructure_faults", 0},
                             {"log", ""}});
  EXPECT_EQ(WhyText(why, {}, 3, false)[1],
            "failed when a device asked for it at 2026-11-21T20:30:48+00:00 (linux, load): bad");
}

TEST(WhyTextTest, PathsThatAreNotShownAreCounted) {
  const director::RootPath path = {{.package = "/Game/a"}};
  const std::vector<std::string> lines = WhyText(WhyOf("/Game/a"), {path, path, path}, 1, false);
  EXPECT_EQ(lines.back(), "  and 2 more (--all)");
}

}  // namespace
}  // namespace galley::cli
