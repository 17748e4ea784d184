// RecipeResolver: package name + rules + sidecar -> one recipe for each platform.
//
// Settings, weakest first: the cooker's defaults; each matching rule in file order, its general
// then its platform settings; the sidecar's general, then platform settings. Tables merge key by
// key, lists replace, a change of cooker drops earlier settings. A file without rule (that names a
// cooker) or sidecar is no package.
//
// Cost: recipes are remembered by (set of matching rules, sidecar digest, extension); resolving a
// package is matching its globs.
// Threads: Resolve may be called from many threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/record/always_looks.h"
#include "common/record/cooker_description.h"
#include "common/record/recipe.h"

namespace galley::project {

// Needs: what a rule says beside the recipe: what a job needs to run, and which source is refused.
// It is never in a key.
struct Needs {
  record::ResourceCounts resources;
  uint64_t memory_bytes = 0;                      // 0: the default limit
  absl::Duration timeout = absl::ZeroDuration();  // zero: the default
  std::vector<std::string> labels;                // sorted
  record::WarningRules warnings;                  // [warnings], rules and sidecar
  bool keeps_lfs_pointers = false;                // a pointer of Git LFS is content
  bool operator==(const Needs&) const = default;
};

struct ResolvedRecipe {
  record::Recipe recipe;
  Digest digest;  // RecipeDigest(recipe)
  Needs needs;
  // Facts of the cooker's description; they are in no key.
  uint64_t source_bytes_max = 0;  // 0: its cooker has no limit of its own
  bool holds_source = true;
  std::vector<record::AlwaysLook> looks;  // that a result has, or is not believed
};

using ResolvedRecipes = std::vector<ResolvedRecipe>;  // by platform, in Project::platforms order

// Sidecar: the bytes of a file "<package>.cook" and the name by which errors call it; "": that
// name.
struct Sidecar {
  std::string text;
  std::string file = "";
};

class RecipeResolver {
 public:
  RecipeResolver(const Project& project, std::vector<record::CookerDescription> cookers);
  ~RecipeResolver();

  // nullptr: not a package. INVALID_ARGUMENT: unknown cooker (with the nearest known), a wrong
  // setting, a sidecar with a typo: names the file and its line, what was expected and the nearest
  // known. `errors`, when given, gets all that is wrong, each as the status would say it; packages
  // with the same fault get the same text.
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> Resolve(
      std::string_view package, const std::optional<Sidecar>& sidecar,
      std::vector<std::string>* errors = nullptr) const;
  // Every error in the rules by themselves, whether they match anything or not: cookers, settings
  // and values that do not exist. A rule that names no cooker may set what some cooker takes. In
  // the order of the file; in the words of Resolve.
  std::vector<std::string> CheckRules() const;
  // A generated package: rules apply to its name; the generator's cooker and settings lie on top
  // like a sidecar's. Never nullptr.
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> ResolveGenerated(
      std::string_view package, std::string_view cooker, std::string_view settings_json) const;
  // The line in galley.toml of the rule that names the cooker of `path`: the last of those that
  // match and name one; 0: there is none.
  int RuleLineOf(std::string_view path) const;
  // True when a rule that says nothing but `match` matches: somebody knows the file, which others
  // read and which is no package.
  bool IsSetAside(std::string_view path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace galley::project
