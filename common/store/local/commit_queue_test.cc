#include "common/store/local/commit_queue.h"

#include <sched.h>

#include <deque>
#include <thread>

#include "common/base/testing/await.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;

// Runs callers, each in a thread; the first one's commit lasts until `waiting` others wait.
class CommitQueueTest : public testing::Test {
 protected:
  std::vector<absl::Status> Commit(std::span<const CommitBatch* const> batches) {
    if (sizes_.empty()) {
      while (queue_.waiting() < waiting_) ::sched_yield();
    }
    sizes_.push_back(batches.size());
    std::vector<absl::Status> outcomes;
    for (const CommitBatch* batch : batches)
      outcomes.push_back(fails_ && fails_(*batch) ? absl::DataLossError("failed")
                                                  : absl::OkStatus());
    return outcomes;
  }

  // The outcome of each batch.
  std::vector<bool> Run(const std::vector<CommitBatch>& batches) {
    const WaitLimit limit(
        fmt::format("{} commits, of which all others come during the first", batches.size()));
    waiting_ = batches.size() - 1;
    std::deque<bool> outcomes(batches.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < batches.size(); ++i)
      threads.emplace_back([&, i] { outcomes[i] = queue_.Run(batches[i]).ok(); });
    for (std::thread& thread : threads) thread.join();
    return {outcomes.begin(), outcomes.end()};
  }

  size_t waiting_ = 0;
  std::vector<size_t> sizes_;  // of the commits, by one thread at a time
  std::function<bool(const CommitBatch&)> fails_;
  CommitQueue queue_{[this](auto batches) { return Commit(batches); }};
};

TEST_F(CommitQueueTest, ThoseThatComeDuringACommitShareTheNext) {
  Run(std::vector<CommitBatch>(20));
  EXPECT_THAT(sizes_, ElementsAre(1, 19));
}

TEST_F(CommitQueueTest, OneCallerAfterTheOtherMakesACommitEach) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue_.Run({}).ok());
  EXPECT_THAT(sizes_, ElementsAre(1, 1, 1));
}

TEST_F(CommitQueueTest, EachCallerHasItsOwnOutcome) {
  std::vector<CommitBatch> batches(4);
  batches[2].sets.emplace_back();
  fails_ = [](const CommitBatch& batch) { return !batch.sets.empty(); };
  EXPECT_THAT(Run(batches), ElementsAre(true, true, false, true));
}

}  // namespace
}  // namespace galley::store
