// DirectorShell's roots: built, published, remembered.

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/root_builder.h"
#include "fmt/format.h"

namespace galley::director {

void DirectorShell::Do(const BuildRoot& effect) {
  last_build_[effect.platform] = effect;
  CommitPending();  // nobody waits for what look-ups found, but the journal learns it before the
                    // root
  commit_thread_.Post([this, effect] {
    auto built = BuildRootTree(*world_.Get()->project, results_, store_, effect);
    if (built.ok()) {
      Post(Event(std::move(*built)));
    } else {
      Post(Event(RootPublished{effect.platform,
                               fmt::format("building the tree: {}", MessageOf(built.status())),
                               effect.platform_set}));
    }
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

// Behind a group that failed no root is published: the cook is about to end for it.
void DirectorShell::Do(const PublishRoot& effect) {
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
                                            .time = clock_.Now()});
      if (!sequence.ok()) {
        event.error = fmt::format("publishing the root: {}", MessageOf(sequence.status()));
      } else if (const absl::Status recorded = RecordRoot(
                     journal_, platform, {.sequence = *sequence, .root = effect.root}, content);
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
