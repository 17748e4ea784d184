// A real galley-worker session with real executors, against a director that lives in this process.
#include <csignal>
#include <string>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"
#include "galley/v1/worker.pb.h"
#include "gtest/gtest.h"
#include "worker/session/testing/session_process_fixture.h"

namespace galley::worker {
namespace {

TEST_F(SessionProcessTest, AWorkerWhoseSegmentHasAnotherWriterIsGivenOneWhenItAttachesAgain) {
  const auto other = store::SegmentWriter::Open(root_ + "/store", segment_);
  ASSERT_TRUE(other.ok());
  StartSession();
  Give(JobOf(1, "/Game/readme.txt"));
  ASSERT_TRUE(director_.WaitForAttach(2));
  segment_ = *store_->AllocateSegment();
  Welcome();
  const std::vector<v1::Report> reports = director_.WaitForEnd(1);
  EXPECT_EQ(FailureIn(reports), nullptr);
  EXPECT_TRUE(reports.back().has_ended());
}

TEST_F(SessionProcessTest, APackageIsCookedOnceForTwoEqualPlatformsAndItsBytesLieInTheStore) {
  StartSession();
  for (const auto& [attempt, package, size] :
       {std::tuple(5u, "/Game/readme.txt", 5u), std::tuple(6u, "/Game/large.bin", 600'000u)}) {
    const std::vector<v1::Report> reports = Run(JobOf(attempt, package));
    ASSERT_EQ(reports.size(), 4u);
    EXPECT_TRUE(reports[0].has_loaded());
    ASSERT_TRUE(reports[1].has_saved());
    EXPECT_FALSE(reports[1].saved().shared());
    ASSERT_TRUE(reports[2].has_saved());
    EXPECT_TRUE(reports[2].saved().shared());
    EXPECT_EQ(reports[2].saved().platform(), 1u);
    EXPECT_EQ(reports[0].bytes().read(), size);
    EXPECT_EQ(reports[1].bytes().saved(), size) << "once for both";
    EXPECT_EQ(reports[1].bytes().read() + reports[2].bytes().ByteSizeLong() +
                  reports[3].bytes().ByteSizeLong(),
              0u);
    const auto result = record::DecodeResult(reports[1].saved().result());
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->outputs.size(), 1u);
    EXPECT_EQ(result->provenance.worker, "local-1");
    const auto blob = wire::FromProto(reports[1].saved().blobs(0));
    ASSERT_TRUE(blob.ok());
    EXPECT_EQ(blob->digest, result->outputs[0].digest);
    const auto bytes = store::ReadBlobAt(root_ + "/store", blob->digest, blob->location);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ((*bytes)->size(), size);
  }
}

TEST_F(SessionProcessTest, ACookedInputIsReadFromTheStoreOnceAndIsWarmForTheNextJob) {
  StartSession();
  const std::vector<v1::Report> made = Run(JobOf(1, "/Game/readme.txt"));
  const auto job_of = [&](uint64_t attempt) {
    v1::Job job = CommandOf(attempt, "cat {cooked:/Game/other.txt} > {output:.o}");
    job.mutable_targets(0)->set_recipe(record::EncodeRecipe(
        {.cooker = "command",
         .identity = "2",
         .extension = "txt",
         .settings = R"({"argv":["cp","{cooked:/Game/other.txt}","{output:.o}"],)"
                     R"("cooked_inputs":["/Game/other.txt"],"depfile":"","env":{},)"
                     R"("outputs":[".o"]})"}));
    v1::CookedInput& input = *job.add_cooked();
    input.set_package("/Game/other.txt");
    v1::CookedOutput& output = *input.add_outputs();
    *output.mutable_digest() = made[1].saved().blobs(0).digest();
    *job.add_blobs() = made[1].saved().blobs(0);
    return job;
  };
  const auto sum = [](const std::vector<v1::Report>& reports) {
    v1::JobBytes total;
    for (const v1::Report& report : reports) {
      total.set_read(total.read() + report.bytes().read());
      total.set_warm(total.warm() + report.bytes().warm());
      total.set_saved(total.saved() + report.bytes().saved());
    }
    return total;
  };
  const v1::JobBytes first = sum(Run(job_of(2)));
  const v1::JobBytes second = sum(Run(job_of(3)));
  EXPECT_EQ(first.read(), 5u + 5u) << "the source, and the cooked input";
  EXPECT_EQ(first.saved(), 5u);
  EXPECT_EQ(second.read(), 5u);
  EXPECT_EQ(second.warm(), first.warm() + 5u);
  EXPECT_EQ(second.saved(), 5u);
}

// Programs that an executor starts may end before it has written what they wait for.
TEST_F(SessionProcessTest, AnExecutorOutlivesAPipeWithoutAReader) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  const pid_t executor = ExecutorPid();
  ASSERT_GT(executor, 0);
  ::kill(executor, SIGPIPE);
  EXPECT_EQ(Run(JobOf(2, "/Game/readme.txt")).size(), 4u);
  EXPECT_EQ(ExecutorPid(), executor);
}

TEST_F(SessionProcessTest, AHangingExecutorIsKilledReplacedAndItsJobNamed) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  const pid_t executor = ExecutorPid();
  ASSERT_GT(executor, 0);
  ::kill(executor, SIGSTOP);
  v1::Job job = JobOf(2, "/Game/readme.txt");
  job.set_timeout_us(100'000);
  const std::vector<v1::Report> hung = Run(job);
  const v1::Failed* failed = FailureIn(hung);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->cause(), v1::Failed::TIMEOUT);
  EXPECT_EQ(failed->platforms_size(), 2);
  EXPECT_EQ(Run(JobOf(3, "/Game/readme.txt")).size(), 4u);
  EXPECT_NE(ExecutorPid(), executor);
}

TEST_F(SessionProcessTest, WhatWasSentAheadOfALostExecutorIsDoneByTheNext) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  ::kill(ExecutorPid(), SIGSTOP);
  v1::ToWorker message;
  for (const uint64_t attempt : {2u, 3u, 4u, 5u}) {
    v1::Job& job = *message.add_start() = JobOf(attempt, "/Game/readme.txt");
    job.set_expected_us(1000);
    if (attempt == 2) job.set_timeout_us(500'000);
  }
  *message.mutable_start(2) = CommandOf(4, "sleep 600");
  message.mutable_start(2)->set_expected_us(1000);
  director_.Send(message);
  v1::ToWorker cancel;  // by now the executor has the job: events are applied in order
  cancel.add_cancel(4);
  director_.Send(cancel);
  const std::vector<v1::Report> hung = director_.WaitForEnd(2);
  const v1::Failed* failed = FailureIn(hung);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->cause(), v1::Failed::TIMEOUT);
  for (const uint64_t attempt : {3u, 5u}) {
    const std::vector<v1::Report> reports = director_.WaitForEnd(attempt);
    EXPECT_EQ(FailureIn(reports), nullptr);
    EXPECT_EQ(reports.size(), 4u);
  }
  EXPECT_EQ(director_.WaitForEnd(4).size(), 1u);  // only Ended, since the job was cancelled
}

// The load of a short job is told with its first save, but this job saves nothing any more.
TEST_F(SessionProcessTest, AShortJobWhoseExecutorDiesInTheCookIsSaidToBeLoaded) {
  StartSession();
  v1::ToWorker message;
  v1::Job& job = *message.add_start() =
      CommandOf(1, "echo $$ > " + root_ + "/cooks; exec sleep 1000");
  job.set_expected_us(1000);
  director_.Send(message);
  ASSERT_GT(PidIn("cooks"), 0);
  ::kill(ExecutorPid(), SIGSEGV);
  const std::vector<v1::Report> reports = director_.WaitForEnd(1);
  ASSERT_NE(FailureIn(reports), nullptr);
  EXPECT_FALSE(reports.front().has_loaded());
  EXPECT_TRUE(FailureIn(reports)->is_loaded());
}

TEST_F(SessionProcessTest, ASegmentationFaultInAJobIsACrash) {
  KillWithinAJob(SIGSEGV, v1::Failed::CRASHED);
}

TEST_F(SessionProcessTest, AKillThatNobodyOfUsSentIsTheMachines) {
  KillWithinAJob(SIGKILL, v1::Failed::INFRASTRUCTURE);
}

TEST_F(SessionProcessTest, AFileLargerThanTheMemoryLimitIsAFailureForMemory) {
  StartSession();
  v1::Job job = JobOf(1, "/Game/large.bin");
  job.set_memory_bytes(200'000);
  const std::vector<v1::Report> reports = Run(job);
  const v1::Failed* failed = FailureIn(reports);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->cause(), v1::Failed::MEMORY);
}

TEST_F(SessionProcessTest, AFailingProgramIsNoVerdictAndItsWordsAreTheLog) {
  StartSession();
  const v1::Failed failed = *FailureIn(Run(CommandOf(1, "echo its own words; exit 3")));
  EXPECT_EQ(failed.cause(), v1::Failed::CAUSE_UNKNOWN);
  EXPECT_EQ(failed.log_tail(), "its own words\nsh: exit code 3\n");
  EXPECT_TRUE(director_.WaitForLog("package=/Game/readme.txt attempt failed: sh: exit code 3"));
}

TEST_F(SessionProcessTest, AProgramThatEatsMemoryBesideItsExecutorIsEnded) {
  StartSession();
  // Many small processes, none of which outgrows the limit that each of them has.
  v1::Job job = CommandOf(
      1,
      "for i in 1 2 3 4 5 6 7 8; do sh -c 'x=$(yes | head -c 30000000); sleep 1000' & done; wait");
  job.set_memory_bytes(150'000'000);
  const v1::Failed failed = *FailureIn(Run(job));
  EXPECT_EQ(failed.cause(), v1::Failed::MEMORY) << failed.error();
  EXPECT_NE(failed.log_tail().find("it took more than 143.1 MiB of memory"), std::string::npos);
}

// A depfile that is there when the program is ended may lack some of its reads.
TEST_F(SessionProcessTest, WhatAProgramReadThatRanOutOfTimeIsKnownOnlyWithoutADepfile) {
  StartSession();
  uint64_t attempt = 0;
  for (const char* const tells : {"", "echo o: Game/readme.txt > {depfile}; "}) {
    v1::Job job = CommandOf(++attempt, std::string(tells) + "while :; do :; done");
    job.set_timeout_us(300'000);
    const v1::Failed failed = *FailureIn(Run(job));
    EXPECT_EQ(failed.cause(), v1::Failed::TIMEOUT) << failed.error();
    EXPECT_EQ(failed.has_opened(), *tells == '\0') << tells;
  }
}

TEST_F(SessionProcessTest, WhatAProgramReadThatOutgrewItsMemoryIsKnownOnlyWithoutADepfile) {
  StartSession();
  uint64_t attempt = 0;
  for (const char* const tells : {"", "echo o: Game/readme.txt > {depfile}; "}) {
    v1::Job job =
        CommandOf(++attempt, std::string(tells) + "head -c 1G /dev/zero | tail -c 1G > /dev/null");
    job.set_memory_bytes(150'000'000);
    const v1::Failed failed = *FailureIn(Run(job));
    EXPECT_EQ(failed.cause(), v1::Failed::MEMORY) << failed.error();
    EXPECT_EQ(failed.has_opened(), *tells == '\0') << tells;
  }
}

TEST_F(SessionProcessTest, HelloSaysHowMuchMemoryThereIs) {
  StartSession();
  EXPECT_GT(director_.memory_bytes(), 16u << 20);
}

TEST_F(SessionProcessTest, WhatIsWarmIsDroppedBeforeAJobForWhichThereIsMuch) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  const pid_t executor = ExecutorPid();
  v1::Job job = JobOf(2, "/Game/readme.txt");
  job.set_memory_bytes(3 * ResidentBytes(executor));  // more than a quarter, less than half of it
  EXPECT_EQ(Run(job).size(), 4u);
  EXPECT_TRUE(director_.WaitForCollections(
      [](const v1::Collections& counts) { return counts.soft_limit() == 1; }));
  EXPECT_EQ(ExecutorPid(), executor);
  EXPECT_TRUE(director_.WaitForLog("slot=0 memory collection reason=soft_limit"));
}

TEST_F(SessionProcessTest, AnExecutorThatCollectionDoesNotHelpIsReplacedBetweenJobs) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  const pid_t executor = ExecutorPid();
  v1::Job job = JobOf(2, "/Game/readme.txt");
  job.set_memory_bytes(ResidentBytes(executor) * 3 / 2);
  const std::vector<v1::Report> reports = Run(job);
  EXPECT_EQ(FailureIn(reports), nullptr);
  EXPECT_EQ(reports.size(), 4u);
  EXPECT_TRUE(director_.WaitForCollections([](const v1::Collections& counts) {
    return counts.hard_limit() == 1 && counts.restarts() == 1;
  }));
  EXPECT_NE(ExecutorPid(), executor);
}

// Memory that other jobs left in the executor would count as the job's own.
TEST_F(SessionProcessTest, AJobThatRunsAloneHasAnExecutorOfItsOwn) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  const pid_t executor = ExecutorPid();
  Run(JobOf(2, "/Game/readme.txt"));
  ASSERT_EQ(ExecutorPid(), executor);
  v1::Job job = JobOf(3, "/Game/readme.txt");
  job.set_runs_alone(true);
  EXPECT_EQ(FailureIn(Run(job)), nullptr);
  EXPECT_NE(ExecutorPid(), executor);
}

TEST_F(SessionProcessTest, AnExecutorThatEndsWhenItIsToCollectIsReplacedAndTheJobIsDone) {
  StartSession();
  // If the executor dies before the session has the job, the job dies with it: the test tries
  // again.
  for (uint64_t attempt = 1; attempt < 100; attempt += 2) {
    Run(JobOf(attempt, "/Game/readme.txt"));
    const pid_t executor = ExecutorPid();
    ::kill(executor, SIGSTOP);
    v1::Job job = JobOf(attempt + 1, "/Game/readme.txt");
    job.set_memory_bytes(3 * ResidentBytes(executor));
    Give(job);
    ::kill(executor, SIGKILL);
    const std::vector<v1::Report> reports = director_.WaitForEnd(attempt + 1);
    if (const v1::Failed* failed = FailureIn(reports)) {
      ASSERT_EQ(failed->cause(), v1::Failed::INFRASTRUCTURE);
      continue;
    }
    EXPECT_EQ(reports.size(), 4u);
    return;
  }
  FAIL() << "the job was lost each time";
}

// Memory that an earlier job left may be taken for the memory of the next job, which was sent
// ahead: the next job begins again in an executor of its own, and is judged only there.
TEST_F(SessionProcessTest, AJobSentAheadThatOutgrowsItsMemoryIsJudgedInAnExecutorOfItsOwn) {
  StartSession();
  // If the first job ends before the slot has sent the second, the second is not ahead: the test
  // tries again.
  for (uint64_t attempt = 1; attempt < 300; attempt += 3) {
    RemoveAll(root_ + "/runs").IgnoreError();
    Run(JobOf(attempt, "/Game/readme.txt"));
    const pid_t executor = ExecutorPid();
    ::kill(executor, SIGSTOP);
    v1::ToWorker message;
    *message.add_start() = JobOf(attempt + 1, "/Game/readme.txt");
    v1::Job& eater = *message.add_start() =
        CommandOf(attempt + 2, "echo run >> " + root_ + "/runs; for i in 1 2 3 4 5 6 7 8; do " +
                                   "sh -c 'x=$(yes | head -c 30000000); sleep 1000' & done; wait");
    eater.set_memory_bytes(150'000'000);
    for (v1::Job& job : *message.mutable_start()) job.set_expected_us(1000);
    director_.Send(message);
    EXPECT_TRUE(director_.WaitForAcknowledgement());
    ::kill(executor, SIGCONT);
    const v1::Failed failed = *FailureIn(director_.WaitForEnd(attempt + 2));
    EXPECT_EQ(failed.cause(), v1::Failed::MEMORY) << failed.error();
    const std::string runs = *ReadFile(root_ + "/runs");
    if (runs == "run\n") continue;
    EXPECT_EQ(runs, "run\nrun\n");
    return;
  }
  FAIL() << "it was judged at once each time";
}

// An executor that cooks does not read, and an executor whose output nobody reads does not end its
// job. So a job that does not fit the socket is not sent ahead, or both sides would wait for each
// other.
TEST_F(SessionProcessTest, LargeJobsWaitForTheirExecutor) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  v1::ToWorker message;
  for (const uint64_t attempt : {2u, 3u, 4u}) {
    v1::Job& job = *message.add_start() = JobOf(attempt, "/Game/large.bin");
    job.set_expected_us(1000);
    for (v1::Target& target : *job.mutable_targets()) {
      target.set_recipe(
          record::EncodeRecipe({.cooker = "copy",
                                .identity = "2",
                                .extension = "txt",
                                .settings = R"({"other":")" + std::string(500'000, 'x') + "\"}"}));
    }
  }
  director_.Send(message);
  for (const uint64_t attempt : {2u, 3u, 4u}) {
    const std::vector<v1::Report> reports = director_.WaitForEnd(attempt);
    EXPECT_EQ(FailureIn(reports), nullptr) << FailureIn(reports)->error();
    EXPECT_EQ(reports.size(), 4u);
  }
}

TEST_F(SessionProcessTest, WhatAProgramStartedDiesWithItAndWithItsExecutor) {
  StartSession();
  // The daemon has a session of its own, so that no signal to a group reaches it.
  const std::string daemon = "setsid sh -c 'echo $$ > " + root_ + "/NAME; exec sleep 1000' & ";
  const auto with_name = [&](const std::string& name) {
    return std::string(daemon).replace(daemon.find("NAME"), 4, name);
  };
  Run(CommandOf(1, with_name("first") + "while ! [ -s " + root_ + "/first ]; do :; done; exit 3"));
  const pid_t first = PidIn("first");
  ASSERT_GT(first, 0);
  EXPECT_NE(::kill(first, 0), 0) << "the program's end";
  Give(CommandOf(2, with_name("second") + "wait"));
  const pid_t second = PidIn("second");
  ASSERT_GT(second, 0);
  ::kill(ExecutorPid(), SIGKILL);
  director_.WaitForEnd(2);
  EXPECT_NE(::kill(second, 0), 0) << "the executor's end";
}

// With a single slot: each program waits for what another job writes, and none ends before.
TEST_F(SessionProcessTest, WhileAProgramWaitsItsSlotGoesOnWithOtherJobs) {
  StartSession();
  const auto wait_for = [&](const std::string& file) {
    return "while ! [ -e " + root_ + "/" + file + " ]; do sleep 0.02; done";
  };
  Give(CommandOf(1, wait_for("two") + "; echo $$ > " + root_ + "/one; echo 1 > out.o; exit 3"));
  Give(CommandOf(2, "touch " + root_ + "/two; " + wait_for("one") + "; exit 4"));
  Give(CommandOf(3, "exit 5"));
  EXPECT_NE(FailureIn(director_.WaitForEnd(1))->error().find("exit code 3"), std::string::npos);
  EXPECT_NE(FailureIn(director_.WaitForEnd(2))->error().find("exit code 4"), std::string::npos);
  director_.WaitForEnd(3);
  EXPECT_EQ(director_.most_pending(), 1);
}

TEST_F(SessionProcessTest, AProgramThatWorksKeepsItsSlot) {
  StartSession();
  // The program would end at once if the next job began.
  Give(CommandOf(1, "i=0; while [ $i -lt 300000 ] && ! [ -e " + root_ +
                        "/next ]; do i=$((i+1)); done; [ -e " + root_ + "/next ] || exit 3"));
  Give(CommandOf(2, "touch " + root_ + "/next; exit 4"));
  EXPECT_NE(FailureIn(director_.WaitForEnd(1))->error().find("exit code 3"), std::string::npos);
  director_.WaitForEnd(2);
}

TEST_F(SessionProcessTest, AProgramThatWaitsIsEndedAtItsTimeLimitAndWhenItIsCancelled) {
  StartSession();
  // A machine that is too slow to find out in time that a job waits gives the job more time.
  for (int64_t attempt = 1, limit_us = 1'500'000; director_.most_pending() == 0;
       attempt += 2, limit_us *= 2) {
    for (const char* name : {"first", "second"}) RemoveAll(root_ + "/" + name).IgnoreError();
    const auto first = static_cast<uint64_t>(attempt);
    v1::Job job = CommandOf(first, "echo $$ > " + root_ + "/first; exec sleep 1000");
    job.set_timeout_us(limit_us);
    Give(job);
    Give(CommandOf(first + 1, "echo $$ > " + root_ + "/second; exec sleep 1000"));
    const pid_t second = PidIn("second");
    ASSERT_GT(second, 0);
    EXPECT_EQ(FailureIn(director_.WaitForEnd(first))->cause(), v1::Failed::TIMEOUT);
    EXPECT_TRUE(director_.most_pending() == 0 || ::kill(PidIn("first"), 0) != 0);
    v1::ToWorker cancel;
    cancel.add_cancel(first + 1);
    director_.Send(cancel);
    EXPECT_EQ(FailureIn(director_.WaitForEnd(first + 1)), nullptr);
    EXPECT_NE(::kill(second, 0), 0);
  }
}

TEST_F(SessionProcessTest, AProgramThatGoesOnAndEatsMemoryIsEnded) {
  StartSession();
  v1::Job job = CommandOf(1, "while ! [ -e " + root_ +
                                 "/eat ]; do sleep 0.02; done; for i in 1 2 3 4 5 6 7 8; do "
                                 "sh -c 'x=$(yes | head -c 30000000); sleep 1000' & done; wait");
  job.set_memory_bytes(150'000'000);
  Give(job);
  Give(CommandOf(2, "touch " + root_ + "/eat; exit 3"));  // job 1 is pending
  const v1::Failed failed = *FailureIn(director_.WaitForEnd(1));
  EXPECT_EQ(failed.cause(), v1::Failed::MEMORY) << failed.error();
}

// A session with a single slot has one executor, and a second only while it is useful.
TEST_F(SessionProcessTest, TheSpareExecutorEndsWhenItIsIdleForAWhile) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  EXPECT_EQ(Executors(), 1u);
  Give(CommandOf(2, "while ! [ -e " + root_ + "/go ]; do sleep 0.02; done; exit 3"));
  Run(JobOf(3, "/Game/readme.txt"));
  EXPECT_EQ(Executors(), 2u);
  ASSERT_TRUE(WriteFileAtomic(root_ + "/go", "").ok());
  director_.WaitForEnd(2);
  AwaitOrFail([&] { return Executors() == 1; }, "the end of the spare executor");
  EXPECT_EQ(Executors(), 1u);
  EXPECT_EQ(Run(JobOf(4, "/Game/readme.txt")).size(), 4u);
}

TEST_F(SessionProcessTest, ABrokenStreamIsAttachedAgainAndWorkGoesOn) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  director_.Break();
  ASSERT_TRUE(director_.WaitForAttach(2));
  Welcome();
  EXPECT_EQ(Run(JobOf(2, "/Game/readme.txt")).size(), 4u);
}

TEST_F(SessionProcessTest, ADirectorThatDoesNotServeYetIsAskedAgain) {
  director_.RefuseFor(3);
  StartSession();
  EXPECT_EQ(director_.refusals_left(), 0);
  EXPECT_EQ(Run(JobOf(1, "/Game/readme.txt")).size(), 4u);
}

TEST_F(SessionProcessTest, ASessionThatIsAskedToTerminateSaysGoodbye) {
  StartSession();
  Run(JobOf(1, "/Game/readme.txt"));
  const pid_t executor = ExecutorPid();
  ::kill(session_.pid(), SIGINT);  // ignored: the director decides
  ::kill(session_.pid(), SIGTERM);
  const auto exit = session_.WaitFor(absl::Seconds(60));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->ToString(), "exit code 75") << "another one is wanted for what it had in hand";
  EXPECT_TRUE(director_.WaitForGoodbye());
  EXPECT_NE(::kill(executor, 0), 0);
}

TEST_F(SessionProcessTest, AWrongTokenEndsTheSession) {
  ASSERT_TRUE(WriteFileAtomic(root_ + "/token", "guess").ok());
  auto child =
      ChildProcess::Start({.argv = {std::string(GALLEY_BIN_DIR) + "/galley-worker", "session",
                                    "--director", "unix:" + root_ + "/s", "--id", "local-1"},
                           .environment = {"GALLEY_TOKEN_FILE=" + root_ + "/token"},
                           .inherit_environment = true});
  ASSERT_TRUE(child.ok());
  const auto exit = child->WaitFor(absl::Seconds(60));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 3);
}

}  // namespace
}  // namespace galley::worker
