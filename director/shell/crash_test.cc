// A director dies at its n-th write, for every n: before each write to the journal and the store,
// and before each sync of the store's files. The cook is small but real: the core, look-ups,
// commits, journal, local store and roots, in a process of its own (this program again, as the test
// CrashChild.Cooks) that ends without a word at the write that it is told. The next cook dies, too,
// in its recovery; the one after it ends. Then the root is that of a cook that nobody disturbed,
// what was said to be done was not cooked again, and no more was cooked twice than was in flight.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "common/base/child_process.h"
#include "common/record/action.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "director/core/cook_core.h"
#include "director/shell/commit_group.h"
#include "director/shell/fenced_store.h"
#include "director/shell/lookup.h"
#include "director/shell/root_builder.h"
#include "director/shell/shell_test_world.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr int kKilled = 86;
constexpr PlatformMask kPlatforms = 3;  // windows, android
constexpr size_t kGroupMax = 2;         // results in a commit: what is cooked and not yet durable

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The director's shell in one thread: each effect of the core is carried out at once.
class CrashChild : public ShellTest {
 protected:
  void SetUp() override {
    const std::string folder = Environment("GALLEY_CRASH_DIR");
    if (folder.empty()) GTEST_SKIP() << "run by CrashTest";
    ShellTest::SetUp();
    made_ = dir_;
    dir_ = folder;
    options_.mounts = {{.path = "/Game", .directory = Host("content")}};
    options_.digest_cache_file = Host("digests");
    project_.root = dir_;
    die_at_ = std::atoi(Environment("GALLEY_CRASH_AT").c_str());
  }
  void TearDown() override {
    if (!made_.empty()) {
      EXPECT_TRUE(RemoveAll(made_).ok());
    }
  }

  absl::Status Write() {
    if (++writes_ == die_at_) ::_exit(kKilled);
    return absl::OkStatus();
  }
  void Note(const char* file, const std::string& line) {
    std::ofstream(Host(file), std::ios::app) << line << "\n";
  }

  void Open() {
    world_.Set(MakeWorld());
    auto store = store::OpenLocalStore(Host("store"), {.sync = [this](int fd) {
                                         (void)Write();
                                         return ::fdatasync(fd);
                                       }});
    ASSERT_TRUE(store.ok()) << store.status();
    store_of_cook_ = std::make_unique<FencedStore>(*std::move(store), [this] { return Write(); });
    auto journal = Journal::Open(Host("state"));
    ASSERT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
    journal_->Fence([this] { return Write(); });
    JournalMeta meta = journal_->meta();
    meta.project_id = "p";
    ++meta.term;
    ASSERT_TRUE(journal_->Invalidate({}, meta).ok());
    look_ups_ = std::make_unique<LookUpRunner>(
        LookUpRunner::Deps{.sources = [this] { return SourcesOf(world_.Get()); },
                           .store = store_of_cook_.get(),
                           .journal = journal_.get(),
                           .results = &results_,
                           .alarm = [](const std::string& text) { ADD_FAILURE() << text; }},
        LookUpRunner::Options{.trust_domain = "main"});
    core_ = std::make_unique<CookCore>(
        CookOptions{.platform_count = 3, .workers = 1, .term = meta.term}, world_.Get()->table);
    auto segment = store_of_cook_->AllocateSegment();
    ASSERT_TRUE(segment.ok());
    writer_ = store::SegmentWriter::Open(Host("store"), *segment).value();
  }

  void Cook() {
    CookRequested request{.platforms = kPlatforms, .by_the_book = true};
    for (const std::string& name : world_.Get()->table->names())
      request.selected.push_back({name, InstigatorCategory::kCookMap});
    Step(request);
    for (int turn = 0; turn < 10'000 && !has_ended_; ++turn) {
      now_ += absl::Milliseconds(10);
      if (!jobs_.empty()) {
        Work();
      } else if (!pending_.empty()) {
        Commit();
      } else {
        Step(Tick{});
      }
      if (pending_.size() >= kGroupMax) Commit();
    }
    EXPECT_TRUE(has_ended_);
    Note("writes", fmt::format("{}", writes_));
  }

  void Step(const Event& event) {
    std::vector<Effect> effects;
    core_->Step(now_, event, effects);
    for (const Effect& effect : effects) std::visit([this](const auto& one) { Do(one); }, effect);
  }

  // Cooks one platform of the next job.
  void Work() {
    auto& [worker, start] = jobs_.front();
    const std::string name = core_->NameOf(start.package);
    for (PlatformIndex platform = 0; platform < 2; ++platform) {
      if ((start.platforms & MaskOf(platform)) == 0) continue;
      start.platforms &= ~MaskOf(platform);
      WorkerReported report{worker, {}};
      // The first attempt at this package crashes, whoever makes it.
      if (name.ends_with("poison.txt") && !FileExists(Host("crashed"))) {
        Note("crashed", name);
        report.reports.push_back(
            {++reports_, start.attempt,
             WorkerReport::Failed{.fault = WorkerReport::Fault::kCrashed, .error = "signal 11"}});
        jobs_.pop_front();
      } else {
        Note("cooked", fmt::format("{} {}", name, platform));
        report.reports.push_back({++reports_, start.attempt,
                                  WorkerReport::Saved{.platform = platform,
                                                      .result = Make(name, platform),
                                                      .save_time = absl::Milliseconds(5)}});
      }
      return Step(report);
    }
    const AttemptId attempt = start.attempt;
    const WorkerId its_worker = worker;
    jobs_.pop_front();
    Step(WorkerReported{its_worker, {{++reports_, attempt, WorkerReport::Ended{}}}});
  }

  ResultViewPtr Make(const std::string& name, PlatformIndex platform) {
    const WorldPtr world = world_.Get();
    const project::ResolvedRecipe& recipe = (*world->table->RecipesOf(name))[platform];
    auto stored = std::make_shared<StoredResult>();
    stored->package = name;
    stored->platform = platform;
    stored->platform_name = world->project->platforms[platform].name;
    stored->source = world->snapshot->DigestOf(name).value();
    stored->recipe = recipe.digest;
    stored->recipe_bytes = record::EncodeRecipe(recipe.recipe);
    stored->weak_key = record::WeakKey(stored->source, recipe.digest, "main");
    stored->observed = {{{record::ObservationKind::kPlatform, "texture", ""},
                         "=" + world->project->platforms[platform].parameters.at("texture")}};
    stored->action_key =
        record::ActionKey({recipe.recipe, stored->source, stored->observed, "main"}).value();
    const auto blob = writer_->Append(fmt::format("cooked {} {}", name, platform)).value();
    stored->blobs = {blob};
    stored->result.outputs = {{".out", blob.first}};
    stored->encoded = record::EncodeResult(stored->result);
    stored->last_cook.source = "cooked";
    return results_.Add(std::move(stored));
  }

  void Commit() {
    const Persist persist{std::exchange(pending_, {})};
    const CommitOutcome outcome = CommitGroup(
        *store_of_cook_, *journal_, results_, persist, /*is_sent_back=*/false,
        [](const StoredResult&) { return true; }, absl::UnixEpoch());
    EXPECT_EQ(outcome.event.error, "");
    Step(outcome.event);
  }

  void Do(const LookUp& effect) {
    std::vector<LookUpItem> items;
    for (const LookUp::Item& item : effect.items) {
      const std::string name = core_->NameOf(item.package);
      items.push_back({.package = item.package,
                       .name = name,
                       .platforms = item.platforms,
                       .generation = item.generation,
                       .recipes = world_.Get()->table->RecipesOf(name)});
    }
    Step(look_ups_->Run(items));
  }
  void Do(const Desire& effect) {
    for (const Desire::Start& start : effect.start) jobs_.emplace_back(effect.worker, start);
  }
  void Do(const Spawn& effect) { Step(WorkerAttached{effect.worker, 2, {}}); }
  void Do(const director::Stop&) {}
  void Do(const Persist& effect) {
    pending_.insert(pending_.end(), effect.items.begin(), effect.items.end());
  }
  void Do(const Rescan&) {}
  void Do(const Reply&) {}
  void Do(const BuildRoot& effect) {
    if (!pending_.empty()) Commit();
    builds_[effect.platform] = effect;
    Step(BuildRootTree(*SourcesOf(world_.Get()), results_, *store_of_cook_, effect).value());
  }
  void Do(const PublishRoot& effect) {
    const std::string platform = project_.platforms[effect.platform].name;
    const auto sequence = store_of_cook_->Publish(
        {.project_id = "p", .platform = platform, .root = effect.root, .by_the_book = true});
    ASSERT_TRUE(sequence.ok()) << sequence.status();
    std::vector<std::pair<std::string, std::optional<Digest>>> keys;
    for (const auto& [package, result] : builds_[effect.platform].packages) {
      const StoredResultPtr stored = results_.Get(result);
      keys.emplace_back(stored->package, stored->action_key);
    }
    ASSERT_TRUE(
        journal_->RecordPublished(platform, {.sequence = *sequence, .root = effect.root}, keys)
            .ok());
    EXPECT_EQ(journal_->LastPublished(platform)->sequence, *sequence);
    Note("roots", fmt::format("{} {}", platform, effect.root.ToString()));
    Step(RootPublished{effect.platform, "", 0, effect.round, effect.request});
  }
  void Do(const StageRoots&) {}   // nothing is staged here,
  void Do(const LookForLost&) {}  // and nothing is lost
  void Do(const Notify& effect) {
    if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
      Note("done", fmt::format("{} {}", core_->NameOf(done->package), done->platform));
    } else if (std::holds_alternative<CookEnded>(effect.notice)) {
      has_ended_ = true;
    } else if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
      ADD_FAILURE() << failed->error;
    }
  }

  std::string made_;
  int die_at_ = 0;
  int writes_ = 0;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  WorldHolder world_{nullptr};
  std::unique_ptr<store::Store> store_of_cook_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<LookUpRunner> look_ups_;
  std::unique_ptr<CookCore> core_;
  std::unique_ptr<store::SegmentWriter> writer_;
  std::deque<std::pair<WorkerId, Desire::Start>> jobs_;
  std::vector<Persist::Item> pending_;
  std::map<PlatformIndex, BuildRoot> builds_;
  ReportId reports_ = 0;
  bool has_ended_ = false;
};

TEST_F(CrashChild, Cooks) {
  Open();
  if (!HasFatalFailure()) Cook();
}

class CrashTest : public content::ContentTest {
 protected:
  // A folder with a project in which nothing was cooked.
  std::string NewFolder(const std::string& name) {
    for (const char* file : {"a.txt", "b.txt", "c.txt", "poison.txt"})
      Write(fmt::format("{}/content/{}", name, file), file);
    return Host(name);
  }
  // False: it died at that write.
  static bool Run(const std::string& folder, int die_at) {
    const FileDescriptor quiet(::open(JoinPath(folder, "output").c_str(),
                                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    auto child = ChildProcess::Start(
        {.argv = {"/proc/self/exe", "--gtest_filter=CrashChild.Cooks", "--gtest_brief=1"},
         .environment = {"GALLEY_CRASH_DIR=" + folder, fmt::format("GALLEY_CRASH_AT={}", die_at)},
         .inherit_environment = true,
         .inherit = {{quiet.get(), STDOUT_FILENO}}});
    EXPECT_TRUE(child.ok()) << child.status();
    const ExitStatus status = child->Wait();
    EXPECT_TRUE(status.code == 0 || status.code == kKilled)
        << "at write " << die_at << ": " << status.ToString() << "\n"
        << ReadFile(JoinPath(folder, "output")).value_or("");
    return status.code != kKilled;
  }
  static std::vector<std::string> Lines(const std::string& folder, const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(JoinPath(folder, file));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  // The last root of each platform.
  static std::map<std::string, std::string> Roots(const std::string& folder) {
    std::map<std::string, std::string> roots;
    for (const std::string& line : Lines(folder, "roots"))
      roots[line.substr(0, line.find(' '))] = line.substr(line.find(' ') + 1);
    return roots;
  }
};

TEST_F(CrashTest, ADirectorThatDiesAtAnyWriteLosesOnlyWhatWasInFlight) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kStride = 5;
#else
  constexpr int kStride = 1;
#endif
  const std::string undisturbed = NewFolder("undisturbed");
  ASSERT_TRUE(Run(undisturbed, 0));
  const auto roots = Roots(undisturbed);
  ASSERT_EQ(roots.size(), 2u);
  const std::vector<std::string> all = Lines(undisturbed, "cooked");
  ASSERT_EQ(all.size(), 8u);
  const int writes = std::stoi(Lines(undisturbed, "writes").at(0));
  ASSERT_GT(writes, 15);
  int died = 0;
  for (int n = 1; n <= writes; n += kStride) {
    SCOPED_TRACE(fmt::format("died at write {} of {}", n, writes));
    const std::string folder = NewFolder(fmt::format("at-{}", n));
    ASSERT_FALSE(Run(folder, n));
    const auto done_before = Lines(folder, "done");
    const size_t cooked_before = Lines(folder, "cooked").size();
    died += Run(folder, 1 + n % 7) ? 0 : 1;  // in its recovery, or soon after
    ASSERT_TRUE(Run(folder, 0));
    EXPECT_EQ(Roots(folder), roots);
    const std::vector<std::string> cooked = Lines(folder, "cooked");
    EXPECT_LE(cooked.size(), all.size() + 2 * kGroupMax) << "two deaths";
    const std::set<std::string> done(done_before.begin(), done_before.end());
    for (size_t i = cooked_before; i < cooked.size(); ++i)
      EXPECT_FALSE(done.contains(cooked[i])) << cooked[i] << " was done";
    ASSERT_TRUE(RemoveAll(folder).ok());
  }
  EXPECT_GT(died, 0);
}

}  // namespace
}  // namespace galley::director
