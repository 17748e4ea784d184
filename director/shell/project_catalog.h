// ProjectCatalog: every package of one snapshot with its recipes; the Catalog that the core asks.
//
// A catalog belongs to one snapshot and one set of rules, and is immutable; a new snapshot makes a
// new catalog. A package is resolved when somebody asks for the package; all packages are resolved
// at once, in parallel, when somebody asks for all. Generated packages are remembered.
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
    unsigned threads = 0;
    bool operator==(const Options&) const = default;
  };

  // INVALID_ARGUMENT: a glob of `never` is malformed.
  static absl::StatusOr<std::shared_ptr<const ProjectCatalog>> Build(
      SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
      std::shared_ptr<const project::RecipeResolver> resolver, const Options& options);

  // Builds a catalog that has resolved nothing yet. `before`: a catalog whose packages are used if
  // they are the same except for the bytes of `changed`; null: there is none.
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
  // For "", and for a file that is no package: the rules of the project.
  record::WarningRules WarningRulesOf(std::string_view name) const override;

  // nullptr: there is no such package, or its recipes cannot be resolved.
  RecipesPtr RecipesOf(std::string_view name) const;
  // The recipes that Generated() remembered.
  RecipesPtr GeneratedRecipesOf(std::string_view name) const;

  // Returns the packages that Generated() was asked about so far, sorted.
  std::vector<std::string> GeneratedNames() const;

  // Errors in sidecars, and in rules that match a package: each text once, in the order of the
  // names. The packages with such errors have an error as well.
  // Resolves all packages.
  const std::vector<std::string>& recipe_errors() const { return TakeAll().recipe_errors; }
  // Says whether a sidecar of a resolved package could not be read: the package fails.
  bool has_unread_sidecars() const { return has_unread_sidecars_; }
  // Returns the patterns of `never` that match no file, nor a generated package that was asked
  // about so far. Patterns of the command line have the place "--never".
  std::vector<project::Pattern> NeverThatNamesNothing() const;

  // Returns the packages that differ from `before`, the catalog of another project file or of other
  // files, in their recipes for the platforms of both, their errors, or whether they are cooked at
  // all. Sorted. O(packages).
  std::vector<std::string> DifferentFrom(const ProjectCatalog& before) const;

  // Sorted by name, packages with errors included. Resolves all packages.
  const std::vector<std::string>& names() const { return TakeAll().names; }
  const content::Snapshot& snapshot() const { return *snapshot_; }
  const std::shared_ptr<const project::RecipeResolver>& resolver() const { return resolver_; }

 private:
  struct Entry {
    RecipesPtr recipes;
    std::string error;
    bool never = false;
    // Compares all but the bytes of the source, on the platforms to which `mapping` leads from the
    // platforms of `before`.
    bool IsAlike(const Entry& before,
                 const std::vector<std::optional<PlatformIndex>>& mapping) const;
  };

  // Holds every package, resolved.
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
  // The patterns that match no file; nullopt: nobody asked yet.
  mutable std::optional<std::vector<const Never*>> idle_never_ GALLEY_GUARDED_BY(mutex_);
  // The packages that somebody asked for, until all are resolved.
  mutable absl::flat_hash_map<std::string, std::unique_ptr<const Entry>> resolved_
      GALLEY_GUARDED_BY(mutex_);
  mutable base::Mutex all_mutex_;
  mutable std::shared_ptr<const All> all_ GALLEY_GUARDED_BY(all_mutex_);
};

}  // namespace galley::director
