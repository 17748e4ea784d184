// DirectorShell's roots: built, published, remembered.

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/difference_root.h"
#include "director/shell/director_shell.h"
#include "director/shell/lost_files.h"
#include "director/shell/root_builder.h"
#include "fmt/format.h"

namespace galley::director {

HeldResults DirectorShell::Hold(const std::vector<std::pair<PackageId, ResultId>>& packages) const {
  auto held = std::make_shared<std::vector<StoredResultPtr>>();
  held->reserve(packages.size());
  for (const auto& [package, result] : packages) {
    if (StoredResultPtr stored = results_.Get(result); stored != nullptr)
      held->push_back(std::move(stored));
  }
  return held;
}

void DirectorShell::Do(const BuildRoot& effect) {
  CookSeat* const seat = seats_.Find(effect.request);
  if (seat == nullptr) return;
  const HeldResults results = Hold(effect.packages);
  const std::string platform = PlatformName(effect.platform);
  seat->last_build[platform] = results;
  // Nobody waits for results that look-ups found, but the journal learns them before the root.
  CommitPending();
  if (effect.is_difference) return BuildDifference(*seat, effect, results, platform);
  commit_thread_.Post([this, effect, results, platform, sources = Present()] {
    const std::optional<Digest> whole = WholeRoot(platform);
    auto built = BuildRootTree(*sources, results_, store_, effect, whole ? &*whole : nullptr);
    absl::Status status = built.status();
    absl::StatusOr<std::vector<std::string>> packages;
    if (status.ok()) {
      packages = DistrustLost(journal_, results_, effect.packages, built->lost);
      status = packages.status();
      for (const std::string& package : packages.value_or(std::vector<std::string>()))
        LogWarning(
            "package={} what it was cooked to is in the store no more, or in dispute: it is made "
            "again",
            package);
    }
    if (status.ok()) {
      Post(Internal([this, built = *std::move(built), packages = *std::move(packages)]() mutable {
        CountLost(built.lost, packages);
        StepCore(std::move(built));
      }));
    } else {
      RootBuilt failed;
      failed.platform = effect.platform;
      failed.platform_set = effect.platform_set;
      failed.round = effect.round;
      failed.request = effect.request;
      failed.error = MessageOf(status);
      Post(Event(std::move(failed)));
    }
  });
}

// The cook looks at all when its root cannot be made of a difference.
void DirectorShell::BuildDifference(CookSeat& seat, const BuildRoot& effect, HeldResults results,
                                    const std::string& platform) {
  const bool may = seat.is_difference && seat.was_alone && seat.order.world == world_.Get();
  commit_thread_.Post([this, effect, results = std::move(results), platform, may,
                       held = seats_.Hold(seat.number()), world = world_.Get(),
                       sources = Present()] {
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
                               .results = results_,
                               .store = store_,
                               .journal = journal_,
                               .base = *order->base,
                               .selects = selects},
                              effect, platform);
    }
    if (made.ok()) {
      return Post(Internal([this, made = *std::move(made)]() mutable {
        CookSeat* const of = seats_.Find(made.built.request);
        if (of == nullptr || !of->is_difference) return;  // another platform's root widened it
        Merge(made.references, of->references);
        StepCore(std::move(made.built));
      }));
    }
    LogInfo("cook={} looks at all: {}", effect.request, MessageOf(made.status()));
    RootBuilt wider{.platform = effect.platform};
    wider.platform_set = effect.platform_set;
    wider.round = effect.round;
    wider.request = effect.request;
    wider.is_too_narrow = true;
    wider.whole = select();
    // (Where nothing can be selected any more, what was selected fails by name.)
    if (wider.whole.empty()) wider.whole = order->whole;
    Post(Internal([this, wider = std::move(wider)]() mutable {
      CookSeat* const of = seats_.Find(wider.request);
      if (of != nullptr) of->is_difference = false;
      StepCore(std::move(wider));
    }));
  });
}

// Counts lost blobs for the one warning about them. A result in dispute has lost nothing: the
// dispute has a warning of its own.
void DirectorShell::CountLost(const std::vector<RootBuilt::Lost>& lost,
                              const std::vector<std::string>& packages) {
  bool is_any = false;
  for (const RootBuilt::Lost& one : lost) {
    if (one.is_disputed) continue;
    is_any = true;
    seats_.ForEach([&](CookSeat& seat) { seat.lost_blobs.insert(one.digest); });
  }
  if (!is_any) return;
  seats_.ForEach(
      [&](CookSeat& seat) { seat.lost_packages.insert(packages.begin(), packages.end()); });
}

// The platform's root that was published last, if nothing of it can be lost: collections keep it as
// the newest one, and the loss epoch tells whether anything else was lost since.
std::optional<Digest> DirectorShell::WholeRoot(const std::string& platform) {
  const auto info = store_.Info();
  if (!info.ok() || info->loss_epoch != journal_.meta().loss_epoch ||
      info->store_id != journal_.meta().store_id)
    return std::nullopt;
  const auto last = journal_.LastPublished(platform);
  if (!last.ok() || last->loss_epoch != info->loss_epoch) return std::nullopt;
  const auto roots = store_.Roots(options_.project_id);  // newest first
  if (!roots.ok()) return std::nullopt;
  for (const store::PublishedRoot& root : *roots) {
    if (root.platform != platform) continue;
    return root.sequence == last->sequence ? std::optional(root.root) : std::nullopt;
  }
  return std::nullopt;
}

// The thread that asked for the cook stages.
void DirectorShell::Do(const StageRoots& effect) {
  CookSeat* const seat = seats_.Find(effect.request);
  if (seat == nullptr) return;
  std::map<std::string, Digest> roots = seat->roots;
  roots.insert(seat->unpublished.begin(), seat->unpublished.end());
  seat->told.Add([this, stage = seat->order.stage, roots = std::move(roots), world = world_.Get(),
                  round = effect.round, request = effect.request](ShellListener&) {
    RootsStaged event{.loss = "", .round = round, .request = request};
    if (stage) event.loss = stage(roots, world);
    Post(Event(std::move(event)));
  });
}

// The look runs on the commit thread, behind the commits that are posted already.
void DirectorShell::Do(const LookForLost& effect) {
  commit_thread_.Post([this, effect, results = Hold(effect.packages)] {
    LostFound event;
    event.look = effect.look;
    auto lost = LookForLostFiles(store_, results_, effect);
    std::vector<std::string> packages;
    absl::Status status = lost.status();
    if (status.ok()) {
      auto names = DistrustLost(journal_, results_, effect.packages, *lost);
      status = names.status();
      if (names.ok()) packages = *std::move(names);
    }
    if (status.ok()) event.lost = *std::move(lost);
    if (!status.ok()) event.error = MessageOf(status);
    Post(Internal([this, event = std::move(event), packages = std::move(packages)]() mutable {
      for (const RootBuilt::Lost& one : event.lost) {
        LogWarning("path={} digest={} is {}: it is made again", one.path, one.digest.ToString(),
                   one.is_disputed ? "in dispute" : "in the store no more");
      }
      CountLost(event.lost, packages);
      StepCore(std::move(event));
    }));
  });
}

RootContent DirectorShell::ContentOf(const CookSeat& seat, const std::string& platform,
                                     bool by_the_book) {
  const bool is_whole = by_the_book && !seat.is_difference;
  RootContent content{.results = *seat.last_build.at(platform), .by_the_book = is_whole};
  if (!by_the_book) content.left_out = seat.failures.FailedFor(platform);
  if (seat.is_difference) {
    const auto& gone = seat.order.base->gone;
    content.left_out.assign(gone.begin(), gone.end());
  }
  return content;
}

// The sequence of the platform's last root if it is this one: a cook that comes to the same
// publishes nothing new. (A cook by the book that comes to what a narrow one published does: its
// root becomes the latest.)
std::optional<uint64_t> DirectorShell::PublishedAlready(const std::string& platform,
                                                        const PublishRoot& effect) {
  const auto roots = store_.Roots(options_.project_id);  // newest first
  if (!roots.ok()) return std::nullopt;
  for (const store::PublishedRoot& one : *roots) {
    if (one.platform != platform) continue;
    // (How many roots are kept is said by the last one.)
    const bool is_same = one.root == effect.root && (one.by_the_book || !effect.by_the_book) &&
                         one.keep_roots == options_.keep_roots;
    return is_same ? std::optional(one.sequence) : std::nullopt;
  }
  return std::nullopt;
}

// No root is published behind a group that failed: the cook is about to end for it. A root without
// a file is never published: whoever reads there would lose all that was good. (A narrow cook whose
// packages all failed still takes their outputs out of the sandbox.)
void DirectorShell::Do(const PublishRoot& effect) {
  CookSeat* const seat = seats_.Find(effect.request);
  if (seat == nullptr) return;
  const std::string platform = PlatformName(effect.platform);
  const bool is_empty =
      effect.root == Digest() || (!seat->is_difference && seat->last_build.at(platform)->empty());
  seat->unpublished.erase(platform);
  if (!seat->order.publishes || is_empty) {
    RootPublished event{.platform = effect.platform};
    event.platform_set = effect.platform_set;
    event.round = effect.round;
    event.request = effect.request;
    // An earlier root of this cook lacks bytes that could not be made again: it is not staged.
    seat->roots.erase(platform);
    if (seat->order.publishes && !effect.by_the_book) seat->unpublished[platform] = effect.root;
    return Post(Event(std::move(event)));
  }
  CommitPending();  // failures that came while the roots were built
  commit_thread_.Post(
      [this, effect, platform, content = ContentOf(*seat, platform, effect.by_the_book)] {
        RootPublished event{.platform = effect.platform};
        event.platform_set = effect.platform_set;
        event.round = effect.round;
        event.request = effect.request;
        event.error = commits_.error();
        if (event.error.empty()) {
          const std::optional<uint64_t> known = PublishedAlready(platform, effect);
          const absl::StatusOr<uint64_t> sequence =
              known.has_value() ? absl::StatusOr<uint64_t>(*known)
                                : store_.Publish({.project_id = options_.project_id,
                                                  .platform = platform,
                                                  .root = effect.root,
                                                  .by_the_book = effect.by_the_book,
                                                  .time = clock_.Now(),
                                                  .keep_roots = options_.keep_roots});
          if (!sequence.ok()) {
            event.error = fmt::format("publishing the root: {}", MessageOf(sequence.status()));
          } else if (const absl::Status recorded =
                         RecordRoot(journal_, platform,
                                    {.sequence = *sequence,
                                     .root = effect.root,
                                     .loss_epoch = journal_.meta().loss_epoch},
                                    content);
                     !recorded.ok()) {
            LogWarning("journal: {}", MessageOf(recorded));  // the next director finds out
          }
        }
        Post(Internal([this, event, platform, root = effect.root] {
          CookSeat* const publisher = seats_.Find(event.request);
          if (event.error.empty() && publisher != nullptr) publisher->roots[platform] = root;
          StepCore(event);
        }));
      });
}

}  // namespace galley::director
