#include "worker/executor/run_job.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/executor/job_messages.h"
#include "worker/executor/testing/executor_world.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using RunJobTest = ExecutorTestWorld;

std::vector<std::string> Texts(const SaveReport& save) {
  std::vector<std::string> texts;
  for (const record::Observed& one : save.observed) texts.push_back(one.what.ToString());
  return texts;
}

TEST_F(RunJobTest, EveryLookIsObservedWithItsPathAsAsked) {
  Write("/Game/inc/a.txt", "A");
  Write("/Game/x/p.script",
        "read ../inc/a.txt\nread /Game/none\nexists ../inc\nlist ../inc\nname\nout .t\n");
  Scan();
  ASSERT_TRUE(std::holds_alternative<JobDone>(Cook("/Game/x/p.script", {0})));
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_EQ(*kept_.saves[0].outputs.at(0).bytes, "A<absent><folder>a.txt,/Game/x/p.script");
  EXPECT_THAT(Texts(kept_.saves[0]), ElementsAre("file(../inc/a.txt)", "file(/Game/none)",
                                                 "exists(../inc)", "list(../inc)", "name()"));
  EXPECT_EQ(kept_.saves[0].observed[0].value, Digest::Of("A").ToString());
}

TEST_F(RunJobTest, PlatformsThatSeeTheSameShareOneRun) {
  Write("/Game/p.script", "platform texture\nout .t\n");
  Scan();
  Cook("/Game/p.script", {0, 1, 2});
  ASSERT_EQ(kept_.saves.size(), 2u);
  EXPECT_THAT(kept_.saves[0].platforms, ElementsAre(0, 1));
  EXPECT_EQ(*kept_.saves[0].outputs[0].bytes, "bc");
  EXPECT_THAT(kept_.saves[1].platforms, ElementsAre(2));
  EXPECT_EQ(*kept_.saves[1].outputs[0].bytes, "astc");
}

TEST_F(RunJobTest, TheNameOfAPlatformIsSharedByNobody) {
  Write("/Game/p.script", "platform name\nout .t\n");
  Scan();
  Cook("/Game/p.script", {0, 1});
  EXPECT_EQ(kept_.saves.size(), 2u);
}

TEST_F(RunJobTest, WhatIsLeftOutIsNeitherCookedNorServed) {
  Write("/Game/p.script", "platform name\nout .t\n");
  Write("/Game/q.script", "out .t\n");
  Scan();
  kept_.left_out = {{2}, {1}};  // before the first, and before the second
  EXPECT_TRUE(std::holds_alternative<JobDone>(Cook("/Game/p.script", {0, 1, 2})));
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_THAT(kept_.saves[0].platforms, ElementsAre(0));
  kept_.left_out = {{2}};
  Cook("/Game/q.script", {0, 1, 2});
  ASSERT_EQ(kept_.saves.size(), 2u);
  EXPECT_THAT(kept_.saves[1].platforms, ElementsAre(0, 1));
}

TEST_F(RunJobTest, AJobForOnePlatformDoesNotAsk) {
  Write("/Game/p.script", "out .t\n");
  Scan();
  kept_.left_out = {{0}};
  Cook("/Game/p.script", {0});
  EXPECT_EQ(kept_.saves.size(), 1u);
}

TEST_F(RunJobTest, OtherSettingsAreAnotherRun) {
  Write("/Game/p.script", "out .t\n");
  Scan();
  SnapshotInputs inputs(Inputs("/Game/p.script"));
  const JobSpec spec{.targets = {{.platform = 0, .recipe = RecipeOf()},
                                 {.platform = 1, .recipe = RecipeOf(R"({"a":1})")}}};
  RunJob(spec, inputs, cookers_, clock_, kept_);
  EXPECT_EQ(kept_.saves.size(), 2u);
}

TEST_F(RunJobTest, ALoadThatLooksAtThePlatformRunsAgainForAnotherValue) {
  Write("/Game/p.script", "platform texture\n--\nout .t\n");
  Scan();
  Cook("/Game/p.script", {0, 1, 2});
  ASSERT_EQ(kept_.loads.size(), 2u);
  EXPECT_THAT(kept_.loads[0].platforms, ElementsAre(0, 1));
  EXPECT_EQ(*kept_.saves[1].outputs[0].bytes, "astc");
}

TEST_F(RunJobTest, ALoadSaysItsReferencesAndGeneratedPackages) {
  Write(
      "/Game/p.script",
      "reference ../b.png\nreference ../a.png\ngenerate _gen/c.script\nwarn careful\n--\nout .t\n");
  Scan();
  Cook("/Game/p.script", {0});
  ASSERT_EQ(kept_.loads.size(), 1u);
  const record::Details& details = kept_.loads[0].details;
  ASSERT_EQ(details.references.size(), 2u);
  EXPECT_EQ(details.references[0].path, "../a.png");
  EXPECT_EQ(details.generated.at(0).source, Digest::Of("generated"));
  EXPECT_EQ(*kept_.loads[0].generated.at(0), "generated");
  EXPECT_THAT(details.warnings, ElementsAre("careful [program-warning]"));
  EXPECT_EQ(kept_.saves.at(0).details, details);
}

TEST_F(RunJobTest, AVerdictKeepsWhatWasSeenAndServesEqualPlatforms) {
  Write("/Game/inc.txt", "x");
  Write("/Game/p.script", "read inc.txt\nverdict wrong\n");
  Scan();
  EXPECT_TRUE(std::holds_alternative<JobDone>(Cook("/Game/p.script", {0, 2})));
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_TRUE(kept_.saves[0].is_verdict);
  EXPECT_EQ(kept_.saves[0].error, "wrong");
  EXPECT_THAT(kept_.saves[0].platforms, ElementsAre(0, 2));
  EXPECT_THAT(Texts(kept_.saves[0]), ElementsAre("file(inc.txt)"));
}

TEST_F(RunJobTest, AVerdictOfALoadIsAVerdict) {
  Write("/Game/p.script", "verdict wrong\n--\n");
  Scan();
  Cook("/Game/p.script", {0, 1});
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_TRUE(kept_.saves[0].is_verdict);
  EXPECT_THAT(kept_.loads, IsEmpty());
}

TEST_F(RunJobTest, AThrowIsAVerdict) {
  Write("/Game/p.script", "throw boom\n");
  Scan();
  Cook("/Game/p.script", {0});
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_TRUE(kept_.saves[0].is_verdict);
  EXPECT_THAT(kept_.saves[0].error, HasSubstr("boom"));
}

TEST_F(RunJobTest, ALackOfMemoryIsNoVerdict) {
  Write("/Game/p.script", "exhaust\n");
  Scan();
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kMemory);
  EXPECT_THAT(kept_.saves, IsEmpty());
}

TEST_F(RunJobTest, ABudgetOfTheCookersOwnIsALackOfMemory) {
  Write("/Game/p.script", "outgrow raise_it\n");
  Scan();
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kMemory);
  EXPECT_EQ(std::get<Trouble>(end).error, "raise_it");
}

TEST_F(RunJobTest, WhatTheMachineHasTooLittleOfIsNoLackOfMemory) {
  for (const int error : {ENOSPC, EDQUOT, EMFILE, ENFILE, EFBIG}) {
    Write("/Game/p.script", "errno " + std::to_string(error) + "\n");
    Scan();
    const JobEnd end = Cook("/Game/p.script", {0});
    ASSERT_TRUE(std::holds_alternative<Trouble>(end));
    EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kInfrastructure)
        << std::get<Trouble>(end).error;
  }
}

TEST_F(RunJobTest, TroubleOfTheMachineIsNoVerdict) {
  Write("/Game/p.script", "fail\n");
  Scan();
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kInfrastructure);
}

TEST_F(RunJobTest, ACookedInputThatWasNotGivenEndsWithNeeds) {
  Write("/Game/x/p.script", "cooked ../b.png .ktx2\nout .t\n");
  Scan();
  const JobEnd end = Cook("/Game/x/p.script", {1});
  ASSERT_TRUE(std::holds_alternative<JobNeeds>(end));
  EXPECT_EQ(std::get<JobNeeds>(end).package, "/Game/b.png");
  EXPECT_EQ(std::get<JobNeeds>(end).platform, 1u);
}

TEST_F(RunJobTest, ACookedInputWithoutThatOutputIsObservedAbsent) {
  Write("/Game/p.script", "cooked b.png .ktx2\nout .t\n");
  Scan();
  SnapshotInputsOptions options = Inputs("/Game/p.script");
  options.cooked[{"/Game/b.png", 0}] = {};
  SnapshotInputs inputs(std::move(options));
  RunJob({.targets = {{.platform = 0, .recipe = RecipeOf()}}}, inputs, cookers_, clock_, kept_);
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_EQ(*kept_.saves[0].outputs[0].bytes, "<absent>");
}

TEST_F(RunJobTest, AVerdictAndATroubleThatQuoteWhatIsNoTextAreText) {
  Write("/Game/p.script", "verdict caf\xe9\n");
  Write("/Game/q.script", "refuse \xff\n");
  Scan();
  Cook("/Game/p.script", {0});
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_EQ(kept_.saves[0].error, "caf\\xe9");
  const JobEnd end = Cook("/Game/q.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).error, "\\xff");
}

TEST_F(RunJobTest, AWarmFileIsReadOnceAndIsWhatTheSnapshotSays) {
  Write("/Game/inc.txt", "before");
  Write("/Game/p.script", "read inc.txt\nout .t\n");
  Scan();
  WarmFiles warm;
  warm.set_bytes_max(1 << 16);
  const auto cook = [&] {
    SnapshotInputsOptions options = Inputs("/Game/p.script");
    options.warm_files = &warm;
    SnapshotInputs inputs(std::move(options));
    RunJob({.targets = {{.platform = 0, .recipe = RecipeOf()}}}, inputs, cookers_, clock_, kept_);
    return inputs.bytes_loaded();
  };
  const BytesLoaded first = cook();
  const BytesLoaded second = cook();
  EXPECT_EQ(first.warm, 0u);
  EXPECT_EQ(second.warm, 6u);
  EXPECT_EQ(second.cold + 6, first.cold);
  Write("/Game/inc.txt", "afterwards");
  cook();
  ASSERT_EQ(kept_.saves.size(), 3u);
  EXPECT_EQ(*kept_.saves[2].outputs[0].bytes, "before") << "of this snapshot; the next sees it";
  Scan();
  cook();
  EXPECT_EQ(*kept_.saves[3].outputs[0].bytes, "afterwards");
}

TEST_F(RunJobTest, ACookedInputThatIsWarmIsNotReadFromTheStore) {
  Write("/Game/p.script", "cooked /Game/b.png .ktx2\nout .t\n");
  Scan();
  WarmFiles warm;
  warm.set_bytes_max(1 << 16);
  warm.Keep(Digest::Of("pixels"), MakeBlob("pixels"));
  SnapshotInputsOptions options = Inputs("/Game/p.script");
  options.cooked[{"/Game/b.png", 0}][".ktx2"] = Digest::Of("pixels");
  options.warm_files = &warm;
  SnapshotInputs inputs(std::move(options));
  RunJob({.targets = {{.platform = 0, .recipe = RecipeOf()}}}, inputs, cookers_, clock_, kept_);
  EXPECT_EQ(*kept_.saves.at(0).outputs.at(0).bytes, "pixels");
  EXPECT_EQ(inputs.bytes_loaded().warm, 6u);
}

// The contents that a job keeps of its reads, beside what its cooker keeps.
TEST_F(RunJobTest, OfContentsThatWereReadSoManyAreKeptForASecondLook) {
  constexpr uint64_t kSize = 1 << 20;
  std::string script;
  for (int i = 0; i < 18; ++i) {
    Write("/Game/" + std::to_string(i), std::string(kSize, 'x'));
    script += "read " + std::to_string(i) + "\n";
  }
  script += "read 0\nread 17\nout .t\n";
  Write("/Game/p.script", script);
  Scan();
  SnapshotInputs inputs(Inputs("/Game/p.script"));
  RunJob({.targets = {{.platform = 0, .recipe = RecipeOf()}}}, inputs, cookers_, clock_, kept_);
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_EQ(kept_.saves[0].outputs.at(0).bytes->size(), 20 * kSize);
  EXPECT_EQ(inputs.bytes_loaded().cold, script.size() + 19 * kSize) << "0 was kept, 17 was not";
}

TEST_F(RunJobTest, ASourceAndALargeFileGoWithTheirJob) {
  Write("/Game/large.bin", std::string(300, 'x'));
  Write("/Game/p.script", "read large.bin\nout .t\n" + std::string(200, '\n'));
  Scan();
  WarmFiles warm;
  warm.set_bytes_max(1 << 10);
  SnapshotInputsOptions options = Inputs("/Game/p.script");
  options.warm_files = &warm;
  SnapshotInputs inputs(std::move(options));
  RunJob({.targets = {{.platform = 0, .recipe = RecipeOf()}}}, inputs, cookers_, clock_, kept_);
  ASSERT_EQ(kept_.saves.size(), 1u);
  EXPECT_EQ(warm.bytes(), 0u);
}

// Two loads and two cooks, since the platforms see different values.
TEST_F(RunJobTest, TheMessagesOfAJobTellEachByteThatItMovedOnce) {
  Write("/Game/inc.txt", "123456");
  const std::string script = "read inc.txt\nplatform texture\n--\nread inc.txt\nout .t\n";
  Write("/Game/p.script", script);
  Scan();
  WarmFiles warm;
  warm.set_bytes_max(1 << 16);
  SnapshotInputsOptions options = Inputs("/Game/p.script");
  options.warm_files = &warm;
  SnapshotInputs inputs(std::move(options));

  struct Metered final : public JobSink {
    explicit Metered(const InputProvider& inputs) : meter(inputs) {}
    absl::Status Loaded(const LoadReport& report) override {
      std::vector<OutgoingBlob> blobs;
      messages.push_back(LoadedMessage(report, blobs));
      meter.TellIn(messages.back());
      return absl::OkStatus();
    }
    absl::Status Saved(const SaveReport& report) override {
      std::vector<OutgoingBlob> blobs;
      messages.push_back(SavedMessage(report, 0, blobs));
      meter.Count(report);
      meter.TellIn(messages.back());
      for (const CookedFile& file : report.outputs) saved += file.bytes->size();
      return absl::OkStatus();
    }
    ByteMeter meter;
    std::vector<v1::FromExecutor> messages;
    uint64_t saved = 0;
  } sink(inputs);
  JobSpec spec;
  for (const uint32_t platform : {0u, 1u, 2u})
    spec.targets.push_back({.platform = platform, .recipe = RecipeOf()});
  sink.messages.push_back(EndMessage(RunJob(spec, inputs, cookers_, clock_, sink)));
  sink.meter.TellIn(sink.messages.back());

  ASSERT_EQ(sink.messages.size(), 5u) << "loaded and saved, twice, and done";
  uint64_t read = 0, warm_bytes = 0, saved = 0;
  for (const v1::FromExecutor& message : sink.messages) {
    read += message.bytes().read();
    warm_bytes += message.bytes().warm();
    saved += message.bytes().saved();
  }
  EXPECT_EQ(read, script.size() + 6);
  EXPECT_EQ(sink.messages[0].bytes().read(), read) << "nothing is cold afterwards";
  EXPECT_EQ(warm_bytes, 3 * 6u);
  EXPECT_GT(saved, 0u);
  EXPECT_EQ(saved, sink.saved);
  EXPECT_EQ(sink.messages[4].bytes().ByteSizeLong(), 0u);
}

TEST_F(RunJobTest, AFileThatChangedSinceTheSnapshotEndsWithStale) {
  Write("/Game/inc.txt", "before");
  Write("/Game/p.script", "read inc.txt\nout .t\n");
  Scan();
  Write("/Game/inc.txt", "afterwards");
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<JobStale>(end));
  EXPECT_EQ(std::get<JobStale>(end).path, "/Game/inc.txt");
}

TEST_F(RunJobTest, TheLogOfAJobInTroubleIsHandedOnToTheDirector) {
  Write("/Game/p.script", "log before\n--\nlog words\nrefuse no\n");
  Scan();
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kUnknown);
  EXPECT_EQ(EndMessage(end).failed().log_tail(), "before\nwords\n");
  EXPECT_THAT(kept_.saves, IsEmpty());
}

TEST_F(RunJobTest, OfALongErrorTheBeginningIsHandedOn) {
  Write("/Game/p.script", "verdict " + std::string(1 << 20, 'a') + "\n");
  Scan();
  EXPECT_TRUE(std::holds_alternative<JobDone>(Cook("/Game/p.script", {0})));
  ASSERT_EQ(kept_.saves.size(), 1u);
  const std::string& error = kept_.saves[0].error;
  EXPECT_LT(error.size(), 140'000u);
  EXPECT_TRUE(error.ends_with("aaa ... (the rest of the error is left out)"));
}

TEST_F(RunJobTest, OfALongLogTheEndIsHandedOn) {
  const std::string log = std::string(100'000, 'a') + "the end";
  const v1::FromExecutor message =
      EndMessage(Trouble{.cause = TroubleCause::kUnknown, .error = "e", .log = log});
  EXPECT_EQ(message.failed().log_tail().size(), kLogTailBytesMax);
  EXPECT_TRUE(message.failed().log_tail().ends_with("the end"));
}

TEST_F(RunJobTest, ASourceThatChangesWhileAProgramReadsItEndsWithStale) {
  Write("/Game/same.script", "unchanged\nout .t\n");
  Write("/Game/p.script", "append " + root_ + "/mounts/Game/p.script more\nunchanged\nout .t\n");
  Scan();
  EXPECT_TRUE(std::holds_alternative<JobDone>(Cook("/Game/same.script", {0})));
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<JobStale>(end));
  EXPECT_EQ(std::get<JobStale>(end).path, "/Game/p.script");
}

TEST_F(RunJobTest, AToolThatChangesWhileItRunsOrBetweenLoadAndCookIsTriedAgain) {
  for (const char* after : {"unchanged", "tool ./tool"}) {
    ASSERT_TRUE(WriteFileAtomic(root_ + "/tool", "one").ok());
    Write("/Game/p.script",
          "tool ./tool\n--\nappend " + root_ + "/tool two\n" + after + "\nout .t\n");
    Scan();
    const JobEnd end = Cook("/Game/p.script", {0});
    ASSERT_TRUE(std::holds_alternative<Trouble>(end)) << after;
    EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kInfrastructure);
    EXPECT_THAT(std::get<Trouble>(end).error, HasSubstr("tool(tool) changed while the job ran"));
  }
}

TEST_F(RunJobTest, ListsEndWithTheirLastNameAndAnEmptyListHasNone) {
  Write("/Game/x/a.txt", "");
  Write("/Game/x/b.txt", "");
  Write("/Game/p.script", "list x\nglob x *.txt\nglob x *.none\nout .t\n");
  Scan();
  Cook("/Game/p.script", {0});
  EXPECT_EQ(*kept_.saves.at(0).outputs.at(0).bytes, "a.txt,b.txt,a.txt,b.txt,");
}

TEST_F(RunJobTest, ASourceThatIsGoneEndsWithStale) {
  Write("/Game/a.txt", "");
  Scan();
  EXPECT_TRUE(std::holds_alternative<JobStale>(Cook("/Game/p.script", {0})));
}

TEST_F(RunJobTest, AnotherIdentityIsRefused) {
  Write("/Game/p.script", "out .t\n");
  Scan();
  SnapshotInputs inputs(Inputs("/Game/p.script"));
  record::Recipe recipe = RecipeOf();
  recipe.identity = "2";
  const JobEnd end =
      RunJob({.targets = {{.platform = 0, .recipe = recipe}}}, inputs, cookers_, clock_, kept_);
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_THAT(std::get<Trouble>(end).error, HasSubstr("`2`"));
}

TEST_F(RunJobTest, AnOutputGivenTwiceIsAVerdict) {
  Write("/Game/p.script", "out .t\nout .t\n");
  Scan();
  Cook("/Game/p.script", {0});
  EXPECT_TRUE(kept_.saves.at(0).is_verdict);
}

TEST_F(RunJobTest, AnOutputThatTheCookerDoesNotDeclareIsTroubleAndNoResult) {
  Write("/Game/p.script", "log words\nout .t\nout .u\n");
  Scan();
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kUnknown);
  EXPECT_EQ(std::get<Trouble>(end).error,
            "cooker `script` made the output \".u\", which its description does not declare; "
            "declared: \".t\", further ones below \".d/\"");
  EXPECT_EQ(std::get<Trouble>(end).log, "words\n");
  EXPECT_THAT(kept_.saves, IsEmpty());
}

TEST_F(RunJobTest, ADeclaredOutputThatIsMissingIsTroubleAndNoResult) {
  Write("/Game/p.script", "out .d/more\n");
  Scan();
  const JobEnd end = Cook("/Game/p.script", {0});
  ASSERT_TRUE(std::holds_alternative<Trouble>(end));
  EXPECT_EQ(std::get<Trouble>(end).cause, TroubleCause::kUnknown);
  EXPECT_THAT(std::get<Trouble>(end).error,
              HasSubstr("cooker `script` did not make the output \".t\""));
  EXPECT_THAT(kept_.saves, IsEmpty());
}

TEST_F(RunJobTest, AGeneratedPackageOfACookerThatMayNotGenerateIsTroubleAndIsNotTold) {
  cookers_.clear();
  cookers_.push_back(CreateScriptCooker(/*may_generate=*/false));
  for (const char* const script :
       {"generate _gen/c.script\n--\nout .t\n", "--\ngenerate _gen/c.script\nout .t\n"}) {
    Write("/Game/p.script", script);
    Scan();
    kept_.loads.clear();
    const JobEnd end = Cook("/Game/p.script", {0});
    ASSERT_TRUE(std::holds_alternative<Trouble>(end));
    EXPECT_EQ(std::get<Trouble>(end).error,
              "cooker `script` generated the package `_gen/c.script`; its description says that it "
              "generates none");
    for (const LoadReport& load : kept_.loads) EXPECT_THAT(load.generated, IsEmpty());
    EXPECT_THAT(kept_.saves, IsEmpty());
  }
}

TEST_F(RunJobTest, OverlaidMountsShowMergedAsLinksAndAGeneratedSourceReplacesItsGenerator) {
  Write("/Game/a.txt", "base a");
  Write("/Game/b/c.level", "level");
  ASSERT_TRUE(CreateDirectories(root_ + "/mod").ok());
  ASSERT_TRUE(WriteFileAtomic(root_ + "/mod/a.txt", "mod a").ok());
  Scan({{.path = "/Game", .directory = root_ + "/mod", .priority = 5}});
  ASSERT_TRUE(view_->ShowUnder(root_ + "/show").ok());
  EXPECT_EQ(*ReadFile(root_ + "/show/Game/a.txt"), "mod a");
  EXPECT_EQ(*ReadFile(root_ + "/show/Game/b/c.level"), "level");
  ASSERT_TRUE(MountView::PutFile(root_ + "/show", "/Game/b/c.level/_gen/d", "made").ok());
  EXPECT_EQ(*ReadFile(root_ + "/show/Game/b/c.level/_gen/d"), "made");
  EXPECT_EQ(*ReadFile(root_ + "/show/Game/a.txt"), "mod a");
  EXPECT_EQ(*ReadFile(root_ + "/mounts/Game/b/c.level"),
            "level");  // nothing was written through a link
}

// Streams its outputs, as `copy` and `command` do.
class StreamingCooker final : public Cooker {
 public:
  StreamingCooker() {
    description_.name = "script";
    description_.identity = "1";
    description_.outputs = {{.suffix = ".out"}};
    description_.holds_source = false;
  }
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext&) override {
    return std::make_unique<Loaded>();
  }
  absl::Status Cook(CookContext& context, Loaded&) override {
    held_ = context.source() != nullptr;
    return context.AddSourceAsOutput(".out");
  }
  bool held_ = false;

 private:
  record::CookerDescription description_;
};

class StreamedJobTest : public RunJobTest {
 protected:
  // Streamed: the contents of a source, as far as it was streamed.
  struct Streamed final : public JobSink {
    absl::Status Loaded(const LoadReport&) override { return absl::OkStatus(); }
    absl::Status Saved(const SaveReport& report) override {
      if (before) before();
      source = report.source;
      const CookedFile& file = report.outputs.at(0);
      is_held = file.bytes != nullptr;
      bytes = is_held ? *file.bytes : "";
      size_bytes = file.size_bytes();
      return is_held ? absl::OkStatus() : file.stream([this](std::string_view piece) {
        bytes += piece;
        return absl::OkStatus();
      });
    }
    std::function<void()> before;
    bool is_held = false;
    uint64_t size_bytes = 0;
    std::string bytes;
    Digest source;
  };
  JobEnd CookLarge() {
    cookers_.clear();
    cookers_.push_back(std::make_unique<StreamingCooker>());
    SnapshotInputsOptions options = Inputs("/Game/a.script");
    options.read_bytes_max = 1000;
    SnapshotInputs inputs(std::move(options));
    return RunJob({.targets = {{.platform = 0, .recipe = RecipeOf()}}}, inputs, cookers_, clock_,
                  streamed_);
  }
  const std::string large_ = std::string(kHeldBytesMax, 'x') + "the end";
  Streamed streamed_;
};

TEST_F(StreamedJobTest, ASourceThatNoJobCouldHoldIsStreamed) {
  Write("/Game/a.script", large_);
  Scan();
  const JobEnd end = CookLarge();
  EXPECT_TRUE(std::holds_alternative<JobDone>(end));
  EXPECT_FALSE(streamed_.is_held);
  EXPECT_TRUE(streamed_.bytes == large_);
  EXPECT_EQ(streamed_.size_bytes, large_.size());
  EXPECT_EQ(streamed_.source, Digest::Of(large_));
}

TEST_F(StreamedJobTest, ASmallOneIsReadOnce) {
  Write("/Game/a.script", "small");
  Scan();
  EXPECT_TRUE(std::holds_alternative<JobDone>(CookLarge()));
  EXPECT_TRUE(streamed_.is_held);
  EXPECT_EQ(streamed_.bytes, "small");
}

TEST_F(StreamedJobTest, ASourceThatChangesBeforeItIsStreamedIsStale) {
  Write("/Game/a.script", large_);
  Scan();
  streamed_.before = [this] { Write("/Game/a.script", large_ + "!"); };
  const JobEnd end = CookLarge();
  ASSERT_TRUE(std::holds_alternative<JobStale>(end));
  EXPECT_EQ(std::get<JobStale>(end).path, "/Game/a.script");
}

}  // namespace
}  // namespace galley::worker
