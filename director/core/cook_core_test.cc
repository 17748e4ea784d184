// Whole cooks, told as a few lines of text. A shell answers every effect at once, in order; time
// stands still but for back-offs.
//
//   Town -> Mesh Tree?   hard and soft references
//   Town << Mesh         reads Mesh's cooked output
//   Town ! "text"        its cook is a verdict
//   Town *               crashes its executor
//
// Cook returns lines: "root A, B", "failed A: text", "warned A: text", "ended".
#include <deque>
#include <map>
#include <sstream>

#include "director/core/cook_core.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

struct Item {
  std::vector<record::Reference> references;
  std::vector<std::string> inputs;
  std::string verdict;
  bool crashes = false;
};

class TextCatalog : public Catalog {
 public:
  explicit TextCatalog(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, kind, word;
      if (!(words >> name)) continue;
      Item& item = items[name];
      words >> kind;
      if (kind == "*") item.crashes = true;
      if (kind == "!") std::getline(words >> std::ws, item.verdict);
      while (kind == "->" && words >> word) {
        const bool is_soft = word.ends_with("?");
        item.references.push_back(
            {is_soft ? word.substr(0, word.size() - 1) : word,
             is_soft ? record::ReferenceKind::kSoft : record::ReferenceKind::kHard});
      }
      while (kind == "<<" && words >> word) item.inputs.push_back(word);
    }
  }
  std::optional<CatalogEntry> Find(std::string_view name) const override {
    if (!items.contains(std::string(name))) return std::nullopt;
    return CatalogEntry{};
  }
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  CatalogEntry Generated(std::string_view, std::string_view, std::string_view) const override {
    return {};
  }
  ReferenceTarget Resolve(std::string_view, std::string_view written) const override {
    return {.name = std::string(written), .error = Find(written).has_value() ? "" : "no such file"};
  }
  std::map<std::string, Item> items;
};

class CookCoreTest : public testing::Test {
 protected:
  std::string Cook(const std::string& graph, CookRequested request, bool is_cached = false) {
    catalog_ = std::make_shared<TextCatalog>(graph);
    core_ = std::make_unique<CookCore>(CookOptions{}, catalog_);
    is_cached_ = is_cached;
    log_.clear();
    request.platforms = 1;
    Send(request);
    for (int i = 0; i < 100 && !log_.ends_with("ended\n"); ++i) Send(Tick{});
    return log_;
  }
  std::string Cook(const std::string& graph, bool is_cached = false) {
    return Cook(graph, CookRequested{.selected = {{"Town", InstigatorCategory::kCookMap}}},
                is_cached);
  }

  // Events that answer effects are sent after all effects of the step.
  void Send(const Event& event) {
    inbox_.push_back(event);
    if (is_sending_) return;
    is_sending_ = true;
    for (; !inbox_.empty(); inbox_.pop_front()) {
      std::vector<Effect> effects;
      core_->Step(now_ += absl::Seconds(6), inbox_.front(), effects);
      core_->CheckInvariants();
      for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
    }
    is_sending_ = false;
  }
  const std::string& Name(PackageId id) const { return core_->NameOf(id); }
  ResultViewPtr Result(PackageId id) {
    const Item& item = catalog_->items[Name(id)];
    return std::make_shared<ResultView>(ResultView{.id = ResultId(results_++),
                                                   .references = item.references,
                                                   .is_verdict = !item.verdict.empty(),
                                                   .error = item.verdict});
  }
  void Do(const LookUp& look_up) {
    LookedUp answer;
    for (const LookUp::Item& item : look_up.items) {
      if (is_cached_)
        answer.items.push_back(
            {item.package, 0, item.generation, LookedUp::Hit{Result(item.package), true}});
      if (!is_cached_) answer.items.push_back({item.package, 0, item.generation, LookedUp::Miss{}});
    }
    Send(answer);
  }
  void Do(const Spawn& spawn) { Send(WorkerAttached{spawn.worker, 4, {}}); }
  void Do(const Desire& desire) {
    for (const Desire::Start& start : desire.start) {
      loaded_ += Name(start.package) + " ";
      WorkerReport report{
          .report = ++reports_, .attempt = start.attempt, .what = WorkerReport::Ended{}};
      const Item& item = catalog_->items[Name(start.package)];
      report.what = WorkerReport::Saved{0, Result(start.package), absl::Milliseconds(1)};
      if (item.crashes)
        report.what = WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"};
      for (const std::string& input : item.inputs) {
        bool is_given = false;
        for (const CookedResult& cooked : start.cooked) is_given |= Name(cooked.package) == input;
        if (!is_given) report.what = WorkerReport::Needs{input, 0};
      }
      Send(WorkerReported{desire.worker, {report}});
    }
  }
  void Do(const Persist& persist) {
    Persisted answer;
    for (const Persist::Item& item : persist.items)
      answer.items.push_back({item.package, item.platform, item.result});
    Send(answer);
  }
  void Do(const Reply&) {}
  void Do(const Rescan&) {}
  void Do(const Stop&) {}
  void Do(const BuildRoot& root) {
    log_ += "root";
    for (const auto& [id, result] : root.packages) log_ += " " + Name(id);
    log_ += "\n";
    RootBuilt built{root.platform, Digest(), {}};
    built.request = root.request;
    Send(built);
  }
  void Do(const PublishRoot& root) { Send(RootPublished{root.platform, "", 0, 0, root.request}); }
  void Do(const StageRoots&) {}
  void Do(const LookForLost&) {}
  void Do(const Notify& notify) {
    if (const auto* failed = std::get_if<PackageFailed>(&notify.notice))
      log_ += "failed " + Name(failed->package) + ": " + failed->error + "\n";
    if (const auto* warned = std::get_if<PackageWarned>(&notify.notice))
      log_ += "warned " + Name(warned->package) + ": " + warned->text + "\n";
    if (std::holds_alternative<CookEnded>(notify.notice)) log_ += "ended\n";
  }

  std::shared_ptr<TextCatalog> catalog_;
  std::unique_ptr<CookCore> core_;
  std::string log_, loaded_;
  std::deque<Event> inbox_;
  bool is_sending_ = false;
  absl::Time now_ = absl::UnixEpoch();
  uint32_t results_ = 0;
  ReportId reports_ = 0;
  bool is_cached_ = false;
};

TEST_F(CookCoreTest, TheRootIsTheClosureOverHardAndSoftReferences) {
  EXPECT_EQ(Cook("Town -> Mesh Tree?\nMesh -> Town\nTree\nOther\n"),
            "root Mesh Town Tree\nended\n");
  EXPECT_EQ(core_->counters().results_cooked, 3u);
}

TEST_F(CookCoreTest, ACookOfWhatIsUpToDateStartsNoWorker) {
  EXPECT_EQ(Cook("Town -> Mesh\nMesh\n", true), "root Mesh Town\nended\n");
  EXPECT_EQ(core_->counters().workers_started, 0u);
  EXPECT_EQ(core_->counters().up_to_date, 2u);
}

TEST_F(CookCoreTest, AMissingHardReferenceFailsTheReferencerAfterItsResultIsCached) {
  EXPECT_EQ(
      Cook("Town -> Gone Mesh\nMesh\n"),
      "failed Town: refers to 'Gone' (hard): expected a package: no such file\nroot\nended\n");
  EXPECT_EQ(core_->counters().results_failed, 1u);
  EXPECT_EQ(results_, 2u);
}

TEST_F(CookCoreTest, AllMissingHardReferencesAreToldAtOnce) {
  EXPECT_EQ(Cook("Town -> Gone Mesh Away Soft?\nMesh\n"),
            "failed Town: 2 references lead nowhere:\n"
            "  refers to 'Away' (hard): expected a package: no such file\n"
            "  refers to 'Gone' (hard): expected a package: no such file\nroot\n"
            "warned Town: refers to 'Soft' (soft): expected a package: no such file\nended\n");
  EXPECT_EQ(core_->counters().results_failed, 1u);
}

TEST_F(CookCoreTest, AMissingSoftReferenceIsAWarning) {
  EXPECT_EQ(
      Cook("Town -> Gone?\n"),
      "root Town\nwarned Town: refers to 'Gone' (soft): expected a package: no such file\nended\n");
}

TEST_F(CookCoreTest, AFailedPackageOnlyWarnsThoseThatReferToIt) {
  EXPECT_EQ(
      Cook("Town -> Mesh\nMesh ! not a mesh\n"),
      "failed Mesh: not a mesh\nroot Town\nwarned Town: refers to Mesh, which failed\nended\n");
}

TEST_F(CookCoreTest, AFailedCookedInputFailsItsReader) {
  EXPECT_EQ(Cook("Town << Mesh\nMesh ! not a mesh\n"),
            "failed Mesh: not a mesh\nfailed Town: cooked input Mesh failed\nroot\nended\n");
}

TEST_F(CookCoreTest, ACookedInputIsCookedFirstAndStaysOutOfTheRoot) {
  EXPECT_EQ(Cook("Town << Mesh\nMesh\n"), "root Town\nended\n");
  EXPECT_EQ(loaded_, "Town Mesh Town ");
}

TEST_F(CookCoreTest, ACycleOfCookedInputsFailsAllOnItAndPrintsIt) {
  const std::string log = Cook("Town << A\nA << B\nB << A\n");
  EXPECT_NE(log.find("failed A: cycle of cooked inputs: A -> B -> A\n"), std::string::npos) << log;
  EXPECT_NE(log.find("failed B: cycle of cooked inputs: A -> B -> A\n"), std::string::npos) << log;
  EXPECT_NE(log.find("failed Town: cooked input A failed\n"), std::string::npos) << log;
}

TEST_F(CookCoreTest, ThreeCrashesQuarantineAPackageAndTheCookGoesOn) {
  const std::string log = Cook("Town -> Bomb\nBomb *\n");
  EXPECT_NE(log.find("failed Bomb: crashed its executor (3 attempts"), std::string::npos) << log;
  EXPECT_NE(log.find("root Town\n"), std::string::npos) << log;
  EXPECT_EQ(loaded_, "Town Bomb Bomb Bomb ");
}

TEST_F(CookCoreTest, AnUnknownPackageFailsInRequest) {
  const std::string log = Cook("Mesh\n");
  EXPECT_NE(log.find("failed Town: unknown package"), std::string::npos) << log;
}

TEST_F(CookCoreTest, FailFastPublishesNothing) {
  const std::string log =
      Cook("Town ! bad\n",
           CookRequested{.selected = {{"Town", InstigatorCategory::kCookMap}}, .fail_fast = true});
  EXPECT_EQ(log, "failed Town: bad\nended\n");
}

TEST_F(CookCoreTest, ASecondCookIsTakenWhenTheFirstIsOver) {
  Cook("Town -> Mesh\nMesh\n");
  log_.clear();
  Send(CookRequested{
      .request = 2, .platforms = 1, .selected = {{"Mesh", InstigatorCategory::kCookMap}}});
  for (int i = 0; i < 10; ++i) Send(Tick{});
  EXPECT_EQ(log_, "root Mesh\nended\n");
  EXPECT_EQ(core_->counters().in_cook, 1u);
}

}  // namespace
}  // namespace galley::director
