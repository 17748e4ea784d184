#include "worker/walls/noted_looks.h"

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class EmptyFolder final : public ReadyFolder {
 public:
  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string&) override { return absl::OkStatus(); }
  absl::Status FillFile(const std::string&) override { return absl::OkStatus(); }
  std::string PathOf(uint64_t, uint64_t) const override { return ""; }

 private:
  const std::string root_ = "/view/of/the/project";
};

class NotedLooksTest : public ::testing::Test {
 protected:
  static constexpr pid_t kThread = 7, kOther = 8;

  void SetUp() override { dir_ = *MakeTemporaryDirectory(::testing::TempDir(), "looks-"); }
  void TearDown() override { RemoveAll(dir_).IgnoreError(); }

  static Place Absent(const std::string& path) { return {.path = path, .absent = path}; }
  static Place File(const std::string& path) {
    return {.path = path, .exists = true, .mode = S_IFREG};
  }

  std::string dir_;
  EmptyFolder folder_;
  const WatchedProgram program_{.folder = &folder_, .own = "/work", .tools = ""};
  NotedLooks looks_{&program_};
};

TEST_F(NotedLooksTest, WhatIsFoundElsewhereIsNotedAsItWasFoundFirst) {
  looks_.Note(File("/usr/lib/a"), false);
  looks_.Note(Absent("/usr/lib/b"), false);
  looks_.Note(File("/usr/lib/b"), true);
  looks_.Note(File("/work/own"), true);
  looks_.Note(File("/proc/self/maps"), true);
  const Looks& all = looks_.All();
  EXPECT_THAT(all.found, UnorderedElementsAre(Pair("/usr/lib/a", Looks::Found::kFile),
                                              Pair("/usr/lib/b", Looks::Found::kAbsent)));
  EXPECT_THAT(all.opened, UnorderedElementsAre("/usr/lib/b"));
}

TEST_F(NotedLooksTest, WhatItMadeIsItsOwnOnceItIsThere) {
  const std::string made = dir_ + "/made";
  looks_.Makes(kThread, Absent(made));
  EXPECT_FALSE(looks_.IsOwn(made)) << "the call has not been carried out";
  ASSERT_TRUE(WriteFileAtomic(made, "").ok());
  EXPECT_TRUE(looks_.IsOwn(made));
  EXPECT_TRUE(looks_.IsOwn(made + "/below"));
  looks_.Note(File(made), true);
  EXPECT_THAT(looks_.All().found, IsEmpty());
}

TEST_F(NotedLooksTest, WhatItCouldNotMakeWasAbsent) {
  looks_.Makes(kThread, Absent(dir_ + "/refused"));
  looks_.Makes(kOther, Absent(dir_ + "/interrupted"));
  looks_.EndCallOf(kThread);
  looks_.DropCallOf(kOther);
  EXPECT_THAT(looks_.All().found,
              UnorderedElementsAre(Pair(dir_ + "/refused", Looks::Found::kAbsent)));
}

TEST_F(NotedLooksTest, MoreThanIsKeptIsAnErrorUntilItIsForgiven) {
  for (size_t i = 0; i < Looks::kMax; ++i) looks_.Note(File("/usr/" + std::to_string(i)), false);
  EXPECT_TRUE(looks_.error().ok());
  looks_.Note(File("/usr/0"), true);
  EXPECT_TRUE(looks_.error().ok()) << "it is known";
  looks_.Note(File("/usr/more"), false);
  EXPECT_TRUE(absl::IsFailedPrecondition(looks_.error())) << looks_.error();
  looks_.Forgive();
  EXPECT_TRUE(looks_.error().ok());
  EXPECT_EQ(looks_.All().found.size(), Looks::kMax);
}

}  // namespace
}  // namespace galley::worker
