#include "director/cli/init/worker_looker.h"

#include <sys/stat.h>

#include <algorithm>

#include "common/base/file.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::init {
namespace {

using ::testing::HasSubstr;

// Programs in the place of galley-worker. `$path` is the file that is looked at.
class WorkerLookerTest : public ::testing::Test {
 protected:
  WorkerLookerTest() : root_(*MakeTemporaryDirectory(::testing::TempDir(), "looker-")) {}
  ~WorkerLookerTest() override { RemoveAll(root_).IgnoreError(); }

  WorkerLooker Make(const std::string& script, absl::Duration time_max = absl::Minutes(1)) {
    const std::string program = JoinPath(root_, "worker");
    EXPECT_TRUE(WriteFileAtomic(program, "#!/bin/sh\necho $$ >> " + JoinPath(root_, "begun") +
                                             "\nwhile read -r path; do\n" + script + "\ndone\n")
                    .ok());
    EXPECT_EQ(::chmod(program.c_str(), 0755), 0);
    return WorkerLooker({.directory = root_, .program = program, .time_max = time_max});
  }
  size_t ProgramsBegun() const {
    const std::string lines = *ReadFile(JoinPath(root_, "begun"));
    return static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
  static LookAsk AskOf(size_t files) {
    LookAsk ask{.paths = {}, .is_outline = true};
    for (size_t i = 0; i < files; ++i) ask.paths.push_back(fmt::format("{}.png", i));
    return ask;
  }

  const std::string root_;
};

constexpr const char* kTakes = R"(printf '{"file":"%s","takes":true}\n' "$path")";

TEST_F(WorkerLookerTest, ManyFilesGoToFewPrograms) {
  WorkerLooker looker = Make(kTakes);
  EXPECT_EQ(looker.LookAt(AskOf(5'000)).size(), 5'000u);
  EXPECT_LE(ProgramsBegun(), 17u);
  EXPECT_EQ(looker.trouble(), "");
}

TEST_F(WorkerLookerTest, AFileThatCrashesACookerCostsItsOwnAnswerAlone) {
  WorkerLooker looker = Make(R"(case "$path" in
*/3?.png) printf '{"file":"%s","takes":false,"failed":"the look crashed: signal 11"}\n' "$path";;
*) printf '{"file":"%s","takes":true}\n' "$path";;
esac)");
  const auto looks = looker.LookAt(AskOf(100));
  EXPECT_EQ(looks.size(), 90u);
  EXPECT_FALSE(looks.contains("35.png"));
  EXPECT_EQ(looker.trouble(), "10 files, first 30.png: the look crashed: signal 11");
}

TEST_F(WorkerLookerTest, AProgramThatEndsCostsTheAnswersThatItDidNotGive) {
  WorkerLooker looker = Make(std::string(kTakes) + "\ncase $path in */7.png) exit 4;; esac");
  const auto looks = looker.LookAt(AskOf(200));
  EXPECT_TRUE(looks.contains("7.png"));
  EXPECT_FALSE(looks.contains("8.png"));
  EXPECT_TRUE(looks.contains("199.png"));
  EXPECT_EQ(looker.trouble(), "exit code 4");
}

TEST_F(WorkerLookerTest, AProgramThatCannotBeStartedIsTold) {
  WorkerLooker looker({.directory = root_, .program = JoinPath(root_, "nothing")});
  EXPECT_TRUE(looker.LookAt(AskOf(3)).empty());
  EXPECT_THAT(looker.trouble(), HasSubstr("nothing"));
}

TEST_F(WorkerLookerTest, OnlyOutlinesTakeAsLongAsTheyTake) {
  WorkerLooker looker = Make(kTakes, absl::ZeroDuration());
  EXPECT_EQ(looker.LookAt(AskOf(3)).size(), 3u);
  LookAsk ask = AskOf(3);
  ask.is_outline = false;
  EXPECT_TRUE(looker.LookAt(ask).empty());
  EXPECT_EQ(looker.trouble(), "the time was up (0)");
}

TEST_F(WorkerLookerTest, AReasonIsTheSameForFilesThatAreAlike) {
  WorkerLooker looker = Make(R"(case "$path" in
*/0.png) why='"why_not":"line 3, column 9: the object has a key twice; rename it"';;
*/1.png) why='"why_not":"png: the file is a jpg; name it .jpg","flaw":"a JPEG under the name .png"';;
*) why='"why_not":"gltf: /asset: no member"';;
esac
printf '{"file":"%s","takes":false,%s}\n' "$path" "$why")");
  const auto looks = looker.LookAt(AskOf(3));
  EXPECT_EQ(looks.at("0.png").reason, "the object has a key twice");
  EXPECT_EQ(looks.at("1.png").reason, "a JPEG under the name .png");
  EXPECT_EQ(looks.at("2.png").reason, "gltf: /asset: no member");
}

}  // namespace
}  // namespace galley::init
