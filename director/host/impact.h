// Impact: the packages that a change of files may affect, how the change reaches each package, and
// the cost of their last cooks. Uses only the journal: nothing is looked up, cooked or written.
//
// A cook may cook fewer packages, because a package whose inputs stay the same is not cooked (early
// cut-off), or more, because only a cook finds new packages.
//
// Threads: the journal's.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/content/changes.h"
#include "director/journal/journal.h"

namespace galley::director {

struct ImpactedPackage {
  std::string package;
  // Reason: why the package is impacted: by a changed file, or by another impacted package.
  enum class Reason {
    kSource,     // `via` is the package's source or sidecar
    kObserved,   // the package looked at `via`
    kCooked,     // the package reads an output of the package `via`
    kGenerated,  // the package `via` generates the package
    kRefers,     // the package refers to `via`, which is gone
    kTool,       // the package is made with the program `via`
    kRules,      // galley.toml says how the package is cooked
    kUnknown,    // the journal does not tell; `via` is empty
  };
  Reason reason = Reason::kUnknown;
  std::string via;
  // The observation, "file(../common.glsl)"; empty for kSource and kGenerated.
  std::string observation;
  uint32_t depth = 0;         // packages between the package and a file
  uint32_t platforms = 0;     // platforms for which the package has results
  absl::Duration expected;    // sum of its last cooks, on all platforms
  uint64_t output_bytes = 0;  // sum of its outputs, on all platforms
  bool operator==(const ImpactedPackage&) const = default;
};

struct Impact {
  std::vector<ImpactedPackage> packages;  // by depth, then by name
  std::vector<std::string> unseen;        // changed files and tools that no package observed
  std::map<std::string, size_t> places;   // name -> index in `packages`

  absl::Duration expected() const;
  uint64_t output_bytes() const;
  // Returns the chain from the package, which comes first, back to a file. Empty: there is no such
  // package.
  std::vector<const ImpactedPackage*> ChainOf(const std::string& package) const;
};

struct ImpactAsk {
  std::vector<content::Change> changes;  // in any order
  std::set<std::string> tools;           // programs that change; absolute paths
  bool of_rules = false;                 // galley.toml changes, which concerns every package
  std::string project_root;              // relative paths of tools begin there
};
// Cost: linear in the packages that are found; for tools and rules, a scan of the journal.
absl::StatusOr<Impact> FindImpact(Journal& journal, const ImpactAsk& ask);
absl::StatusOr<Impact> FindImpact(Journal& journal, std::span<const content::Change> changes);

// Returns the programs, as absolute paths, that packages were made with.
absl::StatusOr<std::set<std::string>> ToolsOf(Journal& journal, const std::string& project_root);

// Returns a text for people: "its source", "looks at /Game/common.glsl: file(../common.glsl)",
// "reads cooked(b.png, .ktx2) of /Game/b.png".
std::string TextOfReason(const ImpactedPackage& package);
std::string_view NameOfReason(ImpactedPackage::Reason reason);  // "source", "observed", ...

}  // namespace galley::director
