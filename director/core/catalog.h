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
  // Not empty: why the package cannot be cooked, for example an unknown cooker, a wrong sidecar or
  // a name clash. Such a package fails in Request.
  std::string error;
  // The project never cooks the package, in no cook ([cook] never). CookFilter::IsNever has what
  // only one cook leaves out.
  bool never_cook = false;
  // Resources and labels that the package's rules ask for where it is cooked; usually none
  // (eligibility.h, grants.h).
  record::ResourceCounts resources;
  std::vector<std::string> labels = {};  // sorted
  // `cooker` and `source_bytes`: the traits from which Costs guesses the cost of a package that was
  // not measured yet.
  std::string cooker;
  // For a cooker that starts programs: equal for packages whose jobs start the same programs. A
  // machine that cannot do one of these jobs can do none of them.
  std::string programs = {};
  uint64_t source_bytes = 0;  // 0: unknown
  uint64_t memory_bytes = 0;  // the limit that the rule sets for a job; 0: none
};

// ReferenceTarget: the package to which a reference resolves.
struct ReferenceTarget {
  // Absolute virtual path. Empty when the reference is malformed or leaves the mounts; `error` says
  // so.
  std::string name;
  // Why the reference leads to no package, also where `name` is set: "no such file", "no rule or
  // sidecar", "did you mean /Game/X.png?".
  std::string error;
  std::string warning;  // with fix_case: the name is spelled otherwise
};

// Cultures: the cultures whose variants a cook has. nullopt: those of the project, as the catalog
// has them.
using Cultures = std::optional<std::vector<std::string>>;

class Catalog {
 public:
  virtual ~Catalog() = default;
  // nullopt: no package has that name, or the package is generated and so not in the catalog.
  virtual std::optional<CatalogEntry> Find(std::string_view name) const = 0;
  // The name of the package whose source is that file: a host path, absolute or relative to the
  // project's root. nullopt: the file is no package's source.
  virtual std::optional<std::string> NameOfFile(std::string_view file) const = 0;
  // The entry of a generated package: the rules for its name apply, and the cooker and the settings
  // that its generator gave override them.
  virtual CatalogEntry Generated(std::string_view name, std::string_view cooker,
                                 std::string_view settings) const = 0;
  // Resolves a reference or cooked-input path as written by `from`. A name below an existing
  // package's "/_gen/" is returned without error: the core knows what was generated.
  virtual ReferenceTarget Resolve(std::string_view from, std::string_view as_written) const = 0;
  // The names of the package's variants for these cultures, perhaps with repeats. A variant is a
  // package of its own, and joins a cook for the reason kCulture when the package joins. Generated
  // packages, and names without a package, have none.
  virtual std::vector<std::string> VariantsOf(std::string_view /*name*/,
                                              const Cultures& /*cultures*/) const {
    return {};
  }
  // Which warnings of the package are left out, and which fail it; for generated packages, too.
  virtual record::WarningRules WarningRulesOf(std::string_view /*name*/) const { return {}; }
};

}  // namespace galley::director
