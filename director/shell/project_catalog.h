// ProjectCatalog: every package of one snapshot with its recipes; the core's Catalog.
//
// A catalog belongs to one snapshot and one set of rules, and is immutable; a new snapshot gets a
// new catalog, which shares what a change leaves alone (ResolvedPackages). A package is resolved on
// the first question about it; all packages are resolved together, in parallel, on the first
// question about all. Generated packages are remembered.
//
// Threads: all methods from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/mutex.h"
#include "common/content/snapshot.h"
#include "common/project/project.h"
#include "common/project/resolver.h"
#include "director/core/catalog.h"
#include "director/shell/resolved_packages.h"
#include "director/shell/sources.h"

namespace galley::director {

using SnapshotPtr = std::shared_ptr<content::Snapshot>;

class ProjectCatalog final : public Catalog {
 public:
  // INVALID_ARGUMENT: a glob of [cook] never is malformed. `threads`: 0: one for each core.
  static absl::StatusOr<std::shared_ptr<const ProjectCatalog>> Build(
      SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
      std::shared_ptr<const project::RecipeResolver> resolver, unsigned threads = 0);

  // Builds a catalog that resolves packages when needed. `before`: an earlier catalog, or null. If
  // it has the same rules, its resolved packages are taken over where `changed` leaves
  // them alone. REQUIRES: `snapshot` is the snapshot of `before`, refreshed at the paths `changed`
  // (Snapshot::Refresh). Cost: linear in the files at `changed`, and in the files that changed
  // since all packages were resolved, which are at most 256 or a 64th of the files.
  static absl::StatusOr<std::shared_ptr<const ProjectCatalog>> ByNeed(
      SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
      std::shared_ptr<const project::RecipeResolver> resolver, const ProjectCatalog* before,
      const std::vector<std::string>& changed);

  // Functions of Catalog.
  std::optional<CatalogEntry> Find(std::string_view name) const override;
  std::optional<std::string> NameOfFile(std::string_view file) const override;
  CatalogEntry Generated(std::string_view name, std::string_view cooker,
                         std::string_view settings) const override;
  ReferenceTarget Resolve(std::string_view from, std::string_view as_written) const override;
  // The variants of "/Game/ui/logo.png" for "de": "/Game/L10N/de/ui/logo.png", below the mount.
  std::vector<std::string> VariantsOf(std::string_view name,
                                      const Cultures& cultures) const override;
  // Returns the rules of the project for "", and for a file that is no package.
  record::WarningRules WarningRulesOf(std::string_view name) const override;

  // nullptr: there is no such package, or its recipes cannot be resolved.
  RecipesPtr RecipesOf(std::string_view name) const;
  // Returns what RecipesOf does, also for a package whose file has an error: a twin but for case, a
  // link that leads out of its mount. For questions about names, not for cooks.
  RecipesPtr RecipesByRules(std::string_view name) const;
  // The recipes that Generated() remembered.
  RecipesPtr GeneratedRecipesOf(std::string_view name) const;

  // Says whether a pattern of [cook] never matches the name, which may be of a generated package.
  bool IsNever(std::string_view name) const;

  // Returns the packages for which Generated() was called so far, sorted.
  std::vector<std::string> GeneratedNames() const;

  // Errors of sidecars, and of rules that match a package, each text once, in the order of the
  // packages' names. Find reports an error for each of these packages, too. Resolves all packages.
  const std::vector<std::string>& recipe_errors() const { return packages_->TakeAll().errors; }
  // True: the sidecar of some package that was resolved could not be read. The package fails.
  bool has_unread_sidecars() const { return packages_->HasUnreadSidecars(); }
  // Returns the patterns of [cook] never that match neither a file nor one of GeneratedNames.
  std::vector<project::Pattern> UnmatchedNeverPatterns() const;
  // Says whether the glob matches a file, or one of GeneratedNames.
  bool IsMatchedBy(const content::Glob& glob) const;

  // Returns the names of the packages that differ from `before`, sorted; the two catalogs may have
  // different project files and different files. A package differs if a recipe for a common
  // platform, its error or its "never" differs, or if only one catalog has it. Generated packages
  // of `before` always differ. O(packages).
  std::vector<std::string> DifferentFrom(const ProjectCatalog& before) const;

  // The names of all packages, also of packages with errors, sorted. Resolves all packages.
  const std::vector<std::string>& names() const { return packages_->TakeAll().names; }
  const content::Snapshot& snapshot() const { return *snapshot_; }
  const std::shared_ptr<const project::Project>& project() const { return project_; }
  const std::shared_ptr<const project::RecipeResolver>& resolver() const { return resolver_; }

 private:
  ProjectCatalog() = default;
  void MakePackages();
  ResolvedFile ResolveOne(const content::FileEntry& file,
                          const content::FileEntry* sidecar_file) const;
  absl::Status ReadNever();
  bool IsFileMatchedBy(const content::Glob& glob) const;
  bool IsGeneratedMatchedBy(const content::Glob& glob) const GALLEY_REQUIRES(mutex_);

  SnapshotPtr snapshot_;
  std::shared_ptr<const project::Project> project_;
  std::shared_ptr<const project::RecipeResolver> resolver_;
  struct Never {
    content::Glob glob;
    project::Pattern pattern;
  };
  std::vector<Never> never_;
  unsigned threads_ = 0;                        // 0: one for each core
  std::unique_ptr<ResolvedPackages> packages_;  // never null; calls ResolveOne

  struct GeneratedEntry {
    std::string cooker;
    std::string settings;
    ResolvedPackage package;
  };
  mutable base::Mutex mutex_;
  mutable absl::flat_hash_map<std::string, GeneratedEntry> generated_ GALLEY_GUARDED_BY(mutex_);
  // The patterns that match no file; nullopt: not computed yet.
  mutable std::optional<std::vector<const Never*>> idle_never_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
