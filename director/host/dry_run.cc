#include "director/host/dry_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "director/core/packages/package_data.h"
#include "director/host/answered_variables.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_warnings.h"
#include "director/host/idle_names.h"
#include "director/host/impact.h"
#include "director/host/left_out.h"
#include "director/host/selection.h"
#include "director/shell/project_sources.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using record::ObservationKind;

// WarningTaker: keeps what a cook tells of the files that it finds.
class WarningTaker final : public CookEventSink {
 public:
  explicit WarningTaker(DryRun& run) : run_(run) {}
  void TakeEvent(const CookEvent& event) override {
    if (const auto* const warned = std::get_if<CookEvent::Warned>(&event.what))
      run_.warnings.push_back({warned->package, warned->platform, warned->warning});
    if (const auto* const failed = std::get_if<CookEvent::Failed>(&event.what))
      run_.failing.push_back({failed->package, failed->platform, failed->failure.error});
  }

 private:
  DryRun& run_;
};

class Looker {
 public:
  Looker(const DryRunDeps& deps, GlobFilterPtr filter)
      : deps_(deps),
        filter_(std::move(filter)),
        project_(*deps.scanned.project),
        table_(*deps.scanned.table),
        world_(WorldOf(deps)),
        sources_(world_, tools_),
        platforms_(PlatformNames(project_, ListOf(deps.ask.platforms()))) {}

  absl::StatusOr<DryRun> Look() {
    ASSIGN_OR_RETURN(const CookSelection selection,
                     Select(deps_.ask.selection(), project_, table_, filter_.get()));
    RETURN_IF_ERROR(FindWhatHolds());
    ASSIGN_OR_RETURN(const ForeseenCook cook, Foresee(selection));
    TellOfFiles(selection);
    for (const auto* packages : {&cook.cooked, &cook.perhaps}) {
      for (const std::string& name : *packages) RETURN_IF_ERROR(AddToCook(name, cook));
    }
    std::ranges::sort(run_.packages,
                      [](const auto& a, const auto& b) { return a.package < b.package; });
    AddFailing(cook);
    RETURN_IF_ERROR(FindRemoved(cook, selection.by_the_book));
    for (const ForeseenWarning& warning : cook.warnings) run_.warnings.push_back(warning);
    std::erase_if(run_.warnings, [&](const ForeseenWarning& one) {
      return project_.warnings.IsOff(one.warning.kind);
    });
    return std::move(run_);
  }

 private:
  static WorldPtr WorldOf(const DryRunDeps& deps) {
    auto world = std::make_shared<World>();
    world->snapshot = deps.scanned.snapshot;
    world->project = deps.scanned.project;
    world->table = deps.scanned.table;
    world->environment = AnsweredVariables(*deps.scanned.project, deps.environment);
    return world;
  }

  // Finds what the journal says of the files and the store that it knows.
  absl::Status FindWhatHolds() {
    if (deps_.ask.force()) run_.nothing_holds = "--force cooks all";
    if (deps_.journal == nullptr) run_.nothing_holds = "nothing was cooked yet";
    if (!run_.nothing_holds.empty()) return absl::OkStatus();
    const JournalMeta& meta = deps_.journal->meta();
    if (deps_.store_id.empty() || deps_.store_id != meta.store_id) {
      run_.nothing_holds = "the last cook had another store";
      return absl::OkStatus();
    }
    if (project_.store.trust != meta.trust_domain) {
      run_.nothing_holds = "the last cook had another trust domain";
      return absl::OkStatus();
    }
    if (deps_.store_epoch != meta.loss_epoch)
      run_.may_lack = "the store lost something since the last cook";
    const auto before = BaseTable(project_.state_directory(), meta);
    if (before == nullptr) {
      run_.nothing_holds = "the files of the last cook are not known";
      return absl::OkStatus();
    }
    const auto changes = content::DiffSnapshots(*before, *deps_.scanned.snapshot);
    ASSIGN_OR_RETURN(const Impact impact, FindImpact(*deps_.journal, changes));
    for (const ImpactedPackage& one : impact.packages) {
      if (one.depth == 0) changed_.emplace(one.package, TextOfReason(one));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<PackageRecord> RecordOf(const std::string& package) const {
    if (deps_.journal == nullptr) return PackageRecord();
    ASSIGN_OR_RETURN(std::optional<PackageRecord> record, deps_.journal->Find(package));
    return record ? *std::move(record) : PackageRecord();
  }

  absl::StatusOr<ForeseenCook> Foresee(const CookSelection& selection) {
    const ForeseenDeps deps{
        .catalog = deps_.scanned.table,
        .sources = sources_,
        .record_of = [this](const std::string& package) { return RecordOf(package); },
        .may_hold =
            [this](const PlatformRecord& record) {
              if (!run_.nothing_holds.empty()) return false;
              if (!deps_.ask.retry_failed()) return true;
              const auto result = record::DecodeResult(record.result);
              return result.ok() && !result->is_verdict;
            },
        .is_touched = [this](const std::string& package) { return changed_.contains(package); }};
    ASSIGN_OR_RETURN(const PlatformMask platforms,
                     PlatformsIn(project_, ListOf(deps_.ask.platforms())));
    return ForeseeCook(deps, {.request = 1,
                              .platforms = platforms,
                              .selected = selection.packages,
                              .by_the_book = selection.by_the_book,
                              .force = deps_.ask.force(),
                              .follow_soft = !deps_.ask.selection().no_soft_references(),
                              .filter = filter_});
  }

  void TellOfFiles(const CookSelection& selection) {
    WarningTaker taker(run_);
    for (const std::string& warning : selection.warnings)
      taker.Warn(record::WarningKind::kAllIsNever, warning);
    TellOddFiles(*world_, taker);
    TellLeftOut(*world_, taker);
    TellIdleNever(*world_, *world_, filter_.get(), HasSelection(deps_.ask.selection()), taker);
    for (const record::Warning& one :
         IdleNames(project_, table_, GeneratedIn(table_, deps_.journal),
                   ListOf(deps_.ask.selection().cultures())))
      taker.Warn(one.kind, one.text);
    for (const content::FileEntry* const file : UnmatchedFiles(project_, table_, deps_.journal))
      run_.unmatched.push_back(file->path);
  }

  absl::Status AddToCook(const std::string& name, const ForeseenCook& cook) {
    ASSIGN_OR_RETURN(const PackageRecord record, RecordOf(name));
    PackageToCook one{.package = name, .why = ""};
    one.is_sure = cook.cooked.contains(name);
    one.is_new = true;
    for (const std::string& platform : platforms_) {
      const auto known = record.platforms.find(platform);
      if (known == record.platforms.end()) {
        if (one.why.empty()) one.why = fmt::format("it was never cooked for {}", platform);
        continue;
      }
      one.is_new = false;
      ASSIGN_OR_RETURN(const record::Result result, record::DecodeResult(known->second.result));
      one.expected += known->second.last_cook.load_time + known->second.last_cook.save_time;
      for (const record::Output& output : result.outputs)
        one.output_bytes += output.digest.size_bytes();
      if (one.why.empty()) one.why = WhyOutdated(name, platform, known->second, result, cook);
    }
    if (one.is_new) one.why = "it was never cooked";
    run_.is_at_least |= one.is_sure && MayLeadElsewhere(name, one);
    run_.packages.push_back(std::move(one));
    return absl::OkStatus();
  }

  bool MayLeadElsewhere(const std::string& name, const PackageToCook& one) const {
    if (one.is_new || !GeneratorName(name).empty()) return true;
    const std::optional<CatalogEntry> entry = table_.Find(name);
    return !entry || !LeadsNowhere(entry->cooker);
  }

  std::string WhyOutdated(const std::string& name, const std::string& platform,
                          const PlatformRecord& known, const record::Result& result,
                          const ForeseenCook& cook) {
    if (!run_.nothing_holds.empty()) return run_.nothing_holds;
    if (const auto changed = changed_.find(name); changed != changed_.end()) return changed->second;
    if (!known.is_trusted) return "what it came to is not known to hold any more";
    if (GeneratorName(name).empty() && !HasRecipe(name, platform, known.recipe))
      return "its rule, its sidecar, its cooker or its platform is another one";
    if (result.is_verdict && deps_.ask.retry_failed())
      return "it failed, and --retry-failed tries it again";
    for (const record::Observed& seen : known.observed) {
      if (seen.what.kind == ObservationKind::kTool || seen.what.kind == ObservationKind::kEnv) {
        const auto now = sources_.Look(seen.what, name);
        if (!now.ok() || *now != seen.value)
          return fmt::format("{} has another value", seen.what.ToString());
      }
      if (seen.what.kind != ObservationKind::kCooked) continue;
      const auto input = AskedName(name, seen.what.subject);
      if (input.ok() && (cook.cooked.contains(*input) || cook.perhaps.contains(*input)))
        return fmt::format("it reads an output of {}", *input);
    }
    if (const std::string generator(GeneratorName(name)); cook.cooked.contains(generator))
      return fmt::format("it is generated by {}", generator);
    return cook.cooked.contains(name) ? "something that it read is another one" : "";
  }

  // Returns the package's present recipe, if its cooker is not the cooker of `known`.
  std::optional<record::Recipe> OtherCooker(const std::string& name, const std::string& platform,
                                            const PlatformRecord& known) {
    const auto before = record::DecodeRecipe(known.recipe_bytes);
    const RecipesPtr recipes = sources_.RecipesOf(name, !GeneratorName(name).empty());
    if (!before.ok() || recipes == nullptr) return std::nullopt;
    for (size_t p = 0; p < project_.platforms.size() && p < recipes->size(); ++p) {
      const record::Recipe& now = (*recipes)[p].recipe;
      if (project_.platforms[p].name == platform && now.cooker != before->cooker) return now;
    }
    return std::nullopt;
  }

  // Says whether this recipe may make an output that another cooker made.
  static bool MayMake(const record::Recipe& recipe, const std::string& suffix) {
    if (recipe.cooker == "command")
      return recipe.settings.find(fmt::format("\"{}\"", suffix)) != std::string::npos;
    return recipe.cooker == "copy" && suffix.empty();
  }

  bool HasRecipe(const std::string& name, const std::string& platform, const Digest& before) {
    const RecipesPtr recipes = table_.RecipesOf(name);
    if (recipes == nullptr) return false;
    for (size_t p = 0; p < project_.platforms.size() && p < recipes->size(); ++p) {
      if (project_.platforms[p].name == platform)
        return record::RecipeDigest((*recipes)[p].recipe) == before;
    }
    return false;
  }

  // Writes one line for a failure that is the same on all platforms.
  void AddFailing(const ForeseenCook& cook) {
    std::set<std::string> packages;
    for (const PackageToCook& one : run_.packages) packages.insert(one.package);
    for (auto at = cook.failures.begin(); at != cook.failures.end();) {
      const std::string& package = at->first.first;
      auto end = at;
      size_t alike = 0;
      for (; end != cook.failures.end() && end->first.first == package; ++end)
        alike += end->second == at->second;
      const auto count = static_cast<size_t>(std::distance(at, end));
      packages.insert(package);
      if (alike == count && count == platforms_.size()) {
        run_.failing.push_back({package, "", at->second.error});
      } else {
        for (auto one = at; one != end; ++one)
          run_.failing.push_back({package, one->first.second, one->second.error});
      }
      at = end;
    }
    std::ranges::stable_sort(run_.failing,
                             [](const auto& a, const auto& b) { return a.package < b.package; });
    run_.up_to_date = cook.in_cook - std::min<uint64_t>(cook.in_cook, packages.size());
  }

  // Finds the files of the last published roots that the new roots would lack: in a cook by the
  // book the files of packages that are no longer in the roots, otherwise the files of packages
  // that fail. A root of no package is not published.
  absl::Status FindRemoved(const ForeseenCook& cook, bool by_the_book) {
    if (deps_.journal == nullptr) return absl::OkStatus();
    absl::Status decoded;
    RETURN_IF_ERROR(
        deps_.journal->ForEach([&](std::string_view package, const PackageRecord& record) {
          for (const std::string& platform : platforms_) {
            const auto known = record.platforms.find(platform);
            if (known == record.platforms.end() ||
                known->second.published_key != known->second.action_key)
              continue;
            const auto root = cook.roots.find(platform);
            const std::string name(package);
            if (root == cook.roots.end() || root->second.empty()) continue;
            std::optional<record::Recipe> by;  // another cooker, which makes other files
            if (root->second.contains(name)) {
              by = OtherCooker(name, platform, known->second);
              if (!by || !cook.cooked.contains(name)) continue;
            } else if (!by_the_book && !HasFailed(cook, name, platform)) {
              continue;
            }
            const auto result = record::DecodeResult(known->second.result);
            decoded.Update(result.status());
            if (!result.ok()) continue;
            for (const record::Output& output : result->outputs) {
              if (!by || !MayMake(*by, output.suffix))
                run_.removed.push_back({platform, sources_.StagePath(name) + output.suffix});
            }
          }
        }));
    std::ranges::sort(run_.removed);
    return decoded;
  }

  static bool HasFailed(const ForeseenCook& cook, const std::string& package,
                        const std::string& platform) {
    return cook.failures.contains({package, platform}) || cook.failures.contains({package, ""});
  }

  const DryRunDeps& deps_;
  const GlobFilterPtr filter_;
  const project::Project& project_;
  const ProjectCatalog& table_;
  ToolDigests tools_;
  const WorldPtr world_;
  const ProjectSources sources_;
  const std::vector<std::string> platforms_;
  DryRun run_;
  std::map<std::string, std::string> changed_;  // packages, and the changed file of each
};

}  // namespace

absl::StatusOr<DryRun> LookAhead(const DryRunDeps& deps) {
  ASSIGN_OR_RETURN(GlobFilterPtr filter, FilterOf(deps.ask));
  return Looker(deps, std::move(filter)).Look();
}

}  // namespace galley::director
