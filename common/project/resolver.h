// RecipeResolver: package name + rules + sidecar -> one recipe for each platform.
//
// Settings, weakest first: the cooker's defaults; each matching rule in file order, its general
// then its platform settings; the sidecar's general, then platform settings. Tables merge key by
// key, lists replace, a change of cooker drops earlier settings. A file without a sidecar, and
// without a rule that names a cooker, is no package.
//
// Cost: recipes are cached by matching rules, sidecar digest and extension; with a cached recipe,
// resolving a package only matches globs.
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
#include "common/record/output_names.h"
#include "common/record/recipe.h"

namespace galley::project {

// Needs: the values of a rule that are not in the recipe: the needs of a job, and which sources are
// refused. Needs are in no key.
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
  std::vector<record::AlwaysLook> looks;  // a result without them is not believed
  record::OutputNames outputs;            // of this platform
};

using ResolvedRecipes = std::vector<ResolvedRecipe>;  // by platform, in Project::platforms order

// Sidecar: the bytes of "<package>.cook", and its name in errors; "": "<package>.cook".
struct Sidecar {
  std::string text;
  std::string file = "";
};

class RecipeResolver {
 public:
  RecipeResolver(const Project& project, std::vector<record::CookerDescription> cookers);
  ~RecipeResolver();

  // nullptr: not a package. INVALID_ARGUMENT: unknown cooker, wrong setting, or a typo in a
  // sidecar; the text names the file and line, what was expected and the nearest known name.
  // `errors`, if given, gets all errors, each in the words of the status; packages with the same
  // error get the same text.
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> Resolve(
      std::string_view package, const std::optional<Sidecar>& sidecar,
      std::vector<std::string>* errors = nullptr) const;
  // Errors of the rules themselves, whether or not the rules match a file: unknown cookers,
  // settings and values. A rule without a cooker may have the settings of any cooker. In the order
  // of the file; in the words of Resolve.
  std::vector<std::string> CheckRules() const;
  // Resolves a generated package: rules apply to its name; the generator's cooker and settings
  // override them, like a sidecar's. Never nullptr.
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> ResolveGenerated(
      std::string_view package, std::string_view cooker, std::string_view settings_json) const;
  // The line in galley.toml of the last rule that matches `path` and names a cooker; 0: none.
  int RuleLineOf(std::string_view path) const;
  // True: a rule with no key but `match` matches: the project knows the file, which is read by
  // packages and is no package itself.
  bool IsSetAside(std::string_view path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace galley::project
