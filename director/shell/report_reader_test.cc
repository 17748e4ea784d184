#include "director/shell/report_reader.h"

#include <unistd.h>

#include "common/record/action.h"
#include "common/wire/convert.h"
#include "director/shell/quick_sources.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using testing::HasSubstr;

constexpr AttemptId kAttempt = 41;

void SetDigest(const Digest& digest, v1::Digest* out) {
  out->set_hash(digest.hex());
  out->set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
}

// Edits the observations, and sorts them again.
void EditObserved(v1::Saved& saved,
                  const std::function<void(std::vector<record::Observed>&)>& edit) {
  std::vector<record::Observed> observed = record::DecodeObserved(saved.observed()).value();
  edit(observed);
  saved.set_observed(record::EncodeObserved(observed));
}

void AddObserved(ObservationKind kind, std::string subject, std::string value, v1::Saved* saved) {
  EditObserved(*saved, [&](std::vector<record::Observed>& observed) {
    observed.push_back({{kind, std::move(subject), ""}, std::move(value)});
  });
}

class ReportReaderTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a.txt", "source");
    Write("content/inc.txt", "include");
    world_.Set(MakeWorld());
    reader_ = std::make_unique<ReportReader>(
        ReportReader::Deps{.sources = [this] { return SourcesOf(world_.Get()); },
                           .store = &store_,
                           .results = &results_,
                           .trace = &trace_,
                           .machine_of = [](const std::string& worker) { return "of " + worker; },
                           .now = [] { return absl::FromUnixSeconds(77); }},
        "main", DefaultLimits{4 << 20, absl::Minutes(1)});
    info_.package = PackageId(0);
    info_.name = "/Game/a.txt";
    info_.worker = "local-1";
    info_.hashes_files = true;
    info_.platforms = MaskOf(0) | MaskOf(1);
    info_.numbering = SourcesOf(world_.Get())->platforms();
    info_.recipes = world_.Get()->table->RecipesOf(info_.name);
    Register();
  }
  void Register() { reader_->Register(kAttempt, std::make_shared<AttemptInfo>(info_)); }

  // Returns the report of an honest worker on /Game/a.txt for windows.
  v1::Report HonestSaved() {
    v1::Report report;
    report.set_report(7);
    report.set_attempt(kAttempt);
    v1::Saved* saved = report.mutable_saved();
    saved->set_platform(0);
    SetDigest(Digest::Of("source"), saved->mutable_source());
    AddObserved(ObservationKind::kFile, "inc.txt", Digest::Of("include").ToString(), saved);
    AddObserved(ObservationKind::kPlatform, "texture", "=bc", saved);
    record::Result result;
    result.outputs = {{"", Digest::Of("made")}};
    saved->set_result(record::EncodeResult(result));
    saved->set_save_us(1500);
    return report;
  }
  template <typename What>
  What ReadAs(const v1::Report& report) {
    WorkerReport read = reader_->Read("local-1", report);
    EXPECT_EQ(read.report, report.report());
    EXPECT_EQ(read.attempt, report.attempt());
    EXPECT_TRUE(std::holds_alternative<What>(read.what)) << "alternative " << read.what.index();
    return std::holds_alternative<What>(read.what) ? std::get<What>(std::move(read.what)) : What{};
  }
  WorkerReport::Saved ReadSaved(const v1::Report& report) {
    return ReadAs<WorkerReport::Saved>(report);
  }
  // Returns the reason why a report was not believed.
  std::string Refusal(const v1::Report& report) {
    const auto failed = ReadAs<WorkerReport::Failed>(report);
    EXPECT_EQ(failed.fault, WorkerReport::Fault::kProtocol);
    return failed.error;
  }

  WorldHolder world_{nullptr};
  Trace trace_;
  const Trace::Recording recording_{trace_};
  std::unique_ptr<ReportReader> reader_;
  AttemptInfo info_;
};

TEST_F(ReportReaderTest, PackagesWhoseSourcesWereReadAreToldAndNothingElse) {
  Write("content/notes.md", "no package");
  world_.Set(MakeWorld());
  v1::Report report = HonestSaved();
  v1::Saved* saved = report.mutable_saved();
  AddObserved(ObservationKind::kFile, "/Game/inc.txt", Digest::Of("include").ToString(), saved);
  AddObserved(ObservationKind::kFile, "a.txt", Digest::Of("source").ToString(), saved);
  AddObserved(ObservationKind::kFile, "notes.md", Digest::Of("no package").ToString(), saved);
  AddObserved(ObservationKind::kFile, "missing.txt", "absent", saved);
  EXPECT_THAT(ReadSaved(report).read, testing::ElementsAre("/Game/inc.txt"));
}

// If a worker could leave out a look of a cooker, its result would be found for all platforms.
TEST_F(ReportReaderTest, AResultWithoutALookThatItsCookerAlwaysMakesIsRefusedByTheWorkersName) {
  auto recipes = std::make_shared<project::ResolvedRecipes>(*info_.recipes);
  for (project::ResolvedRecipe& recipe : *recipes) recipe.looks = {{.subject = "texture"}};
  info_.recipes = recipes;
  Register();
  EXPECT_TRUE(ReadSaved(HonestSaved()).is_current);
  v1::Report report = HonestSaved();
  report.mutable_saved()->set_observed("");
  EXPECT_THAT(Refusal(report),
              testing::AllOf(HasSubstr("local-1 did not look at platform(texture)"),
                             HasSubstr("as the cooker copy always does")));
}

TEST_F(ReportReaderTest, AProgramOrExecutorThatWasKilledIsToldSo) {
  v1::Report report = HonestSaved();
  v1::Failed* failed = report.mutable_failed();
  failed->set_cause(v1::Failed::INFRASTRUCTURE);
  EXPECT_FALSE(ReadAs<WorkerReport::Failed>(report).is_killed);
  failed->set_killed(true);
  EXPECT_TRUE(ReadAs<WorkerReport::Failed>(report).is_killed);
  failed->set_cause(v1::Failed::CRASHED);
  EXPECT_FALSE(ReadAs<WorkerReport::Failed>(report).is_killed);
}

TEST_F(ReportReaderTest, WhoMadeAResultAndWhenIsNotTheWorkersWord) {
  v1::Report report = HonestSaved();
  record::Result result;
  result.outputs = {{"", Digest::Of("made")}};
  result.provenance = {.worker = "somebody else",
                       .machine = "elsewhere",
                       .started = absl::FromUnixSeconds(5),
                       .received_from = "a store",
                       .taken = absl::FromUnixSeconds(1)};
  report.mutable_saved()->set_result(record::EncodeResult(result));
  const StoredResultPtr stored = results_.Get(ReadSaved(report).result->id);
  for (const record::Result& said : {stored->result, *record::DecodeResult(stored->encoded)}) {
    EXPECT_EQ(said.provenance.worker, "local-1");
    EXPECT_EQ(said.provenance.machine, "of local-1");
    EXPECT_EQ(said.provenance.taken, absl::FromUnixSeconds(77));
    EXPECT_EQ(said.provenance.received_from, "");
    EXPECT_EQ(said.provenance.started, absl::FromUnixSeconds(5));
  }
}

TEST_F(ReportReaderTest, ResultsOfTheSameInputsHaveOneKeyForTheCore) {
  const uint64_t key = ReadSaved(HonestSaved()).result->key;
  EXPECT_EQ(ReadSaved(HonestSaved()).result->key, key);
  v1::Report less = HonestSaved();
  EditObserved(*less.mutable_saved(), [](auto& observed) { observed.erase(observed.begin()); });
  EXPECT_NE(ReadSaved(less).result->key, key) << "it says that it looked at less";
}

TEST_F(ReportReaderTest, AnHonestResultIsCurrentAndItsKeyIsOurs) {
  const auto saved = ReadSaved(HonestSaved());
  EXPECT_TRUE(saved.is_current);
  EXPECT_EQ(saved.platform, 0u);
  EXPECT_EQ(saved.save_time, absl::Microseconds(1500));
  const StoredResultPtr stored = results_.Get(saved.result->id);
  EXPECT_EQ(stored->platform_name, "windows");
  EXPECT_EQ(stored->last_cook.source, "cooked");
  EXPECT_EQ(stored->last_cook.worker, "local-1");
  EXPECT_EQ(stored->action_key, record::ActionKey({info_.recipes->front().recipe,
                                                   Digest::Of("source"), stored->observed, "main"})
                                    .value());
  EXPECT_THAT(recording_.ToJson(), HasSubstr("/Game/a.txt"));
}

TEST_F(ReportReaderTest, AnAttemptThatNobodyKnowsAnyMoreIsForgotten) {
  reader_->ForgetUnless([](AttemptId attempt) { return attempt == kAttempt; });
  EXPECT_TRUE(ReadSaved(HonestSaved()).is_current);
  reader_->ForgetUnless([](AttemptId) { return false; });
  ReadAs<WorkerReport::Ended>(HonestSaved());
}

TEST_F(ReportReaderTest, APlatformIsThatOfItsNumberWhenTheJobWasGiven) {
  std::swap(project_.platforms[0], project_.platforms[1]);
  world_.Set(MakeWorld());  // from now on 0 is android
  const auto saved = ReadSaved(HonestSaved());
  EXPECT_TRUE(saved.is_current);
  EXPECT_EQ(saved.platform, 0u);
  EXPECT_EQ(results_.Get(saved.result->id)->platform_name, "windows");
}

TEST_F(ReportReaderTest, AResultSharedByAnotherPlatformsRunIsCached) {
  v1::Report report = HonestSaved();
  report.mutable_saved()->set_shared(true);
  EXPECT_TRUE(ReadSaved(report).shared);
  EXPECT_THAT(recording_.ToJson(), testing::Not(HasSubstr("/Game/a.txt"))) << "no cooker ran";
}

TEST_F(ReportReaderTest, ObservationsComeInTheirOrderAndEachOnce) {
  v1::Report report = HonestSaved();
  const std::vector<record::Observed> observed =
      record::DecodeObserved(report.saved().observed()).value();
  const auto encoded = [&](size_t i) { return record::EncodeObserved(std::span(&observed[i], 1)); };
  ASSERT_EQ(report.saved().observed(), encoded(0) + encoded(1));
  const std::vector<record::Observed> other = {{observed[0].what, "absent"}};
  for (const std::string& wrong : {encoded(1) + encoded(0), encoded(0) + encoded(0) + encoded(1),
                                   record::EncodeObserved(other) + encoded(0) + encoded(1)}) {
    report.mutable_saved()->set_observed(wrong);
    EXPECT_THAT(Refusal(report), HasSubstr("not after the one before"));
  }
}

TEST_F(ReportReaderTest, ObservationsThatNoCookCanMakeAreRefused) {
  for (const int kind : {0, 10}) {
    v1::Report report = HonestSaved();
    EditObserved(*report.mutable_saved(), [&](auto& observed) {
      observed[0].what.kind = static_cast<ObservationKind>(kind);
    });
    EXPECT_THAT(Refusal(report), HasSubstr("kind")) << kind;
  }
  for (const char* path :
       {"a/../inc.txt", "../a/../inc.txt", "./inc.txt", "inc.txt/", "", "//inc.txt", "a\\b"}) {
    v1::Report report = HonestSaved();
    EditObserved(*report.mutable_saved(), [&](auto& observed) { observed[0].what.subject = path; });
    EXPECT_NE(Refusal(report), "") << path;
  }
  v1::Report report = HonestSaved();
  EditObserved(*report.mutable_saved(), [](auto& observed) { observed[0].value = "not a digest"; });
  EXPECT_NE(Refusal(report), "");
}

TEST_F(ReportReaderTest, AnObservationThatDoesNotHoldMakesAResultForAnotherSnapshot) {
  v1::Report report = HonestSaved();
  EditObserved(*report.mutable_saved(), [](auto& observed) { observed[1].value = "=astc"; });
  EXPECT_FALSE(ReadSaved(report).is_current);
}

TEST_F(ReportReaderTest, ASourceThatIsNotOursMakesAResultForAnotherSnapshot) {
  ASSERT_TRUE(world_.Get()->snapshot->DigestOf("/Game/a.txt").ok());
  v1::Report report = HonestSaved();
  SetDigest(Digest::Of("another source"), report.mutable_saved()->mutable_source());
  EXPECT_FALSE(ReadSaved(report).is_current);
}

TEST_F(ReportReaderTest, AGeneratedSourceIsTheOneThatWasHandedOver) {
  info_.generated_source = Digest::Of("cell");
  Register();
  EXPECT_FALSE(ReadSaved(HonestSaved()).is_current);
  v1::Report report = HonestSaved();
  SetDigest(Digest::Of("cell"), report.mutable_saved()->mutable_source());
  EXPECT_TRUE(ReadSaved(report).is_current);
}

TEST_F(ReportReaderTest, ACookedInputCountsAsItWasHandedOver) {
  v1::Report report = HonestSaved();
  EditObserved(*report.mutable_saved(), [](auto& observed) {
    observed.push_back(
        {{ObservationKind::kCooked, "atlas.png", ".ktx2"}, Digest::Of("pixels").ToString()});
  });
  EXPECT_FALSE(ReadSaved(report).is_current) << "it was never handed over";
  info_.cooked = {{{"/Game/atlas.png", {{".ktx2", Digest::Of("pixels")}}}}};
  Register();
  EXPECT_TRUE(ReadSaved(report).is_current);
}

TEST_F(ReportReaderTest, APlatformThatTheAttemptDoesNotHaveIsRefused) {
  for (const uint32_t platform : {2u, 3u, 31u, 32u, 1000u}) {
    v1::Report report = HonestSaved();
    report.mutable_saved()->set_platform(platform);
    EXPECT_THAT(Refusal(report), HasSubstr("platform")) << platform;
  }
}

TEST_F(ReportReaderTest, AnOutputThatLeavesThePackagesPathIsRefused) {
  for (const char* suffix : {"/../b.txt", "/b", ".d/../../b.txt", "x", ".d/"}) {
    v1::Report report = HonestSaved();
    record::Result result;
    result.outputs = {{suffix, Digest::Of("made")}};
    report.mutable_saved()->set_result(record::EncodeResult(result));
    EXPECT_THAT(Refusal(report), HasSubstr("/Game/a.txt")) << suffix;
  }
}

TEST_F(ReportReaderTest, NonsenseInPlaceOfBytesIsRefused) {
  v1::Report report = HonestSaved();
  report.mutable_saved()->set_result("\xff\xff\xff");
  EXPECT_NE(Refusal(report), "");
  report = HonestSaved();
  report.mutable_saved()->mutable_source()->set_hash("XYZ");
  EXPECT_NE(Refusal(report), "");
  report = HonestSaved();
  report.mutable_saved()->mutable_source()->set_size_bytes(-1);
  EXPECT_NE(Refusal(report), "");
  report = HonestSaved();
  report.mutable_loaded()->set_details("\xff\xff\xff");
  EXPECT_NE(Refusal(report), "");
  report.clear_what();
  EXPECT_NE(Refusal(report), "");
}

TEST_F(ReportReaderTest, AReportOfAnUnknownAttemptIsAcknowledgedAndDropped) {
  v1::Report report = HonestSaved();
  report.set_attempt(kAttempt + 1);
  ReadAs<WorkerReport::Ended>(report);
}

TEST_F(ReportReaderTest, ALoadTellsReferencesAndGeneratedPackages) {
  v1::Report report;
  report.set_attempt(kAttempt);
  v1::Loaded* loaded = report.mutable_loaded();
  for (const uint32_t platform : {0u, 1u, 2u, 40u}) loaded->add_platforms(platform);
  loaded->set_details(record::EncodeDetails(
      {.references = {{"b.txt"}}, .generated = {{"_gen/x.txt", Digest::Of("x")}}}));
  loaded->set_load_us(2);
  const auto read = ReadAs<WorkerReport::Loaded>(report);
  EXPECT_EQ(read.platforms, info_.platforms) << "no others than were handed over";
  EXPECT_EQ(read.so_far->references.front().path, "b.txt");
  EXPECT_EQ(read.so_far->generated.front().name, "_gen/x.txt");
  EXPECT_EQ(read.load_time, absl::Microseconds(2));
}

TEST_F(ReportReaderTest, WhatAnAttemptMovedIsToldUnlessItIsUnknown) {
  v1::Report report = HonestSaved();
  report.mutable_bytes()->set_read(1);
  report.mutable_bytes()->set_warm(2);
  report.mutable_bytes()->set_saved(3);
  const WorkerReport read = reader_->Read("local-1", report);
  EXPECT_EQ(read.bytes.read, 1u);
  EXPECT_EQ(read.bytes.warm, 2u);
  EXPECT_EQ(read.bytes.saved, 3u);
  report.set_attempt(kAttempt + 1);
  EXPECT_EQ(reader_->Read("local-1", report).bytes.read, 0u);
}

TEST_F(ReportReaderTest, WhereABlobLiesIsRemembered) {
  v1::Report report = HonestSaved();
  v1::BlobWritten* blob = report.mutable_saved()->add_blobs();
  SetDigest(Digest::Of("made"), blob->mutable_digest());
  blob->set_segment(9);
  blob->set_offset(64);
  report.mutable_saved()->add_blobs()->mutable_digest()->set_hash("nonsense");
  const auto saved = ReadSaved(report);
  EXPECT_EQ(reader_->LocationOf(Digest::Of("made")),
            (store::BlobLocation{.segment = 9, .offset = 64}));
  EXPECT_EQ(reader_->LocationOf(Digest::Of("unknown")), std::nullopt);
  EXPECT_EQ(results_.Get(saved.result->id)->blobs.size(), 1u);
  record::Result committed;
  committed.outputs.push_back({.suffix = ".x", .digest = Digest::Of("made")});
  reader_->TakeCommitted(committed);
  EXPECT_EQ(reader_->LocationOf(Digest::Of("made")), std::nullopt) << "the store knows";
}

TEST_F(ReportReaderTest, AVerdictIsAResultWithItsObservations) {
  v1::Report report = HonestSaved();
  v1::Saved verdict = report.saved();
  verdict.set_result(record::EncodeResult(MakeVerdict("line 3: expected ';'")));
  report.mutable_failed()->set_cause(v1::Failed::VERDICT);
  *report.mutable_failed()->mutable_verdict() = verdict;
  const auto saved = ReadSaved(report);
  EXPECT_TRUE(saved.is_current);
  EXPECT_TRUE(saved.result->is_verdict);
  EXPECT_EQ(saved.result->error, "line 3: expected ';'");
}

// A collection finds out by the weak key which observation sets are of use.
TEST_F(ReportReaderTest, WhatIsStoredSaysUnderWhichWeakKeyItBelongs) {
  const StoredResultPtr stored = results_.Get(ReadSaved(HonestSaved()).result->id);
  EXPECT_NE(stored->weak_key, Digest());
  EXPECT_EQ(stored->result.provenance.weak_key, stored->weak_key);
  EXPECT_EQ(record::DecodeResult(stored->encoded)->provenance.weak_key, stored->weak_key);
}

TEST_F(ReportReaderTest, ADisputeIsNotAWorkersToFind) {
  record::Result dispute = MakeVerdict("two cooks differ");
  dispute.is_disputed = true;
  v1::Report report = HonestSaved();
  report.mutable_saved()->set_result(record::EncodeResult(dispute));
  EXPECT_THAT(Refusal(report), HasSubstr("a dispute"));
}

TEST_F(ReportReaderTest, AVerdictThatHoldsASuccessIsRefused) {
  v1::Report report = HonestSaved();
  const v1::Saved success = report.saved();
  report.mutable_failed()->set_cause(v1::Failed::VERDICT);
  *report.mutable_failed()->mutable_verdict() = success;
  EXPECT_NE(Refusal(report), "");
}

TEST_F(ReportReaderTest, AFailureKeepsItsCauseAndItsLog) {
  const std::vector<std::pair<v1::Failed::Cause, WorkerReport::Fault>> causes = {
      {v1::Failed::CRASHED, WorkerReport::Fault::kCrashed},
      {v1::Failed::MEMORY, WorkerReport::Fault::kMemory},
      {v1::Failed::TIMEOUT, WorkerReport::Fault::kTimeout},
      {v1::Failed::INFRASTRUCTURE, WorkerReport::Fault::kInfrastructure},
      {v1::Failed::CAUSE_UNKNOWN, WorkerReport::Fault::kRefused}};
  for (const auto& [cause, fault] : causes) {
    v1::Report report;
    report.set_attempt(kAttempt);
    report.mutable_failed()->set_cause(cause);
    report.mutable_failed()->set_error("why");
    report.mutable_failed()->set_log_tail("the last words");
    report.mutable_failed()->add_platforms(1);
    report.mutable_failed()->add_platforms(40);
    const auto failed = ReadAs<WorkerReport::Failed>(report);
    EXPECT_EQ(failed.fault, fault);
    EXPECT_EQ(failed.error, "why");
    EXPECT_EQ(failed.platforms, MaskOf(1));
    EXPECT_EQ(failed.log, Digest::Of("the last words").ToString());
    EXPECT_EQ(*store_.Get(Digest::Of("the last words")).value(), "the last words");
  }
}

TEST_F(ReportReaderTest, ALimitIsKnownWithWhatTheAttemptHadLookedAt) {
  v1::Report report;
  report.set_attempt(kAttempt);
  v1::Failed& failed = *report.mutable_failed();
  failed.set_cause(v1::Failed::TIMEOUT);
  EXPECT_FALSE(ReadAs<WorkerReport::Failed>(report).outgrown.has_value());
  failed.mutable_opened()->set_platform(1);
  SetDigest(Digest::Of("source"), failed.mutable_opened()->mutable_source());
  wire::ToProto(record::Observed{.what = {ObservationKind::kFile, "inc.txt", ""},
                                 .value = Digest::Of("include").ToString()},
                failed.mutable_opened()->add_observed());
  EXPECT_EQ(ReadAs<WorkerReport::Failed>(report).outgrown, 1u);
  const std::optional<KeptLimit> limit = reader_->OutgrownIn(kAttempt);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->weak_key,
            record::WeakKey(Digest::Of("source"), (*info_.recipes)[1].digest, "main"));
  EXPECT_EQ(limit->kind, KeptLimit::Kind::kTime);
  EXPECT_EQ(limit->limit, 60'000u);
  EXPECT_EQ(limit->observed.size(), 1u);
  EXPECT_EQ(limit->package, "/Game/a.txt");
  EXPECT_FALSE(reader_->OutgrownIn(kAttempt + 1).has_value());
}

TEST_F(ReportReaderTest, WhatCannotBeBelievedIsNoLimitToKeep) {
  v1::Report honest;
  honest.set_attempt(kAttempt);
  honest.mutable_failed()->set_cause(v1::Failed::MEMORY);
  SetDigest(Digest::Of("source"), honest.mutable_failed()->mutable_opened()->mutable_source());
  ASSERT_EQ(ReadAs<WorkerReport::Failed>(honest).outgrown, 0u);
  for (const auto& spoil : std::vector<std::function<void(v1::Failed&)>>{
           [](v1::Failed& failed) { failed.set_cause(v1::Failed::CRASHED); },
           [](v1::Failed& failed) { failed.mutable_opened()->set_platform(2); },
           [](v1::Failed& failed) { failed.mutable_opened()->set_platform(40); },
           [](v1::Failed& failed) { failed.mutable_opened()->clear_source(); },
           [](v1::Failed& failed) { failed.mutable_opened()->add_observed()->set_kind(77); }}) {
    v1::Report report = honest;
    spoil(*report.mutable_failed());
    EXPECT_FALSE(ReadAs<WorkerReport::Failed>(report).outgrown.has_value()) << report.DebugString();
  }
}

TEST_F(ReportReaderTest, AFailureWhoseLogCannotBeKeptIsAFailureWithoutOne) {
  store_.put_error = absl::ResourceExhaustedError("no space left");
  v1::Report report;
  report.set_attempt(kAttempt);
  report.mutable_failed()->set_cause(v1::Failed::CRASHED);
  report.mutable_failed()->set_log_tail("the last words");
  const auto failed = ReadAs<WorkerReport::Failed>(report);
  EXPECT_EQ(failed.fault, WorkerReport::Fault::kCrashed);
  EXPECT_EQ(failed.log, "");
}

TEST_F(ReportReaderTest, WhatIsSaidOfAnotherWorkersAttemptIsNotBelieved) {
  const WorkerReport read = reader_->Read("node-7", HonestSaved());
  EXPECT_TRUE(std::holds_alternative<WorkerReport::Ended>(read.what));
  EXPECT_EQ(world_.Get()->snapshot->KnownDigest("/Game/inc.txt"), std::nullopt);
  EXPECT_TRUE(reader_->IsOf(kAttempt, "local-1"));
  EXPECT_FALSE(reader_->IsOf(kAttempt, "node-7"));
  EXPECT_FALSE(reader_->IsOf(kAttempt + 1, "local-1"));
}

TEST_F(ReportReaderTest, AWorkerOfAnotherMachineDecidesNoDigest) {
  info_.hashes_files = false;
  Register();
  v1::Report lie = HonestSaved();
  SetDigest(Digest::Of("a lie"), lie.mutable_saved()->mutable_source());
  EXPECT_FALSE(ReadSaved(lie).is_current);
  lie = HonestSaved();
  EditObserved(*lie.mutable_saved(),
               [](auto& observed) { observed[0].value = Digest::Of("a lie").ToString(); });
  EXPECT_FALSE(ReadSaved(lie).is_current);
  EXPECT_TRUE(ReadSaved(HonestSaved()).is_current) << "the files are hashed here";
}

// A file of 100 GB would hold up the worker's other reports, and the end of the cook.
TEST_F(ReportReaderTest, NoLargeFileIsHashedForAReportOfAnotherMachine) {
  constexpr int64_t kLarge = int64_t{QuickSources::kHashedMax} + 1;
  info_.hashes_files = false;
  Register();
  for (const std::string large : {"a.txt", "inc.txt"}) {
    Write("content/a.txt", "source");
    Write("content/inc.txt", "include");
    ASSERT_EQ(::truncate(Host("content/" + large).c_str(), kLarge), 0);
    world_.Set(MakeWorld());
    content::Snapshot& snapshot = *world_.Get()->snapshot;
    const Digest digest = MakeWorld()->snapshot->DigestOf("/Game/" + large).value();
    v1::Report report = HonestSaved();
    if (large == "a.txt") {
      SetDigest(digest, report.mutable_saved()->mutable_source());
    } else {
      EditObserved(*report.mutable_saved(),
                   [&](auto& observed) { observed[0].value = digest.ToString(); });
    }
    EXPECT_FALSE(ReadSaved(report).is_current) << large;
    EXPECT_EQ(snapshot.KnownDigest("/Game/" + large), std::nullopt) << large;
    // The look-up that follows has the file hashed.
    ASSERT_TRUE(snapshot.DigestOf("/Game/" + large).ok());
    EXPECT_TRUE(ReadSaved(report).is_current) << large;
  }
}

TEST_F(ReportReaderTest, NothingIsHashedForAReportOnceNobodyWaits) {
  info_.hashes_files = false;
  Register();
  reader_->Cancel();
  EXPECT_FALSE(ReadSaved(HonestSaved()).is_current);
  EXPECT_EQ(world_.Get()->snapshot->KnownDigest("/Game/a.txt"), std::nullopt);
}

TEST_F(ReportReaderTest, AResultOfAnotherMachinesToolsIsDropped) {
  Write("tools/bake", "of the director");
  v1::Report report = HonestSaved();
  AddObserved(ObservationKind::kTool, "tools/bake", Digest::Of("of the director").ToString(),
              report.mutable_saved());
  AddObserved(ObservationKind::kTool, "tools/none", std::string(record::kAbsent),
              report.mutable_saved());
  info_.hashes_files = false;
  Register();
  EXPECT_TRUE(ReadSaved(report).is_current);
  EditObserved(*report.mutable_saved(),
               [](auto& observed) { observed[2].value = Digest::Of("another").ToString(); });
  const auto failed = ReadAs<WorkerReport::Failed>(report);
  EXPECT_EQ(failed.fault, WorkerReport::Fault::kInfrastructure);
  EXPECT_THAT(failed.error, HasSubstr("tool(tools/bake) was another one: wanted " +
                                      Digest::Of("of the director").ToString() + ", found " +
                                      Digest::Of("another").ToString()));
}

TEST_F(ReportReaderTest, AWorkerOfAnotherMachineHasNoFileReadThatJobsDoNotName) {
  Write(".env", "secret");
  info_.hashes_files = false;
  Register();
  for (const char* path : {"/root/.ssh/id_rsa", "/dev/zero", "../other", ".env", "/proc/self/mem",
                           "content/../.env"}) {
    v1::Report report = HonestSaved();
    AddObserved(ObservationKind::kTool, path, Digest::Of("secret").ToString(),
                report.mutable_saved());
    const auto failed = ReadAs<WorkerReport::Failed>(report);
    EXPECT_THAT(failed.error,
                testing::AnyOf(HasSubstr("is no tool that a job on another machine may name"),
                               HasSubstr("not a path in normal form")));
    EXPECT_THAT(failed.error, testing::Not(HasSubstr(Digest::Of("secret").ToString())));
  }
}

TEST_F(ReportReaderTest, AWorkerOfAnotherMachineFillsNoDiskWithLogs) {
  info_.hashes_files = false;
  Register();
  v1::Report report;
  report.set_attempt(kAttempt);
  report.mutable_failed()->set_cause(v1::Failed::CRASHED);
  report.mutable_failed()->set_log_tail(std::string(1 << 20, 'a') + "the end");
  const auto failed = ReadAs<WorkerReport::Failed>(report);
  const absl::StatusOr<Digest> log = Digest::Parse(failed.log);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->size_bytes(), 64 << 10);
  EXPECT_THAT(std::string(*store_.Get(*log).value()), testing::EndsWith("the end"));
  int kept = 1;
  for (int i = 0; i < 1'000; ++i) {
    report.mutable_failed()->set_log_tail("again " + std::to_string(i));
    kept += ReadAs<WorkerReport::Failed>(report).log.empty() ? 0 : 1;
  }
  EXPECT_EQ(kept, 64);
}

TEST_F(ReportReaderTest, AWorkerOfAnotherMachineNamesNoProgramsForThisOne) {
  const auto generates = [](const std::string& cooker, const std::string& settings) {
    return record::Generated{
        .name = "_gen/x.txt", .source = Digest::Of("x"), .cooker = cooker, .settings = settings};
  };
  const auto saved = [&](const record::Generated& one) {
    v1::Report report = HonestSaved();
    record::Result result = *record::DecodeResult(report.saved().result());
    result.details.generated = {one};
    report.mutable_saved()->set_result(record::EncodeResult(result));
    return report;
  };
  const auto loaded = [&](const record::Generated& one) {
    v1::Report report;
    report.set_attempt(kAttempt);
    report.mutable_loaded()->add_platforms(0);
    report.mutable_loaded()->set_details(record::EncodeDetails({.generated = {one}}));
    return report;
  };
  const std::vector<record::Generated> hostile = {
      generates("command", R"({"argv":["sh","-c","id"],"outputs":[""]})"), generates("command", ""),
      generates("", R"({"env":{"LD_PRELOAD":"x"}})")};
  for (const record::Generated& one : hostile)
    EXPECT_EQ(ReadSaved(saved(one)).platform, 0u) << "of a worker of this machine it is believed";
  info_.hashes_files = false;
  Register();
  for (const record::Generated& one : hostile) {
    for (const v1::Report& report : {saved(one), loaded(one)}) {
      const auto failed = ReadAs<WorkerReport::Failed>(report);
      EXPECT_EQ(failed.fault, WorkerReport::Fault::kNeedsFiles);
      EXPECT_THAT(failed.error, HasSubstr("local-1 on another machine says of /Game/a.txt that it "
                                          "generates /Game/a.txt/_gen/x.txt"));
      EXPECT_THAT(failed.error, HasSubstr("let a rule of the project name the program"));
    }
  }
  for (const record::Generated& one :
       {generates("copy", ""), generates("", ""), generates("", R"({"zstd":3})"),
        generates("texture", R"({"env":1})")}) {
    EXPECT_EQ(ReadSaved(saved(one)).platform, 0u) << one.cooker;
    EXPECT_EQ(ReadAs<WorkerReport::Loaded>(loaded(one)).platforms, MaskOf(0));
  }
}

TEST_F(ReportReaderTest, AMachineMayRefuseAJob) {
  for (const auto& [cause, fault] : std::map<v1::Failed::Cause, WorkerReport::Fault>{
           {v1::Failed::OTHER_TOOL, WorkerReport::Fault::kOtherTool},
           {v1::Failed::NEEDS_FILES, WorkerReport::Fault::kNeedsFiles}}) {
    v1::Report report;
    report.set_attempt(kAttempt);
    report.mutable_failed()->set_cause(cause);
    report.mutable_failed()->set_error("why");
    const auto failed = ReadAs<WorkerReport::Failed>(report);
    EXPECT_EQ(failed.fault, fault);
    EXPECT_EQ(failed.error, "why");
  }
}

TEST_F(ReportReaderTest, OnlyPathsAndPlatformsThatCanBeAreBelieved) {
  v1::Report report;
  report.set_attempt(kAttempt);
  report.mutable_stale()->set_path("/Game/inc.txt");
  EXPECT_EQ(ReadAs<WorkerReport::Stale>(report).path, "/Game/inc.txt");
  for (const char* path : {"", "inc.txt", "/Game/../x", "/Game//x"}) {
    report.mutable_stale()->set_path(path);
    EXPECT_NE(Refusal(report), "") << path;
  }
  report.mutable_needs()->set_package("/Game/b.txt");
  report.mutable_needs()->set_platform(1);
  EXPECT_EQ(ReadAs<WorkerReport::Needs>(report).package, "/Game/b.txt");
  report.mutable_needs()->set_platform(2);
  EXPECT_NE(Refusal(report), "");
  report.mutable_needs()->set_platform(64);
  EXPECT_NE(Refusal(report), "");
  report.mutable_needs()->set_platform(1);
  report.mutable_needs()->set_package("b.txt");
  EXPECT_NE(Refusal(report), "");
}

}  // namespace
}  // namespace galley::director
