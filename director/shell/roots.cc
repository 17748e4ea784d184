#include "director/shell/roots.h"

#include <map>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/shell/lost_files.h"
#include "director/shell/root_builder.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Returns the answer to the effect, without its outcome.
RootBuilt AnswerTo(const BuildRoot& effect) {
  RootBuilt built{.platform = effect.platform};
  built.platform_set = effect.platform_set;
  built.round = effect.round;
  built.request = effect.request;
  return built;
}

RootPublished AnswerTo(const PublishRoot& effect) {
  return {.platform = effect.platform,
          .error = "",
          .platform_set = effect.platform_set,
          .round = effect.round,
          .request = effect.request};
}

// A root without a file is never published. A narrow cook whose packages all failed still takes
// their outputs out of the sandbox.
bool IsWithoutFiles(const ActiveCook& cook, const std::string& platform, const Digest& root) {
  return root == Digest() ||
         (!cook.outcome.is_difference && cook.outcome.in_roots.at(platform)->empty());
}

RootContent ContentOf(const ActiveCook& cook, const std::string& platform, bool by_the_book) {
  const bool is_whole = by_the_book && !cook.outcome.is_difference;
  RootContent content{.results = *cook.outcome.in_roots.at(platform), .by_the_book = is_whole};
  if (!by_the_book) content.left_out = cook.failures.FailedFor(platform);
  if (cook.outcome.is_difference) {
    const auto& gone = cook.order.base->gone;
    content.left_out.assign(gone.begin(), gone.end());
  }
  return content;
}

// Returns the newest root of the platform; null: there is none.
const store::PublishedRoot* NewestOf(const std::vector<store::PublishedRoot>& newest_first,
                                     const std::string& platform) {
  for (const store::PublishedRoot& root : newest_first) {
    if (root.platform == platform) return &root;
  }
  return nullptr;
}

}  // namespace

// Returns the world of the judgement, which is the present world when its first root is to be
// built.
const JudgedWorld& Roots::JudgedOf(ActiveCook& cook, const BuildRoot& effect) const {
  std::optional<JudgedWorld>& judged = cook.judged;
  if (!judged || judged->round != effect.round || judged->platform_set != effect.platform_set ||
      judged->is_difference != effect.is_difference) {
    judged = JudgedWorld{.round = effect.round,
                         .platform_set = effect.platform_set,
                         .is_difference = effect.is_difference,
                         .world = deps_.world(),
                         .sources = deps_.sources()};
  }
  return *judged;
}

// Holds the results that an effect names, so that they exist while other threads work with them.
StoredResultsPtr Roots::Hold(const std::vector<std::pair<PackageId, ResultId>>& packages) const {
  auto held = std::make_shared<std::vector<StoredResultPtr>>();
  held->reserve(packages.size());
  for (const auto& [package, result] : packages) {
    if (StoredResultPtr stored = deps_.results.Get(result); stored != nullptr)
      held->push_back(std::move(stored));
  }
  return held;
}

// ------------------------------------------------------------------ build

void Roots::Build(const BuildRoot& effect) {
  ActiveCook* const cook = deps_.cooks.Find(effect.request);
  if (cook == nullptr) return;
  const StoredResultsPtr results = Hold(effect.packages);
  const JudgedWorld& judged = JudgedOf(*cook, effect);
  const std::string platform = judged.sources->PlatformName(effect.platform);
  cook->outcome.in_roots[platform] = results;
  // Nobody waits for results that look-ups found, but the journal learns them before the root.
  deps_.commits.BeginAll();
  if (effect.is_difference) return BuildOfDifference(*cook, effect, results, platform);
  // The journal's meta record, which tells what is known to be whole, belongs to the commits.
  deps_.tasks.Post([this, effect, results, platform, sources = judged.sources] {
    PostWhole(sources, effect, WholeRoot(platform), results);
  });
}

void Roots::PostWhole(const SourcesPtr& sources, const BuildRoot& effect,
                      const std::optional<Digest>& whole, const StoredResultsPtr& results) {
  deps_.root_tasks.Post(
      [this, sources, effect, whole, results] { BuildWhole(sources, effect, whole, results); });
}

// By the time the root is built, another cook may have published a newer root, so that collections
// no longer keep the one that was known to be whole: then the store is asked for all files.
void Roots::BuildWhole(const SourcesPtr& sources, const BuildRoot& effect,
                       const std::optional<Digest>& whole, const StoredResultsPtr& results) {
  auto built =
      BuildRootTree(*sources, deps_.results, deps_.store, effect, whole ? &*whole : nullptr);
  if (!built.ok()) {
    RootBuilt failed = AnswerTo(effect);
    failed.error = MessageOf(built.status());
    return deps_.inbox.PostEvent(std::move(failed));
  }
  const bool is_believed = whole.has_value() && built->root == *whole;
  if (built->lost.empty() && !is_believed) return TellBuilt(*std::move(built), {});
  deps_.tasks.Post([this, sources, effect, whole, results, is_believed, built = *std::move(built)] {
    if (is_believed && WholeRoot(sources->PlatformName(effect.platform)) != whole)
      return PostWhole(sources, effect, std::nullopt, results);
    if (built.lost.empty()) return TellBuilt(built, {});
    DistrustAndTell(built, effect);
  });
}

// The journal distrusts what was lost before the core hears of it.
void Roots::DistrustAndTell(RootBuilt built, const BuildRoot& effect) {
  const auto distrusted = DistrustLost(deps_.journal, deps_.results, effect.packages, built.lost);
  if (!distrusted.ok()) {
    RootBuilt failed = AnswerTo(effect);
    failed.error = MessageOf(distrusted.status());
    return deps_.inbox.PostEvent(std::move(failed));
  }
  for (const std::string& package : *distrusted) {
    LogWarning(
        "package={} what it was cooked to is in the store no more, or in dispute: it is made again",
        package);
  }
  TellBuilt(std::move(built), *distrusted);
}

void Roots::TellBuilt(RootBuilt built, const std::vector<std::string>& distrusted) {
  deps_.inbox.PostTask([this, built = std::move(built), distrusted]() mutable {
    CountLost(built.lost, distrusted);
    deps_.inbox.HandleNow(std::move(built));
  });
}

// Returns the platform's root that was published last, if that root cannot have lost anything:
// collections keep it because it is the newest, and the loss epoch tells whether anything else was
// lost since.
std::optional<Digest> Roots::WholeRoot(const std::string& platform) {
  const auto info = deps_.store.Info();
  if (!info.ok() || info->loss_epoch != deps_.journal.meta().loss_epoch ||
      info->store_id != deps_.journal.meta().store_id)
    return std::nullopt;
  const auto last = deps_.journal.LastPublished(platform);
  if (!last.ok() || last->loss_epoch != info->loss_epoch) return std::nullopt;
  const auto roots = deps_.store.Roots(options_.project_id);  // newest first
  if (!roots.ok()) return std::nullopt;
  const store::PublishedRoot* const newest = NewestOf(*roots, platform);
  if (newest == nullptr || newest->sequence != last->sequence) return std::nullopt;
  return newest->root;
}

// Looks at all packages when the root cannot be made of a difference.
void Roots::BuildOfDifference(const ActiveCook& cook, const BuildRoot& effect,
                              StoredResultsPtr results, const std::string& platform) {
  const WorldPtr& world_judged = cook.judged->world;
  const bool may = cook.outcome.is_difference && cook.was_alone && cook.order.world == world_judged;
  deps_.tasks.Post([this, effect, results = std::move(results), platform, may,
                    held = deps_.cooks.Hold(cook.number()), world = world_judged,
                    sources = cook.judged->sources] {
    const CookOrder* const order = &held->order;
    const auto select = [&] { return order->select ? order->select(*world) : order->whole; };
    std::optional<absl::flat_hash_set<std::string>> selected;
    const auto selects = [&](const std::string& package) {
      if (!selected) {
        selected.emplace();
        for (SelectedPackage& one : select()) selected->insert(std::move(one.name));
      }
      return selected->contains(package);
    };
    absl::StatusOr<DifferenceRoot> made =
        absl::FailedPreconditionError("files changed, or another cook ran beside it");
    if (may) {
      made = RootOfDifference({.sources = *sources,
                               .results = deps_.results,
                               .store = deps_.store,
                               .journal = deps_.journal,
                               .base = *order->base,
                               .selects = selects},
                              effect, platform);
    }
    if (made.ok()) {
      return deps_.inbox.PostTask(
          [this, made = *std::move(made)]() mutable { TakeOfDifference(std::move(made)); });
    }
    LogInfo("cook={} looks at all: {}", effect.request, MessageOf(made.status()));
    RootBuilt wider = AnswerTo(effect);
    wider.is_too_narrow = true;
    wider.whole = select();
    // When the new world allows no selection, the packages of the old selection fail by name.
    if (wider.whole.empty()) wider.whole = order->whole;
    deps_.inbox.PostTask(
        [this, wider = std::move(wider)]() mutable { TakeTooNarrow(std::move(wider)); });
  });
}

void Roots::TakeOfDifference(DifferenceRoot made) {
  ActiveCook* const cook = deps_.cooks.Find(made.built.request);
  // The root of another platform may have widened the cook.
  if (cook == nullptr || cook->has_ended || !cook->outcome.is_difference) return;
  Merge(made.references, cook->references);
  deps_.inbox.HandleNow(std::move(made.built));
}

void Roots::TakeTooNarrow(RootBuilt wider) {
  ActiveCook* const cook = deps_.cooks.Find(wider.request);
  if (cook != nullptr && !cook->has_ended) cook->outcome.is_difference = false;
  deps_.inbox.HandleNow(std::move(wider));
}

// Counts lost blobs for the one warning about them. A result in dispute has lost nothing: the
// dispute has a warning of its own.
void Roots::CountLost(const std::vector<RootBuilt::Lost>& lost,
                      const std::vector<std::string>& packages) {
  bool is_any = false;
  for (const RootBuilt::Lost& one : lost) {
    if (one.is_disputed) continue;
    is_any = true;
    deps_.cooks.ForEach([&](ActiveCook& cook) { cook.lost_blobs.insert(one.digest); });
  }
  if (!is_any) return;
  deps_.cooks.ForEach(
      [&](ActiveCook& cook) { cook.lost_packages.insert(packages.begin(), packages.end()); });
}

// ------------------------------------------------------------------ publish

void Roots::Publish(const PublishRoot& effect) {
  ActiveCook* const cook = deps_.cooks.Find(effect.request);
  if (cook == nullptr) return;
  const JudgedWorld& judged = *cook->judged;  // no root is published before it is built
  const std::string platform = judged.sources->PlatformName(effect.platform);
  const bool is_empty =
      IsWithoutFiles(*cook, platform, effect.root) && !IsSabotaged(Sabotage::kPublishEmptyRoot);
  cook->unpublished.erase(platform);
  if (!cook->order.publishes || is_empty) {
    // An earlier root of this cook lacks bytes that could not be made again: it is not staged.
    cook->outcome.roots.erase(platform);
    if (cook->order.publishes && !effect.by_the_book) cook->unpublished[platform] = effect.root;
    return deps_.inbox.PostEvent(AnswerTo(effect));
  }
  if (IsSabotaged(Sabotage::kStageUnpublished)) {
    cook->outcome.roots[platform] = effect.root;
    Stage({.round = effect.round, .request = effect.request});
  }
  deps_.commits.BeginAll();  // failures that came while the roots were built
  deps_.tasks.Post([this, publish = effect, platform, world = judged.world->number,
                    content = ContentOf(*cook, platform, effect.by_the_book)]() mutable {
    RootPublished published = AnswerTo(publish);
    // A root of a narrow cook does not keep a whole root from becoming the latest.
    const bool is_past = publish.by_the_book ? !published_.Enter(platform, world)
                                             : published_.IsPast(platform, world);
    if (is_past) {
      LogInfo("cook={} platform={} the latest root is of newer files: this one is recorded",
              publish.request, platform);
      publish.by_the_book = false;
      content = RootContent();  // the keys stay those of the newer root
    }
    published.error = PublishAndRecord(platform, publish, content);
    deps_.inbox.PostTask([this, published, platform, root = publish.root] {
      ActiveCook* const publisher = deps_.cooks.Find(published.request);
      if (published.error.empty() && publisher != nullptr)
        publisher->outcome.roots[platform] = root;
      deps_.inbox.HandleNow(published);
    });
  });
}

// Returns the sequence of the platform's last root if that root equals this one: a cook that comes
// to the same root publishes nothing new. A cook by the book that comes to the root of a narrow
// cook does publish: its root becomes the latest.
std::optional<uint64_t> Roots::PublishedAlready(const std::string& platform,
                                                const PublishRoot& effect) {
  if (IsSabotaged(Sabotage::kPublishTwice)) return std::nullopt;
  const auto roots = deps_.store.Roots(options_.project_id);  // newest first
  if (!roots.ok()) return std::nullopt;
  const store::PublishedRoot* const newest = NewestOf(*roots, platform);
  // The last root says how many roots are kept.
  const bool is_same = newest != nullptr && newest->root == effect.root &&
                       (newest->by_the_book || !effect.by_the_book) &&
                       newest->keep_roots == options_.keep_roots;
  return is_same ? std::optional(newest->sequence) : std::nullopt;
}

// Returns the error. No root is published after a group that failed: the cook is about to end for
// that failure.
std::string Roots::PublishAndRecord(const std::string& platform, const PublishRoot& effect,
                                    const RootContent& content) {
  if (!deps_.commits.error().empty()) return deps_.commits.error();
  std::optional<uint64_t> sequence = PublishedAlready(platform, effect);
  if (!sequence.has_value()) {
    const auto published = deps_.store.Publish({.project_id = options_.project_id,
                                                .platform = platform,
                                                .root = effect.root,
                                                .by_the_book = effect.by_the_book,
                                                .time = deps_.clock.Now(),
                                                .keep_roots = options_.keep_roots});
    if (!published.ok())
      return fmt::format("publishing the root: {}", MessageOf(published.status()));
    sequence = *published;
  } else if (const absl::Status kept = deps_.store.Commit({}); !kept.ok()) {
    // Folders of the root that the store had lost were put again: they become durable as well.
    return fmt::format("publishing the root: {}", MessageOf(kept));
  }
  const absl::Status recorded = RecordRoot(
      deps_.journal, platform,
      {.sequence = *sequence, .root = effect.root, .loss_epoch = deps_.journal.meta().loss_epoch},
      content);
  // The next director finds out.
  if (!recorded.ok()) LogWarning("journal: {}", MessageOf(recorded));
  return "";
}

// ------------------------------------------------------------------ stage, and what is lost

void Roots::Stage(const StageRoots& effect) {
  ActiveCook* const cook = deps_.cooks.Find(effect.request);
  if (cook == nullptr) return;
  std::map<std::string, Digest> roots = cook->outcome.roots;
  roots.insert(cook->unpublished.begin(), cook->unpublished.end());
  cook->asker->Post([this, stage = cook->order.stage, roots = std::move(roots),
                     world = cook->judged ? cook->judged->world : deps_.world(),
                     round = effect.round, request = effect.request] {
    RootsStaged event{.loss = "", .round = round, .request = request};
    if (stage) event.loss = stage(roots, world);
    deps_.inbox.PostEvent(std::move(event));
  });
}

void Roots::LookForLostBlobs(const LookForLost& effect) {
  deps_.tasks.Post([this, effect, held = Hold(effect.packages)] { LookAndDistrust(effect); });
}

void Roots::LookAndDistrust(const LookForLost& effect) {
  LostFound event;
  event.look = effect.look;
  std::vector<std::string> packages;
  auto lost = LookForLostFiles(deps_.store, deps_.results, effect);
  absl::Status status = lost.status();
  if (status.ok()) {
    auto names = DistrustLost(deps_.journal, deps_.results, effect.packages, *lost);
    status = names.status();
    if (names.ok()) packages = *std::move(names);
  }
  if (status.ok()) event.lost = *std::move(lost);
  if (!status.ok()) event.error = MessageOf(status);
  deps_.inbox.PostTask([this, event = std::move(event), packages = std::move(packages)]() mutable {
    for (const RootBuilt::Lost& one : event.lost) {
      LogWarning("path={} digest={} is {}: it is made again", one.path, one.digest.ToString(),
                 one.is_disputed ? "in dispute" : "in the store no more");
    }
    CountLost(event.lost, packages);
    deps_.inbox.HandleNow(std::move(event));
  });
}

}  // namespace galley::director
