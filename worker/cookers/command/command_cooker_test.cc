#include "worker/cookers/command/command_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status_macros.h"
#include "common/record/output_names.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/killed.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/unseen_reads.h"
#include "worker/cookers/walled_programs.h"

namespace galley::worker {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

// A context that records whether a program's reads are unseen now.
class WatchedContext final : public FakeCookContext, public UnseenReads {
 public:
  using FakeCookContext::FakeCookContext;
  void SetReadsUnseen(bool unseen) override { are_unseen = unseen; }
  bool are_unseen = false;
};

// A context with walls that let everything through, or with an error instead of walls.
class WalledContext final : public FakeCookContext, public WalledPrograms {
 public:
  using FakeCookContext::FakeCookContext;
  absl::StatusOr<const ChildWalls*> Walls() override { return walls; }
  absl::StatusOr<const ChildWalls*> walls = nullptr;
};
class OpenWalls final : public ChildWalls {
 public:
  int EnterInChild() const override { return failure; }
  int failure = 0;
};

class CommandCookerTest : public testing::Test {
 protected:
  FakeCookContext& Make(const std::string& script, json more = json::object()) {
    json settings = {{"argv", {"sh", "-c", script}}, {"outputs", {".txt"}}};
    settings.update(more);
    context_ = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/x.obj", "source\n",
                                                 settings);
    return *context_;
  }
  absl::Status Cook() { return LoadAndCook(*cooker_, *context_); }

  std::unique_ptr<Cooker> cooker_ = CreateCommandCooker();
  std::unique_ptr<FakeCookContext> context_;
};

TEST_F(CommandCookerTest, ProgramReadsTheInputAndWritesTheOutput) {
  Make("cat {input} > {output:.txt}");
  ASSERT_TRUE(Cook().ok());
  EXPECT_EQ(context_->output(".txt"), "source\n");
  EXPECT_THAT(context_->looks(),
              testing::AllOf(Contains("name()"), Contains("tool(/usr/local/bin/sh)"),
                             Contains("tool(/usr/bin/sh)")));
}

// The C library's words for EROFS.
TEST_F(CommandCookerTest, WhoMayNotWriteIsToldWhereItMay) {
  const OpenWalls walls;
  for (const auto& [script, has_walls, is_told] :
       {std::tuple("echo 'x: Read-only file system' >&2; exit 1", true, true),
        {"echo 'EROFS: read-only file system, open' >&2; exit 1", true, true},
        {"echo 'x: Read-only file system' >&2", true, true},  // and does not write its output
        {"echo 'x: Read-only file system' >&2; exit 1", false, false},
        {"echo 'x: No space left on device' >&2; exit 1", true, false}}) {
    WalledContext context(cooker_->description(), "/Game/x.obj", "source\n",
                          {{"argv", {"sh", "-c", script}}, {"outputs", {".txt"}}});
    if (has_walls) context.walls = &walls;
    const std::string said = MessageOf(LoadAndCook(*cooker_, context));
    const std::string advice =
        "the project is read-only for programs: mounts (Game/...), their host folders, the store "
        "and Galley's state; write outputs to {output:SUFFIX}";
    EXPECT_EQ(said.find(advice) != std::string::npos, is_told) << said;
  }
}

TEST_F(CommandCookerTest, NoProgramRunsWhereWallsAreDemandedAndThereAreNone) {
  WalledContext context(cooker_->description(), "/Game/x.obj", "source\n",
                        {{"argv", {"sh", "-c", "echo 1 > {output:.txt}"}}, {"outputs", {".txt"}}});
  context.walls = absl::FailedPreconditionError("no walls");
  const absl::Status status = LoadAndCook(*cooker_, context);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("no walls"));
  EXPECT_TRUE(context.outputs().empty());
}

TEST_F(CommandCookerTest, AProgramThatCannotEnterItsWallsDoesNotRun) {
  OpenWalls walls;
  walls.failure = EPERM;
  WalledContext context(cooker_->description(), "/Game/x.obj", "source\n",
                        {{"argv", {"sh", "-c", "echo 1 > {output:.txt}"}}, {"outputs", {".txt"}}});
  context.walls = &walls;
  EXPECT_FALSE(LoadAndCook(*cooker_, context).ok());
  EXPECT_TRUE(context.outputs().empty());
}

TEST_F(CommandCookerTest, EnvironmentIsOnlyWhatIsNamed) {
  Make("env | grep -v -e ^PWD -e ^_ -e ^HOME -e ^OLDPWD -e ^SHLVL | sort > {output:.txt}",
       {{"env", {{"A", "b"}, {"TZ", "x"}}}});
  ASSERT_TRUE(Cook().ok());
  EXPECT_EQ(context_->output(".txt"),
            "A=b\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nTZ=x\n");
}

TEST_F(CommandCookerTest, DepfileIsObserved) {
  Make(
      "cat Game/inc/a.h > {output:.txt}; echo 'o: Game/x.obj Game/inc/a.h '$PWD'/Game/b.h "
      "/usr/bin/env' > {depfile}")
      .AddFile("/Game/inc/a.h", "a");
  const absl::Status status = Cook();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(
      context_->looks(),
      testing::AllOf(Contains("file(/Game/inc/a.h)"), Contains("file(/Game/b.h)"),
                     Contains("tool(/usr/bin/env)"), testing::Not(Contains("file(/Game/x.obj)"))));
}

TEST_F(CommandCookerTest, DepfileThatLeavesTheFolderIsAnError) {
  for (const char* path : {"../../x", "/home/x"}) {
    Make(std::string("echo 1 > {output:.txt}; echo 'o: ") + path + "' > {depfile}");
    const absl::Status status = Cook();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(MessageOf(status), HasSubstr("outside the folder"));
  }
}

TEST_F(CommandCookerTest, FailureIsNoVerdictAndHasStatusAndTail) {
  Make("echo cannot read it >&2; exit 3");
  const absl::Status status = Cook();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(MessageOf(status),
              testing::AllOf(HasSubstr("exit code 3"), HasSubstr("cannot read it")));
  EXPECT_THAT(context_->log(),
              testing::AllOf(HasSubstr("cannot read it"), HasSubstr("exit code 3")));
}

TEST_F(CommandCookerTest, WhoFailedAndHeldMoreThanItMayOutgrewIt) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  for (const auto& [memory_max, has_outgrown] :
       {std::pair(16 * kMiB, true), {64 * kMiB, false}, {1'024 * kMiB, false}}) {
    Make("head -c 40000000 /dev/zero | tail -c 40000000 > /dev/null; exit 3")
        .set_memory_bytes_max(memory_max);
    const absl::Status status = Cook();
    EXPECT_EQ(IsOutOfMemory(status), has_outgrown) << status;
    EXPECT_EQ(absl::IsFailedPrecondition(status), !has_outgrown) << status;
  }
}

// Nobody knows whether a program that failed, or was killed for its time, wrote down everything
// that it read.
TEST_F(CommandCookerTest, OnlyAProgramThatEndedWellHasToldAllThatItRead) {
  constexpr std::string_view kTells = "echo 'o: Game/a.h' > {depfile}; echo 1 > {output:.txt}; ";
  for (const auto& [then, is_told] :
       {std::pair("true", true), {"exit 3", false}, {"sleep 1000", false}}) {
    const json settings = {{"argv", {"sh", "-c", std::string(kTells) + then}},
                           {"outputs", {".txt"}}};
    WatchedContext context(cooker_->description(), "/Game/x.obj", "source\n", settings);
    context.AddFile("/Game/a.h", "a");
    if (then == std::string_view("sleep 1000")) context.set_time_left(absl::Milliseconds(300));
    EXPECT_EQ(LoadAndCook(*cooker_, context).ok(), is_told);
    EXPECT_EQ(context.are_unseen, !is_told) << then;
  }
}

TEST_F(CommandCookerTest, WithoutADepfileAllThatAProgramReadsIsKnownBefore) {
  for (const char* const script : {"echo 1 > {output:.txt}", "exit 3", "sleep 1000"}) {
    const json settings = {{"argv", {"sh", "-c", script}}, {"outputs", {".txt"}}};
    WatchedContext context(cooker_->description(), "/Game/x.obj", "source\n", settings);
    if (script == std::string_view("sleep 1000")) context.set_time_left(absl::Milliseconds(30));
    LoadAndCook(*cooker_, context).IgnoreError();
    EXPECT_FALSE(context.are_unseen) << script;
  }
}

TEST_F(CommandCookerTest, ADepfileOfGigabytesIsAMistakeAndNoLackOfMemory) {
  Make("echo 1 > {output:.txt}; truncate -s 8G {depfile}");
  const absl::Status status = Cook();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(MessageOf(status), HasSubstr("depfile: .galley/depfile has 8589934592 bytes"));
}

TEST_F(CommandCookerTest, FailuresWithoutAWordHaveALogToo) {
  Make("exit 3");
  EXPECT_FALSE(Cook().ok());
  EXPECT_EQ(context_->log(), "sh: exit code 3\n");
  Make("sleep 1000").set_time_left(absl::Milliseconds(30));
  EXPECT_FALSE(Cook().ok());
  EXPECT_THAT(context_->log(), HasSubstr("time was up"));
  Make("echo 1 > {output:.txt}; echo '{\"references\": 1}' > {result}");
  EXPECT_FALSE(Cook().ok());
  EXPECT_THAT(context_->log(), HasSubstr("{result}: expected an array"));
}

TEST_F(CommandCookerTest, ARunDuringWhichTheSourceOrAToolChangedCountsForNothing) {
  Make("echo 1 > {output:.txt}").set_unchanged(absl::AbortedError("stale"));
  EXPECT_TRUE(absl::IsAborted(Cook()));
  EXPECT_TRUE(context_->outputs().empty());
  Make("exit 1").set_unchanged(absl::UnavailableError("tool changed"));
  EXPECT_TRUE(absl::IsUnavailable(Cook()));
}

TEST_F(CommandCookerTest, FailureOfAProgramThatReportsItsInputsIsNotKept) {
  Make("exit 3 # {depfile}");
  EXPECT_TRUE(absl::IsFailedPrecondition(Cook()));
}

TEST_F(CommandCookerTest, DeathsAreNoVerdicts) {
  Make("kill -KILL $$");
  const absl::Status killed = Cook();
  EXPECT_TRUE(absl::IsUnavailable(killed));
  EXPECT_TRUE(IsKilled(killed));
  Make("kill -SEGV $$");
  EXPECT_TRUE(absl::IsFailedPrecondition(Cook()));
  Make("exit 137");  // sh -c 'tool' whose tool was killed
  EXPECT_TRUE(IsKilled(Cook()));
  Make("sleep 1000").set_time_left(absl::Milliseconds(30));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Cook()));
}

TEST_F(CommandCookerTest, MissingOutputAndLinkAreErrors) {
  Make("true");
  EXPECT_THAT(MessageOf(Cook()), HasSubstr("did not write {output:.txt}"));
  Make("ln -s /etc/passwd {output:.txt}");
  EXPECT_THAT(MessageOf(Cook()), HasSubstr("regular file"));
}

TEST_F(CommandCookerTest, ResultIsHandedOn) {
  Make(R"(echo 1 > {output:.txt}; mkdir made; echo '{}' > made/a.level; cat > {result} <<'END'
{"references": [{"path": "a.png", "kind": "soft"}], "generated": [{"name": "_gen/a.level", "file": "made/a.level", "cooker": "data"}],
 "tags": {"n": 3}, "warnings": ["careful"], "observations": [{"kind": "file", "path": "Game/none"}, {"kind": "env", "name": "E"}]}
END)");
  const absl::Status status = Cook();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(context_->references(),
              testing::ElementsAre(record::Reference{"a.png", record::ReferenceKind::kSoft}));
  EXPECT_EQ(context_->generated().at("_gen/a.level").bytes, "{}\n");
  EXPECT_EQ(std::get<double>(context_->tags().at("n")), 3);
  EXPECT_THAT(context_->warnings(), testing::ElementsAre("careful"));
  EXPECT_THAT(context_->looks(), testing::AllOf(Contains("file(/Game/none)"), Contains("env(E)")));
}

TEST_F(CommandCookerTest, ResultWithAMistakeNamesThePlace) {
  Make("echo 1 > {output:.txt}; echo '{\"references\": [{\"path\": 1}]}' > {result}");
  EXPECT_THAT(MessageOf(Cook()), HasSubstr("{result}: references[0]: expected a string \"path\""));
}

// Settings are written out again, level by level.
TEST_F(CommandCookerTest, ResultIsReadAsStrictlyAsASource) {
  Make(R"(echo 1 > {output:.txt}; echo '{}' > f
deep() { head -c 4000000 /dev/zero | tr '\0' "$1"; }
exec > {result}
printf '{"generated": [{"name": "_gen/a", "file": "f", "settings": {"a": '
deep [; deep ]
printf '}}]}'
)");
  EXPECT_THAT(MessageOf(Cook()),
              HasSubstr("{result}: line 1, column 574: arrays and objects nest deeper than 512"));
  Make(R"(echo 1 > {output:.txt}; echo '{"tags": {"a": 1, "a": 2}}' > {result})");
  EXPECT_THAT(MessageOf(Cook()), HasSubstr("the object has the key \"a\" twice"));
}

TEST_F(CommandCookerTest, CookedInputsAreAskedForAtLoadAndLieInTheFolder) {
  Make("cat {cooked:/Game/a.png} {cooked:b.frag:.d/v.spv} > {output:.txt}");
  EXPECT_TRUE(absl::IsAborted(cooker_->Load(*context_).status()));
  context_->AddCooked("/Game/a.png", ".ktx2", "A");
  context_->AddCooked("/Game/b.frag", ".d/v.spv", "B");
  ASSERT_TRUE(Cook().ok());
  EXPECT_EQ(context_->output(".txt"), "AB");
}

TEST_F(CommandCookerTest, PlatformIsObservedOnlyWhereItIsUsed) {
  Make("echo {platform} '${input}' > {output:.txt}").SetPlatform("name", "linux");
  ASSERT_TRUE(Cook().ok());
  EXPECT_EQ(context_->output(".txt"), "linux ${input}\n");
  EXPECT_THAT(context_->looks(), Contains("platform(name)"));
}

TEST_F(CommandCookerTest, MistakesInSettingsAreVerdicts) {
  Make("true", {{"argv", json::array()}});
  EXPECT_TRUE(absl::IsInvalidArgument(Cook()));
  Make("echo {output:.bin}");
  EXPECT_THAT(MessageOf(Cook()), HasSubstr("`outputs` does not have this suffix"));
  Make("true", {{"argv", {"no-such-program-anywhere"}}});
  EXPECT_THAT(MessageOf(Cook()), HasSubstr("there is no program no-such-program-anywhere"));
}

TEST_F(CommandCookerTest, TheSettingsNameTheOutputs) {
  const record::OutputNames names = record::OutputNamesOf(
      cooker_->description(), R"({"argv":["x"],"outputs":[".b",".d/c","",".a"]})", {});
  EXPECT_THAT(names.always, testing::ElementsAre("", ".a", ".b", ".d/c"));
  EXPECT_FALSE(names.has_more);
  EXPECT_FALSE(names.may_generate) << "nothing tells the cooker of packages";
  EXPECT_TRUE(record::OutputNamesOf(cooker_->description(),
                                    R"({"argv":["x","{result}"],"outputs":[".b"]})", {})
                  .may_generate);
}

}  // namespace
}  // namespace galley::worker
