#include "director/shell/worker_admission.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerAdmissionTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a.txt", "source");
    auto world = std::make_shared<World>(*MakeWorld());
    world->number = 4;
    world_.Set(std::move(world));
    ASSERT_TRUE(CreateDirectories(Host("state")).ok());
    options_ = {.state_directory = Host("state"), .cookers_json = cookers_, .term = 3};
    reports_.emplace(ReportReader::Deps{.sources = [this] { return SourcesOf(world_.Get()); },
                                        .store = &store_,
                                        .results = &results_,
                                        .trace = &trace_},
                     "main", DefaultLimits());
    log_book_.emplace(
        WorkerLogBook::Deps{
            .reports = *reports_, .views = views_, .clocks = clocks_, .clock = clock_},
        WorkerLogsOptions{.folder = Host("logs")});
    Begin();
  }
  void TearDown() override {
    admission_.reset();
    log_book_.reset();  // writes what waits
    ShellTest::TearDown();
  }
  // Begins a director with these options.
  void Begin() {
    admission_.emplace(options_, WorkerAdmission::Deps{.world = world_,
                                                       .store = store_,
                                                       .clock = clock_,
                                                       .workers = workers_,
                                                       .views = views_,
                                                       .log_book = *log_book_,
                                                       .tell_core = [this](Event event) {
                                                         told_.push_back(std::move(event));
                                                       }});
  }
  v1::FromWorker Hello(bool has_files) const {
    v1::FromWorker first;
    v1::Hello& hello = *first.mutable_hello();
    hello.set_cookers_json(cookers_);
    hello.set_slots(2);
    hello.set_pid(17);
    hello.set_machine("node7");
    hello.set_is_without_files(!has_files);
    return first;
  }
  // Returns an empty text when the worker is attached.
  std::string Attach(const std::string& worker, const v1::FromWorker& first) {
    const auto welcome = admission_->Attach(worker, first, "");
    if (!welcome.ok()) return MessageOf(welcome.status());
    welcome_ = *welcome;
    return "";
  }

  const std::string cookers_ = record::EncodeDescriptions({{.name = "copy", .identity = "1"}});
  WorldHolder world_{nullptr};
  SystemClock clock_;
  Trace trace_;
  AttachedWorkers workers_;
  WorkerViews views_;
  ClockOffsets clocks_;
  std::optional<ReportReader> reports_;
  std::optional<WorkerLogBook> log_book_;
  WorkerAdmission::Options options_;
  std::optional<WorkerAdmission> admission_;
  v1::ToWorker welcome_;
  std::vector<Event> told_;
};

TEST_F(WorkerAdmissionTest, AWorkerOfThisMachineIsToldWhereFilesAreAndWhereItWrites) {
  ASSERT_EQ(Attach("local-1", Hello(/*has_files=*/true)), "");
  EXPECT_EQ(welcome_.welcome().term(), 3u);
  EXPECT_EQ(welcome_.snapshot().number(), 4u);
  EXPECT_EQ(welcome_.welcome().scratch_directory(), Host("state") + "/scratch/17");
  EXPECT_EQ(welcome_.segments_size(), 1);
  EXPECT_TRUE(workers_.HasFiles("local-1"));
  EXPECT_EQ(views_.All().at(0).launcher, "local");
}

TEST_F(WorkerAdmissionTest, OneOfAnotherMachineIsToldOfNoFileOfThisOne) {
  ASSERT_EQ(Attach("node7", Hello(/*has_files=*/false)), "");
  EXPECT_EQ(welcome_.segments_size(), 0);
  EXPECT_EQ(welcome_.welcome().scratch_directory(), "");
  EXPECT_FALSE(workers_.HasFiles("node7"));
  EXPECT_THAT(Attach("node8", Hello(/*has_files=*/true)), HasSubstr("--without-files"));
}

TEST_F(WorkerAdmissionTest, AWorkerIsToldOfItsProgramsWalls) {
  ASSERT_EQ(Attach("local-1", Hello(/*has_files=*/true)), "");
  EXPECT_EQ(welcome_.welcome().walls(), "best");
  EXPECT_THAT(welcome_.welcome().read_only(),
              ElementsAre(Host("state"), world_.Get()->project->output_directory));
  ASSERT_EQ(Attach("node7", Hello(/*has_files=*/false)), "");
  EXPECT_THAT(welcome_.welcome().read_only(), IsEmpty());
}

TEST_F(WorkerAdmissionTest, OneThatHasNoWallsIsRefusedOnlyWhereTheyAreRequired) {
  v1::FromWorker first = Hello(/*has_files=*/true);
  first.mutable_hello()->set_walls_missing("not here");
  ASSERT_EQ(Attach("local-1", first), "");
  EXPECT_EQ(workers_.WallsMissingOf("local-1"), "not here");
  auto world = std::make_shared<World>(*world_.Get());
  auto project = std::make_shared<project::Project>(*world->project);
  project->cook.walls = project::Walls::kRequire;
  world->project = project;
  world_.Set(world);
  EXPECT_THAT(Attach("local-1", first), HasSubstr("[cook] walls = \"require\""));
  EXPECT_THAT(Attach("local-1", first), HasSubstr("not here"));
  EXPECT_EQ(Attach("local-2", Hello(/*has_files=*/true)), "");
  EXPECT_EQ(welcome_.welcome().walls(), "require");
}

TEST_F(WorkerAdmissionTest, OtherCookersAreLackedAndOnThisMachineTheyAreAnotherBuild) {
  v1::FromWorker first = Hello(/*has_files=*/false);
  first.mutable_hello()->set_cookers_json(record::EncodeDescriptions({}));
  EXPECT_EQ(Attach("node7", first), "");
  EXPECT_THAT(admission_->LackedBy(first.hello()).value(), ElementsAre("copy", "command"));
  first.mutable_hello()->set_is_without_files(false);
  EXPECT_THAT(Attach("local-1", first), HasSubstr("another build"));
}

TEST_F(WorkerAdmissionTest, OneThatIsQuarantinedIsRefusedByTheNextDirectorToo) {
  ASSERT_EQ(Attach("node7", Hello(/*has_files=*/false)), "");
  admission_->Quarantine({.worker = "node7", .machine = "node7", .why = "it lied"});
  EXPECT_THAT(MessageOf(admission_->MayRenew("node7")), HasSubstr("it lied"));
  EXPECT_THAT(Attach("node7", Hello(/*has_files=*/false)), HasSubstr("galley readmit node7"));
  Begin();
  EXPECT_THAT(Attach("node7", Hello(/*has_files=*/false)), HasSubstr("galley readmit node7"));
  EXPECT_THAT(told_, IsEmpty());
  ASSERT_TRUE(QuarantineFile(Host("state")).Remove("node7").ok());
  EXPECT_EQ(Attach("node7", Hello(/*has_files=*/false)), "");
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<WorkerReadmitted>(told_[0]));
}

TEST_F(WorkerAdmissionTest, OneThatMayNotBeWrittenDownIsRefusedByThisDirectorOnly) {
  options_.may_write = [] { return absl::FailedPreconditionError("another director has begun"); };
  Begin();
  admission_->Quarantine({.worker = "node7", .machine = "node7", .why = "it lied"});
  EXPECT_THAT(Attach("node7", Hello(/*has_files=*/false)), HasSubstr("it lied"));
  EXPECT_THAT(QuarantineFile(Host("state")).All().value(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
