// CrashTest: a director dies at its n-th write, for every n: before each write to the journal and
// the store, and before each sync of the store's files.
//
// The cook is small but real: the core, look-ups, the shell's owners of effects, journal and local
// store. It runs in a child process, this program as the test CrashChild.Cooks, which exits at the
// n-th write. The next cook dies as well, during recovery; the third cook ends. Then the root
// equals the root of an undisturbed cook, no result that was reported done was cooked again, and
// only packages that were in flight were cooked twice.
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
#include "director/shell/commits.h"
#include "director/shell/cooks.h"
#include "director/shell/fenced_store.h"
#include "director/shell/lookup.h"
#include "director/shell/notices.h"
#include "director/shell/package_asks.h"
#include "director/shell/report_reader.h"
#include "director/shell/roots.h"
#include "director/shell/shell_test_world.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr int kKilled = 86;
constexpr PlatformMask kPlatforms = 3;  // windows, android
constexpr size_t kGroupMax = 2;         // results in a commit: cooked and not yet durable

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// OneThread: tasks of the commits and messages to the loop, in one queue.
class OneThread final : public Tasks, public Inbox {
 public:
  explicit OneThread(std::function<void(const Event&)> step) : step_(std::move(step)) {}
  void Post(std::function<void()> task) override { waiting_.push_back(std::move(task)); }
  void PostTask(Task task) override { Post(std::move(task)); }
  void PostEvent(Event event) override {
    Post([this, event = std::move(event)] { step_(event); });
  }
  void RunOnLoop(Task task, Task then) override {
    task();
    then();
  }
  void HandleNow(const Event& event) override { step_(event); }
  // Returns false when the queue is empty.
  bool RunNext() {
    if (waiting_.empty()) return false;
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    task();
    return true;
  }

 private:
  const std::function<void(const Event&)> step_;
  std::deque<std::function<void()>> waiting_;
};

class TestClock final : public Clock {
 public:
  absl::Time Now() override { return now; }
  absl::Time Monotonic() override { return now; }
  absl::Time now = absl::FromUnixSeconds(1000);
};

// CrashChild: the core and the shell's owners of effects in one thread; the test plays the workers.
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
    const PresentSources sources = [this] { return SourcesOf(world_.Get()); };
    look_ups_ = std::make_unique<LookUpRunner>(
        LookUpRunner::Deps{.sources = sources,
                           .store = store_of_cook_.get(),
                           .journal = journal_.get(),
                           .results = &results_,
                           .alarm = [](const std::string& text) { ADD_FAILURE() << text; }},
        LookUpRunner::Options{.trust_domain = "main"});
    core_ = std::make_unique<CookCore>(
        CookOptions{.platform_count = 3, .workers = 1, .term = meta.term}, world_.Get()->table);
    reader_ = std::make_unique<ReportReader>(ReportReader::Deps{.sources = sources,
                                                                .store = store_of_cook_.get(),
                                                                .results = &results_,
                                                                .trace = &trace_},
                                             "main", DefaultLimits{});
    owners_ = std::make_unique<Owners>(*this, sources);
    auto segment = store_of_cook_->AllocateSegment();
    ASSERT_TRUE(segment.ok());
    writer_ = store::SegmentWriter::Open(Host("store"), *segment).value();
  }

  struct Owners {
    Owners(CrashChild& of, const PresentSources& sources)
        : commits({.store = *of.store_of_cook_,
                   .journal = *of.journal_,
                   .results = of.results_,
                   .trace = of.trace_,
                   .clock = of.clock_,
                   .tasks = of.thread_,
                   .inbox = of.thread_,
                   .cooks = active,
                   .reports = *of.reader_,
                   .holds = [] { return [](const StoredResult&) { return true; }; },
                   .committed = [](const std::vector<ResultId>&) {}}),
          roots({.project_id = "p"}, {.store = *of.store_of_cook_,
                                      .journal = *of.journal_,
                                      .results = of.results_,
                                      .clock = of.clock_,
                                      .tasks = of.thread_,
                                      .root_tasks = of.thread_,
                                      .inbox = of.thread_,
                                      .commits = commits,
                                      .cooks = active,
                                      .world = [&of] { return of.world_.Get(); },
                                      .sources = sources}),
          asks({.store = *of.store_of_cook_,
                .journal = *of.journal_,
                .results = of.results_,
                .commit_tasks = of.thread_,
                .tasks = of.thread_,
                .inbox = of.thread_,
                .sources = sources,
                .world = [&of] { return of.world_.Get(); }}),
          cooks({.core = *of.core_,
                 .journal = *of.journal_,
                 .clock = of.clock_,
                 .tasks = of.thread_,
                 .inbox = of.thread_,
                 .active = active,
                 .commits = commits,
                 .world = [&of] { return of.world_.Get(); },
                 .sources = sources,
                 .before_begin = [](ActiveCook&) {},
                 .after_begin = [] {},
                 .before_close = [](ActiveCook&) {},
                 .after_close = [&of] { of.has_ended_ = true; }}),
          notices({.core = *of.core_,
                   .results = of.results_,
                   .clock = of.clock_,
                   .inbox = of.thread_,
                   .cooks = active,
                   .notes = commits.notes(),
                   .ask_failures = commits.ask_failures(),
                   .sources = sources,
                   .name_of = [](WorkerId) { return std::string("local-1"); },
                   .keep_limit = [](const PackageFailed&) { return std::string(); },
                   .quarantine = [](const WorkerQuarantined&) { return std::string(); },
                   .hold = [](const WorkerHeld&) { return std::string(); },
                   .end_process = [](const WorkerViolated&) { return std::string(); },
                   .end_cook = [this](const std::shared_ptr<ActiveCook>& cook,
                                      const CookEnded& ended) { cooks.End(cook, ended); },
                   .end_ask = [this](const AskEnded& ended) { asks.TakeEnded(ended); }}) {}

    ActiveCooks active;
    Commits commits;
    Roots roots;
    PackageAsks asks;
    Cooks cooks;
    Notices notices;
  };

  void Cook() {
    CookRequested request{.platforms = kPlatforms, .by_the_book = true};
    for (const std::string& name : world_.Get()->table->names())
      request.selected.push_back({name, InstigatorCategory::kCookMap});
    owners_->cooks.Begin(std::make_shared<ActiveCook>(CookOrder{.request = request}));
    for (int turn = 0; turn < 10'000 && !has_ended_; ++turn) {
      if (thread_.RunNext()) continue;
      clock_.now += absl::Milliseconds(10);
      if (pending_ >= kGroupMax) {
        Commit();
      } else if (!jobs_.empty()) {
        Work();
      } else if (pending_ > 0) {
        Commit();
      } else {
        Step(Tick{});
      }
    }
    EXPECT_TRUE(has_ended_);
    Note("writes", fmt::format("{}", writes_));
  }

  void Commit() {
    pending_ = 0;
    owners_->commits.BeginAll();
  }

  void Step(const Event& event) {
    if (const auto* published = std::get_if<RootPublished>(&event)) CheckPublished(*published);
    std::vector<Effect> effects;
    core_->Step(clock_.now, event, effects);
    for (const Effect& effect : effects) std::visit([this](const auto& one) { Do(one); }, effect);
  }

  // Cooks the next job for one platform.
  void Work() {
    auto& [worker, start] = jobs_.front();
    const std::string name = core_->NameOf(start.package);
    for (PlatformIndex platform = 0; platform < 2; ++platform) {
      if ((start.platforms & MaskOf(platform)) == 0) continue;
      start.platforms &= ~MaskOf(platform);
      WorkerReported report{worker, {}};
      // The first attempt at this package crashes, whoever makes the attempt.
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
    pending_ += effect.items.size();
    owners_->commits.Persist(effect);
  }
  void Do(const Rescan&) {}
  void Do(const Reply&) {}
  void Do(const BuildRoot& effect) {
    pending_ = 0;  // waiting results are committed first
    owners_->roots.Build(effect);
  }
  void Do(const PublishRoot& effect) { owners_->roots.Publish(effect); }
  void Do(const StageRoots& effect) { owners_->roots.Stage(effect); }
  void Do(const LookForLost& effect) { owners_->roots.LookForLostBlobs(effect); }
  void CheckPublished(const RootPublished& published) {
    ASSERT_EQ(published.error, "");
    const std::string platform = project_.platforms[published.platform].name;
    const auto roots = store_of_cook_->Roots("p");
    ASSERT_TRUE(roots.ok()) << roots.status();
    const auto newest = std::find_if(roots->begin(), roots->end(),
                                     [&](const auto& root) { return root.platform == platform; });
    ASSERT_NE(newest, roots->end());
    EXPECT_EQ(journal_->LastPublished(platform)->sequence, newest->sequence);
    Note("roots", fmt::format("{} {}", platform, newest->root.ToString()));
  }
  void Do(const Notify& effect) {
    if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
      Note("done", fmt::format("{} {}", core_->NameOf(done->package), done->platform));
    } else if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
      ADD_FAILURE() << failed->error;
    }
    owners_->notices.Tell(effect);
  }

  std::string made_;
  int die_at_ = 0;
  int writes_ = 0;
  TestClock clock_;
  OneThread thread_{[this](const Event& event) { Step(event); }};
  Trace trace_;
  WorldHolder world_{nullptr};
  std::unique_ptr<store::Store> store_of_cook_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<LookUpRunner> look_ups_;
  std::unique_ptr<CookCore> core_;
  std::unique_ptr<store::SegmentWriter> writer_;
  std::deque<std::pair<WorkerId, Desire::Start>> jobs_;
  size_t pending_ = 0;  // results that wait to be committed
  std::unique_ptr<ReportReader> reader_;
  std::unique_ptr<Owners> owners_;
  ReportId reports_ = 0;
  bool has_ended_ = false;
};

TEST_F(CrashChild, Cooks) {
  Open();
  if (!HasFatalFailure()) Cook();
}

class CrashTest : public content::ContentTest {
 protected:
  // Returns a new folder with a project in which nothing was cooked.
  std::string NewFolder(const std::string& name) {
    for (const char* file : {"a.txt", "b.txt", "c.txt", "poison.txt"})
      Write(fmt::format("{}/content/{}", name, file), file);
    return Host(name);
  }
  // Returns false when the child died at the given write.
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
  // Returns the last root of each platform.
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
    died += Run(folder, 1 + n % 7) ? 0 : 1;  // during recovery, or soon after
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
