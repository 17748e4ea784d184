#include "director/host/removed_by_rules.h"

#include <vector>

#include "common/base/counted.h"
#include "common/tree/tree.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// The virtual paths that a path of a tree may begin with.
std::vector<std::string> VirtualPathsOf(const project::Project& project, const std::string& path) {
  std::vector<std::string> found = {"/" + path};
  for (const content::Mount& mount : project.mounts) {
    if (!mount.stage_as.empty() && found.front().starts_with(mount.stage_as + "/"))
      found.push_back(mount.path + found.front().substr(mount.stage_as.size()));
  }
  return found;
}

// The file of which no rule makes a package and whose output had this path; empty: there is none.
std::string SourceWithoutRule(const World& world, const std::string& path) {
  for (std::string name : VirtualPathsOf(*world.project, path)) {
    for (;;) {
      if (world.snapshot->Kind(name) == content::EntryKind::kFile)
        return world.table->Find(name) ? std::string() : name;
      const size_t cut = name.find_last_of("./");
      if (cut == std::string::npos || cut == 0) break;
      name.resize(cut);
    }
  }
  return {};
}

}  // namespace

std::string RemovedByRulesText(store::Store& store, const Digest& before, const Digest& after,
                               std::string_view platform, const World& world) {
  const auto get = [&](const Digest& digest) { return store.Get(digest); };
  const auto differences = tree::DiffTrees(before, after, get);
  if (!differences.ok()) return {};
  size_t removed = 0, by_rules = 0;
  std::string first;
  for (const tree::Difference& one : *differences) {
    if (one.kind != tree::Difference::Kind::kRemoved) continue;
    ++removed;
    const std::string source = SourceWithoutRule(world, one.path());
    if (source.empty()) continue;
    if (by_rules++ == 0) first = source;
  }
  if (by_rules == 0) return {};
  const auto files = tree::ListTree(before, get);
  if (!files.ok() || 2 * removed <= files->size()) return {};
  return fmt::format(
      "{}: this cook takes away {} of the {} of the last root, {} of them because rules "
      "changed: no rule makes a package of {} any more{}; is a `match` in galley.toml wrong?",
      platform, removed, Counted(files->size(), "file"), by_rules, first,
      by_rules == 1 ? "" : " and others");
}

}  // namespace galley::director
