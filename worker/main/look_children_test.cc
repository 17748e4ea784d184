#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "worker/main/describe_look.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> LookAtAll(const std::vector<std::string>& files,
                                   const LookOptions& options = {}) {
  std::vector<std::string> lines;
  const auto look = [](const std::string& file) -> std::string {
    if (file == "crash") std::abort();
    while (file == "hang") ::pause();
    return "looked at " + file;
  };
  const auto print = [&](std::string line) {
    lines.push_back(std::move(line));
    return absl::OkStatus();
  };
  EXPECT_TRUE(LookInChildren(files, look, options, print).ok());
  return lines;
}

TEST(LookInChildrenTest, LinesComeInTheOrderOfTheFiles) {
  EXPECT_THAT(LookAtAll({"b", "a"}), ElementsAre("looked at b", "looked at a"));
  EXPECT_THAT(LookAtAll({}), ElementsAre());
}

TEST(LookInChildrenTest, AFileThatCrashesACodecCostsItsOwnAnswerAlone) {
  const auto lines = LookAtAll({"a", "crash", "crash", "b", "crash"});
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "looked at a");
  EXPECT_EQ(lines[3], "looked at b");
  const auto json = nlohmann::json::parse(lines[4]);
  EXPECT_EQ(json["file"], "crash");
  EXPECT_EQ(json["takes"], false);
  EXPECT_THAT(json["failed"].get<std::string>(), HasSubstr("crashed: signal 6"));
}

TEST(LookInChildrenTest, SoDoesOneThatTakesTooLong) {
  const auto lines = LookAtAll({"hang", "b"}, {.time_max = absl::Milliseconds(300)});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("took longer than 300ms"));
  EXPECT_EQ(lines[1], "looked at b");
}

}  // namespace
}  // namespace galley::worker
