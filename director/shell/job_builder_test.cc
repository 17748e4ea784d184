#include "director/shell/job_builder.h"

#include "common/wire/convert.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The core was asked for /Game/a.txt, which reads the cooked /Game/b.txt.
class JobBuilderTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a.txt", "a");
    Write("content/b.txt", "b");
    world_.Set(MakeWorld());
    reports_ = std::make_unique<ReportReader>(
        ReportReader::Deps{.sources = [this] { return SourcesOf(world_.Get()); },
                           .store = &store_,
                           .results = &results_,
                           .trace = &trace_},
        "main", DefaultLimits{});
    journal_ = *Journal::Open(dir_ + "/state");
    core_ = std::make_unique<CookCore>(CookOptions{.platform_count = 3}, world_.Get()->table);
    std::vector<Effect> effects;
    core_->Step(absl::FromUnixSeconds(1),
                CookRequested{.request = 1,
                              .platforms = 3,
                              .selected = {{"/Game/a.txt", InstigatorCategory::kCookMap},
                                           {"/Game/b.txt", InstigatorCategory::kCookMap}}},
                effects);
    for (const Effect& effect : effects) {
      if (const auto* look_up = std::get_if<LookUp>(&effect)) first_look_up_ = look_up->items;
    }
    start_ = {
        .attempt = 41, .package = core_->Find("/Game/a.txt"), .platforms = MaskOf(0) | MaskOf(1)};
    auto input = std::make_shared<StoredResult>();
    input->result.outputs = {{".out", Digest::Of("cooked b")}};
    start_.cooked = {{core_->Find("/Game/b.txt"), 1, results_.Add(input)->id}};
  }
  JobBuilder Builder() {
    return JobBuilder({.core = core_.get(),
                       .results = &results_,
                       .reports = reports_.get(),
                       .store = &store_,
                       .journal = journal_.get(),
                       .sources = SourcesOf(world_.Get()),
                       .reads = &reads_});
  }
  // A worker says that the cooked /Game/b.txt lies at `location`.
  void ReportBlob(const store::BlobLocation& location) {
    reports_->Register(9, std::make_shared<AttemptInfo>(AttemptInfo{
                              .name = "/Game/b.txt", .worker = "local-2", .hashes_files = true}));
    v1::Report report;
    report.set_attempt(9);
    report.mutable_loaded()->set_details(record::EncodeDetails({}));
    wire::ToProto(Digest::Of("cooked b"), location, report.mutable_loaded()->add_blobs());
    (void)reports_->Read("local-2", report);
  }
  // Removes the file of /Game/a.txt.
  void Remove() {
    ASSERT_TRUE(RemoveAll(Host("content/a.txt")).ok());
    world_.Set(MakeWorld());
  }

  WorldHolder world_{nullptr};
  Trace trace_;
  std::unique_ptr<ReportReader> reports_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<CookCore> core_;
  StoredReads reads_;
  Desire::Start start_;
  std::vector<LookUp::Item> first_look_up_;
};

TEST_F(JobBuilderTest, AQuestionNamesThePackageItsRecipesAndWhatItsInputsAreCookedTo) {
  const LookUpItem item = Builder().ItemOf(
      {.package = start_.package, .platforms = 3, .generation = 7, .cooked = start_.cooked});
  EXPECT_EQ(item.name, "/Game/a.txt");
  EXPECT_EQ(item.generation, 7u);
  EXPECT_EQ(item.recipes, world_.Get()->table->RecipesOf("/Game/a.txt"));
  EXPECT_EQ(item.generated_source, std::nullopt);
  ASSERT_THAT(item.cooked, SizeIs(2));
  EXPECT_THAT(item.cooked[0], IsEmpty());
  EXPECT_EQ(item.cooked[1].at("/Game/b.txt").front().digest, Digest::Of("cooked b"));
}

TEST_F(JobBuilderTest, AJobHasItsTargetsAndInputs) {
  const BuiltJob built = Builder().Build(start_, "local-1", /*has_files=*/true);
  EXPECT_EQ(built.job.attempt(), 41u);
  EXPECT_EQ(built.job.package(), "/Game/a.txt");
  EXPECT_EQ(built.job.snapshot(), world_.Get()->number);
  ASSERT_EQ(built.job.targets_size(), 2);
  EXPECT_EQ(built.job.targets(1).platform(), 1u);
  EXPECT_EQ(built.job.targets(1).recipe(), record::EncodeRecipe(built.info->recipes->at(1).recipe));
  ASSERT_EQ(built.job.cooked_size(), 1);
  EXPECT_EQ(built.job.cooked(0).package(), "/Game/b.txt");
  EXPECT_EQ(built.job.cooked(0).platform(), 1u);
  EXPECT_EQ(built.job.cooked(0).outputs(0).suffix(), ".out");
  EXPECT_EQ(built.info->name, "/Game/a.txt");
  EXPECT_EQ(built.info->platforms, start_.platforms);
  EXPECT_THAT(*built.info->numbering, SizeIs(3));
  EXPECT_THAT(built.info->cooked, SizeIs(2));
}

// The files changed between the look-up of a generated package and its job.
TEST_F(JobBuilderTest, AGeneratedPackageHasItsTargetsInANewerWorldToo) {
  auto listing = std::make_shared<StoredResult>();
  listing->result.details.generated = {
      {.name = "_gen/x.txt", .source = Digest::Of("x"), .cooker = "copy"}};
  std::vector<Effect> effects;
  core_->Step(absl::FromUnixSeconds(2), Tick{}, effects);
  LookedUp found;
  for (const LookUp::Item& item : first_look_up_) {
    if (core_->NameOf(item.package) != "/Game/a.txt") continue;
    found.items.push_back({.package = item.package,
                           .platform = 0,
                           .generation = item.generation,
                           .outcome = LookedUp::Hit{.result = results_.Add(listing)}});
  }
  core_->Step(absl::FromUnixSeconds(3), found, effects);
  const PackageId child = core_->Find("/Game/a.txt/_gen/x.txt");
  ASSERT_TRUE(child.valid());
  ASSERT_NE(core_->GeneratedOf(child), nullptr);
  world_.Set(MakeWorld());
  const BuiltJob built =
      Builder().Build({.attempt = 42, .package = child, .platforms = 1}, "local-1", true);
  EXPECT_EQ(built.job.targets_size(), 1);
  EXPECT_EQ(built.job.generated_source().size_bytes(), 1);
  EXPECT_NE(Builder().ItemOf({.package = child, .platforms = 1}).recipes, nullptr);
}

TEST_F(JobBuilderTest, ABlobLiesWhereAWorkerReportedItAndNobodyKnowsOfOthers) {
  EXPECT_THAT(Builder().Build(start_, "local-1", /*has_files=*/true).job.blobs(), IsEmpty());
  ReportBlob({.segment = 5, .offset = 64});
  const v1::Job job = Builder().Build(start_, "local-1", /*has_files=*/true).job;
  ASSERT_EQ(job.blobs_size(), 1);
  EXPECT_EQ(job.blobs(0).segment(), 5u);
  EXPECT_EQ(job.blobs(0).offset(), 64u);
}

TEST_F(JobBuilderTest, AWorkerWithoutFilesIsToldWhatTheLastCookRead) {
  Write("content/inc.txt", "included");
  world_.Set(MakeWorld());
  JournalUpdate update{.package = "/Game/a.txt", .platform = "windows"};
  update.record.observed = {
      {{record::ObservationKind::kFile, "inc.txt", ""}, Digest::Of("another text").ToString()},
      {{record::ObservationKind::kCooked, "b.txt", ".out"}, Digest::Of("another b").ToString()}};
  ASSERT_TRUE(journal_->Record(std::span(&update, 1), false).ok());
  const auto told = [&](bool has_files) {
    std::vector<std::string> reads;
    const v1::Job job = Builder().Build(start_, "w", has_files).job;
    for (const v1::LikelyRead& read : job.likely_reads())
      reads.push_back(read.path() + (read.has_digest() ? " known" : ""));
    return reads;
  };
  EXPECT_THAT(told(false), ElementsAre("/Game/inc.txt")) << "b was given for android alone";
  start_.cooked[0].platform = 0;
  ASSERT_TRUE(world_.Get()->snapshot->DigestOf("/Game/inc.txt").ok());
  EXPECT_THAT(told(false), ElementsAre("/Game/inc.txt known", " known"));
  EXPECT_THAT(told(true), IsEmpty());
}

TEST_F(JobBuilderTest, WhatLookUpsHaveToldCountsForAllPlatformsOrTheJournalDoes) {
  for (const char* file : {"inc.txt", "other.txt"})
    Write(std::string("content/") + file, "included");
  world_.Set(MakeWorld());
  const auto read = [](const std::string& path) {
    return std::vector<record::Observed>{
        {{record::ObservationKind::kFile, path, ""}, Digest::Of("included").ToString()}};
  };
  const auto told = [&] {
    std::vector<std::string> paths;
    const v1::Job job = Builder().Build(start_, "w", /*has_files=*/false).job;
    for (const v1::LikelyRead& one : job.likely_reads()) paths.push_back(one.path());
    return paths;
  };
  reads_.Put("/Game/a.txt", "windows", read("inc.txt"));
  EXPECT_THAT(told(), ElementsAre("/Game/inc.txt")) << "the journal knows nothing";
  JournalUpdate update{.package = "/Game/a.txt", .platform = "windows"};
  update.record.observed = read("other.txt");
  ASSERT_TRUE(journal_->Record(std::span(&update, 1), false).ok());
  EXPECT_THAT(told(), ElementsAre("/Game/other.txt"));
  reads_.Put("/Game/a.txt", "android", read("inc.txt"));
  EXPECT_THAT(told(), ElementsAre("/Game/inc.txt"));
}

TEST_F(JobBuilderTest, TheStoreKnowsBetterThanAWorkerWhereABlobLies) {
  ReportBlob({.segment = 5, .offset = 64});
  ASSERT_TRUE(store_.Put(Digest::Of("cooked b"), "cooked b").ok());
  const v1::Job job = Builder().Build(start_, "local-1", /*has_files=*/true).job;
  ASSERT_EQ(job.blobs_size(), 1);
  EXPECT_EQ(job.blobs(0).segment(), 0u) << "where a MemoryStore says that it lies";
}

TEST_F(JobBuilderTest, WhatWasGivenIsGivenByTheNextDirectorWhileRecipesAndPlatformsAreTheSame) {
  EXPECT_TRUE(Builder().InfoOf({.worker = "local-3", .package = "/Game/a.txt"})->hashes_files);
  EXPECT_FALSE(Builder().InfoOf({.worker = "node-7", .package = "/Game/a.txt"})->hashes_files)
      << "its word on digests is not taken";
  AttemptRecord given = Builder().Build(start_, "local-1", /*has_files=*/true).record.value();
  EXPECT_EQ(given.worker, "local-1");
  EXPECT_EQ(given.package, "/Game/a.txt");
  ASSERT_THAT(given.targets, SizeIs(2));
  EXPECT_EQ(given.targets[1].name, "android");
  const auto info = Builder().InfoOf(given);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->package, start_.package);
  EXPECT_EQ(info->platforms, start_.platforms);

  AttemptRecord other = given;
  other.targets[0].name = "xbox";
  EXPECT_EQ(Builder().InfoOf(other), nullptr) << "the number is of another platform";
  other = given;
  other.targets[0].recipe = Digest::Of("another recipe");
  EXPECT_EQ(Builder().InfoOf(other), nullptr);
  Remove();
  EXPECT_EQ(Builder().InfoOf(given), nullptr);
}

TEST_F(JobBuilderTest, WhatIsNoPackageAnyMoreHasNoTargetsAndIsNotRemembered) {
  Remove();
  EXPECT_EQ(Builder().ItemOf({.package = start_.package, .platforms = 1}).recipes, nullptr);
  const BuiltJob built = Builder().Build(start_, "local-1", /*has_files=*/true);
  EXPECT_EQ(built.job.package(), "/Game/a.txt");
  EXPECT_EQ(built.job.targets_size(), 0);
  EXPECT_EQ(built.record, std::nullopt);
}

}  // namespace
}  // namespace galley::director
