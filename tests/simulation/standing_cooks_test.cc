// Cooks of a difference, one after the other, from a seed: a project is edited between them, and
// while they run; packages come and go, a variable of the environment changes, narrower cooks run
// in between. Each cook by the book starts from what stands, and must come to what the same cook
// comes to alone, in a project of which nothing is known: roots, failures and warnings.
//
// The choice of packages and the members are the product's (ChoosePackages, Members), and so are
// the journal, roots and reasons of the cluster's director (cooks_stage.h). What is played is what
// the host does with them.
//
// Without variables: seeds 1 to 1,000.
//
//   GALLEY_SIM_FIRST=42 GALLEY_SIM_SEEDS=1 build/tests/standing_cooks_test   one seed again
//   GALLEY_SIM_TRACE=1 ...                                                   and all its decisions
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "director/journal/testing/forwarding_journal.h"
#include "director/shell/choose_packages.h"
#include "gtest/gtest.h"
#include "tests/simulation/cooks_stage.h"
#include "tests/simulation/seeds.h"

namespace galley::simulation {
namespace {

using namespace director;  // NOLINT: a simulation of it

// StandingSabotage: what the product might do wrong, to test that the checks notice.
enum class StandingSabotage : uint8_t {
  kNone,
  kIndexEntryLeftOut,       // the journal does not know of some reader
  kMemberNotDropped,        // what went stays in the roots
  kEnvironmentNotCompared,  // the certificate lacks the environment
  kReferencersNotLookedAt,  // of what went
};

struct StandingCooksOptions {
  uint64_t seed = 0;
  bool is_told = false;
  StandingSabotage sabotage = StandingSabotage::kNone;
};

struct StandingCooksOutcome {
  std::string wrong;  // empty: nothing
  uint64_t cooks = 0, differences = 0, widened = 0;
  uint64_t trace = 0;
  uint64_t decisions = 0;  // DecisionDigest
};

constexpr const char* kVariable = World::kVariable;
constexpr absl::Duration kHeardWithin = absl::Milliseconds(500);

World MakeWorld(Random& random) {
  World world = World::OfSeveralCooks(random);
  uint32_t number = 0;
  for (auto& [name, package] : world.packages) package.looks_at_environment = ++number % 5 == 0;
  world.environment = "a";
  return world;
}

// IndexWithAGap: a journal whose index lacks an entry: of all readers of changed files, the last
// one is not known.
class IndexWithAGap final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override {
    auto packages = ForwardingJournal::Affected(changes);
    if (packages.ok() && !packages->empty()) packages->pop_back();
    return packages;
  }
};

class StandingCooks final : public CooksStage {
 public:
  StandingCooks(const StandingCooksOptions& options, Random& random)
      : CooksStage{{.seed = options.seed * 11 + 3,
                    .cooks_max = 1,
                    .is_calm = random.Percent(50),
                    .has_classes = false,
                    .is_told = options.is_told},
                   MakeWorld(random)},
        options_(options),
        draws_(random),
        has_maps_(draws_.Percent(40)) {}

  void Run(StandingCooksOutcome& outcome) {
    const uint64_t cooks = 4 + draws_.Below(10);
    for (uint64_t i = 0; i < cooks && checks_.broken().empty(); ++i) {
      ChangeSome();
      if (draws_.Percent(15)) CookOther();
      Cook(outcome);
      outcome.cooks = number_;
    }
  }

 private:
  // Kept: the host's memory of a cook.
  struct Kept {
    Standing standing;
    std::string members;
    std::shared_ptr<const Members> table;  // `members`
    Files files;
    CookEnding ending;
  };

  void ChangeSome() {
    for (uint64_t i = draws_.Below(3); i > 0; --i) Edit();
    if (draws_.Percent(10)) {
      world_->environment = world_->environment == "a" ? "b" : "a";
      for (const auto& [name, bytes] : world_->files()) director_->OnFilesEdited({name});
    }
    RunFor(kHeardWithin);
    RunUntil([this] { return director_->files() == world_->files(); }, "edits are not heard of");
  }

  std::vector<SelectedPackage> Selected() const {
    std::vector<SelectedPackage> selected;
    for (const auto& [name, package] : world_->packages) {
      if (has_maps_ && name.back() != '1' && name != "/Game/p2") continue;
      // (A package of a folder that goes and comes back meanwhile would have to be discovered.)
      selected.push_back({name, InstigatorCategory::kCookMap});
    }
    return selected;
  }

  // A cook of something else: its reasons are written in place of those of the cook by the book.
  void CookOther() {
    const std::vector<SelectedPackage> all = Selected();
    if (all.empty()) return;
    const auto& one = all[draws_.Below(all.size())];
    Begin({.request = {.selected = {one}, .by_the_book = false, .force = draws_.Percent(30)}});
    if (is_journal_other_) kept_.reset();  // another generation
  }

  void Cook(StandingCooksOutcome& outcome) {
    CookOrder order{.request = {.selected = Selected(), .by_the_book = true},
                    .select = [this](const director::World&) { return Selected(); }};
    if (order.request.selected.empty()) return;
    order.whole = order.request.selected;
    if (kept_.has_value()) TryDifference(order);
    const bool was_difference = difference_ != nullptr;
    const uint64_t edits = this->edits();
    asked_for_ = order.whole;
    if (draws_.Percent(20)) schedule_.After(draws_.Some(800), [this] { Edit(); });
    Begin(order);
    if (!checks_.broken().empty()) return;
    outcome.differences += difference_ != nullptr;
    outcome.widened += was_difference && difference_ == nullptr;
    CookEnding ending = endings().at(number_);
    if (difference_ != nullptr) AddTheRest(ending);
    Compare(order.request, ending);
    const bool stands = ending.is_whole && !is_passing_ && this->edits() == edits &&
                        ending.roots.size() == kPlatforms.size();
    if (stands) {
      Keep(ending);
    } else {
      kept_.reset();
    }
    difference_.reset();
  }

  // Runs the cook until it is over, and the journal knows why each package was in it.
  void Begin(CookOrder order) {
    order.request.request = ++number_;
    order.request.platforms = 3;
    is_journal_other_ = is_passing_ = false;
    failures_.clear();
    warnings_.clear();
    done_.clear();
    Ask(std::move(order));
    RunUntilOver(number_);
    RunUntil([this] { return closed() == number_; }, "a cook is not closed");
    Sabotage();
  }

  // Makes the journal forget what the sabotage keeps from it.
  void Sabotage() {
    if (options_.sabotage != StandingSabotage::kReferencersNotLookedAt) return;
    SimJournal& journal = director_->journal();
    std::map<std::string, PackageRecord> all;
    (void)journal.ForEach(
        [&](std::string_view name, PackageRecord record) { all.emplace(name, std::move(record)); });
    for (auto& [name, record] : all) {
      std::erase_if(record.instigators, [](const auto& one) { return !one.referencer.empty(); });
      (void)journal.RecordInstigators({{{name, record.instigators}}});
    }
  }

  // --- FindDifference.

  void TryDifference(CookOrder& order) {
    const Facts now = {{kVariable, world_->environment}};
    const bool looks = options_.sabotage != StandingSabotage::kEnvironmentNotCompared;
    if (looks && !kept_->standing.environment.empty() && kept_->standing.environment != now) return;
    std::shared_ptr<StandingBase> base =
        BaseOf(kept_->standing, *Members::FromBytes(kept_->members));
    base->catalog = director_->catalog();
    const std::vector<project::Pattern> never;
    const std::vector<content::Change> changes =
        SimDirector::ChangesOf(kept_->files, director_->files());
    IndexWithAGap with_a_gap(director_->journal());
    Journal& journal = options_.sabotage == StandingSabotage::kIndexEntryLeftOut
                           ? static_cast<Journal&>(with_a_gap)
                           : director_->journal();
    const auto chosen = ChoosePackages(kept_->standing, {.catalog = *base->catalog, .never = never},
                                       changes, order.whole, journal, *base);
    if (!chosen.ok()) return checks_.Trace("all: " + std::string(chosen.status().message()));
    std::string line = "differs:";
    for (const content::Change& one : changes)
      line += " " + one.path + (base->WasInCook(one.path) ? "" : " (not in the cook)");
    checks_.Trace(std::string_view(line));
    if (options_.sabotage == StandingSabotage::kMemberNotDropped) {
      for (const std::string& name : base->gone) base->before.erase(name);
      base->gone.clear();
    }
    difference_ = base;
    order.request.selected = *chosen;
    order.request.standing = order.base = base;
  }

  // --- Events.

  void OnStepped(const Event& event, std::span<const Effect> effects) override {
    CooksStage::OnStepped(event, effects);
    const auto* built = std::get_if<RootBuilt>(&event);
    if (built == nullptr || !built->is_too_narrow || difference_ == nullptr) return;
    difference_.reset();
    asked_for_ = built->whole;
  }

  void Take(uint64_t request, const Notice& notice) override {
    CooksStage::Take(request, notice);
    const CookCore& core = director_->core();
    if (const auto* failed = std::get_if<PackageFailed>(&notice)) {
      is_journal_other_ = true;
      is_passing_ |= failed->attempt != 0 || (failed->cause != FailureCause::kProject &&
                                              failed->cause != FailureCause::kVerdict);
      const std::string& name = core.NameOf(failed->package);
      failures_[{name, failed->platform ? kPlatforms[*failed->platform] : ""}] = *failed;
    } else if (const auto* done = std::get_if<PackageDone>(&notice)) {
      const std::string& name = core.NameOf(done->package);
      const Digest& key = director_->results().Get(done->result)->action_key;
      const auto member = kept_.has_value() ? kept_->table->Find(name) : std::optional<Member>();
      is_journal_other_ |= !member || member->keys[done->platform] != key;
      done_[{name, done->platform}] = key;
      failures_.erase({name, kPlatforms[done->platform]});
    } else if (const auto* left = std::get_if<PackageLeft>(&notice)) {
      const auto is_it = [&](const auto& one) {
        return one.first.first == core.NameOf(left->package);
      };
      std::erase_if(done_, is_it);
      std::erase_if(failures_, is_it);
    } else if (const auto* warned = std::get_if<PackageWarned>(&notice)) {
      is_passing_ |= warned->is_passing;
      warnings_.insert({core.NameOf(warned->package), warned->text});
    }
  }

  // --- TellTheRest, MembersAfter and KeepStanding.

  std::set<std::string> LookedAt() const {
    std::set<std::string> names(difference_->gone.begin(), difference_->gone.end());
    for (const auto& [where, failed] : failures_) names.insert(where.first);
    const CookEnding& ending = endings().at(number_);
    names.insert(ending.members.begin(), ending.members.end());
    return names;
  }

  void AddTheRest(CookEnding& ending) {
    const std::set<std::string> looked_at = LookedAt();
    const auto add = [&](const std::set<std::string>& lines, std::set<std::string>& to) {
      for (const std::string& line : lines) {
        if (!looked_at.contains(line.substr(0, line.find_first_of(": ")))) to.insert(line);
      }
    };
    add(kept_->ending.failures, ending.failures);
    add(kept_->ending.warnings, ending.warnings);
    add(kept_->ending.members, ending.members);
  }

  void Compare(CookRequested request, const CookEnding& ending) {
    if (!ending.is_whole || ending.roots.empty()) return;
    request.request = 1;
    request.platforms = 3;
    request.selected = asked_for_;
    request.standing = nullptr;
    CooksStage alone({.seed = 1, .is_told = options_.is_told}, WorldOf(number_));
    alone.Ask({.request = request});
    alone.RunUntilOver(1);
    const std::string wrong = DifferenceOf(alone.endings().at(1), ending, request);
    if (!alone.checks().broken().empty()) checks_.Break(alone.checks().broken());
    if (!wrong.empty()) checks_.Break(wrong);
  }

  void Keep(const CookEnding& ending) {
    Kept now{.standing = {},
             .members = {},
             .table = nullptr,
             .files = director_->files(),
             .ending = ending};
    std::map<std::string, Member> members;
    for (PlatformIndex p = 0; p < kPlatforms.size(); ++p) {
      now.standing.platforms.push_back(
          {.name = kPlatforms[p], .root = *Digest::Parse(ending.roots.at(p))});
      for (const std::string& name : InRoot(number_, p)) MemberOf(members, name).roots |= 1u << p;
    }
    for (const auto& [where, key] : done_) MemberOf(members, where.first).keys[where.second] = key;
    for (const auto& [where, failed] : failures_)
      now.standing.failures.push_back({.package = where.first,
                                       .platform = where.second,
                                       .stage = static_cast<uint32_t>(failed.stage),
                                       .cause = static_cast<uint32_t>(failed.cause),
                                       .error = failed.error});
    for (const auto& [name, text] : warnings_)
      now.standing.warnings.push_back({.package = name, .text = text});
    // Noted when a result was told of that looked there.
    bool looks = difference_ != nullptr && !kept_->standing.environment.empty();
    for (const std::string& name : endings().at(number_).members)
      looks |= world_->At(name).looks_at_environment;
    if (looks) now.standing.environment = {{kVariable, world_->environment}};
    if (difference_ != nullptr) AddStandingRest(now.standing);
    std::vector<Member> all;
    for (auto& [name, member] : members) all.push_back(std::move(member));
    now.members = difference_ != nullptr ? difference_->members->With(all, difference_->gone).bytes
                                         : EncodeMembers(kPlatforms, std::move(all)).bytes;
    auto table = Members::FromBytes(now.members);
    if (!table.ok()) return checks_.Break("safety: the table of members is damaged");
    now.table = std::make_shared<const Members>(*std::move(table));
    kept_ = std::move(now);
  }

  Member& MemberOf(std::map<std::string, Member>& members, const std::string& name) const {
    const auto [at, is_new] = members.try_emplace(name);
    if (is_new) {
      at->second.package = name;
      at->second.keys.resize(kPlatforms.size());
      if (difference_ != nullptr) at->second.roots = difference_->members->RootsOf(name);
    }
    return at->second;
  }

  void AddStandingRest(Standing& now) const {
    const std::set<std::string> looked_at = LookedAt();
    for (const StandingFailure& one : kept_->standing.failures) {
      if (!looked_at.contains(one.package)) now.failures.push_back(one);
    }
    for (const StandingWarning& one : kept_->standing.warnings) {
      if (!looked_at.contains(one.package)) now.warnings.push_back(one);
    }
  }

  const StandingCooksOptions options_;
  Random& draws_;
  const bool has_maps_;
  uint64_t number_ = 0;
  std::optional<Kept> kept_;
  std::shared_ptr<StandingBase> difference_;  // of the present cook; null: it looks at all
  std::vector<SelectedPackage> asked_for_;    // by the present cook, in all
  bool is_passing_ = false;                   // something was told that is of this cook alone
  bool is_journal_other_ = false;             // a package came to something else
  std::map<std::pair<std::string, std::string>, PackageFailed> failures_;
  std::set<std::pair<std::string, std::string>> warnings_;
  std::map<std::pair<std::string, PlatformIndex>, Digest> done_;  // action keys
};

StandingCooksOutcome RunStandingCooks(const StandingCooksOptions& options) {
  Random random(options.seed);
  StandingCooksOutcome outcome;
  StandingCooks cooks(options, random);
  cooks.Run(outcome);
  outcome.wrong = cooks.checks().broken();
  outcome.trace = cooks.checks().trace();
  outcome.decisions = cooks.checks().decisions.value();
  return outcome;
}

TEST(StandingCooksTest, EachComesToWhatItComesToAlone) {
  const uint64_t seeds = FromEnvironment("GALLEY_SIM_SEEDS", 1'000);
  StandingCooksOutcome sum;
  const auto run = [](uint64_t seed, bool is_told) {
    return RunStandingCooks({.seed = seed, .is_told = is_told});
  };
  RunSeeds("standing_cooks_test", seeds, run, [&](const StandingCooksOutcome& outcome) {
    sum.cooks += outcome.cooks;
    sum.differences += outcome.differences;
    sum.widened += outcome.widened;
  });
  fmt::print("{} cooks, {} of a difference, {} that looked at all in the end\n", sum.cooks,
             sum.differences, sum.widened);
  if (seeds >= 1'000) {
    EXPECT_GT(sum.differences, sum.cooks / 6);
    EXPECT_GT(sum.widened, sum.cooks / 50);
  }
}

class StandingSabotageTest : public testing::TestWithParam<StandingSabotage> {};

TEST_P(StandingSabotageTest, IsCaughtWithinAThousandSeeds) {
  for (uint64_t seed = 1; seed <= 1'000; ++seed) {
    const std::string wrong = RunStandingCooks({.seed = seed, .sabotage = GetParam()}).wrong;
    if (wrong.find("than alone") != std::string::npos) return;
  }
  FAIL() << "nobody noticed";
}

INSTANTIATE_TEST_SUITE_P(All, StandingSabotageTest,
                         testing::Values(StandingSabotage::kIndexEntryLeftOut,
                                         StandingSabotage::kMemberNotDropped,
                                         StandingSabotage::kEnvironmentNotCompared,
                                         StandingSabotage::kReferencersNotLookedAt));

}  // namespace
}  // namespace galley::simulation
