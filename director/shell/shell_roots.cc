// DirectorShell's roots: built, published, remembered.

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/lost_files.h"
#include "director/shell/root_builder.h"
#include "fmt/format.h"

namespace galley::director {

void DirectorShell::Do(const BuildRoot& effect) {
  last_build_[effect.platform] = effect;
  CommitPending();  // nobody waits for what look-ups found, but the journal learns it before the
                    // root
  commit_thread_.Post([this, effect] {
    const std::optional<Digest> whole = WholeRoot(PlatformName(effect.platform));
    auto built =
        BuildRootTree(*world_.Get()->project, results_, store_, effect, whole ? &*whole : nullptr);
    absl::Status status = built.status();
    if (status.ok()) {
      const auto packages = DistrustLost(journal_, results_, effect.packages, built->lost);
      status = packages.status();
      for (const std::string& package : packages.value_or(std::vector<std::string>()))
        LogWarning(
            "package={} what it was cooked to is in the store no more, or in dispute: it is made "
            "again",
            package);
    }
    if (status.ok()) {
      Post(Event(std::move(*built)));
    } else {
      Post(Event(RootPublished{effect.platform,
                               fmt::format("building the tree: {}", MessageOf(status)),
                               effect.platform_set}));
    }
  });
}

// Of the platform, the root that was published last, if nothing of it can be lost: collections keep
// it as the newest one, and of what is lost otherwise since then the loss epoch tells.
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

// Nobody is told anything meanwhile, and who asks waits: nothing is in hand, and the roots are
// published.
void DirectorShell::Do(const StageRoots& effect) {
  RootsStaged event{.loss = "", .round = effect.round};
  if (options_.stage) event.loss = options_.stage(roots_, world_.Get());
  Post(Event(std::move(event)));
}

// Behind what is committed already.
void DirectorShell::Do(const LookForLost& effect) {
  commit_thread_.Post([this, effect] {
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
        LogWarning("path={} digest={} is in the store no more: it is made again", one.path,
                   one.digest.ToString());
        lost_blobs_.insert(one.digest);
      }
      lost_packages_.insert(packages.begin(), packages.end());
      StepCore(std::move(event));
    }));
  });
}

RootContent DirectorShell::ContentOf(const PublishRoot& effect) const {
  RootContent content{.by_the_book = effect.by_the_book};
  for (const auto& [package, result] : last_build_.at(effect.platform).packages) {
    if (StoredResultPtr stored = results_.Get(result); stored != nullptr)
      content.results.push_back(std::move(stored));
  }
  if (!effect.by_the_book) content.failed = failures_.FailedFor(PlatformName(effect.platform));
  return content;
}

// Behind a group that failed no root is published: the cook is about to end for it. A root of no
// package never becomes `latest`: whoever reads there would lose all that was good.
void DirectorShell::Do(const PublishRoot& effect) {
  const bool is_empty = last_build_.at(effect.platform).packages.empty();
  if (!options_.publishes || (effect.by_the_book && is_empty)) {
    RootPublished event{.platform = effect.platform};
    event.platform_set = effect.platform_set;
    return Post(Event(std::move(event)));
  }
  CommitPending();  // what failed while the roots were built
  commit_thread_.Post([this, effect, content = ContentOf(effect)] {
    RootPublished event{.platform = effect.platform};
    event.platform_set = effect.platform_set;
    event.error = commit_error_;
    if (event.error.empty()) {
      const std::string platform = PlatformName(effect.platform);
      const auto sequence = store_.Publish({.project_id = options_.project_id,
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
    Post(Internal([this, event, root = effect.root] {
      if (event.error.empty()) roots_[PlatformName(event.platform)] = root;
      StepCore(event);
    }));
  });
}

}  // namespace galley::director
