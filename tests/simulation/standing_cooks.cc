#include "tests/simulation/standing_cooks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/content/name.h"
#include "common/record/result.h"
#include "common/tree/tree.h"
#include "director/shell/choose_packages.h"
#include "director/shell/difference_root.h"
#include "director/shell/instigator_notes.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/cook_endings.h"
#include "tests/simulation/cooks_project.h"
#include "tests/simulation/cooks_stage.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sim_journal.h"
#include "tests/simulation/sim_store.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

constexpr uint64_t kActsOfACook = 200'000;
constexpr const char* kVariable = "VALUE";

std::string PlatformName(PlatformIndex platform) { return "p" + std::to_string(platform); }

// Sources: of which roots need the paths alone.
class Paths final : public Sources {
 public:
  explicit Paths(const CooksProject& project) : project_(project) {}
  uint64_t number() const override { return 1; }
  PlatformsPtr platforms() const override { return nullptr; }
  RecipesPtr RecipesOf(std::string_view, bool) const override { return nullptr; }
  uint64_t SizeOf(std::string_view) const override { return 0; }
  absl::StatusOr<Digest> DigestOf(std::string_view, const Cancellation*) const override {
    return absl::NotFoundError("no files");
  }
  std::optional<Digest> KnownDigest(std::string_view) const override { return std::nullopt; }
  absl::Status LearnDigest(std::string_view, const Digest&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Look(const record::Observation&, std::string_view) const override {
    return absl::NotFoundError("no files");
  }
  // Two in conflict want one path.
  std::string StagePath(std::string_view package) const override {
    for (const auto& [one, other] : project_.conflicts) {
      if (package == other) return one.substr(1);
    }
    return std::string(package.substr(1));
  }

 private:
  const CooksProject& project_;
};

std::string Fold(std::string_view name) { return content::FoldName(name); }

class StandingCooks {
 public:
  StandingCooks(const StandingCooksOptions& options, Checks& checks)
      : options_(options),
        random_(options.seed),
        checks_(checks),
        disk_(random_),
        store_(disk_),
        journal_(disk_),
        stage_({.seed = options.seed * 11 + 3,
                .cooks_max = 1,
                .is_calm = random_.Percent(50),
                .has_classes = false},
               MakeProject(), checks) {
    stage_.Play({.make = [this](const BuildRoot& effect) { return MakeRoot(effect); },
                 .is_on = [this] { return is_difference_; },
                 .hear = [this](const Notice& notice) { Hear(notice); }});
    has_maps_ = random_.Percent(40);
  }

  void Run(StandingCooksOutcome& outcome) {
    const uint64_t cooks = 4 + random_.Below(10);
    for (uint64_t i = 0; i < cooks && checks_.broken().empty(); ++i) {
      ChangeSome();
      if (random_.Percent(15)) CookOther();
      Cook(outcome);
      outcome.cooks = number_;
    }
  }

 private:
  // What the host keeps of a cook.
  struct Kept {
    Standing standing;
    std::shared_ptr<const Members> members;
    CooksProjectPtr project;
    CookEnding ending;
  };

  CooksProject MakeProject() {
    CooksProject project = CooksProject::Make(random_);
    uint32_t number = 0;
    for (auto& [name, package] : project.packages) package.looks_at_environment = ++number % 5 == 0;
    project.environment = "a";
    return project;
  }

  void ChangeSome() {
    for (uint64_t i = random_.Below(3); i > 0; --i) stage_.Edit();
    if (!random_.Percent(10)) return;
    CooksProject project = *stage_.project();
    project.environment = project.environment == "a" ? "b" : "a";
    stage_.SetProject(std::move(project));
  }

  std::vector<SelectedPackage> Selected() const {
    std::vector<SelectedPackage> selected;
    for (const auto& [name, package] : stage_.project()->packages) {
      if (package.is_absent || (has_maps_ && name.back() != '1' && name != "/P2")) continue;
      // (One of a folder that goes and comes back while it is cooked would have to be discovered.)
      selected.push_back({name, InstigatorCategory::kCookMap});
    }
    return selected;
  }

  // A cook of something else: its reasons are written in place of those of the cook by the book.
  void CookOther() {
    const std::vector<SelectedPackage> all = Selected();
    if (all.empty()) return;
    const auto& one = all[random_.Below(all.size())];
    is_difference_ = false;
    Begin({.selected = {one}, .by_the_book = false, .force = random_.Percent(30)});
    RunToEnd();
    if (is_journal_other_) kept_.reset();  // another generation
  }

  void Cook(StandingCooksOutcome& outcome) {
    CookRequested request{.selected = Selected(), .by_the_book = true};
    const std::vector<SelectedPackage> whole = request.selected;
    if (whole.empty()) return;
    if (kept_.has_value()) TryDifference(request);
    is_difference_ = request.standing != nullptr;
    const bool was_difference = is_difference_;
    const CooksProjectPtr before = base_project_ = stage_.project();
    asked_ = whole;
    Begin(request);
    if (random_.Percent(20)) stage_.schedule().After(random_.Some(800), [this] { stage_.Edit(); });
    RunToEnd();
    if (!checks_.broken().empty()) return;
    outcome.differences += is_difference_;
    outcome.widened += was_difference && !is_difference_;
    CookEnding ending = stage_.endings().at(number_);
    if (is_difference_) AddTheRest(ending);
    Compare(request, ending);
    const bool stands = ending.is_whole && !is_passing_ && stage_.project() == before &&
                        ending.roots.size() == kCooksPlatforms;
    if (ending.is_whole) Keep(ending, stands);
    if (!stands) kept_.reset();
    difference_.reset();
  }

  void Begin(CookRequested request) {
    request.request = ++number_;
    request.platforms = 3;
    is_journal_other_ = is_passing_ = false;
    failures_.clear();
    warnings_.clear();
    done_.clear();
    references_.clear();
    of_ = request.by_the_book ? InstigatorNotes::Of::kWhole : InstigatorNotes::Of::kPart;
    stage_.Ask(request);
  }

  void RunToEnd() {
    for (uint64_t acts = 0; !stage_.IsOver() && checks_.broken().empty(); ++acts) {
      checks_.set_now(stage_.schedule().elapsed());
      if (acts > kActsOfACook || !stage_.RunNext()) checks_.Break("liveness: a cook does not end");
    }
  }

  // --- As FindDifference.

  void TryDifference(CookRequested& request) {
    const Facts now = {{kVariable, stage_.project()->environment}};
    const bool looks = options_.sabotage != StandingSabotage::kEnvironmentNotCompared;
    if (looks && !kept_->standing.environment.empty() &&
        !DifferingFact(kept_->standing.environment, now).empty())
      return;
    auto members = Members::FromBytes(kept_members_);
    if (!members.ok()) return checks_.Break("safety: the table of members is damaged");
    std::shared_ptr<StandingBase> base = BaseOf(kept_->standing, *std::move(members));
    base->catalog = CatalogOf(stage_.project());
    const std::vector<project::Pattern> never;
    const auto chosen = ChoosePackages(kept_->standing, {.catalog = *base->catalog, .never = never},
                                       ChangesOf(*kept_->project, *stage_.project()),
                                       request.selected, journal_, *base);
    if (!chosen.ok()) return checks_.Trace("all: " + std::string(chosen.status().message()));
    std::string line = "differs:";
    for (const content::Change& one : ChangesOf(*kept_->project, *stage_.project()))
      line += " " + one.path + (base->WasInCook(one.path) ? "" : " (not in the cook)");
    checks_.Trace(line);
    if (options_.sabotage == StandingSabotage::kMemberNotDropped) {
      for (const std::string& name : base->gone) base->before.erase(name);
      base->gone.clear();
    }
    difference_ = base;
    request.selected = *chosen;
    request.standing = base;
  }

  static std::vector<content::Change> ChangesOf(const CooksProject& before,
                                                const CooksProject& now) {
    std::vector<content::Change> changes;
    for (const auto& [name, package] : now.packages) {
      const ProjectPackage& old = before.packages.at(name);
      const bool is_other = old.version != package.version || old.is_absent != package.is_absent;
      if (is_other && !(old.is_absent && package.is_absent))
        changes.push_back({name, !old.is_absent, !package.is_absent});
    }
    return changes;
  }

  // --- As DirectorShell.

  StoredResultPtr StoredOf(ResultId id) const {
    const CooksStore::Result& result = stage_.store().At(id);
    auto stored = std::make_shared<StoredResult>();
    stored->package = result.name;
    stored->platform = result.platform;
    stored->platform_name = PlatformName(result.platform);
    stored->result.outputs = {{".out", Digest::Of(result.content)}};
    stored->result.details.references = result.view->references;
    stored->result.details.generated = result.view->generated;
    std::string key = result.content + " of " + result.made_of;
    for (const auto& [input, content] : result.inputs) {
      stored->observed.push_back({{record::ObservationKind::kCooked, input, ""}, content});
      key += " " + content;
    }
    stored->action_key = Digest::Of(key);
    return stored;
  }

  CooksStage::DifferenceRoot MakeRoot(const BuildRoot& effect) {
    ResultTable table;
    BuildRoot request = effect;
    for (auto& [package, id] : request.packages) {
      auto stored = std::make_shared<StoredResult>(*StoredOf(id));
      PutBlob(stage_.store().At(id).content);
      id = table.Add(std::move(stored))->id;
    }
    const Paths paths(*stage_.project());
    const auto selects = [this](const std::string& package) {
      const std::vector<SelectedPackage> all = Selected();
      return std::any_of(all.begin(), all.end(),
                         [&](const SelectedPackage& one) { return one.name == package; });
    };
    absl::StatusOr<director::DifferenceRoot> made = absl::FailedPreconditionError("files changed");
    if (is_difference_ && base_project_ == stage_.project())
      made = RootOfDifference({.sources = paths,
                               .results = table,
                               .store = store_,
                               .journal = journal_,
                               .base = *difference_,
                               .selects = selects},
                              request, PlatformName(effect.platform));
    if (made.ok()) {
      Merge(made->references, references_);
      return {made->built, made->built.root.ToString()};
    }
    checks_.Trace("too narrow: " + std::string(made.status().message()));
    is_difference_ = false;
    RootBuilt wider{.platform = effect.platform};
    wider.platform_set = effect.platform_set;
    wider.round = effect.round;
    wider.request = effect.request;
    wider.is_too_narrow = true;
    wider.whole = asked_ = Selected();
    return {wider, ""};
  }

  void PutBlob(const std::string& bytes) {
    if (!store_.Put(Digest::Of(bytes), bytes).ok()) checks_.Break("safety: a blob is not taken");
  }

  void Hear(const Notice& notice) {
    const CookCore& core = stage_.core();
    if (const auto* failed = std::get_if<PackageFailed>(&notice)) {
      is_journal_other_ = true;
      is_passing_ |= failed->attempt != 0 || (failed->cause != FailureCause::kProject &&
                                              failed->cause != FailureCause::kVerdict);
      const std::string& name = core.NameOf(failed->package);
      failures_[{name, failed->platform ? PlatformName(*failed->platform) : ""}] = *failed;
    } else if (const auto* done = std::get_if<PackageDone>(&notice)) {
      is_journal_other_ |= !IsAsKept(*done);
      done_[{core.NameOf(done->package), done->platform}] = done->result;
      failures_.erase({core.NameOf(done->package), PlatformName(done->platform)});
    } else if (const auto* left = std::get_if<PackageLeft>(&notice)) {
      std::erase_if(done_,
                    [&](const auto& one) { return one.first.first == core.NameOf(left->package); });
      std::erase_if(failures_,
                    [&](const auto& one) { return one.first.first == core.NameOf(left->package); });
    } else if (const auto* warned = std::get_if<PackageWarned>(&notice)) {
      is_passing_ |= warned->is_passing;
      warnings_.insert({core.NameOf(warned->package), warned->text});
    } else if (const auto* ended = std::get_if<CookEnded>(&notice)) {
      NoteReasons(ended->request);
    }
  }

  bool IsAsKept(const PackageDone& done) const {
    if (!kept_.has_value()) return false;
    const auto member = kept_->members->Find(stage_.core().NameOf(done.package));
    return member && member->keys[done.platform] == StoredOf(done.result)->action_key;
  }

  void NoteReasons(uint64_t request) {
    const CookCore& core = stage_.core();
    if (is_difference_) of_ = InstigatorNotes::Of::kDifference;
    InstigatorNotes notes(of_, {PlatformName(0), PlatformName(1)});
    const bool is_left_out = options_.sabotage == StandingSabotage::kReferencersNotLookedAt;
    core.ForEachReasonIn(request, [&](PackageId package, const InstigatorView& why) {
      if (is_difference_ && difference_->WasInCook(core.NameOf(package))) return;
      if (is_left_out && why.referencer.valid()) return;
      notes.Add(core.NameOf(package), why.category,
                why.referencer.valid() ? &core.NameOf(why.referencer) : nullptr);
    });
    if (!notes.Record(journal_).ok()) checks_.Break("safety: reasons are not written");
    if (!is_difference_) return;
    std::vector<InstigatorChange> changes = director::ChangesOf(references_);
    AddGone(*difference_, changes);
    if (!RecordInstigatorChanges(journal_, changes).ok())
      checks_.Break("safety: reasons are not written");
  }

  // --- As TellTheRest, MembersAfter and KeepStanding.

  std::set<std::string> LookedAt() const {
    std::set<std::string> names(difference_->gone.begin(), difference_->gone.end());
    for (const auto& [where, failed] : failures_) names.insert(where.first);
    const CookEnding& ending = stage_.endings().at(number_);
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

  // The root as a tree of files.
  Digest TreeOf(const std::string& root, bool is_kept) {
    const Paths paths(*stage_.project());
    std::vector<tree::TreeFile> files;
    for (size_t begin = 0; begin < root.size();) {
      const size_t end = root.find('\n', begin);
      const std::string line = root.substr(begin, end - begin);
      const size_t equals = line.find(" = ");
      files.push_back({paths.StagePath(line.substr(0, equals)) + ".out",
                       Digest::Of(line.substr(equals + 3)), false});
      if (is_kept) PutBlob(line.substr(equals + 3));
      begin = end + 1;
    }
    const tree::BuiltTree built = tree::BuildTree(files, Fold);
    for (const auto& [digest, bytes] : built.directories) {
      if (is_kept && !store_.Put(digest, bytes).ok()) checks_.Break("safety: a folder is lost");
    }
    return built.root;
  }

  // In which files the roots differ.
  void TellFiles(const CookEnding& expected, const CookEnding& ending) {
    if (!options_.is_told) return;
    const Paths paths(*stage_.project());
    for (const auto& [platform, root] : ending.roots) {
      const absl::StatusOr<Digest> digest = Digest::Parse(root);
      if (!digest.ok()) continue;
      const auto files =
          tree::ListTree(*digest, [&](const Digest& one) { return store_.Get(one); });
      std::map<std::string, Digest> now;
      for (const tree::TreeFile& file : files.value_or(std::vector<tree::TreeFile>()))
        now[file.path] = file.digest;
      const std::string& text = expected.roots.at(platform);
      for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        const std::string line = text.substr(begin, end - begin);
        const size_t equals = line.find(" = ");
        const auto found = now.find(paths.StagePath(line.substr(0, equals)) + ".out");
        if (found == now.end() || found->second != Digest::Of(line.substr(equals + 3)))
          checks_.Trace("should be in " + PlatformName(platform) + ": " + line);
        if (found != now.end()) now.erase(found);
        begin = end + 1;
      }
      for (const auto& [path, one] : now)
        checks_.Trace("should not be in " + PlatformName(platform) + ": " + path);
    }
  }

  void Compare(CookRequested request, CookEnding ending) {
    if (!ending.is_whole || ending.roots.empty()) return;
    request.request = 1;
    request.platforms = 3;
    request.selected = asked_;
    request.standing = nullptr;
    CooksStage alone({.seed = 1}, stage_.ProjectOf(number_), checks_);
    alone.Ask(request);
    for (uint64_t acts = 0; !alone.IsOver() && acts < kActsOfACook && alone.RunNext();) ++acts;
    CookEnding expected = alone.endings().at(1);
    TellFiles(expected, ending);
    for (CookEnding* one : {&expected, &ending}) {
      for (auto& [platform, root] : one->roots) {
        if (root.find('\n') != std::string::npos || root.empty())
          root = TreeOf(root, false).ToString();
      }
    }
    const std::string wrong = DifferenceOf(expected, ending, request);
    if (!wrong.empty()) checks_.Break(wrong);
  }

  void Keep(const CookEnding& ending, bool stands) {
    Kept now;
    now.project = stage_.project();
    now.ending = ending;
    std::map<std::string, Member> members;
    std::vector<JournalUpdate> updates;
    const std::vector<std::string> platforms = {PlatformName(0), PlatformName(1)};
    for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
      if (!ending.roots.contains(p)) continue;
      const std::string& root = ending.roots.at(p);
      const Digest digest =
          is_difference_ ? Digest::Parse(root).value_or(Digest()) : TreeOf(root, true);
      now.standing.platforms.push_back({.name = platforms[p], .root = digest});
      for (const ResultId id : stage_.InRoot(number_, p))
        MemberOf(members, stage_.store().At(id).name).roots |= 1u << p;
    }
    for (const auto& [where, id] : done_) {
      const StoredResultPtr stored = StoredOf(id);
      MemberOf(members, where.first).keys[where.second] = stored->action_key;
      updates.push_back(UpdateOf(*stored));
    }
    if (!journal_.Record(updates, true).ok()) checks_.Break("safety: records are not written");
    if (!stands) return;
    for (const auto& [where, failed] : failures_)
      now.standing.failures.push_back({.package = where.first,
                                       .platform = where.second,
                                       .stage = static_cast<uint32_t>(failed.stage),
                                       .cause = static_cast<uint32_t>(failed.cause),
                                       .error = failed.error});
    for (const auto& [name, text] : warnings_)
      now.standing.warnings.push_back({.package = name, .text = text});
    if (is_difference_) AddStandingRest(now.standing);
    NoteEnvironment(now.standing);
    std::vector<Member> all;
    for (auto& [name, member] : members) all.push_back(std::move(member));
    kept_members_ = is_difference_ ? difference_->members->With(all, difference_->gone).bytes
                                   : EncodeMembers(platforms, std::move(all)).bytes;
    auto table = Members::FromBytes(kept_members_);
    if (!table.ok()) return checks_.Break("safety: the table of members is damaged");
    now.members = std::make_shared<const Members>(*std::move(table));
    kept_ = std::move(now);
  }

  Member& MemberOf(std::map<std::string, Member>& members, const std::string& name) const {
    const auto [at, is_new] = members.try_emplace(name);
    if (is_new) {
      at->second.package = name;
      at->second.keys.resize(kCooksPlatforms);
      if (is_difference_) at->second.roots = difference_->members->RootsOf(name);
    }
    return at->second;
  }

  JournalUpdate UpdateOf(const StoredResult& stored) const {
    JournalUpdate update{.package = stored.package, .platform = stored.platform_name};
    update.record.action_key = stored.action_key;
    update.record.result = record::EncodeResult(stored.result);
    if (options_.sabotage != StandingSabotage::kIndexEntryLeftOut)
      update.record.observed = stored.observed;
    return update;
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

  // Noted when a result was told of that looked there.
  void NoteEnvironment(Standing& now) const {
    bool looks = is_difference_ && !kept_->standing.environment.empty();
    for (const std::string& name : stage_.endings().at(number_).members)
      looks |= stage_.project()->Has(name) && stage_.project()->Of(name).looks_at_environment;
    if (looks) now.environment = {{kVariable, stage_.project()->environment}};
  }

  const StandingCooksOptions options_;
  Random random_;
  Checks& checks_;
  Disk disk_;
  SimStore store_;
  SimJournal journal_;
  CooksStage stage_;
  bool has_maps_ = false;
  uint64_t number_ = 0;
  std::optional<Kept> kept_;
  std::string kept_members_;
  std::shared_ptr<StandingBase> difference_;  // of the present cook
  std::vector<SelectedPackage> asked_;        // by the present cook, in all
  bool is_difference_ = false;                // still
  bool is_passing_ = false;                   // something was told that is of this cook alone
  bool is_journal_other_ = false;             // a package came to something else
  CooksProjectPtr base_project_;
  std::map<std::pair<std::string, std::string>, PackageFailed> failures_;
  std::set<std::pair<std::string, std::string>> warnings_;
  std::map<std::pair<std::string, PlatformIndex>, ResultId> done_;
  ReferencesOf references_;
  InstigatorNotes::Of of_ = InstigatorNotes::Of::kWhole;
};

}  // namespace

StandingCooksOutcome RunStandingCooks(const StandingCooksOptions& options) {
  Checks checks(options.is_told);
  StandingCooksOutcome outcome;
  StandingCooks cooks(options, checks);
  cooks.Run(outcome);
  outcome.wrong = checks.broken();
  outcome.trace = checks.trace();
  outcome.decisions = checks.decisions.value();
  return outcome;
}

}  // namespace galley::simulation
