#include "director/host/inheritance.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class InheritanceTest : public testing::Test {
 protected:
  const TemporaryFolder folder_ = *TemporaryFolder::Make(testing::TempDir(), "galley-inherit-");
  std::unique_ptr<Journal> journal_ = *Journal::Open(folder_.path());
};

TEST_F(InheritanceTest, OnlyTheJobsOfWorkersThatLiveAreTakenOver) {
  ASSERT_TRUE(journal_
                  ->RecordProgress({.given = {{.attempt = 7, .worker = "w1", .package = "/Game/a"},
                                              {.attempt = 8, .worker = "w2", .package = "/Game/b"}},
                                    .over = {},
                                    .blamed = {{.package = "/Game/b", .own_faults = 2}}})
                  .ok());
  const auto left = TakeOver({{.worker_id = "w1"}}, 3, *journal_);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(left->survivors, ElementsAre(Field(&WorkerRecord::worker_id, "w1")));
  EXPECT_THAT(left->progress.given, ElementsAre(Field(&AttemptRecord::attempt, 7u)));
  EXPECT_THAT(left->progress.blamed, ElementsAre(Field(&BlameRecord::own_faults, 2u)));
  EXPECT_THAT(journal_->Progress()->given, ElementsAre(Field(&AttemptRecord::attempt, 7u)));
}

TEST_F(InheritanceTest, OfACookThatEndedNothingIsLeft) {
  const auto left = TakeOver({}, 3, *journal_);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_TRUE(left->progress.empty());
}

TEST_F(InheritanceTest, FoldersOfWorkersThatDiedAreRemoved) {
  const std::string scratch = JoinPath(folder_.path(), "scratch");
  ASSERT_TRUE(CreateDirectories(JoinPath(scratch, "123")).ok());
  ASSERT_TRUE(CreateDirectories(JoinPath(scratch, "notes")).ok());
  EXPECT_THAT(FindInheritedWorkers(folder_.path()), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(JoinPath(scratch, "123")));
  EXPECT_TRUE(std::filesystem::exists(JoinPath(scratch, "notes"))) << "no worker's";
}

TEST_F(InheritanceTest, WorkersThatNobodyTookOverAreEnded) {
  const std::string workers = JoinPath(folder_.path(), "workers");
  ASSERT_TRUE(CreateDirectories(workers).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  const auto end = absl::MakeCleanup([child] { ::kill(child, SIGKILL); });
  ASSERT_TRUE(WriteWorkerRecord(workers, {.worker_id = "local-1",
                                          .pid = child,
                                          .director_address = "unix:/d",
                                          .token = std::string(64, 'a')})
                  .ok());
  std::vector<WorkerRecord> survivors = FindInheritedWorkers(folder_.path());
  ASSERT_EQ(survivors.size(), 1u);
  // Another process that has the number of an ended worker is left alone.
  WorkerRecord stranger = survivors[0];
  stranger.started = "yesterday";
  EndInheritedWorkers(folder_.path(), std::vector{stranger});
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
  EndInheritedWorkers(folder_.path(), survivors);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_THAT(FindInheritedWorkers(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace galley::director
