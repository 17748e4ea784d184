// ProjectCatalog: every package of one snapshot with its recipes; the core's Catalog.
//
// A catalog belongs to one snapshot and one set of rules, and is immutable; a new snapshot gets a
// new catalog. A package is resolved on the first question about it; all packages are resolved
// together, in parallel, on the first question about all. Generated packages are remembered.
//
// Threads: all methods from any thread.
#pragma once

#include <atomic>
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
#include "director/shell/sources.h"

namespace galley::director {

using SnapshotPtr = std::shared_ptr<content::Snapshot>;

class ProjectCatalog final : public Catalog {
 public:
  struct Options {
    std::vector<std::string> never;  // globs of the command line, in addition to [cook] never
    std::vector<std::string> cultures;
    unsigned threads = 0;  // 0: one for each core
    bool operator==(const Options&) const = default;
  };

  // INVALID_ARGUMENT: a glob of `never` is malformed.
  static absl::StatusOr<std::shared_ptr<const ProjectCatalog>> Build(
      SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
      std::shared_ptr<const project::RecipeResolver> resolver, const Options& options);

  // Builds a catalog that resolves packages when needed. `before`: an earlier catalog, whose
  // resolved packages are taken over if nothing but the bytes of `changed` differs; may be null.
  static absl::StatusOr<std::shared_ptr<const ProjectCatalog>> ByNeed(
      SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
      std::shared_ptr<const project::RecipeResolver> resolver, const Options& options,
      const ProjectCatalog* before, const std::vector<std::string>& changed);

  // Functions of Catalog.
  std::optional<CatalogEntry> Find(std::string_view name) const override;
  std::optional<std::string> NameOfFile(std::string_view file) const override;
  CatalogEntry Generated(std::string_view name, std::string_view cooker,
                         std::string_view settings) const override;
  ReferenceTarget Resolve(std::string_view from, std::string_view as_written) const override;
  // Returns the rules of the project for "", and for a file that is no package.
  record::WarningRules WarningRulesOf(std::string_view name) const override;

  // nullptr: there is no such package, or its recipes cannot be resolved.
  RecipesPtr RecipesOf(std::string_view name) const;
  // The recipes that Generated() remembered.
  RecipesPtr GeneratedRecipesOf(std::string_view name) const;

  // Returns the packages for which Generated() was called so far, sorted.
  std::vector<std::string> GeneratedNames() const;

  // Errors of sidecars, and of rules that match a package, each text once, in the order of the
  // packages' names. Find reports an error for each of these packages, too. Resolves all packages.
  const std::vector<std::string>& recipe_errors() const { return TakeAll().recipe_errors; }
  // True: the sidecar of some package that was resolved could not be read. The package fails.
  bool has_unread_sidecars() const { return has_unread_sidecars_; }
  // Returns the patterns of `never` that match neither a file nor one of GeneratedNames. Patterns
  // of the command line have the place "--never".
  std::vector<project::Pattern> UnmatchedNeverPatterns() const;

  // Returns the names of the packages that differ from `before`, sorted; the two catalogs may have
  // different project files and different files. A package differs if a recipe for a common
  // platform, its error or its "never" differs, or if only one catalog has it. Generated packages
  // of `before` always differ. O(packages).
  std::vector<std::string> DifferentFrom(const ProjectCatalog& before) const;

  // The names of all packages, also of packages with errors, sorted. Resolves all packages.
  const std::vector<std::string>& names() const { return TakeAll().names; }
  const content::Snapshot& snapshot() const { return *snapshot_; }
  const std::shared_ptr<const project::RecipeResolver>& resolver() const { return resolver_; }

 private:
  struct Entry {
    RecipesPtr recipes;
    std::string error;
    bool never = false;
    // True: the two entries differ at most in the bytes of the source. Compares the recipes of the
    // platforms that PlatformMapping found in both project files.
    bool IsAlike(const Entry& before,
                 const std::vector<std::optional<PlatformIndex>>& mapping) const;
  };

  // The result of ResolveAll.
  struct All {
    std::vector<std::string> names;  // sorted; parallel to `entries`
    std::vector<Entry> entries;
    std::vector<std::string> recipe_errors;
  };

  ProjectCatalog() = default;
  const All& TakeAll() const;
  std::shared_ptr<const All> ResolveAll() const;
  const Entry* EntryOf(std::string_view name) const;
  const Entry* ResolveNow(std::string_view name) const;
  static CatalogEntry AnswerOf(const Entry& entry);
  // `errors`: errors of the package's recipes, without the errors of the file itself.
  Entry ResolveOne(const content::FileEntry& file, const content::FileEntry* sidecar_file,
                   bool& is_package, std::vector<std::string>& errors) const;
  absl::Status ReadNever(const std::vector<std::string>& of_command_line);
  bool IsNever(std::string_view name) const;
  std::vector<std::string> LocalisedOf(std::string_view name) const;

  SnapshotPtr snapshot_;
  std::shared_ptr<const project::Project> project_;
  std::shared_ptr<const project::RecipeResolver> resolver_;
  struct Never {
    content::Glob glob;
    project::Pattern pattern;
  };
  std::vector<Never> never_;
  std::vector<std::string> cultures_;
  Options options_;
  mutable std::atomic<const All*> known_all_ = nullptr;  // points into all_, read without the lock
  mutable std::atomic<bool> has_unread_sidecars_ = false;

  struct GeneratedEntry {
    std::string cooker;
    std::string settings;
    Entry entry;
  };
  mutable base::Mutex mutex_;
  mutable absl::flat_hash_map<std::string, GeneratedEntry> generated_ GALLEY_GUARDED_BY(mutex_);
  // The patterns that match no file; nullopt: not computed yet.
  mutable std::optional<std::vector<const Never*>> idle_never_ GALLEY_GUARDED_BY(mutex_);
  // The packages that were resolved one by one, until all are resolved.
  mutable absl::flat_hash_map<std::string, std::unique_ptr<const Entry>> resolved_
      GALLEY_GUARDED_BY(mutex_);
  mutable base::Mutex all_mutex_;
  mutable std::shared_ptr<const All> all_ GALLEY_GUARDED_BY(all_mutex_);
};

}  // namespace galley::director
