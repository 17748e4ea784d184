// Impact: which packages a change of files may change, how each is reached, and what they cost the
// last time. From the journal alone: nothing is looked up, cooked or written.
//
// "May": a package whose inputs come out as they were is not cooked (early cut-off), and what a
// cook would find beyond these packages is not known before it.
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
#include "common/content/snapshot.h"
#include "director/journal/journal.h"

namespace galley::director {

struct ImpactedPackage {
  std::string package;
  // A changed file that it looked at, or another such package: `reason` says which.
  enum class Reason {
    kSource,     // `via` is its source or sidecar
    kObserved,   // it looked at `via`
    kCooked,     // it reads an output of the package `via`
    kGenerated,  // the package `via` generates it
    kRefers,     // it refers to `via`, which is gone
    kTool,       // it is made with the program `via`
    kRules,      // galley.toml says how it is cooked
    kUnknown,    // the journal says no more; `via` is empty
  };
  Reason reason = Reason::kUnknown;
  std::string via;
  // How it looked: "file(../common.glsl)"; empty for kSource and kGenerated.
  std::string observation;
  uint32_t depth = 0;         // packages between it and a file
  uint32_t platforms = 0;     // that it has results for
  absl::Duration expected;    // of its last cooks, on all platforms
  uint64_t output_bytes = 0;  // of its outputs, likewise
  bool operator==(const ImpactedPackage&) const = default;
};

struct Impact {
  std::vector<ImpactedPackage> packages;  // by depth, then by name
  std::vector<std::string> unseen;        // changed files that no package looked at; sorted
  std::map<std::string, size_t> places;   // of the packages, by name

  absl::Duration expected() const;
  uint64_t output_bytes() const;
  // From the package back to a file: itself first. Empty: it is not there.
  std::vector<const ImpactedPackage*> ChainOf(const std::string& package) const;
};

struct ImpactAsk {
  std::vector<content::Change> changes;  // sorted by path, or not
  std::set<std::string> tools;           // programs that change; absolute paths
  bool of_rules = false;                 // galley.toml changes: it decides each package
  std::string project_root;              // for `tools`: relative ones lie there
};
// Cost: that of the packages that are found; of tools and rules, a scan of the journal.
absl::StatusOr<Impact> FindImpact(Journal& journal, const ImpactAsk& ask);
absl::StatusOr<Impact> FindImpact(Journal& journal, std::span<const content::Change> changes);

// The programs, as absolute paths, that packages were made with.
absl::StatusOr<std::set<std::string>> ToolsOf(Journal& journal, const std::string& project_root);

// "its source", "file(../common.glsl)", "reads cooked(b.png, .ktx2) of /Game/b.png": for people.
std::string TextOfReason(const ImpactedPackage& package);
std::string_view NameOfReason(ImpactedPackage::Reason reason);  // "source", "observed", ...

}  // namespace galley::director
