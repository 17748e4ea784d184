#include "director/host/foreseen_cook.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <variant>

#include "common/base/status_macros.h"
#include "common/store/layers/empty_store.h"
#include "director/core/packages/package_data.h"
#include "director/shell/known_result.h"
#include "director/shell/result_table.h"
#include "director/shell/root_builder.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using record::ObservationKind;

constexpr std::array<std::string_view, 4> kLeafCookers = {"audio", "copy", "shader", "texture"};

// The only worker has room for all jobs, and does each job at once.
constexpr uint32_t kSlots = 256;
// The core waits for nobody else; time passes when it waits for time.
constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr int kIdleTicksMax = 36'000;  // an hour

// BoundlessStore: has everything, and drops what is put into it.
class BoundlessStore final : public store::EmptyStore {
 public:
  BoundlessStore() : EmptyStore(absl::UnimplementedError("nothing is stored")) {}
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest>) override {
    return std::vector<Digest>();
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest>) override {
    return std::vector<Digest>();
  }
  absl::Status Put(const Digest&, std::string_view) override { return absl::OkStatus(); }
};

// UndemandingCatalog: the project as the core sees it, with a machine for each job.
class UndemandingCatalog final : public Catalog {
 public:
  explicit UndemandingCatalog(std::shared_ptr<const Catalog> inner) : inner_(std::move(inner)) {}
  std::optional<CatalogEntry> Find(std::string_view name) const override {
    std::optional<CatalogEntry> entry = inner_->Find(name);
    if (entry) *entry = WithoutDemands(*std::move(entry));
    return entry;
  }
  std::optional<std::string> NameOfFile(std::string_view file) const override {
    return inner_->NameOfFile(file);
  }
  CatalogEntry Generated(std::string_view name, std::string_view cooker,
                         std::string_view settings) const override {
    return WithoutDemands(inner_->Generated(name, cooker, settings));
  }
  ReferenceTarget Resolve(std::string_view from, std::string_view as_written) const override {
    return inner_->Resolve(from, as_written);
  }
  std::vector<std::string> VariantsOf(std::string_view name,
                                      const Cultures& cultures) const override {
    return inner_->VariantsOf(name, cultures);
  }

 private:
  static CatalogEntry WithoutDemands(CatalogEntry entry) {
    entry.resources.clear();
    entry.labels.clear();
    entry.programs.clear();
    entry.memory_bytes = 0;
    return entry;
  }
  const std::shared_ptr<const Catalog> inner_;
};

// Foreseer: carries out the core's effects on what is known.
class Foreseer {
 public:
  explicit Foreseer(const ForeseenDeps& deps)
      : deps_(deps),
        platforms_(deps.sources.platforms()),
        core_(Options(), std::make_shared<UndemandingCatalog>(deps.catalog)) {}

  absl::StatusOr<ForeseenCook> Run(const CookRequested& request) {
    Step(request);
    for (int idle = 0; !has_ended_ && status_.ok();) {
      if (!inbox_.empty()) {
        const Event event = std::move(inbox_.front());
        inbox_.pop_front();
        Step(event);
        idle = 0;
        continue;
      }
      if (!core_.has_agenda()) {
        now_ += kTick;
        if (++idle > kIdleTicksMax) return absl::InternalError("the core does not end the cook");
      }
      Step(Tick{});
    }
    RETURN_IF_ERROR(status_);
    return std::move(cook_);
  }

 private:
  CookOptions Options() const {
    CookOptions options{.platform_count = static_cast<uint32_t>(platforms_->size())};
    options.workers = 1;
    return options;
  }

  void Step(const Event& event) {
    std::vector<Effect> effects;
    core_.Step(now_, event, effects);
    for (const Effect& effect : effects) std::visit([this](const auto& one) { Do(one); }, effect);
  }

  const std::string& PlatformName(PlatformIndex platform) const {
    return (*platforms_)[platform].name;
  }

  // Empty when the record cannot be read: then the core does not come to an end.
  const PackageRecord& RecordOf(const std::string& package) {
    const auto known = records_.find(package);
    if (known != records_.end()) return known->second;
    absl::StatusOr<PackageRecord> record = deps_.record_of(package);
    status_.Update(record.status());
    return records_.emplace(package, record.ok() ? *std::move(record) : PackageRecord())
        .first->second;
  }
  const PlatformRecord* RecordOf(const std::string& package, PlatformIndex platform) {
    const PackageRecord& record = RecordOf(package);
    const auto found = record.platforms.find(PlatformName(platform));
    return found == record.platforms.end() ? nullptr : &found->second;
  }

  // Returns the package's last result for the platform; null: there is none.
  std::shared_ptr<StoredResult> LastOf(const std::string& package, PlatformIndex platform) {
    const PlatformRecord* const record = RecordOf(package, platform);
    if (record == nullptr) return nullptr;
    auto stored = StoredOf(*record, package, PlatformName(platform));
    if (stored != nullptr) stored->platform = platform;
    return stored;
  }

  CookedOutputs OutputsOf(const std::vector<CookedResult>& cooked, PlatformIndex platform) const {
    CookedOutputs outputs;
    for (const CookedResult& one : cooked) {
      if (one.platform != platform || !one.result.valid()) continue;
      if (const StoredResultPtr stored = results_.Get(one.result))
        outputs[stored->package] = stored->result.outputs;
    }
    return outputs;
  }

  // ---------------- look-ups

  void Do(const LookUp& effect) {
    for (const LookUp::Item& item : effect.items) {
      LookedUp answer;
      for (PlatformIndex p = 0; p < platforms_->size(); ++p) {
        if ((item.platforms & MaskOf(p)) == 0) continue;
        answer.items.push_back({item.package, p, item.generation, LookedUp::Miss{}});
        Answer(item, p, answer.items.back());
      }
      inbox_.push_back(std::move(answer));
    }
  }

  void Answer(const LookUp::Item& question, PlatformIndex platform, LookedUp::Item& answer) {
    const std::string& name = core_.NameOf(question.package);
    const PlatformRecord* const record = RecordOf(name, platform);
    if (record == nullptr || !deps_.may_hold(*record)) return;
    const std::shared_ptr<StoredResult> last = LastOf(name, platform);
    if (last == nullptr || (deps_.is_touched(name) && !FilesStillHold(deps_.sources, *last)))
      return;
    const record::Generated* const generated = core_.GeneratedOf(question.package);
    const RecipesPtr recipes = generated != nullptr
                                   ? deps_.sources.RecipesAsListed(name, *generated)
                                   : deps_.sources.RecipesOf(name, false);
    if (recipes == nullptr || platform >= recipes->size()) return;
    const CookedOutputs cooked = OutputsOf(question.cooked, platform);
    JournalQuestion asked{.package = name,
                          .platform = platform,
                          .platform_name = PlatformName(platform),
                          .recipe = record::RecipeDigest((*recipes)[platform].recipe),
                          .generated_source = std::nullopt,
                          .value_of = nullptr};
    if (generated != nullptr) asked.generated_source = generated->source;
    asked.value_of = [&](const record::Observation& what, std::string* needs) {
      return ValueOf(deps_.sources, what,
                     {.package = name, .platform = (*platforms_)[platform], .cooked = cooked},
                     needs);
    };
    JournalAnswer known = AskJournal(*record, asked);
    if (auto* const needs = std::get_if<LookedUp::NeedsCooked>(&known)) {
      answer.outcome = std::move(*needs);
    } else if (auto* const stored = std::get_if<std::shared_ptr<StoredResult>>(&known)) {
      (*stored)->platform = platform;
      NotePerhaps(name, cooked);
      LookedUp::Hit hit{.result = Keep(*stored), .is_up_to_date = true};
      hit.read = PackagesRead(deps_.sources, name, (*stored)->observed);
      answer.outcome = std::move(hit);
    }
  }

  void NotePerhaps(const std::string& name, const CookedOutputs& cooked) {
    const auto may_be_another = [&](const std::string& other) {
      return cook_.cooked.contains(other) || cook_.perhaps.contains(other);
    };
    bool is_perhaps = may_be_another(std::string(GeneratorName(name)));
    for (const auto& [input, outputs] : cooked) is_perhaps |= may_be_another(input);
    if (is_perhaps) cook_.perhaps.insert(name);
  }

  // The core knows views; Foreseer keeps the records behind the views.
  ResultViewPtr Keep(std::shared_ptr<StoredResult> stored) {
    return results_.Add(std::move(stored));
  }

  // ---------------- the worker

  void Do(const Spawn& effect) {
    inbox_.emplace_back(WorkerAttached{.worker = effect.worker, .slots = kSlots, .in_hand = {}});
  }

  void Do(const Desire& effect) {
    for (const Desire::Start& start : effect.start) {
      const std::string& name = core_.NameOf(start.package);
      cook_.cooked.insert(name);
      cook_.perhaps.erase(name);
      WorkerReported report{.worker = effect.worker, .reports = {}};
      for (PlatformIndex p = 0; p < platforms_->size(); ++p) {
        if ((start.platforms & MaskOf(p)) == 0) continue;
        if (const std::string input = MissingInput(name, p, start); !input.empty()) {
          report.reports = {{++reports_, start.attempt, WorkerReport::Needs{input, p}}};
          break;  // the attempt has ended with it
        }
        WorkerReport::Saved saved{.platform = p, .result = Keep(MadeOf(name, p))};
        report.reports.push_back({++reports_, start.attempt, std::move(saved)});
      }
      inbox_.push_back(std::move(report));
    }
  }

  // Returns an input that the last cook read and that this attempt was not given.
  std::string MissingInput(const std::string& name, PlatformIndex platform,
                           const Desire::Start& start) {
    const PlatformRecord* const record = RecordOf(name, platform);
    if (record == nullptr) return "";
    for (const record::Observed& seen : record->observed) {
      if (seen.what.kind != ObservationKind::kCooked) continue;
      if (!MayStillRead(name, platform, *record, seen.what.subject)) continue;
      const auto input = AskedName(name, seen.what.subject);
      if (!input.ok()) continue;
      const auto is_it = [&](const CookedResult& one) {
        return one.platform == platform && core_.NameOf(one.package) == *input;
      };
      if (std::ranges::none_of(start.cooked, is_it)) return *input;
    }
    return "";
  }

  // Says whether the package, with its present recipe, may still read the input.
  bool MayStillRead(const std::string& name, PlatformIndex platform, const PlatformRecord& record,
                    std::string_view input) const {
    const RecipesPtr recipes = deps_.sources.RecipesOf(name, !GeneratorName(name).empty());
    if (recipes == nullptr || platform >= recipes->size()) return true;
    const record::Recipe& now = (*recipes)[platform].recipe;
    if (record::RecipeDigest(now) == record.recipe) return true;
    const auto before = record::DecodeRecipe(record.recipe_bytes);
    return before.ok() && galley::director::MayStillRead(*before, now, input);
  }

  // Returns the assumed result of a cook, whose cooker may differ from the last cook's.
  std::shared_ptr<StoredResult> MadeOf(const std::string& name, PlatformIndex platform) {
    std::shared_ptr<StoredResult> made = LastOf(name, platform);
    if (made == nullptr || made->result.is_verdict) made = FirstOf(name, platform);
    const RecipesPtr recipes = deps_.sources.RecipesOf(name, !GeneratorName(name).empty());
    if (recipes != nullptr && platform < recipes->size() &&
        LeadsNowhere((*recipes)[platform].recipe.cooker)) {
      made->result.details.references.clear();
      made->result.details.generated.clear();
    }
    return made;
  }

  std::shared_ptr<StoredResult> FirstOf(const std::string& name, PlatformIndex platform) {
    auto made = std::make_shared<StoredResult>();
    made->package = name;
    made->platform = platform;
    made->platform_name = PlatformName(platform);
    made->action_key = Digest::Of(fmt::format("{} {}", name, platform));
    // If the package is known to refer on another platform, it most likely refers to the same here.
    for (PlatformIndex other = 0; other < platforms_->size(); ++other) {
      const std::shared_ptr<StoredResult> last = LastOf(name, other);
      if (last == nullptr || last->result.is_verdict) continue;
      made->result.details.references = last->result.details.references;
      made->result.details.generated = last->result.details.generated;
      break;
    }
    return made;
  }

  // ---------------- commits and roots

  void Do(const Persist& effect) {
    Persisted answer;
    for (const Persist::Item& item : effect.items)
      answer.items.push_back({item.package, item.platform, item.result});
    if (!answer.items.empty()) inbox_.push_back(std::move(answer));
  }

  void Do(const BuildRoot& effect) {
    std::set<std::string>& root = cook_.roots[PlatformName(effect.platform)];
    root.clear();
    for (const auto& [package, result] : effect.packages) root.insert(core_.NameOf(package));
    absl::StatusOr<RootBuilt> built = BuildRootTree(deps_.sources, results_, store_, effect);
    status_.Update(built.status());
    if (built.ok()) inbox_.push_back(*std::move(built));
  }
  void Do(const PublishRoot& effect) {
    inbox_.emplace_back(RootPublished{.platform = effect.platform,
                                      .error = "",
                                      .platform_set = effect.platform_set,
                                      .round = effect.round,
                                      .request = effect.request});
  }
  void Do(const StageRoots& effect) {
    inbox_.emplace_back(RootsStaged{.loss = "", .round = effect.round, .request = effect.request});
  }
  void Do(const LookForLost& effect) {
    inbox_.emplace_back(LostFound{.look = effect.look, .lost = {}, .error = ""});
  }

  // ---------------- what is told

  void Do(const Notify& effect) {
    std::visit([this](const auto& notice) { Note(notice); }, effect.notice);
  }
  void Note(const PackageFailed& failed) {
    const std::string platform = failed.platform ? PlatformName(*failed.platform) : "";
    cook_.failures[{core_.NameOf(failed.package), platform}] = {failed.stage, failed.error};
  }
  void Note(const PackageWarned& warned) {
    if (!warned.is_passing)
      cook_.warnings.push_back({core_.NameOf(warned.package), "", {warned.kind, warned.text}});
  }
  void Note(const PackageDone& done) {
    const std::string& name = core_.NameOf(done.package);
    const std::string& platform = PlatformName(done.platform);
    cook_.failures.erase({name, platform});
    const StoredResultPtr stored = results_.Get(done.result);
    // Warnings of a new cook are not known; and a package may be told to be done twice.
    if (done.source == ResultSource::kCooked || stored == nullptr) return;
    for (const std::string& text : stored->result.details.warnings) {
      ForeseenWarning warning{name, platform, record::Warning::Parse(text)};
      if (std::ranges::find(cook_.warnings, warning) == cook_.warnings.end())
        cook_.warnings.push_back(std::move(warning));
    }
  }
  void Note(const PackageLeft& left) {
    const std::string& name = core_.NameOf(left.package);
    std::erase_if(cook_.failures, [&](const auto& one) { return one.first.first == name; });
    std::erase_if(cook_.warnings, [&](const auto& one) { return one.package == name; });
    cook_.cooked.erase(name);
    cook_.perhaps.erase(name);
  }
  void Note(const CookEnded& ended) {
    has_ended_ = true;
    cook_.in_cook = core_.counters(ended.request).in_cook;
    if (ended.is_empty) cook_.roots.clear();
    if (!ended.infrastructure_error.empty())
      status_.Update(absl::InternalError(ended.infrastructure_error));
  }
  void Note(const PackageBlamed&) {}
  void Note(const WorkerHeld&) {}
  void Note(const WorkerViolated&) {}
  void Note(const WorkerQuarantined&) {}
  void Note(const CookBegan&) {}
  void Note(const AskEnded&) {}

  void Do(const Reply&) {}
  void Do(const Stop&) {}
  void Do(const Rescan&) {}

  const ForeseenDeps& deps_;
  const PlatformsPtr platforms_;
  ResultTable results_;
  BoundlessStore store_;
  CookCore core_;
  absl::Time now_ = absl::UnixEpoch();
  std::deque<Event> inbox_;
  ReportId reports_ = 0;
  std::map<std::string, PackageRecord> records_;
  absl::Status status_;
  bool has_ended_ = false;
  ForeseenCook cook_;
};

}  // namespace

bool LeadsNowhere(std::string_view cooker) {
  return std::ranges::find(kLeafCookers, cooker) != kLeafCookers.end();
}

bool MayStillRead(const record::Recipe& before, const record::Recipe& now, std::string_view input) {
  return now.cooker == before.cooker && now.settings.find(input) != std::string::npos;
}

absl::StatusOr<ForeseenCook> ForeseeCook(const ForeseenDeps& deps, const CookRequested& request) {
  return Foreseer(deps).Run(request);
}

}  // namespace galley::director
