#include "director/host/removed_by_rules.h"

#include <algorithm>
#include <vector>

#include "common/base/counted.h"
#include "common/tree/tree.h"
#include "director/host/standing_facts.h"
#include "director/shell/stage_path.h"
#include "director/standing/standings.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Returns the virtual paths with which a path of a tree may begin.
std::vector<std::string> VirtualPathsOf(const project::Project& project, const std::string& path) {
  std::vector<std::string> found = {"/" + path};
  for (const content::Mount& mount : project.mounts) {
    if (!mount.stage_as.empty() && found.front().starts_with(mount.stage_as + "/"))
      found.push_back(mount.path + found.front().substr(mount.stage_as.size()));
  }
  return found;
}

// Says whether `path` is an output of one of these packages.
bool IsOfOne(const World& world, const std::string& path,
             const std::vector<std::string>& packages) {
  for (std::string name : VirtualPathsOf(*world.project, path)) {
    while (!name.empty()) {
      if (std::binary_search(packages.begin(), packages.end(), name)) return true;
      const size_t cut = name.find_last_of("./");
      name.resize(cut == std::string::npos ? 0 : cut);
    }
  }
  return false;
}

// Returns the file of which no rule makes a package and whose output had this path; empty: there is
// none.
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

// Says whether a fact belongs to galley.toml, to the user's configuration or to the command line.
bool IsOfProjectFile(const Fact& fact) {
  return fact.name == kProjectFileFact || fact.name == "galley.toml, beside its rules" ||
         (fact.name.starts_with("the value ") && fact.name.find("output") == std::string::npos);
}

Facts OfProjectFile(const Facts& facts) {
  Facts found;
  for (const Fact& fact : facts) {
    if (IsOfProjectFile(fact)) found.push_back(fact);
  }
  return found;
}

}  // namespace

bool IsProjectFileAnother(const StandingAsk& ask) {
  v1::CookAsk of_same = ask.ask;
  of_same.set_force(false);
  of_same.set_retry_failed(false);
  const auto text = TextOfAsk(of_same, ask.project);
  if (!text) return false;
  const auto standing = Standings(ask.project.state_directory()).Find(*text);
  const auto now = FactsOf(ask.project, ask.cookers);
  if (!standing || !now.ok()) return false;
  return OfProjectFile(standing->facts) != OfProjectFile(*now);
}

std::string RemovedByRulesText(store::Store& store, const Digest& before, const Digest& after,
                               std::string_view platform, const World& world,
                               const RulesBefore& rules) {
  const auto get = [&](const Digest& digest) { return store.Get(digest); };
  const auto differences = tree::DiffTrees(before, after, get);
  if (!differences.ok()) return {};
  size_t removed = 0, by_rules = 0;
  std::string first;
  for (const tree::Difference& one : *differences) {
    if (one.kind != tree::Difference::Kind::kRemoved) continue;
    if (IsOfOne(world, one.path(), rules.failed)) continue;
    ++removed;
    const std::string source = SourceWithoutRule(world, one.path());
    if (source.empty()) continue;
    if (by_rules++ == 0) first = source;
  }
  if (by_rules == 0 && !rules.is_project_file_another) return {};
  const auto files = tree::ListTree(before, get);
  if (!files.ok() || 2 * removed <= files->size()) return {};
  if (by_rules == 0) {
    return fmt::format(
        "{}: this cook takes away {} of the {} files of the last root, and galley.toml (or what "
        "decides in its place) says something else than in the last cook: was that meant?",
        platform, removed, files->size());
  }
  return fmt::format(
      "{}: this cook takes away {} of the {} of the last root, {} of them because rules "
      "changed: no rule makes a package of {} any more{}; is a `match` in galley.toml wrong?",
      platform, removed, Counted(files->size(), "file"), by_rules, first,
      by_rules == 1 ? "" : " and others");
}

}  // namespace galley::director
