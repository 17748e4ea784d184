// Catalog: the core's questions about the project, answered by a pure, immutable table that the
// shell builds from a snapshot and the rules. A new snapshot comes as a new catalog with
// FilesChanged. No I/O behind it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/record/warning.h"
#include "common/record/worker_offer.h"

namespace galley::director {

struct CatalogEntry {
  // Not empty: the package cannot be cooked (unknown cooker, wrong sidecar, name clash, a link out
  // of its mount ...): it fails in Request.
  std::string error;
  bool never_cook = false;
  // Resources and labels that the package's rules ask for where it is cooked; usually none
  // (eligibility.h, grants.h).
  record::ResourceCounts resources;
  std::vector<std::string> labels = {};  // sorted
  // The package's variants for the selected cultures are packages of their own, and in the cook
  // (instigator Culture) when this package is.
  std::vector<std::string> localised;
  // The traits by which the package's cost is guessed until it was measured.
  std::string cooker;
  // For a cooker that starts programs: equal for packages whose jobs start the same programs. A
  // machine that cannot do one of these jobs can do none.
  std::string programs = {};
  uint64_t source_bytes = 0;  // 0: unknown
  uint64_t memory_bytes = 0;  // that the package's rule allows a job; 0: the rule says nothing
};

// ReferenceTarget: the end to which a reference leads.
struct ReferenceTarget {
  // Absolute virtual path; empty when `error` says why there is none (leaves the mounts,
  // malformed).
  std::string name;
  // Why it cannot be a package though `name` is set: "no such file", "no rule or sidecar",
  // "did you mean /Game/X.png?".
  std::string error;
  std::string warning;  // fix_case: found under another spelling
};

class Catalog {
 public:
  virtual ~Catalog() = default;
  // nullopt: no package has that name, or the package is generated and so not in the catalog.
  virtual std::optional<CatalogEntry> Find(std::string_view name) const = 0;
  // The name of the package whose source is that file: a host path, absolute or relative to the
  // project's root. nullopt: the file is no package's source.
  virtual std::optional<std::string> NameOfFile(std::string_view file) const = 0;
  // A generated package: rules apply to its name, the generator's cooker and settings on top.
  virtual CatalogEntry Generated(std::string_view name, std::string_view cooker,
                                 std::string_view settings) const = 0;
  // Resolves a reference or cooked-input path as written by `from`. A name below an existing
  // package's "/_gen/" is returned without error: the core knows what was generated.
  virtual ReferenceTarget Resolve(std::string_view from, std::string_view as_written) const = 0;
  // The warnings of a package, generated packages included, that are left out, and the warnings
  // that fail it.
  virtual record::WarningRules WarningRulesOf(std::string_view /*name*/) const { return {}; }
};

}  // namespace galley::director
