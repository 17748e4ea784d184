#include "director/resident/present_world.h"

#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/record/cooker_description.h"
#include "director/host/testing/fake_listener.h"
#include "director/shell/trace.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;

// PresentWorldTest: a project in its own folder, with a script as worker that only describes
// itself. So only asks for packages that need no worker have an outcome.
class PresentWorldTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "present").value();
    ASSERT_TRUE(CreateDirectories(JoinPath(folder_, "content")).ok());
    Write("worker", fmt::format("#!/bin/sh\ncat <<'END'\n{}\nEND\n",
                                record::EncodeDescriptions({{.name = "copy", .identity = "1"}})));
    ASSERT_EQ(::chmod(JoinPath(folder_, "worker").c_str(), 0755), 0);
    Write("content/a.txt", "a");
    Write("content/none.txt", "n");
    Write("content/none.txt.cook", "cooker = \"nobody\"\n");
    const auto project = Load("");
    auto director =
        Director::Open({.project = project,
                        .worker_program = JoinPath(folder_, "worker"),
                        .environment = {},
                        .hold = {.check = [](const std::string&) { return absl::OkStatus(); }}},
                       listener_, stop_);
    ASSERT_TRUE(director.ok()) << director.status();
    director_ = *std::move(director);
    project_ = std::make_unique<ProjectReader>([this] { return Read(); }, project);
    admission_ = std::make_unique<CookAdmission>(
        CookAdmission::Deps{.director = *director_, .trace = trace_});
  }
  void TearDown() override {
    present_.reset();
    admission_.reset();
    director_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, name), text).ok());
  }
  absl::StatusOr<project::Project> Read() const {
    return project::LoadProject({.directory = folder_, .environment = {}, .overrides = {}});
  }
  std::shared_ptr<const project::Project> Load(const std::string& more) const {
    Write("galley.toml",
          "[project]\nname = \"tower\"\n[[mount]]\npath = \"/Game\"\ndir = \"content\"\n"
          "[[rule]]\nmatch = \"/Game/**\"\ncooker = \"copy\"\n[[platform]]\nname = \"pc\"\n" +
              more);
    return std::make_shared<const project::Project>(Read().value());
  }
  CookAdmission::Needs NeedsOf(const std::string& more) const {
    auto setup = std::make_shared<director::Setup>(*director_->setup());
    setup->project = Load(more);
    return {.setup = std::move(setup)};
  }

  void Begin() {
    present_ = std::make_unique<PresentWorld>(
        PresentWorld::Deps{.director = *director_,
                           .admission = *admission_,
                           .project = *project_,
                           .clock = clock_,
                           .changed = [this](const WorldPtr& world) { NoteChange(world); }});
  }
  void NoteChange(const WorldPtr& world) {
    base::MutexLock lock(mutex_);
    changed_.push_back(world);
  }
  WorldPtr LastChange() {
    base::MutexLock lock(mutex_);
    return changed_.empty() ? nullptr : changed_.back();
  }
  // Waits for a world that fits.
  WorldPtr Await(const std::string& what, const std::function<bool(const World&)>& fits) {
    WorldPtr world;
    AwaitOrFail(
        [&] {
          const auto now = present_->Get();
          if (now.ok()) world = *now;
          return now.ok() && fits(*world);
        },
        what);
    return world;
  }
  WorldPtr AwaitAny() {
    return Await("a world", [](const World&) { return true; });
  }

  // Outcome: of one ask, as a text.
  struct Outcome {
    base::Mutex mutex;
    std::string text GALLEY_GUARDED_BY(mutex);
    std::string Text() {
      base::MutexLock lock(mutex);
      return text;
    }
  };
  static PackageAsks::Callback NoteIn(const std::shared_ptr<Outcome>& noted) {
    return [noted](const AskOutcome& outcome) {
      base::MutexLock lock(noted->mutex);
      if (const auto* const failed = std::get_if<AskFailed>(&outcome)) {
        noted->text = "failed: " + failed->error;
      } else if (const auto* const aborted = std::get_if<AskAborted>(&outcome)) {
        noted->text = "aborted: " + aborted->reason;
      } else {
        noted->text = "done";
      }
    };
  }
  std::string AskFor(const std::string& package) {
    const auto noted = std::make_shared<Outcome>();
    const auto ask = present_->Ask(package, "pc", NoteIn(noted));
    if (!ask.ok()) return "refused: " + std::string(ask.status().message());
    AwaitOrFail([&] { return !noted->Text().empty(); }, "the outcome of an ask");
    return noted->Text();
  }
  // Ends the workers as a director does for which nobody asks.
  void Rest() {
    const auto permit = admission_->Enter(0, CookClass::kAhead, {}, stop_, [] {});
    ASSERT_TRUE(permit.ok());
    admission_->Close();
  }

  std::string folder_;
  FakeListener listener_;
  Cancellation stop_;
  Trace trace_;
  SystemClock clock_;
  std::unique_ptr<Director> director_;
  std::unique_ptr<ProjectReader> project_;
  std::unique_ptr<CookAdmission> admission_;
  base::Mutex mutex_;
  std::vector<WorldPtr> changed_ GALLEY_GUARDED_BY(mutex_);
  std::unique_ptr<PresentWorld> present_;
};

bool HasFile(const World& world, const std::string& path) {
  return world.snapshot->Find(path) != nullptr;
}

TEST_F(PresentWorldTest, ThereIsAWorldWithoutACook) {
  Begin();
  const WorldPtr world = AwaitAny();
  ASSERT_NE(world, nullptr);
  EXPECT_TRUE(world->table->Find("/Game/a.txt").has_value());
  ASSERT_NE(admission_->shell(), nullptr);
  EXPECT_EQ(admission_->shell()->world(), world);
  EXPECT_TRUE(director_->stores().store().Roots(director_->project_id()).value().empty());
}

TEST_F(PresentWorldTest, AnEditMakesAnotherWorld) {
  Begin();
  const WorldPtr before = AwaitAny();
  Write("content/a.txt", "other bytes");
  const auto is_edited = [](const World& world) {
    const content::FileEntry* const file = world.snapshot->Find("/Game/a.txt");
    return file != nullptr && file->stat.size_bytes == 11;
  };
  const WorldPtr after = Await("the world after an edit", is_edited);
  EXPECT_GT(after->number, before->number);
  AwaitOrFail(
      [&] {
        const WorldPtr told = LastChange();
        return told != nullptr && is_edited(*told);
      },
      "the news of the world");
}

TEST_F(PresentWorldTest, FilesComeAndGo) {
  Begin();
  AwaitAny();
  ASSERT_TRUE(CreateDirectories(JoinPath(folder_, "content/maps")).ok());
  Write("content/maps/town.txt", "t");
  Await("a new file",
        [](const World& world) { return world.table->Find("/Game/maps/town.txt").has_value(); });
  ASSERT_EQ(::unlink(JoinPath(folder_, "content/maps/town.txt").c_str()), 0);
  Await("the end of a file",
        [](const World& world) { return !HasFile(world, "/Game/maps/town.txt"); });
}

TEST_F(PresentWorldTest, AnotherProjectFileIsTakenUp) {
  Begin();
  AwaitAny();
  Load("[[platform]]\nname = \"deck\"\n");
  Await("another platform",
        [](const World& world) { return world.project->platforms.size() == 2; });
}

TEST_F(PresentWorldTest, ABrokenProjectFileChangesNothing) {
  Begin();
  const WorldPtr before = AwaitAny();
  Write("galley.toml", "[project\n");
  Write("content/new.txt", "n");
  const WorldPtr after =
      Await("a new file", [](const World& world) { return HasFile(world, "/Game/new.txt"); });
  EXPECT_EQ(after->project, before->project);
}

TEST_F(PresentWorldTest, PackagesAreAskedForInThePresentWorld) {
  Begin();
  AwaitAny();
  EXPECT_THAT(AskFor("/Game/none.txt"), HasSubstr("nobody"));
  EXPECT_THAT(AskFor("/Game/absent.txt"), HasSubstr("failed: unknown package"));
  Write("content/none.txt.cook", "cooker = \"another\"\n");
  AwaitOrFail([&] { return AskFor("/Game/none.txt").find("another") != std::string::npos; },
              "the world of another sidecar");
}

TEST_F(PresentWorldTest, WhoeverAsksWhenTheWorkersRestWaitsForThem) {
  Begin();
  AwaitAny();
  Rest();
  EXPECT_EQ(admission_->shell(), nullptr);
  EXPECT_TRUE(present_->Get().ok()) << "the files are the same";
  EXPECT_THAT(AskFor("/Game/none.txt"), HasSubstr("failed: "));
  EXPECT_NE(admission_->shell(), nullptr);
  EXPECT_GT(present_->awaited_at(), absl::InfinitePast());
}

TEST_F(PresentWorldTest, AheadOfNeedNobodyWakesTheWorkers) {
  Begin();
  AwaitAny();
  const auto noted = std::make_shared<Outcome>();
  ASSERT_TRUE(present_->AskAhead("/Game/none.txt", "pc", NoteIn(noted)).ok());
  AwaitOrFail([&] { return !noted->Text().empty(); }, "the outcome of an ask ahead of need");
  EXPECT_THAT(noted->Text(), HasSubstr("failed: "));
  Rest();
  const auto refused = present_->AskAhead("/Game/none.txt", "pc", NoteIn(noted));
  EXPECT_TRUE(absl::IsUnavailable(refused.status())) << refused.status();
  EXPECT_EQ(admission_->shell(), nullptr);
  EXPECT_EQ(present_->awaited_at(), absl::InfinitePast()) << "nobody waited";
}

TEST_F(PresentWorldTest, AnAskAheadOfNeedEndsWithItsWorkers) {
  Begin();
  AwaitAny();
  const auto noted = std::make_shared<Outcome>(), gone = std::make_shared<Outcome>();
  ASSERT_TRUE(present_->AskAhead("/Game/a.txt", "pc", NoteIn(noted)).ok());
  const auto withdrawn = present_->AskAhead("/Game/a.txt", "pc", NoteIn(gone));
  ASSERT_TRUE(withdrawn.ok());
  present_->Withdraw(*withdrawn);
  EXPECT_EQ(present_->awaited_at(), absl::InfinitePast()) << "nobody waits";
  Rest();
  AwaitOrFail([&] { return !noted->Text().empty(); }, "the end of an ask ahead of need");
  EXPECT_THAT(noted->Text(), HasSubstr("aborted: "));
  EXPECT_EQ(gone->Text(), "");
  EXPECT_EQ(admission_->shell(), nullptr);
}

TEST_F(PresentWorldTest, FilesAreFollowedWhenTheWorkersRest) {
  Begin();
  AwaitAny();
  Rest();
  Write("content/new.txt", "n");
  Await("a new file", [](const World& world) { return HasFile(world, "/Game/new.txt"); });
}

TEST_F(PresentWorldTest, DevicesAreNoCook) {
  Begin();
  AwaitAny();
  const SetupPtr setup = director_->setup();
  auto permit = admission_->Enter(1, CookClass::kNightly, {.setup = setup}, stop_, [] {});
  ASSERT_TRUE(permit.ok()) << permit.status();
  EXPECT_TRUE((*permit)->IsAlone());
  EXPECT_EQ((*permit)->Present(), present_->Get().value()) << "a cook finds the world of devices";
}

TEST_F(PresentWorldTest, NobodyWaitsForWorkersThatACookReplaced) {
  const std::string more = "[farm]\nslots = 3\n";
  auto permit = admission_->Enter(1, CookClass::kNightly, NeedsOf(more), stop_, [] {});  // a cook
  ASSERT_TRUE(permit.ok()) << permit.status();
  Load("");
  Begin();
  AwaitOrFail(
      [&] {
        const auto world = present_->Get();
        return !world.ok() && world.status().message().find("replaced") != std::string::npos;
      },
      "the reason why there is no world");
  EXPECT_THAT(AskFor("/Game/none.txt"), HasSubstr("refused: the workers are being replaced"));
  permit->reset();
  AwaitAny();
  EXPECT_THAT(AskFor("/Game/none.txt"), HasSubstr("failed: "));
}

TEST_F(PresentWorldTest, TheEndIsToldToThoseWhoWait) {
  Begin();
  AwaitAny();
  const auto waits = std::make_shared<Outcome>(), gone = std::make_shared<Outcome>();
  ASSERT_TRUE(present_->Ask("/Game/a.txt", "pc", NoteIn(waits)).ok());
  const auto ask = present_->Ask("/Game/a.txt", "pc", NoteIn(gone));
  ASSERT_TRUE(ask.ok());
  present_->Withdraw(*ask);
  present_->End();
  EXPECT_THAT(waits->Text(), HasSubstr("aborted: "));
  EXPECT_EQ(gone->Text(), "");
  EXPECT_THAT(AskFor("/Game/none.txt"), HasSubstr("refused: the director ends"));
}

}  // namespace
}  // namespace galley::director
