#include "director/remake/remaker.h"

#include <functional>
#include <memory>
#include <thread>

#include "common/base/testing/await.h"
#include "common/store/local/open.h"
#include "common/store/testing/memory_store.h"
#include "director/remake/testing/kept_record.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct Kind {
  std::string name;
  std::function<std::unique_ptr<store::Store>(const std::string& directory)> open;
};

class RemakerTest : public KeptRecordTest, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override { store_ = GetParam().open(In("store")); }

  // Commits a record whose source and output are `source`; the output is in no store.
  Digest Record(const std::string& source, std::vector<record::Observed> observed = {}) {
    const record::Action action = CopyAction(source, std::move(observed));
    PutKept(*store_, action);
    EXPECT_TRUE(store_->Put(Digest::Of(source), source).ok());
    CommitResult(action.key, CopyResult(source));
    return action.key;
  }
  void CommitResult(const Digest& key, const record::Result& result) {
    EXPECT_TRUE(
        store_->Commit({.results = {{.action_key = key, .result = record::EncodeResult(result)}}})
            .ok());
  }
  // The output of a record, unlike its source, is not in the store.
  Digest RecordAbsent(const std::string& source, const std::string& output) {
    const record::Action action = CopyAction(source);
    PutKept(*store_, action);
    EXPECT_TRUE(store_->Put(Digest::Of(source), source).ok());
    CommitResult(action.key, CopyResult(output));
    return action.key;
  }
  Remaker::Options OptionsFor(std::string_view lines) {
    return {.worker_program = Program(lines), .scratch_directory = In("scratch")};
  }
  std::unique_ptr<Remaker> MakeRemaker(const Remaker::Options& options) {
    return std::make_unique<Remaker>(
        *store_, [this](std::string_view cooker) { return cooker == "copy" ? identity_ : ""; },
        options);
  }
  absl::StatusOr<Remade> Remake(const Digest& key, std::string_view lines = kUpper) {
    return MakeRemaker(OptionsFor(lines))->Remake(key, nobody_stops_);
  }
  bool Has(std::string_view bytes) { return store_->Get(Digest::Of(bytes)).ok(); }
  bool IsScratchEmpty() {
    return !FileExists(In("scratch")) || std::filesystem::is_empty(In("scratch"));
  }

  // Makes an output that is not the source, so that the store lacks it.
  static constexpr std::string_view kUpper =
      "mkdir -p \"$2/out\" && tr a-z A-Z < \"$2/input/source\" > \"$2/out/output.txt\"\n"
      "printf '\\010\\001' > \"$2/out/details\"\n";

  std::unique_ptr<store::Store> store_;
  std::string identity_ = "1";
  Cancellation nobody_stops_;
};

TEST_P(RemakerTest, OutputsThatAreAbsentAreMadeAgain) {
  const Digest key = RecordAbsent("source", "SOURCE");
  const auto remade = Remake(key);
  ASSERT_TRUE(remade.ok()) << remade.status();
  ASSERT_TRUE(std::holds_alternative<RecordMade>(*remade)) << TextOf(*remade);
  EXPECT_FALSE(std::get<RecordMade>(*remade).was_there);
  EXPECT_EQ(std::get<RecordMade>(*remade).result.outputs.front().digest, Digest::Of("SOURCE"));
  EXPECT_TRUE(Has("SOURCE"));
  EXPECT_TRUE(store_->Results(std::vector<Digest>{key})->front().has_value())
      << "the result answers again";
  EXPECT_TRUE(IsScratchEmpty());
}

TEST_P(RemakerTest, OutputsThatAreThereAreNotMade) {
  const auto remade = Remake(Record("source"), "exit 3\n");
  ASSERT_TRUE(remade.ok()) << remade.status();
  EXPECT_TRUE(std::get<RecordMade>(*remade).was_there);
}

TEST_P(RemakerTest, AnOutputThatDiffersIsNamedAndNothingIsPut) {
  const Digest key = RecordAbsent("source", "recorded");
  const auto remade = Remake(key);
  ASSERT_TRUE(remade.ok()) << remade.status();
  const auto* const differs = std::get_if<RecordDiffers>(&*remade);
  ASSERT_NE(differs, nullptr) << TextOf(*remade);
  EXPECT_EQ(differs->path, "out/output.txt");
  EXPECT_EQ(differs->recorded, Digest::Of("recorded"));
  EXPECT_EQ(differs->made, Digest::Of("SOURCE"));
  EXPECT_FALSE(Has("SOURCE"));
  EXPECT_FALSE(store_->Results(std::vector<Digest>{key})->front().has_value());
  EXPECT_THAT(TextOf(*remade), HasSubstr("recorded was " + Digest::Of("recorded").ToString()));
  EXPECT_TRUE(IsScratchEmpty());
}

TEST_P(RemakerTest, AVerdictInPlaceOfOutputsDiffers) {
  const auto remade = Remake(RecordAbsent("source", "SOURCE"), "echo wrong >&2; exit 1\n");
  ASSERT_TRUE(remade.ok()) << remade.status();
  EXPECT_EQ(std::get<RecordDiffers>(*remade).path, "out");
}

TEST_P(RemakerTest, AFaultOfTheProgramIsAnErrorWithItsWords) {
  const auto remade = Remake(RecordAbsent("source", "SOURCE"), "echo no luck >&2; exit 3\n");
  EXPECT_EQ(remade.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(remade.status().message()), HasSubstr("no luck"));
}

TEST_P(RemakerTest, AnInputThatIsGoneIsNamed) {
  const record::Action action = CopyAction(
      "source",
      {{{record::ObservationKind::kFile, "../inc/a.txt", ""}, Digest::Of("include").ToString()}});
  PutKept(*store_, action);
  ASSERT_TRUE(store_->Put(Digest::Of("source"), "source").ok());
  CommitResult(action.key, CopyResult("SOURCE"));
  const auto remade = Remake(action.key);
  ASSERT_TRUE(remade.ok()) << remade.status();
  const auto* const gone = std::get_if<RecordGone>(&*remade);
  ASSERT_NE(gone, nullptr) << TextOf(*remade);
  ASSERT_THAT(gone->absent, SizeIs(1));
  EXPECT_EQ(gone->absent[0].digest, Digest::Of("include"));
  EXPECT_EQ(gone->absent[0].path, "rel/1/inc/a.txt");
  EXPECT_THAT(TextOf(*remade), HasSubstr("file(../inc/a.txt)"));
}

TEST_P(RemakerTest, AnActionThatWasNotKeptIsNamed) {
  const record::Action action = CopyAction("source");
  CommitResult(action.key, CopyResult("SOURCE"));
  const auto remade = Remake(action.key);
  ASSERT_TRUE(remade.ok()) << remade.status();
  const auto& gone = std::get<RecordGone>(*remade);
  ASSERT_THAT(gone.absent, SizeIs(1));
  EXPECT_EQ(gone.absent[0].digest, action.key);
  EXPECT_EQ(gone.absent[0].what, "the Action");
}

TEST_P(RemakerTest, AProgramOfTheMachineThatIsAnotherIsGone) {
  const std::string tool = In("tool");
  ASSERT_TRUE(WriteFileAtomic(tool, "new").ok());
  const record::Action action = CopyAction(
      "source", {{{record::ObservationKind::kTool, tool, ""}, Digest::Of("old").ToString()}});
  PutKept(*store_, action);
  ASSERT_TRUE(store_->Put(Digest::Of("source"), "source").ok());
  CommitResult(action.key, CopyResult("SOURCE"));
  const auto remade = Remake(action.key);
  ASSERT_TRUE(remade.ok()) << remade.status();
  EXPECT_EQ(std::get<RecordGone>(*remade).absent.at(0).path, tool);
  ASSERT_TRUE(WriteFileAtomic(tool, "old").ok());
  EXPECT_TRUE(std::holds_alternative<RecordMade>(*Remake(action.key)));
}

TEST_P(RemakerTest, AnotherIdentityOfTheCookerIsRefusedWithBoth) {
  identity_ = "2";
  const auto remade = Remake(RecordAbsent("source", "SOURCE"));
  ASSERT_TRUE(remade.ok()) << remade.status();
  const auto* const other = std::get_if<OtherCooker>(&*remade);
  ASSERT_NE(other, nullptr) << TextOf(*remade);
  EXPECT_EQ(other->cooker, "copy");
  EXPECT_EQ(other->recorded, "1");
  EXPECT_EQ(other->present, "2");
  EXPECT_FALSE(Has("SOURCE"));
}

TEST_P(RemakerTest, AKeyWithoutAResultAndAVerdictAreErrors) {
  EXPECT_EQ(Remake(Digest::Of("nobody")).status().code(), absl::StatusCode::kNotFound);
  record::Result verdict;
  verdict.is_verdict = true;
  verdict.error = "no good";
  CommitResult(Digest::Of("verdict"), verdict);
  EXPECT_EQ(Remake(Digest::Of("verdict")).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(RemakerTest, ACancelledRunEndsAndLeavesNothing) {
  const Digest key = RecordAbsent("source", "SOURCE");
  Cancellation stop;
  const auto remaker = MakeRemaker(OptionsFor("touch \"$0.runs\"; sleep 600\n"));
  const WaitLimit limit("the end of the cancelled run");
  std::thread canceller([&] {
    while (!FileExists(In("program.runs"))) std::this_thread::yield();
    stop.Cancel();
  });
  EXPECT_EQ(remaker->Remake(key, stop).status().code(), absl::StatusCode::kCancelled);
  canceller.join();
  EXPECT_TRUE(IsScratchEmpty());
}

TEST_P(RemakerTest, ARunThatTakesTooLongEnds) {
  Remaker::Options options = OptionsFor("sleep 600\n");
  options.wait_max = absl::Milliseconds(200);
  const auto remaker = MakeRemaker(options);
  EXPECT_EQ(remaker->Remake(RecordAbsent("source", "SOURCE"), nobody_stops_).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(IsScratchEmpty());
}

// A run that waits for a file of the test.
constexpr std::string_view kAwait =
    "echo run >> \"$0.runs\"; while ! [ -e \"$0.go\" ]; do sleep 0.01; done\n";

TEST_P(RemakerTest, NoMoreThanTheLimitAreMadeAtOnce) {
  const Digest first = RecordAbsent("first", "FIRST"), second = RecordAbsent("second", "SECOND");
  Remaker::Options options = OptionsFor(std::string(kAwait) + std::string(kUpper));
  options.at_once_max = 1;
  const auto remaker = MakeRemaker(options);
  const WaitLimit limit("the end of the first run");
  std::thread other([&] { EXPECT_TRUE(remaker->Remake(first, nobody_stops_).ok()); });
  while (!FileExists(In("program.runs"))) std::this_thread::yield();
  EXPECT_EQ(remaker->Remake(second, nobody_stops_).status().code(),
            absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(WriteFileAtomic(In("program.go"), "").ok());
  other.join();
  EXPECT_TRUE(std::holds_alternative<RecordMade>(*remaker->Remake(second, nobody_stops_)));
}

TEST_P(RemakerTest, ManyWhoAskForOneRecordMakeItOnce) {
  const Digest key = RecordAbsent("source", "SOURCE");
  Remaker::Options options = OptionsFor(std::string(kAwait) + std::string(kUpper));
  options.at_once_max = 1;
  const auto remaker = MakeRemaker(options);
  const WaitLimit limit("the end of all askers");
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&] {
      const auto remade = remaker->Remake(key, nobody_stops_);
      EXPECT_TRUE(remade.ok() && std::holds_alternative<RecordMade>(*remade)) << remade.status();
    });
  }
  while (!FileExists(In("program.runs"))) std::this_thread::yield();
  ASSERT_TRUE(WriteFileAtomic(In("program.go"), "").ok());
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(*ReadFile(In("program.runs")), "run\n");
}

INSTANTIATE_TEST_SUITE_P(
    Stores, RemakerTest,
    testing::Values(Kind{"Memory",
                         [](const std::string&) -> std::unique_ptr<store::Store> {
                           return std::make_unique<store::MemoryStore>();
                         }},
                    Kind{"Local",
                         [](const std::string& directory) -> std::unique_ptr<store::Store> {
                           return *store::OpenLocalStore(directory);
                         }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace galley::director
