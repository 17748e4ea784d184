#include "worker/session/job_queue.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint64_t> AttemptsOf(const JobQueue& queue) {
  std::vector<uint64_t> attempts;
  for (size_t i = 0; i < queue.size(); ++i) attempts.push_back(queue[i].attempt);
  return attempts;
}

TEST(JobQueueTest, AJobStandsBehindThoseThatAreAsUrgentAndAJobPutBackBeforeAll) {
  JobQueue queue(1, false);
  queue.AddJob({.attempt = 1, .urgency = 1, .expected_us = 10});
  queue.AddJob({.attempt = 2, .urgency = 3, .expected_us = 20});
  queue.AddJob({.attempt = 3, .urgency = 3, .expected_us = 30});
  EXPECT_THAT(AttemptsOf(queue), ElementsAre(2, 3, 1));
  EXPECT_EQ(queue.expected(), absl::Microseconds(60));
  const auto removed = queue.RemoveJob(1);
  ASSERT_TRUE(removed.has_value());
  EXPECT_FALSE(queue.RemoveJob(1).has_value());
  queue.PutBack(*removed);
  EXPECT_THAT(AttemptsOf(queue), ElementsAre(1, 2, 3));
  EXPECT_EQ(queue.expected(), absl::Microseconds(60));
  EXPECT_THAT(queue.TakeJobsToFetch(), IsEmpty());
}

TEST(JobQueueTest, EachJobIsFetchedAheadOnceInTheOrderOfTheQueue) {
  JobQueue queue(1, true);
  for (uint64_t attempt = 1; attempt <= 6; ++attempt)
    queue.AddJob({.attempt = attempt, .expected_us = 100'000});
  EXPECT_THAT(queue.TakeJobsToFetch(), ElementsAre(1, 2, 3, 4)) << "400 ms";
  EXPECT_THAT(queue.TakeJobsToFetch(), IsEmpty());
  queue.AddJob({.attempt = 7, .urgency = 3, .expected_us = 100'000});
  EXPECT_THAT(queue.TakeJobsToFetch(), ElementsAre(7)) << "it begins next";
  for (const uint64_t attempt : {7, 1, 2, 3}) EXPECT_TRUE(queue.RemoveJob(attempt)->is_fetched);
  EXPECT_THAT(queue.TakeJobsToFetch(), ElementsAre(5, 6));
}

}  // namespace
}  // namespace galley::worker
